"""What a learner has passed, and the best points of each task, kept in the learner's own folder."""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_utils import places
from course_utils.teaching.panel import Panel, box, note, number, prose, table, text_table

if TYPE_CHECKING:
    from course_utils.teaching.task import Task
    from course_utils.teaching.verdict import Result

_FILE = "progress.json"
_STATES = ("not attempted", "not yet", "passed")
_WAIT, _PAUSE = 5.0, 0.02  # seconds
_said: set[str] = set()


def path() -> Path:
    """Return where progress is kept; the folder is made if needed. Raises OSError if it cannot be."""
    return places.home() / _FILE


def is_on() -> bool:
    """Return whether progress is kept: COURSE_PROGRESS=off turns it off, as grading does."""
    return os.environ.get("COURSE_PROGRESS", "").strip().lower() not in ("off", "0", "no", "false")


def record(task: "Task", result: "Result") -> None:
    """Keep a result if it is the best so far. Never raises: a trouble is said once on stdout."""
    if not is_on():
        return
    try:
        _merge(path(), task.id, {"state": result.state, "best": float(result), "points": float(task.points)})
    except OSError as error:
        _say_once(f"Progress is not kept: {error.strerror or error} ({error.filename or 'learner folder'}).")


def load() -> dict[str, dict[str, Any]]:
    """Return what is kept, task id -> {"state", "best", "points"}; {} where nothing is, or it is off."""
    if not is_on():
        return {}
    try:
        return _read(path())["tasks"]
    except OSError:
        return {}


def share(earned: float, possible: float) -> float:
    """Return earned points as a percentage; 0.0 where there is nothing to earn."""
    return 100.0 * earned / possible if possible else 0.0


def show() -> Panel:
    """Return a small table: each task, its state, the best points so far."""
    from course_utils.teaching import tasks

    if not is_on():
        return note("Your progress", "Progress is not kept here (COURSE_PROGRESS=off).")
    kept = load()
    rows, earned, possible = [], 0.0, 0.0
    for task in tasks.every():
        entry = kept.get(task.id, {})
        best = min(max(entry.get("best", 0.0), 0.0), task.points)
        earned, possible = earned + best, possible + task.points
        rows.append((task.notebook, task.heading, entry.get("state", _STATES[0]), _of(best, task.points)))
    columns = ("exercise", "task", "state", "best")
    total = f"{_of(earned, possible)} points ({share(earned, possible):.0f} %)"
    markup = box("note", "Your progress", [table(columns, rows), prose(total)])
    return Panel(markup, f"{text_table(columns, rows)}\n{total}")


def _of(best: float, points: float) -> str:
    return f"{number(best)} of {number(points)}"


def _merge(file: Path, task_id: str, new: dict[str, Any]) -> None:
    """Read, change and replace the file while nobody else does; what a crash left behind is written over."""
    from filelock import FileLock

    written = file.with_name(f"{_FILE}.new")
    with FileLock(file.with_name(f"{_FILE}.lock"), timeout=_WAIT):
        kept = _read(file)
        kept["tasks"][task_id] = _better(kept["tasks"].get(task_id), new)
        written.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        _replace(written, file)


def _replace(new: Path, old: Path) -> None:
    for left in reversed(range(5)):
        try:
            new.replace(old)
            return
        except PermissionError:  # Windows, while another program reads the old file
            if not left:
                raise
            time.sleep(_PAUSE)


def _better(old: Any, new: dict[str, Any]) -> dict[str, Any]:
    """Return the better of two entries; what another version of the course added is left in."""
    if not _is_entry(old):
        return new
    state = max(old["state"], new["state"], key=_STATES.index)
    return {**old, "state": state, "best": max(old["best"], new["best"]), "points": new["points"]}


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("state") in _STATES
        and isinstance(entry.get("best"), (int, float))
        and not isinstance(entry.get("best"), bool)
    )


def _read(file: Path) -> dict[str, Any]:
    """Return the file's content; one that cannot be read as progress is moved aside, never deleted."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return {"version": 1, "tasks": {}}
    try:
        kept = json.loads(content)
        entries = kept["tasks"].values()
        if all(_is_entry(entry) for entry in entries):
            return kept
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    aside = next(
        name for n in range(1, 10_000) if not (name := file.with_name(f"progress.broken-{n}.json")).exists()
    )
    file.rename(aside)
    _say_once(f"The progress file could not be read. It is kept as {aside}; a new one is started.")
    return {"version": 1, "tasks": {}}


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        print(text)
