"""The reviews: hand-written texts, each given to a customer who bought the product."""

import sqlite3
from pathlib import Path

from .dice import Dice
from .sources import BadSource, rows, typed

_COLUMNS = dict.fromkeys(("id", "product_id", "score"), "INTEGER")
_COLUMNS |= dict.fromkeys(("title", "body", "created_on"), "TEXT")
# Orders are numbered by day, so the newest buyers stand at the end of the index.
_BUYERS = """
SELECT o.customer_id FROM order_items i JOIN orders o ON o.id = i.order_id
WHERE i.product_id = :product
  AND i.order_id <= (SELECT MAX(id) FROM orders WHERE ordered_on = (
        SELECT MAX(ordered_on) FROM orders WHERE ordered_on < :day))
  AND o.status IN ('paid', 'refunded')
ORDER BY i.order_id DESC LIMIT 40
"""
# Nobody bought it yet in this (small) shop: anybody who had an account by then.
_ANYBODY = "SELECT id FROM customers WHERE joined_on <= :day ORDER BY id DESC LIMIT 40"


def load_reviews(connection: sqlite3.Connection, folder: Path, dice: Dice) -> None:
    """Insert reviews.csv; the author is one of the 40 latest buyers before the review's day.

    A customer reviews a product at most once while there are others to choose from.
    """
    file = folder / "reviews.csv"
    authors: dict[int, set[int]] = {}
    for line, row in rows(file, list(_COLUMNS)):
        try:
            cells = {name: typed(row[name], name, kind) for name, kind in _COLUMNS.items()}
            about = {"product": cells["product_id"], "day": cells["created_on"]}
            _check_day(connection, about)
            found = connection.execute(_BUYERS, about).fetchall()
            found = found or connection.execute(_ANYBODY, about).fetchall()
            done = authors.setdefault(cells["product_id"], set())
            fresh = [id for (id,) in found if id not in done] or [id for (id,) in found]
            cells["customer_id"] = fresh[dice.below(len(fresh))]
            done.add(cells["customer_id"])
            connection.execute(
                "INSERT INTO reviews (id, product_id, customer_id, score, title, body, created_on)"
                " VALUES (:id, :product_id, :customer_id, :score, :title, :body, :created_on)",
                cells,
            )
        except (ValueError, sqlite3.IntegrityError) as error:
            raise BadSource(f"{file}, line {line}: {error}.") from error


def _check_day(connection: sqlite3.Connection, about: dict[str, object]) -> None:
    launched = connection.execute("SELECT launched_on FROM products WHERE id = :product", about).fetchone()
    if launched is None:
        raise ValueError(f"there is no product {about['product']}")
    if about["day"] < launched[0]:
        raise ValueError(f"the review of {about['day']} is older than the product, launched on {launched[0]}")
