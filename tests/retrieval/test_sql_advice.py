"""What is said of SQL that runs and may be wrong: fan-out, cut fractions, ORDER BY a text, near values."""

import pytest
import sql_shops

from course_utils.retrieval.sql_advice import compared_texts, near_values, warnings_for
from course_utils.retrieval.sql_schema import read_tables


def warned(sql, db=None):
    return warnings_for(sql, read_tables(db or sql_shops.safe("tiny")))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(amount) FROM orders JOIN order_items ON orders.id = order_id",
        "SELECT SUM(o.amount) FROM orders o, order_items i WHERE i.order_id = o.id",
        "SELECT c.city, AVG(o.amount) FROM orders o JOIN customers c ON c.id = o.customer_id "
        "LEFT JOIN order_items i ON i.order_id = o.id GROUP BY c.city",
        "WITH x AS (SELECT SUM(amount) FROM orders o JOIN order_items ON o.id = order_id) SELECT * FROM x",
        "SELECT SUM(i.qty) FROM products p JOIN order_items i ON i.product_id = p.id JOIN refunds r ON 1 "
        "JOIN orders o ON o.id = r.order_id WHERE (SELECT SUM(q.amount) FROM orders q JOIN refunds s "
        "ON s.order_id = q.id) > 0",
    ],
)
def test_a_sum_that_a_join_repeats(sql):
    (warning,) = warned(sql)
    assert "fan-out" in warning and "orders" in warning


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(o.amount) FROM orders o JOIN customers c ON c.id = o.customer_id",
        "SELECT SUM(i.qty * i.unit_price) FROM orders o JOIN order_items i ON i.order_id = o.id",
        "SELECT SUM(amount) FROM orders o WHERE EXISTS (SELECT 1 FROM order_items i WHERE i.order_id = o.id)",
        "SELECT SUM(amount) FROM orders WHERE id IN (SELECT order_id FROM order_items)",
        "SELECT SUM(o.amount) FROM orders o JOIN (SELECT order_id, SUM(qty) q FROM order_items GROUP BY 1) i "
        "ON i.order_id = o.id",
        "SELECT SUM(o.amount) FROM orders o JOIN order_items i ON i.order_id = o.id WHERE i.product_id = 12",
        "SELECT MAX(o.amount), COUNT(*) FROM orders o JOIN order_items i ON i.order_id = o.id",
        "SELECT SUM(DISTINCT o.amount) FROM orders o JOIN order_items i ON i.order_id = o.id",
    ],
)
def test_a_sum_that_is_sound(sql):
    assert warned(sql) == ()


def test_chinook_revenue_doubled_by_its_lines():
    db = sql_shops.chinook()
    doubled = "SELECT SUM(i.Total) FROM Invoice i JOIN InvoiceLine l USING(InvoiceId)"
    assert round(db.run(doubled)[0][0], 2) == 20848.62
    assert "fan-out" in warned(doubled, db)[0]
    assert round(db.run("SELECT SUM(Total) FROM Invoice")[0][0], 2) == 2328.60
    assert warned("SELECT SUM(Total) FROM Invoice", db) == ()


@pytest.mark.parametrize(
    "ratio",
    [
        "COUNT(CASE WHEN tier = 'gold' THEN 1 END) / COUNT(*)",
        "SUM(tier = 'gold') / COUNT(*)",
        "SUM(CASE WHEN tier = 'gold' THEN 1 ELSE 0 END) * 100 / COUNT(*)",
        "ROUND(COUNT(*) FILTER (WHERE tier = 'gold') / COUNT(*), 2)",
        "(SELECT COUNT(*) FROM customers WHERE tier = 'gold') / (SELECT COUNT(*) FROM customers)",
        "SUM(id) / COUNT(id)",
    ],
)
def test_a_fraction_that_is_cut_off(ratio):
    (warning,) = warned(f"SELECT {ratio} FROM customers")
    assert "1.0 * a / b" in warning


def test_a_fraction_cut_off_between_two_steps():
    steps = "WITH a AS (SELECT COUNT(*) AS n FROM orders), b AS (SELECT COUNT(*) AS m FROM customers)"
    assert "fraction" in warned(f"{steps} SELECT n / m FROM a, b")[0]


@pytest.mark.parametrize(
    "ratio",
    [
        "1.0 * COUNT(*) / COUNT(*)",
        "CAST(COUNT(*) AS REAL) / COUNT(*)",
        "AVG(tier = 'gold')",
        "SUM(amount) / COUNT(*)",
        "COUNT(*) / 2.0",
        "(CAST(strftime('%m', ordered_on) AS INTEGER) + 2) / 3",
        "unknown_column / other_column",
    ],
)
def test_a_fraction_that_is_whole_or_meant(ratio):
    assert warned(f"SELECT {ratio} FROM orders, customers") == ()


def test_share_of_chinook_customers_in_the_usa():
    db = sql_shops.chinook()
    sql = "SELECT COUNT(CASE WHEN Country = 'USA' THEN 1 END) {} / COUNT(*) FROM Customer"
    assert db.run(sql.format(""))[0][0] == 0 and "fraction" in warned(sql.format(""), db)[0]
    assert round(db.run(sql.format("* 1.0"))[0][0], 4) == 0.2203 and warned(sql.format("* 1.0"), db) == ()


def test_sorting_by_a_text_in_quotes():
    db = sql_shops.chinook()
    sql = (
        "SELECT SUM(Total) AS 'Total Sales', BillingCountry FROM Invoice GROUP BY 2 ORDER BY {} DESC LIMIT 1"
    )
    assert "sorts nothing" in warned(sql.format("'Total Sales'"), db)[0]
    assert db.run(sql.format("'Total Sales'"))[0][1] != "USA"
    right = sql.format('"Total Sales"')
    assert warned(right, db) == () and [round(db.run(right)[0][0], 2), db.run(right)[0][1]] == [523.06, "USA"]


@pytest.mark.parametrize("sql", ["SELEC name", "", "SELECT (", "DROP TABLE orders", "(" * 3000])
def test_what_cannot_be_parsed_is_not_warned_of(sql):
    assert warned(sql) == () and compared_texts(sql, ()) == []


def test_a_text_that_is_stored_otherwise():
    db = sql_shops.safe("tiny")
    declared = read_tables(db)

    def near(where):
        return near_values(
            db,
            f"SELECT COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id WHERE {where}",
            declared,
        )

    assert near("c.city = 'pune'") == ("customers.city has no 'pune'; near it stands 'Pune'",)
    assert near("'PAID' = o.status") == ("orders.status has no 'PAID'; near it stands 'paid'",)
    assert near("city IN ('Delhi', 'pune')") == ("customers.city has no 'pune'; near it stands 'Pune'",)
    assert near("c.city = 'Pune' AND o.amount > 9000") == ()
    assert near("c.city = 'Timbuktu'") == () and near("o.ordered_on = '2026-01-13'") == ()


def test_accents_in_chinook():
    db = sql_shops.chinook()
    sql = "SELECT * FROM Artist WHERE Name = 'Antonio Carlos Jobim'"
    assert len(db.run(sql)) == 0
    (said,) = near_values(db, sql, read_tables(db))
    assert "Antônio Carlos Jobim" in said
