"""The check of customers per city: on right answers, differently written right ones, and wrong ones."""

import pytest
from checking import says

from course_utils.teaching import tasks

SQL = tasks.sql


PER_CITY = "SELECT city, COUNT(*) FROM customers GROUP BY city"


def typed_in():
    """Return a query with the shop's own right numbers typed in."""
    from course_utils.teaching.tasks import sql_gold

    rows = sql_gold.rows(sql_gold.shops()["shop"], PER_CITY)[1]
    return "VALUES " + ", ".join(f"('{city}', {count})" for city, count in rows)


@pytest.mark.parametrize(
    "reply",
    [
        PER_CITY,
        f"Here you are:\n```sql\n{PER_CITY};\n```\nHope that helps.",
        "SELECT COUNT(id) AS n, city AS town FROM customers GROUP BY 2 ORDER BY n DESC",
        "WITH each AS (SELECT DISTINCT city FROM customers) "
        "SELECT e.city, (SELECT COUNT(*) FROM customers c WHERE c.city = e.city) FROM each e",
        "SELECT c.city, COUNT(DISTINCT c.id) FROM customers c "
        "LEFT JOIN orders o ON o.customer_id = c.id GROUP BY 1",
        "SELECT DISTINCT city, COUNT(*) OVER (PARTITION BY city) FROM customers",
    ],
)
def test_customers_per_city_right(reply):
    says(SQL.customers_per_city.check(reply), 1)


@pytest.mark.parametrize(
    ("reply", "fragment"),
    [
        (
            "SELECT c.city, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.city",
            "count orders",
        ),
        (
            "SELECT c.city, COUNT(DISTINCT c.id) FROM customers c JOIN orders o ON o.customer_id = c.id "
            "GROUP BY c.city",
            "ordered something",
        ),
        ("SELECT city, COUNT(*) FROM customers", "without GROUP BY"),
        (f"{PER_CITY} ORDER BY 2 DESC LIMIT 3", "LIMIT in your query cuts"),
        ("SELECT * FROM customers", "SELECT * brings every column"),
        ("SELECT city, region, COUNT(*) FROM customers GROUP BY city", "your query has 3"),
        ("SELECT COUNT(*) FROM customers GROUP BY city", "2 columns and your query has 1"),
        ("SELECT region, COUNT(*) FROM customers GROUP BY region", "regions"),
        ("SELECT city, COUNT(DISTINCT city) FROM customers GROUP BY city", "counts 1"),
        (
            "SELECT city, COUNT(*) FROM customers WHERE tier = 'gold' GROUP BY city",
            "WHERE in your query leaves",
        ),
        ("SELECT town, COUNT(*) FROM customers GROUP BY town", "does not run"),
        ("DELETE FROM customers", "only SELECT"),
        ("I would count the customers of each city.", "Write the query itself"),
        ("SELECT city, COUNT(referred_by) FROM customers GROUP BY city", "What does COUNT(column) leave out"),
        ("SELECT city, COUNT(DISTINCT name) FROM customers GROUP BY city", "count only once"),
    ],
)
def test_customers_per_city_wrong(reply, fragment):
    says(SQL.customers_per_city.check(reply), 0, fragment)


def test_customers_per_city_typed_in_numbers_fail_on_the_second_shop():
    says(SQL.customers_per_city.check(typed_in()), 0, "typed in")


@pytest.mark.parametrize("reply", ["", "  \n", "```sql\n```", "-- your SQL here", "```sql\n...\n```"])
def test_customers_per_city_untouched(reply):
    says(SQL.customers_per_city.check(reply), 0, state="not attempted")
