"""Refusals and failures as a person or a model reads them: a reason, and what to write instead."""

import sqlite3
import traceback

import pytest
from guard_shop import made, refused

from course_utils.retrieval.sql_guard import QueryFailed, UnsafeSQL, check_sql

# check_sql with tables: SQLite compiles, nothing runs

TABLES = {"customers": ("id", "name", "city"), "Order Details": ("OrderID", "Unit Price")}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c.name FROM customers AS c WHERE c.city = :city",
        "SELECT name FROM customers WHERE id IN (?, ?2, $n)",
        'SELECT "Unit Price" FROM "Order Details"',
        "SELECT [Unit Price] FROM [Order Details]",
        "EXPLAIN QUERY PLAN SELECT name FROM customers",
    ],
)
def test_check_sql_with_tables_accepts(sql):
    assert check_sql(sql, TABLES) == sql


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT name FROM custmers", "forbidden table: custmers"),
        ("SELECT c.nmae FROM customers c", "forbidden column: customers.nmae"),
        ('SELECT "nmae" FROM customers', "forbidden column: customers.nmae"),
        ("SELECT load_extension('x')", "forbidden function: load_extension"),
        ("SELECT name FROM sqlite_master", "forbidden table: sqlite_master"),
    ],
)
def test_check_sql_with_tables_refuses(sql, reason):
    assert refused(lambda sql: check_sql(sql, TABLES), sql).reason == reason


def test_check_sql_with_tables_finds_syntax_errors():
    assert "syntax error" in refused(lambda sql: check_sql(sql, TABLES), "SELECT FROM", QueryFailed).reason


# messages


def test_unknown_and_unpublished_tables_are_worded_alike(db):
    hidden = refused(db.run, "SELECT note FROM staff_notes")
    unknown = refused(db.run, "SELECT note FROM stafff_nites")
    assert hidden.reason == "forbidden table: staff_notes"
    assert unknown.reason == "forbidden table: stafff_nites"
    assert hidden.hint == unknown.hint


def test_unknown_and_unpublished_columns_are_worded_alike(db):
    hidden = refused(db.run, "SELECT email FROM customers")
    unknown = refused(db.run, "SELECT eqail FROM customers")
    assert hidden.reason == "forbidden column: customers.email"
    assert unknown.reason == "forbidden column: customers.eqail"
    assert hidden.hint == unknown.hint


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT * FROM custmers", "Did you mean customers?"),
        ("SELECT * FROM order_item", "Did you mean order_items?"),
        ("SELECT o.order_dat FROM orders o", "Did you mean order_date?"),
        ("SELECT c.status FROM customers c", "status is a column of orders, tickets"),
        ('SELECT name FROM customers WHERE "tir" = 1', "Did you mean tier?"),
        ('SELECT "Berlin" FROM customers', "single quotes: 'Berlin'"),
        ("SELECT DATEADD(year, -1, GETDATE())", "date('now', '-1 year')"),
        ("SELECT NOW()", "date('now')"),
        ("SELECT DATE_TRUNC('month', order_date) FROM orders", "start of month"),
        ("SELECT EXTRACT(YEAR FROM order_date) FROM orders", "strftime('%Y', d)"),
        ("SELECT TOP 5 name FROM products", "LIMIT n"),
        ("SELECT name FROM products WHERE name ILIKE '%a%'", "LIKE ignores the case"),
        ("SELECT price::int FROM products", "CAST(x AS INTEGER)"),
        ("SELECT LEFT(name, 3) FROM products", "substr(x, 1, 3)"),
        ("SELECT RIGHT(name, 3) FROM products", "substr(x, -3)"),
        ("SELECT DATEDIFF(order_date, '2024-01-01') FROM orders", "julianday"),
        ("SELECT TO_CHAR(order_date, 'YYYY') FROM orders", "strftime"),
        ("SELECT ISNULL(city, 'x') FROM customers", "ifnull"),
        ("SELECT YEAR(order_date) FROM orders", "strftime('%Y', d)"),
        ("SELECT MONTH(order_date) FROM orders", "strftime('%m', d)"),
        ("SELECT SUBSTRING_INDEX(name, ' ', 1) FROM customers", "instr(text, part)"),
        ("SELECT date('now') - INTERVAL 1 DAY", "modifiers"),
        ("SELECT name FROM customers WHERE name REGEXP 'a'", "GLOB"),
        ("```sql\nSELECT name FROM products\n```", "Markdown fence"),
        ("Here is the query: SELECT name FROM products", "Remove what stands before"),
        ("(SELECT 1) UNION (SELECT 2)", "never with a parenthesis"),
        ("SELECT name\u00a0FROM products", "U+00A0"),
        ("SHOW TABLES", "schema"),
        ("SELECT name FROM products # x", "no # comments"),
        ("SELECT name INTO t FROM products", "INTO writes"),
        ("SELECT name FROM products FETCH FIRST 5 ROWS ONLY", "LIMIT n"),
        ("SELECT id FROM orders JOIN customers ON customer_id = customers.id", "table's name or alias"),
        ("SELECT name FROM products WHERE SUM(price) > 1", "HAVING"),
        ("SELECT title FROM articles_fts WHERE articles_fts MATCH '\"'", "full-text search"),
        (f"SELECT name FROM products WHERE name LIKE '%{'a' * 90}%'", "80 bytes"),
    ],
)
def test_a_hint_says_what_to_write_instead(db, sql, hint):
    assert hint in refused(db.run, sql, (UnsafeSQL, QueryFailed)).hint


