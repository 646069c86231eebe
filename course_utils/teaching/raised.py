"""Describe an exception as plain JSON: what was raised, and where in the learner's own code.

Part of the probing half of a task, like `probe`: it knows no answers and imports no judge.
"""

import linecache
import re
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import CodeType
from typing import Any

MAX_TEXT = 20_000

_PACKAGE, _STDLIB = str(Path(__file__).parent.parent), sysconfig.get_path("stdlib")


def described(error: BaseException) -> dict[str, Any]:
    """Return what a person or a judge needs of an exception, addresses removed.

    `function` is one that somebody has named, never "<lambda>", or "". `line` counts from its first
    line and is None where that is not known; `code` is the line itself.
    """
    facts: dict[str, Any] = {
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": _message(error),
        "notes": [str(note)[:MAX_TEXT] for note in getattr(error, "__notes__", ())][:3],
        **_where(error),
        "causes": [],
    }
    seen, cause = {id(error)}, error
    while len(facts["causes"]) < 5:
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        if cause is None or id(cause) in seen:
            break
        seen.add(id(cause))
        facts["causes"].append(_message(cause))
    return facts


def steady(text: str) -> str:
    """Return `text` without addresses, bounded."""
    return re.sub(r"0x[0-9a-fA-F]{4,}", "0x…", text)[:1_000]


def _where(error: BaseException) -> dict[str, Any]:
    """Return function, line and code of the innermost line outside all libraries: the learner's own."""
    found: dict[str, Any] = {"function": "", "line": None, "code": ""}
    running: dict[str, CodeType] = {}
    frame = error.__traceback__
    while frame is not None:
        code, number = frame.tb_frame.f_code, frame.tb_lineno
        frame = frame.tb_next
        if _library(code.co_filename):
            continue
        running[code.co_qualname] = code
        function, first = _named(code, running)
        text = linecache.getline(code.co_filename, number).strip()[:200]
        if function or text:  # neither: the inside of an eval, and the line that calls it says more
            line = None if first is None else number - first + 1
            found = {"function": function, "line": line, "code": text}
    return found


def _named(code: CodeType, running: dict[str, CodeType]) -> tuple[str, int | None]:
    """Return the name and first line of the function that a lambda or comprehension stands in.

    The line is None where that function is no longer running.
    """
    parts = code.co_qualname.split(".")
    while parts and parts[-1].startswith("<"):  # "find.<locals>.<lambda>.<locals>.<listcomp>"
        parts.pop()
    outer = running.get(".".join(parts))
    same_file = outer is not None and outer.co_filename == code.co_filename
    return parts[-1] if parts else "", outer.co_firstlineno if same_file else None


def _message(error: BaseException) -> str:
    try:
        notes: Iterable[Any] = getattr(error, "__notes__", ())
        text = "\n".join([str(error), *map(str, notes)])
    except Exception:
        text = "(its message cannot be shown)"
    return steady(text)


def _library(filename: str) -> bool:
    return filename.startswith(("<frozen", _PACKAGE, _STDLIB)) or "site-packages" in filename
