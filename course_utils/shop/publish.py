"""Publish part of a SQLite file: a copy that holds only the tables, columns and rows that may be read.

This is the lowest and strongest layer under model-written SQL. What is not in the file cannot be read from
it, however clever the query.
"""

import difflib
import os
import re
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote as percent

# Marks a file as made by `publish`: SQLite keeps this number in the file's header.
APPLICATION_ID = 0x53504231
FORMAT = 1


class _Column(NamedTuple):
    name: str
    type: str
    not_null: bool
    key: int  # 1-based place in the primary key, 0 outside it
    hidden: int  # 1: a hidden column of a virtual table; 2, 3: generated


def file_uri(path: Path, mode: str) -> str:
    """Return a `file:` URI that opens `path` in SQLite's mode `ro` or `rwc`, whatever its characters."""
    name = Path(path).absolute().as_posix()
    return f"file://{'' if name.startswith('/') else '/'}{percent(os.fsencode(name))}?mode={mode}"


def publish(
    source: str | Path,
    to: str | Path,
    allow: Mapping[str, Sequence[str]],
    *,
    where: Mapping[str, str] | None = None,
) -> Path:
    """Write to the file `to` a copy of `source` that holds only what `allow` names, and return its path.

    `allow` maps a table, view or FTS5 table to its columns; `where` maps some of these to an SQL predicate
    over the source that limits their rows. Types, collations, NOT NULL, primary keys, and the indexes and
    foreign keys whose columns are all published are kept; CHECK, DEFAULT and triggers are not. Views and
    generated columns become plain data. An FTS5 table becomes a self-contained one with its own text; its
    hidden columns (`rank` and the table's own name) may be listed and come of themselves.

    The source is opened read-only (beside one in WAL mode SQLite itself keeps its -wal and -shm files). The
    copy is written beside `to` and put in its place in one step, so a failure leaves `to` as it was.
    Raises FileNotFoundError without a source, ValueError for a name that the source does not have (with
    the nearest one), for a file that is no database and when both paths are the same file.
    """
    source, to = Path(source), Path(to)
    if not source.is_file():
        raise FileNotFoundError(f"{source} is not there, so nothing can be published from it.")
    if to.exists() and source.samefile(to):
        raise ValueError(f"{to} is the source itself. Publish to another file, or the source would be lost.")
    if not allow:
        raise ValueError("`allow` is empty. Name at least one table with the columns that may be read.")
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f".{to.name}.{secrets.token_hex(6)}.part")
    db = sqlite3.connect(file_uri(source, "ro"), uri=True, isolation_level=None)
    try:
        _write(db, part, allow, where or {})
        db.close()
        part.replace(to)
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise ValueError(f"{source} is not an SQLite database.") from error
        raise
    finally:
        db.close()
        part.unlink(missing_ok=True)
    return to


def _write(
    db: sqlite3.Connection, part: Path, allow: Mapping[str, Sequence[str]], where: Mapping[str, str]
) -> None:
    known = {row[1].lower(): row[1:] for row in db.execute("PRAGMA table_list") if row[0] == "main"}
    known = {k: v for k, v in known.items() if not k.startswith("sqlite_") and v[1] != "shadow"}
    plan: dict[str, list[_Column]] = {}
    for asked, columns in allow.items():
        name = _find(asked, {k: v[0] for k, v in known.items()}, "table")
        if name in plan:
            raise ValueError(f"`allow` names the table {name} twice.")
        plan[name] = _chosen(db, name, columns)
    limits = {_find(asked, {n.lower(): n for n in plan}, "published table"): p for asked, p in where.items()}

    db.execute("ATTACH ? AS published", (file_uri(part, "rwc"),))
    db.execute("PRAGMA published.journal_mode = OFF")
    db.execute("PRAGMA published.synchronous = OFF")
    db.execute("BEGIN")
    for name, columns in plan.items():
        _, kind, _, without_rowid, strict = known[name.lower()]
        sql = _one(db, "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?", name) or ""
        fts = kind == "virtual" and re.search(r"\bUSING\s+[\"'`\[]?fts5\b", sql, re.I)
        if fts:
            db.execute(_fts_table(name, columns, sql))
        else:
            db.execute(_table(db, name, columns, plan, bool(without_rowid), bool(strict), kind, sql))
        _copy(db, name, columns, limits.get(name), keep_rowid=bool(fts) or kind == "table")
        if kind == "table":
            _indexes(db, name, columns)
    db.execute(f"PRAGMA published.application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA published.user_version = {FORMAT}")
    db.execute("COMMIT")
    db.execute("DETACH published")


