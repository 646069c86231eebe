"""The safe way to run SQL that a model wrote, for any SQLite file.

Five layers, the strongest first; each is there for what the ones before it cannot do.

1. The published file (`publish`): a copy that holds only what may be read. Nothing else can leak.
2. A locked connection (`sql_lock`): read-only; SQLite asks our authorizer about each table, column and
   function while it compiles; its own limits are set low.
3. Bounds while it runs: a deadline, a cap on rows, a cap on bytes.
4. The words (`sql_tokens`, `sql_size`): one statement, that reads, and that SQLite can compile quickly.
5. SQLite's compiler as the parser (`sql_check`): a misspelt "name" in double quotes is found, and each
   refusal says what to write instead (`sql_errors`).

    db = SafeDatabase.publish("shop.db", allow={"customers": ("id", "name", "city")}, to="published.db")
    rows = db.run("SELECT city, COUNT(*) FROM customers GROUP BY city")
"""

import difflib
import logging
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..shop.publish import publish, quoted
from .sql_check import Checked, check, check_searched_for, check_sql, refuse_hidden, tables_used
from .sql_errors import QueryFailed, UnsafeSQL, explain, forbidden_column, forbidden_table
from .sql_lock import Locked
from .sql_open import Session, Sessions
from .sql_rows import Rows

__all__ = ["QueryFailed", "Rows", "SafeDatabase", "UnsafeSQL", "check_sql", "publish"]

logger = logging.getLogger("course_utils.sql")
MAX_BYTES = 200_000


