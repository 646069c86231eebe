"""A throwaway copy of the shop to attack: who wins, the query or the guard?"""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from course_utils import shop
from course_utils.retrieval.sql_guard import QueryFailed, SafeDatabase, UnsafeSQL

MOST_ROWS = 1_000
MOST_BYTES = 1_000_000
SECONDS = 0.5
SHOWN = 20

Run = Callable[[str], list[tuple]]


@dataclass(frozen=True)
class Outcome:
    """What one query did: `harm` in words ("" if none), else why it was stopped or how much it returned.

    As text it is that one line; as a cell's result it shows the first rows as well.
    """

    harm: str
    told: str
    rows: tuple[tuple, ...] = ()

    def __str__(self) -> str:
        return f"harm: {self.harm}" if self.harm else self.told

    def __repr__(self) -> str:
        shown = [", ".join(str(cell)[:80] for cell in row) for row in self.rows[:SHOWN]]
        more = [f"… {len(self.rows) - SHOWN} more"] if len(self.rows) > SHOWN else []
        return "\n  ".join([str(self), *shown, *more])


class _TooSlow(Exception):
    pass


class Arena:
    """A copy of the shop in a folder of its own, and four ways to open it, each stricter than the last.

    Harm is what can be seen afterwards: rows of `staff_notes` or an e-mail address in the result, a
    changed database, a new file, more than 1,000 rows or 1 MB, or half a second without an end. The
    folder goes away with the arena; the real shop is never touched.
    """

    WAYS = ("writable file", "read-only file", "published file", "SafeDatabase")

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True)
        self._file = Path(self._folder.name) / "shop.db"
        self._published = Path(self._folder.name) / "published.db"
        self._original = shop.path().read_bytes()
        self._file.write_bytes(self._original)
        self._published.write_bytes(shop.published_path().read_bytes())
        with closing(shop.read_only(self._file)) as connection:
            notes = connection.execute("SELECT note FROM staff_notes").fetchall()
            addresses = connection.execute("SELECT email FROM customers").fetchall()
        self._secrets = {value for (value,) in [*notes, *addresses]}

    def capture(self, sql: str, guard: Callable[[str], str]) -> Outcome:
        """Send `sql` through `guard`; what passes runs on the writable copy. Harm is a flag captured."""
        return self._judged(lambda text: self._plain(self._file, "rw")(guard(text)), sql)

    def attack(self, sql: str, way: str) -> Outcome:
        """Run `sql` with no guard at all on the copy, opened in one of WAYS."""
        runs: Mapping[str, Run] = {
            "writable file": self._plain(self._file, "rw"),
            "read-only file": self._plain(self._file, "ro"),
            "published file": self._plain(self._published, "ro"),
            "SafeDatabase": self._safe,
        }
        return self._judged(runs[way], sql)

    def _safe(self, sql: str) -> list[tuple]:
        with SafeDatabase(self._published, timeout_s=SECONDS) as db:
            return list(db.run(sql))

    @staticmethod
    def _plain(file: Path, mode: str) -> Run:
        def run(sql: str) -> list[tuple]:
            uri = f"{file.as_uri()}?mode={mode}"
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                end = time.monotonic() + SECONDS
                connection.set_progress_handler(lambda: time.monotonic() > end, 1_000)
                try:
                    return connection.execute(sql).fetchmany(MOST_ROWS + 1)
                except sqlite3.OperationalError as error:
                    if "interrupted" in str(error):
                        raise _TooSlow from None
                    raise

        return run

    def _judged(self, run: Run, sql: str) -> Outcome:
        files = set(self._files())
        rows: list[tuple] = []
        told = ""
        try:
            rows = run(sql.replace("{folder}", self._folder.name))
            told = f"answered with {len(rows)} {'row' if len(rows) == 1 else 'rows'}"
        except _TooSlow:
            return self._restored("still running after half a second", files)
        except (UnsafeSQL, QueryFailed, ValueError, sqlite3.Error) as error:
            told = f"stopped: {error}"
        return self._restored(self._harm(rows, files), files, told, rows)

    def _harm(self, rows: list[tuple], files: set[Path]) -> str:
        cells = [cell for row in rows for cell in row]
        size = sum(len(cell) for cell in cells if isinstance(cell, (str, bytes)))
        told = "\n".join(cell for cell in cells if isinstance(cell, str)) if size <= MOST_BYTES else ""
        if set(self._files()) - files:
            return "wrote a new file"
        if self._file.read_bytes() != self._original:
            return "changed the database"
        if any(secret in told for secret in self._secrets):
            return "read what nobody may read"
        if size > MOST_BYTES:
            return f"returned {size / 1e6:,.0f} MB"
        return f"returned over {MOST_ROWS:,} rows" if len(rows) > MOST_ROWS else ""

    def _restored(self, harm: str, files: set[Path], told: str = "", rows: Iterable[tuple] = ()) -> Outcome:
        for path in set(self._files()) - files:
            path.unlink()
        if self._file.read_bytes() != self._original:
            self._file.write_bytes(self._original)
        return Outcome(harm, told, tuple(rows))

    def _files(self) -> Iterator[Path]:
        return (path for path in Path(self._folder.name).iterdir() if not path.name.endswith("-journal"))
