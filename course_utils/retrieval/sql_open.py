"""Which file a database is, what it offers, and one locked connection to it for each thread."""

import os
import sqlite3
import threading
import weakref
from pathlib import Path

from ..shop.publish import APPLICATION_ID, file_uri, quoted
from .sql_errors import QueryFailed
from .sql_lock import Locked


class Session:
    """One thread's locked connection, with the process and the state of the file that it belongs to."""

    def __init__(self, locked: Locked, stamp: tuple[int, ...] | None) -> None:
        self.locked, self.stamp = locked, stamp
        self.process = os.getpid()
        self.lock = threading.Lock()

    def close(self) -> None:
        """Close the connection, once the query that is running on it has ended."""
        with self.lock:
            self.locked.close()


class Sessions:
    """The connections to one published file: each thread and each process gets its own, opened when needed.

    `tables` is what the file offers. Raises FileNotFoundError and ValueError as `published_tables` does.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: dict[str, tuple[str, ...]] = {}
        self._here = threading.local()
        self._all: weakref.WeakSet[Session] = weakref.WeakSet()
        self._left: list[Session] = []
        self._closed = False
        self.get()

    def get(self) -> Session:
        """Return this thread's connection; a new one if the file was published anew since."""
        if self._closed:
            raise QueryFailed("database is closed", "Open it again with SafeDatabase(path).")
        session: Session | None = getattr(self._here, "session", None)
        stamp = _stamp(self.path)
        ours = session is not None and session.process == os.getpid()
        if session and ours and stamp in (None, session.stamp):
            return session
        if session and ours:
            session.close()
        elif session:
            self._left.append(session)  # the parent process's: to close it here could disturb the parent
        self.tables = published_tables(self.path)
        db = sqlite3.connect(
            file_uri(self.path, "ro"), uri=True, isolation_level=None, check_same_thread=False
        )
        self._here.session = session = Session(Locked(db, self.tables), stamp)
        self._all.add(session)
        return session

    def close(self) -> None:
        """Close the connections of all threads of this process."""
        self._closed = True
        for session in list(self._all):
            if session.process == os.getpid():
                session.close()


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def published_tables(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the tables of a published file, each with its columns.

    Raises FileNotFoundError without a file, and ValueError for a file that `publish` did not make.
    """
    if not path.is_file():
        hint = "Make it with SafeDatabase.publish(source, allow=…, to=…)."
        raise FileNotFoundError(f"{path} is not there. {hint}")
    db = sqlite3.connect(file_uri(path, "ro"), uri=True)
    try:
        marked = db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        ours = db.execute("SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')")
        if not marked or ours.fetchone()[0]:
            raise ValueError(
                f"{path} was not made by publish, so it may hold what no model should read. Publish what may "
                "be read to a new file: SafeDatabase.publish(source, allow={'table': ('column', …)}, to=…)."
            )
        tables = {}
        for schema, name, kind, *_ in db.execute("PRAGMA table_list").fetchall():
            if schema == "main" and kind in ("table", "virtual") and not name.startswith("sqlite_"):
                tables[name] = tuple(row[1] for row in db.execute(f"PRAGMA table_xinfo({quoted(name)})"))
        return dict(sorted(tables.items()))
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is not an SQLite database that can be read: {error}.") from error
    finally:
        db.close()
