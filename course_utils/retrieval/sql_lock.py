"""A connection to a published file on which a statement can read, for a bounded time, and do nothing else."""

import contextlib
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..shop.publish import quoted
from .sql_dialect import FUNCTIONS, TABLE_FUNCTIONS
from .sql_size import PATTERN
from .sql_tokens import MAX_CHARS

MAX_VALUE = 50_000  # bytes in one text, one blob, one row that is sorted
# Bytes of memory for all that SQLite does in this process; it can be lowered later, never raised.
HEAP = 100_000_000

# SQLite's limits. Its own are meant for programs that trust the statement.
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 5 * MAX_CHARS,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: PATTERN,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
MAX_COLUMNS = 100

PRODUCT = 10_000_000  # size of text times size of what is looked for: about 10 ms


class Locked:
    """One connection, locked: `execute` runs a statement until `deadline`, a time of time.monotonic()."""

    def __init__(self, db: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> None:
        self.db = db
        self.deadline = float("inf")
        self.trouble = ""  # what a replaced function refused; SQLite itself only says that one raised
        for limit, value in LIMITS.items():
            db.setlimit(limit, value)
        db.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, max([MAX_COLUMNS, *map(len, tables.values())]))
        # On disk, so that sorting cannot fill the memory; SQLite removes the file as it opens it.
        for pragma in ("query_only = 1", "temp_store = FILE", "trusted_schema = 0", "cell_size_check = 1"):
            db.execute(f"PRAGMA {pragma}")
        # What has no limit of its own: a JSON array while it grows, many sorts at once.
        db.execute(f"PRAGMA hard_heap_limit = {HEAP}").fetchall()
        self._replace_functions()
        self.strict, self.denied = False, ""
        db.set_authorizer(self._authorizer(tables))
        _warm_up(db, tables)
        self.strict = True  # setting an authorizer now would make SQLite compile again what it keeps

    def execute(self, sql: str, params: Any, seconds: float, every: int) -> sqlite3.Cursor:
        """Start the statement; SQLite looks at the clock after each `every` steps of its machine."""
        self.trouble, self.denied, self.deadline = "", "", time.monotonic() + seconds
        self.db.set_progress_handler(self.late, every)
        return self.db.execute(sql, params)

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def _authorizer(self, tables: Mapping[str, Sequence[str]]) -> Callable[..., int]:
        """Return what SQLite asks, while it compiles, about each thing that a statement wants to do."""
        readable = {name.lower() for name in tables} | TABLE_FUNCTIONS
        # SQLite does not ask about every way to read these: FULL JOIN … USING is silent
        kept = self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        self.hidden = {row[0].lower() for row in kept} - readable
        self.hidden |= {f"sqlite_{temp}{end}" for temp in ("", "temp_") for end in ("schema", "master")}
        # the parts of a full-text index, and the tables that SQLite makes up
        inside = {row[0].lower() for row in self.db.execute("SELECT name FROM sqlite_schema")}
        inside |= {row[0].lower() for row in self.db.execute("PRAGMA module_list")}
        inside -= readable

        def may(action: int, one: str | None, two: str | None, where: str | None, by: str | None) -> int:
            if not self.strict or action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
                return sqlite3.SQLITE_OK
            if action == sqlite3.SQLITE_READ:
                name = (one or "").lower()
                # any other name is that of a step or subquery: what is not in the file cannot be read
                if name in readable or not (name in inside or name.startswith(("sqlite_", "pragma_"))):
                    return sqlite3.SQLITE_OK
                self.denied = name
            elif action == sqlite3.SQLITE_PRAGMA:
                self.denied = f"pragma_{one}"
            elif action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in FUNCTIONS:
                return sqlite3.SQLITE_OK
            return sqlite3.SQLITE_DENY

        return may

    def _replace_functions(self) -> None:
        """Put checks before the functions whose one call can take seconds: printf('%.*c', 900000000, 'x')."""
        self.native = native = sqlite3.connect(":memory:", check_same_thread=False)
        native.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)

        def checked(name: str, count: int, cost: Callable[..., int]) -> Callable[..., Any]:
            def call(*args: Any) -> Any:
                if self.late():
                    raise TimeoutError
                try:
                    if cost(*args) > PRODUCT:
                        raise OverflowError
                    marks = ", ".join("?" * len(args))
                    return native.execute(f"SELECT {name}({marks})", args).fetchone()[0]
                except (OverflowError, sqlite3.Error) as error:
                    long = isinstance(error, OverflowError)
                    self.trouble = f"{name}(): {'string or blob too big' if long else error}"
                    raise

            self.db.create_function(name, count, call, deterministic=True)
            return call

        for name in ("instr", "trim", "ltrim", "rtrim"):
            checked(name, 2, lambda x, y: _size(x) * _size(y))
        checked("replace", 3, lambda x, y, _: _size(x) * _size(y))
        checked("printf", -1, _printf_cost)
        checked("format", -1, _printf_cost)

    def said(self, error: Exception) -> Exception:
        """Return `error`, or in its place what was refused where SQLite says only that something was."""
        if self.trouble:
            return sqlite3.OperationalError(self.trouble)
        if self.denied and "not authorized" in str(error):
            return sqlite3.OperationalError(f"no such table: {self.denied}")
        return error

    def close(self) -> None:
        self.db.close()
        self.native.close()


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 20


