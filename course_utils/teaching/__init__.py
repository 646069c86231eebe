"""How the course teaches: tasks to check, hints, solutions, quizzes and progress."""

import importlib
import sys
from types import ModuleType

_ROOMS = ("tasks", "quiz", "progress")


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])


if "IPython" in sys.modules:
    from course_utils.teaching import notebook

    notebook.explain_missing_names()
