"""The smallest shop: three customers and four orders, small enough to add up in your head."""

import sqlite3

CUSTOMERS = [
    (1, "Asha", "asha@mail.example", "Pune", "West", "gold", "2024-03-11", None),
    (2, "Ravi", "ravi@mail.example", "Delhi", "North", "silver", "2024-08-02", None),
    (3, "Meena", "meena@mail.example", "Pune", "West", "silver", "2025-01-19", 1),
]
ORDERS = [
    (1, 1, "2026-01-12", "paid", 250.0),
    (2, 1, "2026-02-03", "paid", 100.0),
    (3, 2, "2026-02-20", "refunded", 75.5),
    (4, 3, "2026-03-31", "paid", 300.0),
]
# Order, quantity, price for one; the products are the cheapest ones on sale.
_ITEMS = [(1, 2, 125.0), (2, 1, 100.0), (3, 1, 75.5), (4, 2, 150.0)]
REFUNDS = [(1, 3, 75.5, "arrived damaged", "2026-02-26")]
_CHEAPEST = """
SELECT id FROM products WHERE status = 'active' AND launched_on < '2026-01-01' ORDER BY price, id LIMIT 4
"""


def load_tiny(connection: sqlite3.Connection) -> None:
    """Insert the three customers, their four orders, the items, and the refund of order 3."""
    products = [id for (id,) in connection.execute(_CHEAPEST)]
    items = [(order, id, qty, price) for (order, qty, price), id in zip(_ITEMS, products, strict=True)]
    every = {"customers": CUSTOMERS, "orders": ORDERS, "order_items": items, "refunds": REFUNDS}
    for table, rows in every.items():
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
