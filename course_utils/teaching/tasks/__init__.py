"""The tasks of the exercises, by group: `tasks.sql.limit_guard.check(add_limit)`.

A group `sql` is three modules: `sql_tasks` (titles, points, hints), `sql_probes` (what is called, no
answers) and `sql_judges` (what is right). A fourth file is not needed: groups are found by name.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_utils.teaching.task import Group, Task

_SUFFIX = "_tasks"


def groups() -> list[str]:
    """Return the names of all groups, sorted."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def find(group: str, name: str) -> "Task | None":
    """Return a task by the two halves of its id, or None."""
    if group not in groups():
        return None
    return vars(__getattr__(group)).get("_tasks", {}).get(name)


def every() -> "list[Task]":
    """Return the tasks of all groups, in order."""
    return [task for group in groups() for task in __getattr__(group)]


def __getattr__(name: str) -> "Group":
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in groups():
        from course_utils.teaching.task import unknown

        raise AttributeError(unknown("tasks", name, groups()))
    return importlib.import_module(f"{__name__}.{name}{_SUFFIX}").GROUP


def __dir__() -> list[str]:
    return groups()