# flags, width, precision, length, kind: what stands between % and the letter, as SQLite reads it
_CONVERSION = re.compile(r"%[-+ 0#!,]*(\*|\d*)(?:\.(\*|\d*))?l{0,2}(.?)", re.S)


def _printf_cost(*args: Any) -> int:
    """Return a cost above PRODUCT where a width or precision asks for more than 1,000 characters."""
    if not args or args[0] is None:
        return 0
    values, widths = iter(args[1:]), [0]
    for width, precision, kind in _CONVERSION.findall(_text(args[0])):
        for asked in (width, precision):
            if asked == "*":  # takes its number from the next value
                widths.append(_whole(next(values, 0)))
            elif asked:
                widths.append(int(asked[:19]))
        if kind != "%":
            next(values, None)
    return PRODUCT + 1 if max(map(abs, widths)) > 1_000 else 0


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _whole(value: Any) -> int:
    """Return the whole number that SQLite takes from any value: 9e8 and '900000000' are numbers too."""
    if isinstance(value, float):
        return int(value) if abs(value) < PRODUCT else PRODUCT
    found = re.match(r"\s*[-+]?\d+", _text(value or 0))
    return int(found[0][:25]) if found else 0


def _warm_up(db: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> None:
    """Use each full-text table and table function once: they keep the statements that they compile."""
    asks = [f"SELECT count(*) FROM {name}('[]')" for name in sorted(TABLE_FUNCTIONS)]
    for name in full_text(tables):
        table = quoted(name)
        asks += [
            f"SELECT *, bm25({table}), snippet({table}, 0, '', '', '', 2), highlight({table}, 0, '', '') "
            f"FROM {table} WHERE {table} MATCH 'a OR b' ORDER BY rank LIMIT 1",
            f"SELECT *, bm25({table}) FROM {table} WHERE {table} MATCH 'a' ORDER BY rowid DESC LIMIT 1",
            f"SELECT * FROM {table} WHERE rowid = 1",
            f"SELECT * FROM {table} WHERE rowid > 0 ORDER BY rowid LIMIT 1",
            f"SELECT * FROM {table} ORDER BY rowid DESC LIMIT 1",
        ]
    for ask in asks:
        # a build without JSON or FTS5 says so when a query needs it
        with contextlib.suppress(sqlite3.OperationalError):
            db.execute(ask).fetchall()


def full_text(tables: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the full-text tables: those with the two hidden columns, `rank` and the table's own name."""
    return [t for t, columns in tables.items() if {t.lower(), "rank"} <= {c.lower() for c in columns}]