@pytest.mark.skipif(sqlite3.sqlite_version_info >= (3, 44), reason="this SQLite has both functions")
@pytest.mark.parametrize(
    ("call", "hint"), [("CONCAT(name, city)", "||"), ("STRING_AGG(name, ',')", "group_concat")]
)
def test_a_hint_for_functions_that_came_late(db, call, hint):
    assert hint in refused(db.run, f"SELECT {call} FROM customers").hint


def test_close_but_wrong_column_beside_a_foreign_function(tmp_path):
    with made(tmp_path, "CREATE TABLE item (id INTEGER, purchdate TEXT);") as db:
        sql = "SELECT COUNT(*) FROM item WHERE purchasedate < DATEADD(year,-1,GETDATE())"
        error = refused(db.run, sql)
        assert error.reason == "forbidden column: item.purchasedate"
        assert "Did you mean purchdate?" in error.hint
        assert "date('now', '-1 year')" in error.hint


def test_hint_shows_in_a_traceback(db):
    error = refused(db.run, "SELECT nmae FROM customers")
    shown = "".join(traceback.format_exception(error))
    assert "forbidden column: customers.nmae" in shown and "Did you mean name?" in shown
    assert isinstance(error, ValueError)


def test_text_in_double_quotes_is_taken_as_sqlite_takes_it(db):
    assert len(db.run('SELECT name FROM customers WHERE city = "Berlin"')) == 3
    assert len(db.run('SELECT name FROM customers WHERE tier IN ("gold", "basic")')) == 8
    assert db.run('SELECT strftime("%Y", order_date) FROM orders LIMIT 1')[0] == ("2024",)


def test_using_a_column_of_one_side_only_is_told_to_use_on(db):
    sql = "SELECT c.tier FROM customers c JOIN v_order_totals t USING (customer_id)"
    error = refused(db.run, sql)
    assert error.reason == "forbidden column: customer_id"
    assert "JOIN … ON" in error.hint and "Did you mean" not in error.hint


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT orders.id FROM orders o", "use the table's alias"),
        ("WITH t AS (SELECT id AS cid FROM customers) SELECT id FROM t", "the name that a subquery gives"),
        ("SELECT id FROM customers WHERE city = Berlin", "single quotes: 'Berlin'"),
        ("SELECT * FROM generate_series(1, 10)", "WITH RECURSIVE"),
        ("SELECT region, COUNT(*) FROM orders GROUP BY ROLLUP(region)", "UNION ALL"),
        ("SELECT DISTINCT ON (city) name FROM customers", "row_number()"),
        ("SELECT name FROM customers WHERE id = :id", "write it out"),
        ("SELECT group_concat(DISTINCT name, ', ') FROM customers", "takes one value"),
        ("SELECT name FROM customers\n```", "Remove the Markdown fence"),
        ("SELECT id FROM orders WHERE id = {order_id}", "Write the values themselves"),
    ],
)
def test_slips_of_a_model_are_told_apart(db, sql, hint):
    error = refused(db.run, sql, (UnsafeSQL, QueryFailed))
    assert hint in error.hint, (error.reason, error.hint)
    assert "Did you mean id?" not in error.hint


def test_a_long_search_among_the_parameters_is_refused_too(db):
    sql = "SELECT title FROM articles_fts WHERE articles_fts MATCH ?"
    assert len(db.run(sql, ("lamp",))) == 8
    with pytest.raises(UnsafeSQL, match="search too long"):
        db.run(sql, (" ".join(f"{letter}*" for letter in "abcdefgh"),))
