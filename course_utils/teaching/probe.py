"""The probing half of a task: use what a learner wrote and describe what happened as plain JSON.

This room knows no answers and imports no judge, so that a grader can run it in a process of its own.
"""

import contextlib
import copy
import dis
import functools
import importlib
import inspect
import io
import json
import logging
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from course_utils.teaching.raised import MAX_TEXT, described, steady

ANSWERED, NOT_ATTEMPTED, WRONG_TYPE, BROKEN = "answered", "not attempted", "wrong type", "broken"
MAX_ITEMS, MAX_DEPTH, MAX_PRINTED = 5_000, 12, 2_000

_EMPTY = re.compile(r"```\w*|--[^\n]*|[.…\s]")  # an untouched text: a fence, a comment, dots

# Entered around every single call of the learner's code: the place for a time limit.
_guard: ContextVar[Callable[[], contextlib.AbstractContextManager]] = ContextVar(
    "guard", default=contextlib.nullcontext
)


def report(
    task_id: str,
    value: Any,
    inputs: Mapping[str, Any],
    *,
    guard: Callable[[], contextlib.AbstractContextManager] = contextlib.nullcontext,
) -> dict[str, Any]:
    """Probe `value` as the answer to `task_id` ("sql.limit_guard") and return JSON-ready facts.

    `inputs` come from the judge of the task. `guard()` is entered around each call of the learner's
    code; one that raises after some seconds is a time limit. Always returns a dictionary with
    `status`: "answered" (then with what the probe of the task found), "not attempted", "wrong type"
    or "broken". Only KeyboardInterrupt gets out. Raises LookupError for a task without a probe.
    """
    group, _, name = task_id.partition(".")
    try:
        probe = getattr(importlib.import_module(f"course_utils.teaching.tasks.{group}_probes"), name)
    except (ImportError, AttributeError) as error:
        raise LookupError(f"no probe for the task {task_id!r}: {error}") from error
    token = _guard.set(guard)
    try:
        with quiet() as spoken:
            try:
                facts = probe(value, copy.deepcopy(inputs))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # the learner's value may do anything, sys.exit included
                facts = {"status": BROKEN, "raised": described(error)}
        return plain({**facts, "printed": spoken.getvalue()})
    finally:
        _guard.reset(token)


def takes_function(probe: Callable[..., dict]) -> Callable[[Any, Mapping], dict]:
    """Make `probe(function, inputs)` answer for stubs, untouched names and values that are no function."""

    @functools.wraps(probe)
    def checked(value: Any, inputs: Mapping) -> dict:
        if value is None or value is ... or (callable(value) and is_stub(value)):
            return {"status": NOT_ATTEMPTED}
        if not callable(value) or isinstance(value, type):
            return {"status": WRONG_TYPE, "wanted": "a function", "got": _type_name(value)}
        name = getattr(value, "__name__", None) or _type_name(value)
        return {"status": ANSWERED, "name": str(name), **probe(value, inputs)}

    return checked


def takes_text(probe: Callable[..., dict]) -> Callable[[Any, Mapping], dict]:
    """Make `probe(text, inputs)` answer for untouched names, empty texts and values that are no text."""

    @functools.wraps(probe)
    def checked(value: Any, inputs: Mapping) -> dict:
        if value is None or value is ... or (isinstance(value, str) and not _EMPTY.sub("", value)):
            return {"status": NOT_ATTEMPTED}
        if not isinstance(value, str):
            return {"status": WRONG_TYPE, "wanted": "a text (str)", "got": _type_name(value)}
        return {"status": ANSWERED, **probe(str(value), inputs)}

    return checked


def called(function: Callable, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Call `function` and describe the outcome: {"returned", "type"} or {"raised"}.

    Adds "changed_arguments": True where a JSON argument looks different after the call.
    """
    before = _fingerprint(args, kwargs)
    try:
        with _guard.get()():
            value = function(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and RecursionError are answers of a learner too
        return {"raised": described(error)}
    if inspect.iscoroutine(value):
        value.close()  # else Python warns on stderr that it was never awaited
    outcome = {"returned": plain(value), "type": _type_name(value)}
    if _fingerprint(args, kwargs) != before:
        outcome["changed_arguments"] = True
    return outcome


def plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON can carry it; what it cannot is {"not_json": type, "repr": bounded text}."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value) if len(value) <= MAX_TEXT else str(value[:MAX_TEXT]) + "…"
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else _placeholder(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _placeholder(value)
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)) and len(value) <= MAX_ITEMS:
        return [plain(item, depth + 1) for item in value]
    small_dict = depth < MAX_DEPTH and isinstance(value, dict) and len(value) <= MAX_ITEMS
    if small_dict and all(isinstance(key, str) for key in value):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "size", 0) == 1:
        return plain(value.item(), depth + 1)
    return _placeholder(value)


def is_stub(function: Callable) -> bool:
    """Return whether a function has no body of its own: a docstring, `...`, `pass`, `return None`."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        return False
    for step in dis.get_instructions(code):
        if step.opname in ("RESUME", "NOP", "CACHE", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_VALUE"):
            continue
        if step.opname in ("LOAD_CONST", "RETURN_CONST") and (step.argval is None or step.argval is ...):
            continue
        return False
    return True


@contextlib.contextmanager
def quiet() -> Iterator["_Bounded"]:
    """Swallow what is printed, warned and logged: a check must leave nothing on stderr."""
    spoken, before = _Bounded(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            contextlib.redirect_stdout(spoken),
            contextlib.redirect_stderr(_Bounded()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield spoken
    finally:
        logging.disable(before)


class _Bounded(io.StringIO):
    """A text buffer that forgets what comes after the first MAX_PRINTED characters."""

    def write(self, text: str) -> int:
        room = MAX_PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


def _type_name(value: Any) -> str:
    return str(type(value).__name__)


def _placeholder(value: Any) -> dict[str, str]:
    try:
        text = repr(value)
    except Exception:
        text = "(cannot be shown)"
    return {"not_json": _type_name(value), "repr": steady(text)[:200]}


def _fingerprint(args: tuple, kwargs: dict) -> str:
    try:
        return json.dumps([args, kwargs], default=lambda other: None)
    except (TypeError, ValueError, RecursionError):
        return ""
