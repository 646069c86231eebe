"""The databases of lessons 06 and 07, imported when first used, with a way out where one is missing."""

from importlib import import_module
from types import ModuleType


class EngineMissing(ImportError):
    """A database package of the extra `graph` is not installed, or not built for this platform."""


def engine(name: str) -> ModuleType:
    """Return the module `ladybug`, `surrealdb` or `neo4j`; raises EngineMissing that says what to do."""
    try:
        return import_module(name)
    except ImportError as error:
        raise EngineMissing(
            f"The package {name} is not installed here, or not built for this platform ({error}). Install it "
            'with `pip install -e ".[graph]"` in the course\'s folder. Without it lessons 06 and 07 can be '
            "read but not run; all other lessons and exercises work.",
            name=name,
        ) from error
