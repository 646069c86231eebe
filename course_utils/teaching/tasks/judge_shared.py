"""What the judges of all groups share: words that fit every function, and what counts as a number."""

from collections.abc import Mapping, Sequence
from typing import Any

from course_utils.teaching.firstlook import explain_error


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which True is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def capital(text: str) -> str:
    """Return the text with its first letter in upper case and the others as they are."""
    return text[:1].upper() + text[1:]


def so_far(right: Sequence[str], between: str = ", ") -> str:
    """Return the sentence that names what is right already, "" if nothing is."""
    return f"Right so far: {between.join(right)}. " if right else ""


def forgot_return(name: str) -> str:
    """Return what is said of a function that gives None where it should give something."""
    return f"`{name}` returns None: did you forget `return` on one of its ways out?"


def other_error(raised: Mapping[str, Any], asked: str, who: str = "it") -> str:
    """Return that another error came where ValueError should, "" if it did; asked: who, or what, should."""
    if "ValueError" in raised["bases"]:
        return ""
    return f"{asked} should raise ValueError; {who} stops {explain_error(raised)}"
