"""The smallest shop gives the results of the course's first lesson on SQL."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from course_utils import shop


@pytest.fixture(scope="module")
def database(tiny_published):
    return shop.sql_database(tiny_published)


def test_the_dialect_is_sqlite(database):
    assert database.dialect == "sqlite"


def test_the_three_customers(database):
    found = database.run("SELECT name, city FROM customers ORDER BY id")
    assert found == "[('Asha', 'Pune'), ('Ravi', 'Delhi'), ('Meena', 'Pune')]"


def test_paid_total_per_city(database):
    found = database.run(
        "SELECT c.city, SUM(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id "
        "WHERE o.status = 'paid' GROUP BY c.city ORDER BY total DESC"
    )
    assert found == "[('Pune', 650.0)]"


def test_four_orders(database, tiny):
    assert database.run("SELECT COUNT(*) FROM orders") == "[(4,)]"
    with closing(shop.read_only(tiny)) as connection:
        rows = connection.execute("SELECT id, customer_id, amount, status FROM orders ORDER BY id").fetchall()
    assert rows == [
        (1, 1, 250.0, "paid"),
        (2, 1, 100.0, "paid"),
        (3, 2, 75.5, "refunded"),
        (4, 3, 300.0, "paid"),
    ]


def test_tiers_and_regions(tiny):
    with closing(shop.read_only(tiny)) as connection:
        rows = connection.execute("SELECT id, name, region, city, tier FROM customers ORDER BY id").fetchall()
    assert rows == [
        (1, "Asha", "West", "Pune", "gold"),
        (2, "Ravi", "North", "Delhi", "silver"),
        (3, "Meena", "West", "Pune", "silver"),
    ]


def test_what_belongs_to_it_is_there(tiny):
    rows = shop.counts(tiny)
    assert (rows["refunds"], rows["reviews"], rows["order_items"]) == (1, 0, 4)
    assert rows["products"] >= 160 and rows["suppliers"] == 8
    with closing(shop.read_only(tiny)) as connection:
        assert connection.execute("SELECT order_id, amount FROM refunds").fetchall() == [(3, 75.5)]
        sums = "SELECT SUM(qty * unit_price) FROM order_items GROUP BY order_id ORDER BY order_id"
        assert connection.execute(sums).fetchall() == [(250.0,), (100.0,), (75.5,), (300.0,)]


def test_a_delete_fails(tiny_published, database):
    with pytest.raises(OperationalError, match="readonly database"):
        database.run("DELETE FROM orders")
    with (
        shop.engine(tiny_published).connect() as connection,
        pytest.raises(OperationalError, match="readonly"),
    ):
        connection.execute(text("DELETE FROM orders"))
    with (
        closing(shop.read_only(tiny_published)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("DELETE FROM orders")
    assert shop.counts(tiny_published)["orders"] == 4