def _chosen(db: sqlite3.Connection, table: str, asked: Sequence[str]) -> list[_Column]:
    """Return the columns asked for, in the table's own order; a hidden one is known but not copied."""
    if isinstance(asked, str) or not asked:
        raise ValueError(f"`allow[{table!r}]` must be a non-empty list of column names, not {asked!r}.")
    rows = db.execute(f"PRAGMA main.table_xinfo({quoted(table)})").fetchall()
    every = [_Column(name, kind, bool(nn), key, hid) for _, name, kind, nn, _, key, hid in rows]
    by_name = {column.name.lower(): column.name for column in every}
    wanted = {_find(name, by_name, f"column of {table}") for name in asked}
    chosen = [column for column in every if column.name in wanted and column.hidden != 1]
    if not chosen:
        raise ValueError(f"`allow[{table!r}]` names only hidden columns. Add one that holds text.")
    return chosen


def _table(
    db: sqlite3.Connection,
    name: str,
    columns: list[_Column],
    plan: Mapping[str, list[_Column]],
    without_rowid: bool,
    strict: bool,
    kind: str,
    sql: str,
) -> str:
    collations = _collations(name, columns, sql) if kind == "table" else {}
    parts = []
    for column in columns:
        part = f"{quoted(column.name)} {_type(column.type)}"
        part += f" COLLATE {quoted(collations[column.name])}" if column.name in collations else ""
        parts.append(part + (" NOT NULL" if column.not_null else ""))
    names = {column.name.lower() for column in columns}
    whole = db.execute(f"PRAGMA main.table_xinfo({quoted(name)})").fetchall()
    key = [row[1] for row in sorted(whole, key=lambda row: row[5]) if row[5]]
    whole_key = bool(key) and names.issuperset(k.lower() for k in key)
    if whole_key:
        parts.append(f"PRIMARY KEY ({_list(key)})")
    parts += _foreign_keys(db, name, names, plan)
    options = [*(["WITHOUT ROWID"] if without_rowid and whole_key else []), *(["STRICT"] if strict else [])]
    return f"CREATE TABLE published.{quoted(name)} ({', '.join(parts)}) {', '.join(options)}"


def _foreign_keys(
    db: sqlite3.Connection, name: str, names: set[str], plan: Mapping[str, list[_Column]]
) -> list[str]:
    """Return the foreign keys whose both ends are published."""
    keys: dict[int, list[tuple]] = {}
    for row in db.execute(f"PRAGMA main.foreign_key_list({quoted(name)})"):
        keys.setdefault(row[0], []).append(row)
    made = []
    for rows in sorted(keys.values(), key=lambda rows: -rows[0][0]):
        parent = next((n for n in plan if n.lower() == rows[0][2].lower()), None)
        ours, theirs = [row[3] for row in rows], [row[4] for row in rows if row[4]]
        there = {column.name.lower() for column in plan.get(parent or "", [])}
        if not parent or not there.issuperset(n.lower() for n in theirs):
            continue
        if names.issuperset(n.lower() for n in ours):
            to = f"({_list(theirs)})" if theirs else ""
            made.append(f"FOREIGN KEY ({_list(ours)}) REFERENCES {quoted(parent)}{to}")
    return made


def _collations(name: str, columns: list[_Column], sql: str) -> dict[str, str]:
    """Return the collation of each column that has one: an index on an empty twin of the table tells."""
    twin, found = sqlite3.connect(":memory:"), {}
    try:
        twin.execute(sql)
        for column in columns:
            twin.execute(f"CREATE INDEX probe ON {quoted(name)} ({quoted(column.name)})")
            collation = next(row[4] for row in twin.execute("PRAGMA index_xinfo(probe)"))
            if collation.upper() in ("NOCASE", "RTRIM"):  # others live in the program, not in the file
                found[column.name] = collation
            twin.execute("DROP INDEX probe")
    except sqlite3.Error:
        pass  # a twin needs what this program lacks (a collation, say): compare as bytes then
    finally:
        twin.close()
    return found


