"""What the judges of all groups share: words that fit every function, and what counts as a number."""

from collections.abc import Mapping, Sequence
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict


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


def part_by_part(
    troubles: Mapping[str, str], right: Mapping[str, str], passed: str, hints: Mapping[str, int]
) -> Verdict:
    """Return a point for each part without trouble, and none at all where the first has one.

    troubles: by part, the first to be told first. right: what is said of each part but the first that is
    right. hints: for each part, in order, the hint that helps.
    """
    if not troubles:
        return Verdict(len(hints), PASSED, passed)
    first = next(iter(hints))
    if first in troubles:
        return Verdict(0, NOT_YET, troubles[first], hints[first])
    part, trouble = next(iter(troubles.items()))
    begin = so_far([text for name, text in right.items() if name not in troubles])
    return Verdict(len(hints) - len(troubles), NOT_YET, begin + trouble, hints[part])
