"""Where things are: the course's data, the user's cache, the learner's own folder."""

import os
import tempfile
from pathlib import Path

import platformdirs

APP = "retrieval-course"


class CourseDataNotFound(FileNotFoundError):
    """The folder `data/` of the course is in none of the places looked at."""


def _is_data(folder: Path) -> bool:
    return (folder / "schema.sql").is_file() and (folder / "products.csv").is_file()


def data() -> Path:
    """Return the course's `data/` folder.

    Looks at the environment variable COURSE_DATA, then beside the installed package, then in the
    working directory and each of its parents. Raises CourseDataNotFound with the way out.
    """
    named = os.environ.get("COURSE_DATA")
    if named:
        folder = Path(named).expanduser().resolve()
        for candidate in (folder, folder / "data"):
            if _is_data(candidate):
                return candidate
        raise CourseDataNotFound(
            f"COURSE_DATA is set to {named!r}, but no schema.sql and products.csv are there. "
            "Point it at the `data` folder of a copy of the course, or unset it."
        )
    here = Path.cwd()
    looked = [Path(__file__).resolve().parent.parent, here, *here.parents]
    for folder in looked:
        if _is_data(folder / "data"):
            return folder / "data"
    raise CourseDataNotFound(
        "The course's data folder was not found beside the package nor above the working directory "
        f"({here}). Install the course from its folder with `pip install -e .`, or set the environment "
        "variable COURSE_DATA to the full path of the `data` folder of a copy of the course."
    )


def root() -> Path:
    """Return the course's folder, the one that holds `data/` and `lessons/`."""
    return data().parent


def _made(named: str | None, default: str) -> Path:
    folder = Path(named).expanduser().resolve() if named else Path(default)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cache() -> Path:
    """Return a writable folder for files that can be rebuilt (COURSE_CACHE, else the user's cache)."""
    return _made(os.environ.get("COURSE_CACHE"), platformdirs.user_cache_dir(APP, appauthor=False))


def home() -> Path:
    """Return the learner's own folder, which no reinstall touches (COURSE_HOME, else the user's data)."""
    return _made(os.environ.get("COURSE_HOME"), platformdirs.user_data_dir(APP, appauthor=False))


def writable(folder: Path) -> bool:
    """Return whether a file can be created in `folder`, by creating one: permission bits can lie."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            return True
    except OSError:
        return False
