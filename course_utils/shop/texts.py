"""What customers wrote: reviews and tickets, hand-written, each given to a customer who could have."""

import sqlite3
from pathlib import Path

from .authors import Authors
from .dice import Dice
from .sources import BadSource, rows, typed

_REVIEWS = dict.fromkeys(("id", "product_id", "score"), "INTEGER")
_REVIEWS |= dict.fromkeys(("title", "body", "created_on"), "TEXT")
_TICKETS = dict.fromkeys(("id", "product_id"), "INTEGER")
_TICKETS |= dict.fromkeys(("subject", "body", "error_code", "status", "created_on"), "TEXT")


def load_reviews(connection: sqlite3.Connection, folder: Path, dice: Dice) -> None:
    """Insert reviews.csv; BadSource names the line and what is wrong with it."""
    _load(connection, folder, "reviews", _REVIEWS, Authors(connection, dice))


def load_tickets(connection: sqlite3.Connection, folder: Path, dice: Dice) -> None:
    """Insert tickets.csv; BadSource names the line and what is wrong with it."""
    _load(connection, folder, "tickets", _TICKETS, Authors(connection, dice))


def _load(
    connection: sqlite3.Connection, folder: Path, table: str, columns: dict[str, str], authors: Authors
) -> None:
    file = folder / f"{table}.csv"
    names = [*columns, "customer_id"]
    insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES (:{', :'.join(names)})"
    for line, row in rows(file, list(columns)):
        try:
            cells = {name: typed(row[name], name, kind) for name, kind in columns.items()}
            if cells["created_on"] is None:
                raise ValueError("created_on is empty")
            cells["customer_id"] = authors.of(cells["product_id"], cells["created_on"])
            connection.execute(insert, cells)
        except (ValueError, OverflowError, sqlite3.IntegrityError) as error:
            raise BadSource(f"{file}, line {line}: {error}.") from error
