"""Reading the hand-written sources in `data/`: the CSV files and the schema."""

import csv
import hashlib
import io
import sqlite3
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path

# The tables that are hand-written as they stand, in an order that puts the referenced table first.
TABLES = (
    "suppliers", "categories", "products", "product_links", "teams", "staff", "team_links", "staff_notes",
)  # fmt: skip
_FILES = (
    "schema.sql", "people.csv", "reviews.csv", "tickets.csv", *(f"{table}.csv" for table in TABLES),
)  # fmt: skip
# The modules whose code decides what is in the two database files.
_MODULES = (
    "articles", "authors", "builder", "catalogue", "connect", "content", "customers", "dice", "orders",
    "publish", "published", "sources", "stories", "texts", "tiny",
)  # fmt: skip


class BadSource(ValueError):
    """A hand-written source file holds something that the shop cannot take."""


def source_hash(folder: Path) -> str:
    """Return a hash of everything the shop is made from; line ends of Windows and Unix count the same."""
    return _hash(tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in _all_files(folder)))


def article_files(folder: Path) -> list[Path]:
    """Return the articles in their order, without hidden files: systems leave some, as `._returns.md`."""
    return sorted(file for file in (folder / "articles").glob("*.md") if not file.name.startswith("."))


def text_of(file: Path) -> str:
    """Return the text of a source with line ends of Unix, wherever it was saved; BadSource if not UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSource(f"{file} is not UTF-8 ({error}). Save it as UTF-8.") from error


def _all_files(folder: Path) -> list[Path]:
    files = [folder / name for name in _FILES] + article_files(folder)
    if len(files) == len(_FILES):
        raise BadSource(f"{folder / 'articles'} holds no article. Restore it from a copy of the course.")
    for file in files:
        if not file.is_file():
            raise BadSource(f"{file} is missing. Restore it from a copy of the course.")
    return files + [Path(__file__).with_name(f"{module}.py") for module in _MODULES]


@lru_cache(maxsize=8)
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Hash the files' content; time and size in the key make a changed file be read again."""
    digest = hashlib.sha256()
    for file, _, _ in files:
        content = text_of(file).encode()
        digest.update(f"{file.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def statements(script: str) -> Iterator[str]:
    """Split an SQL script into its statements, comments included."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""


def rows(file: Path, names: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells of each row of a CSV file whose header must be exactly `names`."""
    reader = csv.DictReader(io.StringIO(text_of(file)), strict=True)
    try:
        if sorted(reader.fieldnames or []) != sorted(names):
            raise BadSource(f"{file}: the header is {reader.fieldnames}, expected {names}.")
        for row in reader:
            if None in row or None in row.values():
                raise BadSource(f"{file}, line {reader.line_num}: expected {len(names)} cells.")
            yield reader.line_num, row
    except csv.Error as error:
        raise BadSource(f"{file}, line {reader.line_num}: {error}.") from error


def load(connection: sqlite3.Connection, folder: Path, table: str) -> None:
    """Insert `<table>.csv` into its table; BadSource names the file, the line and what is wrong."""
    file = folder / f"{table}.csv"
    columns = {name: kind for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")}
    insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for line, row in rows(file, list(columns)):
        try:
            connection.execute(insert, [typed(row[name], name, kind) for name, kind in columns.items()])
        except (ValueError, OverflowError, sqlite3.IntegrityError) as error:
            raise BadSource(f"{file}, line {line}: {error}.") from error


def typed(cell: str, name: str, kind: str) -> str | int | float | None:
    """Return a CSV cell as the column's type wants it; an empty cell is NULL. ValueError says what is off."""
    if not cell:
        return None
    try:
        if kind == "INTEGER":
            return int(cell)
        if kind == "REAL":
            return paise(cell) / 100
        if name.endswith("_on"):
            return date.fromisoformat(cell).isoformat()
    except (ValueError, OverflowError) as error:
        wanted = {"INTEGER": "a whole number", "REAL": "an amount with at most two decimals"}.get(
            kind, "a date"
        )
        raise ValueError(f"{name} is {cell!r}, expected {wanted}") from error
    return cell


def paise(rupees: str | float) -> int:
    """Return an amount in rupees as whole paise: "499.50" -> 49950."""
    exact = float(rupees) * 100
    whole = round(exact)
    if abs(exact - whole) > 1e-6:
        raise ValueError(f"{rupees} has more than two decimals")
    return whole


def check_links(connection: sqlite3.Connection) -> None:
    """Raise BadSource for the first row that points to a row which is not there."""
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        raise BadSource(f"{table}, row {rowid}: points to a row of {parent} that does not exist.")