def _indexes(db: sqlite3.Connection, name: str, columns: list[_Column]) -> None:
    """Make the indexes whose columns are all published; partial and expression indexes are left out."""
    names = {column.name for column in columns}
    for _, index, unique, origin, partial in db.execute(f"PRAGMA main.index_list({quoted(name)})").fetchall():
        rows = [row for row in db.execute(f"PRAGMA main.index_xinfo({quoted(index)})") if row[5]]
        if origin == "pk" or partial or not names.issuperset(row[2] for row in rows):
            continue
        if any(row[4].upper() not in ("BINARY", "NOCASE", "RTRIM") for row in rows):
            continue
        terms = ", ".join(f"{quoted(r[2])} COLLATE {r[4]}{' DESC' if r[3] else ''}" for r in rows)
        made = index if origin == "c" else f"unique_{name}_{'_'.join(row[2] for row in rows)}"
        db.execute(
            f"CREATE {'UNIQUE ' if unique else ''}INDEX IF NOT EXISTS "
            f"published.{quoted(made)} ON {quoted(name)} ({terms})"
        )


def _fts_table(name: str, columns: list[_Column], sql: str) -> str:
    """Return an FTS5 table of these columns with the tokenizer and prefixes of the one that `sql` made."""
    inside = sql[sql.index("(") + 1 : sql.rindex(")")]
    given = [part.strip() for part in re.findall(r"(?:'[^']*'|\"[^\"]*\"|[^,'\"])+", inside)]
    kept = [part for part in given if re.match(r"(tokenize|prefix)\s*=", part, re.I)]
    found = [re.fullmatch(r"(.+?)\s+UNINDEXED", part, re.I | re.S) for part in given]
    plain = {match[1].strip("\"'`[]").lower() for match in found if match}
    if any(re.match(r"content\s*=\s*(''|\"\")", part, re.I) for part in given):
        raise ValueError(f"{name} is a contentless FTS5 table: its text is nowhere to be copied from.")
    terms = [quoted(c.name) + (" UNINDEXED" if c.name.lower() in plain else "") for c in columns]
    return f"CREATE VIRTUAL TABLE published.{quoted(name)} USING fts5({', '.join(terms + kept)})"


def _copy(
    db: sqlite3.Connection, name: str, columns: list[_Column], predicate: str | None, keep_rowid: bool
) -> None:
    """Copy the rows, each with its rowid where both tables have one: an FTS5 row is found by it."""
    every = {row[1].lower() for row in db.execute(f"PRAGMA main.table_xinfo({quoted(name)})")}
    rowid = next((n for n in ("rowid", "_rowid_", "oid") if n not in every), None)
    if not keep_rowid or any(_has_no_rowid(db, schema, name) for schema in ("main", "published")):
        rowid = None
    terms = ", ".join([*([rowid] if rowid else []), *(quoted(column.name) for column in columns)])
    sql = f"INSERT INTO published.{quoted(name)} ({terms}) SELECT {terms} FROM main.{quoted(name)}"
    try:
        db.execute(sql + (f" WHERE ({predicate}\n)" if predicate else ""))
    except (sqlite3.Error, sqlite3.Warning) as error:
        if not predicate:
            raise
        raise ValueError(f"where[{name!r}] = {predicate!r} does not work on {name}: {error}") from error


def _has_no_rowid(db: sqlite3.Connection, schema: str, name: str) -> bool:
    rows = db.execute(f"PRAGMA {schema}.table_list({quoted(name)})").fetchall()
    return any(row[0] == schema and row[4] for row in rows)


def _find(asked: str, known: Mapping[str, str], what: str) -> str:
    if str(asked).lower() in known:
        return known[str(asked).lower()]
    near = difflib.get_close_matches(str(asked).lower(), list(known), 1, 0.5)
    more = f"Nearest: {known[near[0]]}." if near else f"There are: {', '.join(sorted(known.values()))}."
    raise ValueError(f"The source has no {what} named {asked!r}. {more}")


def _one(db: sqlite3.Connection, sql: str, *values: object) -> object:
    row = db.execute(sql, values).fetchone()
    return row[0] if row else None


def _type(declared: str) -> str:
    declared = re.sub(r"\s*GENERATED\s+ALWAYS$", "", declared, flags=re.I)
    plain = re.fullmatch(r"[A-Za-z][\w ]*(\(\s*[+-]?\d+\s*(,\s*[+-]?\d+\s*)?\))?|", declared)
    return declared if plain else quoted(declared)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


def quoted(name: str) -> str:
    """Return `name` as an SQL identifier, with its double quotes doubled."""
    return '"' + name.replace('"', '""') + '"'
