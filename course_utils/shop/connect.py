"""Opening SQLite files of the shop: read-only connections, and what tells a shop from other files."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

NEEDED_SQLITE = (3, 37, 0)  # the first with STRICT tables
SHOP_ID = 0x53484F50  # "SHOP" in the file's header (PRAGMA application_id)


class OldSQLite(RuntimeError):
    """The SQLite library inside this Python is too old for the shop."""


class NotAShop(ValueError):
    """The file is there, but it is not a shop database."""


def check_sqlite() -> None:
    """Raise OldSQLite, with the way out, where this Python's SQLite has no STRICT tables."""
    if sqlite3.sqlite_version_info < NEEDED_SQLITE:
        needed = ".".join(map(str, NEEDED_SQLITE))
        raise OldSQLite(
            f"This Python carries SQLite {sqlite3.sqlite_version}, but the shop needs {needed} or newer "
            "(STRICT tables). Use a Python from python.org, or make the conda environment with "
            "`conda env create -f environment.yml`: both bring a newer SQLite along."
        )


def read_only(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """Open an SQLite file so that nothing can be written: not to it, and not to any other file.

    `mode=ro` alone still allows ATTACH and VACUUM INTO, which create files; a limit of 0 attached
    databases stops both. Raises FileNotFoundError where there is no such file.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise FileNotFoundError(
            f"There is no database file {file}. Check the path, or make one with `shop.build(path)`."
        )
    # as_uri() quotes %, ?, # and spaces and knows drive letters. SQLite refuses a host name in the
    # URI, so a Windows network path (file://server/share) needs its two slashes twice.
    uri = file.as_uri()
    if not uri.startswith("file:///"):
        uri = "file://" + uri.removeprefix("file:")
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA query_only = ON")
    return connection


def application_id(path: Path) -> int | None:
    """Return the id in an SQLite file's header; None for any other file, or none at all.

    Reads 72 bytes without opening the database, so that a damaged one still says what it was.
    """
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except FileNotFoundError:
        return None
    if len(header) < 72 or not header.startswith(b"SQLite format 3\0"):
        return None
    return int.from_bytes(header[68:72], "big")


def refuse_foreign(path: Path, kind: int) -> None:
    """Raise NotAShop rather than let a file be replaced that is not the course's own."""
    if path.is_dir():
        raise NotAShop(f"{path} is a folder. Give the name of a file, such as {path / 'shop.db'}.")
    if path.exists() and path.stat().st_size and application_id(path) != kind:
        wanted = "a shop database" if kind == SHOP_ID else "a published shop database"
        raise NotAShop(
            f"{path} exists and is not {wanted}, so it is left alone. "
            "Choose another file name, or move that file away first."
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a new name in the folder of `path`; on success that file takes the place of `path` at once.

    Readers see the old file or the new one, never half of one. Whatever goes wrong, nothing is left.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(
            f"{path} cannot be made: a part of its folder {path.parent} is a file. Choose another folder."
        ) from error
    for left in path.parent.glob(f".{path.name}-*.part"):  # by a process that was killed
        if time.time() - left.stat().st_mtime > 24 * 3600:
            left.unlink(missing_ok=True)
    part = path.parent / f".{path.name}-{os.getpid()}-{uuid4().hex[:8]}.part"
    try:
        yield part
        try:
            # A journal of the old file would be applied to the new one.
            for side in ("-journal", "-wal", "-shm"):
                Path(f"{path}{side}").unlink(missing_ok=True)
            part.replace(path)
        except PermissionError as error:  # Windows: somebody has the old file open
            error.add_note(f"{path} could not be replaced. Close the notebooks and programs that use it.")
            raise
    finally:
        part.unlink(missing_ok=True)


def build_info(path: Path) -> dict[str, str]:
    """Return the key-value table that says how a full shop was made; NotAShop for any other file."""
    try:
        with closing(read_only(path)) as connection:
            return dict(connection.execute("SELECT key, value FROM build_info"))
    except sqlite3.DatabaseError as error:
        raise NotAShop(
            f"{path} is not a full shop database ({error}). Make one with `shop.build(path)`."
        ) from error
