"""What is in a database, independent of how SQLite lays it out: row counts and a hash."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence


def tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables with the shop's own rows, sorted."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        " AND name <> 'build_info' ORDER BY name"
    )
    return [name for (name,) in found]


def row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    names = tables(connection)
    return {name: connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}


def content_hash(
    connection: sqlite3.Connection,
    allow: Mapping[str, Sequence[str]] | None = None,
    where: Mapping[str, str] | None = None,
) -> str:
    """Return a SHA-256 of every row of every table: equal content, equal hash, on any platform.

    With `allow` (table -> columns) and `where` (table -> predicate): of that part only.
    """
    digest = hashlib.sha256()
    for name in tables(connection):
        columns = [column for _, column, *_ in connection.execute(f'PRAGMA table_info("{name}")')]
        if allow is not None:
            columns = [column for column in columns if column in allow.get(name, ())]
        if not columns:
            continue
        digest.update(json.dumps([name, columns]).encode())
        chosen = ", ".join(f'"{column}"' for column in columns)
        predicate = (where or {}).get(name, "1")
        rows = connection.execute(f'SELECT {chosen} FROM "{name}" WHERE {predicate} ORDER BY rowid')
        while batch := rows.fetchmany(500):
            digest.update("\n".join(json.dumps(row) for row in batch).encode() + b"\n")
    return digest.hexdigest()
