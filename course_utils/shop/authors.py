"""Who wrote a hand-written text: a customer who had bought the product by then."""

import sqlite3

from .dice import Dice

# Orders are numbered by day, so the newest buyers stand at the end of the index.
_BUYERS = """
SELECT o.customer_id FROM order_items i JOIN orders o ON o.id = i.order_id
WHERE i.product_id = :product
  AND i.order_id <= (SELECT MAX(id) FROM orders WHERE ordered_on = (
        SELECT MAX(ordered_on) FROM orders WHERE ordered_on < :day))
  AND o.status IN ('paid', 'refunded')
ORDER BY i.order_id DESC LIMIT 40
"""
# Nobody bought it yet in this (small) shop, or no product is named: anybody who had an account by then.
_ANYBODY = "SELECT id FROM customers WHERE joined_on <= :day ORDER BY id DESC LIMIT 40"


class Authors:
    """Gives each text an author: one of the 40 latest buyers of the product before the text's day.

    A customer writes about a product at most once while there are others to choose from.
    """

    def __init__(self, connection: sqlite3.Connection, dice: Dice) -> None:
        self._connection, self._dice = connection, dice
        self._done: dict[int | None, set[int]] = {}

    def of(self, product: int | None, day: str) -> int:
        """Return a customer's id; ValueError for a day without customers, or an unknown or later product."""
        about = {"product": product, "day": day}
        if product is not None:
            self._check_day(about)
        found = self._connection.execute(_BUYERS, about).fetchall()
        found = found or self._connection.execute(_ANYBODY, about).fetchall()
        if not found:
            raise ValueError(f"nobody had an account by {day}")
        done = self._done.setdefault(product, set())
        fresh = [id for (id,) in found if id not in done] or [id for (id,) in found]
        author = fresh[self._dice.below(len(fresh))]
        done.add(author)
        return author

    def _check_day(self, about: dict[str, object]) -> None:
        launched = self._connection.execute(
            "SELECT launched_on FROM products WHERE id = :product", about
        ).fetchone()
        if launched is None:
            raise ValueError(f"there is no product {about['product']}")
        if about["day"] < launched[0]:
            raise ValueError(
                f"the text of {about['day']} is older than its product, launched on {launched[0]}"
            )
