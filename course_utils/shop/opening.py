"""Where the shop's files are: found, checked, and built on first need."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from course_utils import places

from .builder import SEED, build
from .connect import SHOP_ID, application_id, build_info, check_sqlite, read_only
from .content import content_hash, row_counts
from .published import PUBLISHED_ID, publish_shop
from .sources import source_hash

SECOND_SEED, SECOND_SIZE = SEED + 2, 0.2
# Files already checked in this process: a file is checked again when its time or size has changed.
_checked: dict[Path, tuple[int, int, str]] = {}


class _Recipe(NamedTuple):
    """What a pair of files must have been made from."""

    source: str
    size: str | float = "course"
    seed: int = SEED


def path() -> Path:
    """Return the full shop, `data/shop.db`, built first where it is missing, damaged or out of date.

    Where `data/` cannot be written the shop is in the user's cache folder. This file belongs to the
    course: whatever is changed in it by hand is noticed and built anew. Two processes may start at once.
    """
    return _pair()[0]


def published_path() -> Path:
    """Return the published shop, beside the full one: only what a model may read."""
    return _pair()[1]


def second() -> Path:
    """Return a published shop from another seed, a fifth as large: answers must hold on it too."""
    check_sqlite()
    recipe = _Recipe(source_hash(places.data()), SECOND_SIZE, SECOND_SEED)
    return _make_pair(*_names(places.cache(), f"second-{recipe.source[:12]}"), recipe)[1]


def data_hash(path: str | os.PathLike[str] | None = None) -> str:
    """Return a SHA-256 of the rows of the shop (or of the file given): what golden answers are tied to.

    It depends on the content alone, not on the platform nor on the version of Python or SQLite.
    """
    if path is None:
        return build_info(_pair()[0])["content"]
    with closing(read_only(path)) as connection:
        return content_hash(connection)


def counts(path: str | os.PathLike[str] | None = None) -> dict[str, int]:
    """Return table -> number of rows, of the full shop or of the file given."""
    with closing(read_only(_pair()[0] if path is None else path)) as connection:
        return row_counts(connection)


def _names(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.db", folder / f"{name}_published.db"


def _pair() -> tuple[Path, Path]:
    """Return the full and the published shop, both present and valid."""
    check_sqlite()
    folder = places.data()
    recipe = _Recipe(source_hash(folder))
    full, published = _names(folder, "shop")
    # Asked first: in a folder that cannot be written, files that somebody prepared are good.
    if _is_full(full, recipe) and _is_published(published, full):
        return full, published
    if places.writable(folder):
        try:
            return _make_pair(full, published, recipe)
        except PermissionError:
            pass  # Windows: another notebook has the old shop open, so the new one goes into the cache
    return _make_pair(*_names(places.cache(), f"shop-{recipe.source[:12]}"), recipe)


def _make_pair(full: Path, published: Path, recipe: _Recipe) -> tuple[Path, Path]:
    _make(
        full,
        SHOP_ID,
        lambda: build(full, size=recipe.size, seed=recipe.seed),
        lambda: _is_full(full, recipe),
    )
    _make(
        published, PUBLISHED_ID, lambda: publish_shop(full, published), lambda: _is_published(published, full)
    )
    return full, published


def _make(file: Path, kind: int, make: Callable[[], object], good: Callable[[], bool]) -> None:
    """Make `file` unless it is good already."""
    if good():
        return
    if file.exists() and application_id(file) != kind:
        # Damaged beyond recognition, or somebody's own file under the shop's name: keep it, out of the way.
        file.replace(file.with_name(f"{file.name}.set-aside"))
    try:
        make()
    except PermissionError:
        if not good():  # else another process was faster and has it open already
            raise


def _is_full(file: Path, recipe: _Recipe) -> bool:
    """Return whether `file` is a whole shop made after the recipe, and nothing in it was changed."""
    try:
        info = build_info(file)
    except (OSError, ValueError):
        return False
    made_from = (info.get("source"), info.get("size"), info.get("seed"))
    wanted = (recipe.source, str(recipe.size), str(recipe.seed))
    return made_from == wanted and _holds(file, info["content"])


def _is_published(file: Path, full: Path) -> bool:
    """Return whether `file` holds exactly what is to be published of the full shop."""
    return _holds(file, build_info(full)["published"])


def _holds(file: Path, content: str) -> bool:
    """Return whether the file is whole and has this content hash; looked at once per process."""
    try:
        about = file.stat()
        state = (about.st_mtime_ns, about.st_size, content)
        if _checked.get(file) == state:
            return True
        with closing(read_only(file)) as connection:
            (whole,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if whole != "ok" or content_hash(connection) != content:
                return False
    except (OSError, sqlite3.Error):
        return False
    _checked[file] = state
    return True