class SafeDatabase:
    """A published SQLite file on which model-written SQL can run.

    `path` must be a file that `publish` made: any other may hold tables that no model should read.
    `max_rows` and `max_bytes` cap what one query returns, `timeout_s` how long it runs. `log` is called
    after each run with a dict of query, outcome, milliseconds and rows (how many, never which); without it
    the same goes to the logger `course_utils.sql`.

    Opening one also limits the memory of all SQLite connections of the process together to 100 MB
    (`sql_lock.HEAP`): SQLite has no such limit for one connection, and none for a JSON array as it grows.

    Each thread that calls `run` gets a connection of its own, kept until `close` or the thread's end; a
    forked process and a file that was published anew get new ones. Usable as a context manager.
    Raises FileNotFoundError where there is no file and ValueError where it was not published.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_rows: int = 50,
        timeout_s: float = 1.0,
        max_bytes: int = MAX_BYTES,
        log: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        if max_rows < 1 or max_bytes < 1 or not timeout_s > 0:
            raise ValueError("max_rows, max_bytes and timeout_s must be above zero.")
        self.path = Path(path).absolute()
        self.max_rows, self.timeout_s, self.max_bytes, self.log = max_rows, timeout_s, max_bytes, log
        self._sessions = Sessions(self.path)

    @classmethod
    def publish(
        cls,
        source: str | Path,
        *,
        allow: Mapping[str, Sequence[str]],
        to: str | Path,
        where: Mapping[str, str] | None = None,
        **options: Any,
    ) -> "SafeDatabase":
        """Publish `source` to the file `to` (see `publish`) and open it with `options` (see the class)."""
        return cls(publish(source, to, allow, where=where), **options)

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """What can be read: each table with its columns. A full-text table ends with two hidden columns, its
        own name and `rank`."""
        return dict(self._tables)

    def run(self, sql: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> Rows:
        """Run one reading statement exactly as it is written and return its rows.

        `params` are values for ? or :name. Rows beyond `max_rows` or `max_bytes` are left out, and
        `Rows.truncated` says so. Raises UnsafeSQL for what may not run and QueryFailed for what cannot be
        answered; both carry a reason and a hint.
        """
        started, outcome, count = time.perf_counter(), "failed", 0
        try:
            rows = self._run(sql, params, started)
            outcome, count = "cut" if rows.truncated else "ok", len(rows)
            return rows
        except (UnsafeSQL, QueryFailed) as error:
            outcome = f"{'refused' if isinstance(error, UnsafeSQL) else 'failed'}: {error.reason}"
            raise
        finally:
            spent = (time.perf_counter() - started) * 1000
            self._write_log(sql, outcome, spent, count)

    def nearest_values(self, table: str, column: str, text: str, limit: int = 5) -> list[str]:
        """Return up to `limit` texts stored in the column that are most like `text`, the nearest first.

        Case and accents are ignored, so "antonio" finds "Antônio". Looks at the first 5,000 different texts.
        """
        names = {name.lower(): name for name in self._tables}
        if table.lower() not in names:
            raise forbidden_table(table, self._tables)
        table = names[table.lower()]
        columns = {name.lower(): name for name in self._tables[table]}
        if column.lower() not in columns:
            raise forbidden_column(f"{table}.{column}", "", self._tables, {table.lower(): table})
        name = quoted(columns[column.lower()])
        sql = f"SELECT DISTINCT {name} FROM {quoted(table)} WHERE typeof({name}) = 'text' LIMIT 5000"
        checked = Checked(sql, [], 1, None)
        found = self._fetch(self._sessions.get(), checked, (), 5_000, 10 * self.max_bytes)[1]
        sought = _fold(text)[:200]
        match = difflib.SequenceMatcher(b=sought)
        scored = []
        for (value,) in found:
            folded = _fold(value[:200])
            match.set_seq1(folded)
            inside = sought and (sought in folded or folded in sought)
            if inside or match.real_quick_ratio() > 0.6 and match.quick_ratio() > 0.6:
                scored.append((folded != sought, not inside, -match.ratio(), value))
        return [
            value for *_, score, value in sorted(scored)[:limit] if score < -0.6 or sought in _fold(value)
        ]

    def close(self) -> None:
        """Close the connections of all threads; waits for queries that are running."""
        self._sessions.close()

    def __enter__(self) -> "SafeDatabase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _tables(self) -> dict[str, tuple[str, ...]]:
        return self._sessions.tables

    def __repr__(self) -> str:
        return f"SafeDatabase({str(self.path)!r}, {len(self._tables)} tables)"

    def _run(self, sql: str, params: Any, started: float) -> Rows:
        try:
            session = self._sessions.get()
        except (ValueError, FileNotFoundError) as error:  # the file was replaced since it was opened
            raise QueryFailed("the database is not a published file any more", str(error)) from error
        checked = check(sql, self._tables)
        refuse_hidden(checked.tokens, session.locked.hidden, self._tables)
        params = () if params is None else params
        check_searched_for(checked.tokens, params)
        columns, found, more = self._fetch(session, checked, params, self.max_rows, self.max_bytes)
        return Rows(columns, tuple(found), more, (time.perf_counter() - started) * 1000)

    def _fetch(
        self, session: Session, checked: Checked, params: Any, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple], bool]:
        """Return the columns, the rows within the caps, and whether there are more."""
        # A costly row needs a look at the clock more often.
        every = 100 if checked.size < 200 else 20 if checked.size < 2_000 else 5
        with session.lock:
            locked = session.locked
            try:
                if checked.probe:
                    locked.execute(checked.probe, params, self.timeout_s, every).close()
                cursor = locked.execute(checked.sql, params, self.timeout_s, every)
                rows: list[tuple] = []
                try:
                    columns = tuple(column[0] for column in cursor.description)
                    size = sum(map(_bytes, columns))
                    if size > max_bytes:
                        hint = f"The columns' names have over {max_bytes:,} bytes. Give them shorter ones."
                        raise QueryFailed("result too large", hint)
                    for row in cursor:
                        size += sum(map(_bytes, row))
                        if len(rows) == max_rows or size > max_bytes:
                            if not rows:
                                hint = (
                                    f"One row has over {max_bytes:,} bytes. Select fewer or shorter columns."
                                )
                                raise QueryFailed("result too large", hint)
                            return columns, rows, True
                        rows.append(row)
                    return columns, rows, False
                finally:
                    cursor.close()
            except (sqlite3.Error, sqlite3.Warning, MemoryError, UnicodeError, OverflowError) as error:
                raise self._explained(error, checked, locked) from error

    def _explained(self, error: Exception, checked: Checked, locked: Locked) -> UnsafeSQL | QueryFailed:
        if locked.late():
            hint = "Filter earlier, join on keys, give a recursive step an end, or ask for less."
            return QueryFailed(f"too slow: stopped after {self.timeout_s:g} s", hint)
        used = tables_used(checked.tokens, self._tables)
        return explain(locked.said(error), checked.sql, self._tables, used)

    def _write_log(self, sql: object, outcome: str, milliseconds: float, rows: int) -> None:
        if self.log:
            query = sql if isinstance(sql, str) else repr(type(sql))
            self.log({"query": query, "outcome": outcome, "milliseconds": milliseconds, "rows": rows})
        else:
            logger.info("%s, %d rows, %.1f ms: %.2000r", outcome, rows, milliseconds, sql)


def _bytes(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode(errors="replace"))
    return len(value) if isinstance(value, bytes) else 8


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).strip()
