"""The check of the guard that understands WITH: on right answers and on wrong ones."""

import re

import pytest
from checking import says

from course_utils.teaching import tasks

SQL = tasks.sql


def guard_by_parser(sql):
    import sqlglot
    from sqlglot import exp

    try:
        trees = [t for t in sqlglot.parse(sql, read="sqlite") if t and not isinstance(t, exp.Semicolon)]
    except sqlglot.errors.ParseError as error:
        raise ValueError("cannot be parsed") from error
    if len(trees) != 1 or not isinstance(trees[0], (exp.Query, exp.Values)):
        raise ValueError("only one statement, and only one that reads")
    return sql


def guard_of_the_course(sql):
    from course_utils.retrieval.sql_guard import check_sql

    return check_sql(sql)


def guard_by_sqlite(sql):
    """Let SQLite itself say what a statement does, on an empty copy of the tables."""
    import sqlite3

    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE customers (id, name, city)")
    db.execute("CREATE TABLE orders (id, customer_id, status, amount)")
    db.execute("CREATE TABLE products (id, name, price)")
    reads = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in reads else sqlite3.SQLITE_DENY)
    try:
        db.execute(sql)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise ValueError(str(error)) from error
    finally:
        db.close()
    return sql


def guard_by_regex(sql):
    body = sql.strip().rstrip(";")
    if ";" in body:
        raise ValueError("multiple statements")
    if not body.lower().startswith("select"):
        raise ValueError("only SELECT")
    if re.search(r"\b(insert|update|delete|drop|alter|create|attach|pragma|replace)\b", body, re.I):
        raise ValueError("forbidden keyword")
    return body


def guard_first_word(sql):
    if sql.split()[0].upper() not in ("SELECT", "WITH", "VALUES"):
        raise ValueError("only SELECT")
    return sql


def refuses_everything(sql):
    raise ValueError("no")


def stops_with_key_error(sql):
    if guard_by_parser(sql) and "replace(" in sql:
        return sql
    return {"a": 1}[sql]


def refuses_with_runtime_error(sql):
    try:
        return guard_by_parser(sql)
    except ValueError as error:
        raise RuntimeError("unsafe") from error


def returns_the_error(sql):
    try:
        return guard_by_parser(sql)
    except ValueError as error:
        return error


def returns_a_text(sql):
    try:
        return guard_by_parser(sql)
    except ValueError as error:
        return f"ValueError: {error}"


def no_semicolon(sql):
    if ";" in sql.strip().rstrip(";"):
        raise ValueError("one statement only")
    return guard_by_parser(sql)


def parse_error_gets_out(sql):
    import sqlglot

    sqlglot.parse(sql, read="sqlite")
    return guard_by_parser(sql)


def refuses_every_with(sql):
    if sql.lower().startswith("with"):
        raise ValueError("no WITH")
    return guard_by_parser(sql)


@pytest.mark.parametrize("answer", [guard_by_parser, guard_of_the_course, guard_by_sqlite])
def test_cte_guard_right(answer):
    says(SQL.cte_guard.check(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragments"),
    [
        (guard_by_regex, 1, ["refuses a WITH that only reads"]),
        (guard_first_word, 1, ["two statements"]),
        (lambda sql: None if "replace(" in sql else guard_by_parser(sql), 2, ["returns None"]),
        (refuses_everything, 0, ["refuses everything"]),
        (lambda sql: sql, 0, ["Every bad query gets through"]),
        (lambda sql: "select" in sql.lower(), 0, ["returns True or False"]),
        (returns_the_error, 1, ["it returns a ValueError: raise it"]),
        (returns_a_text, 1, ["a text that speaks of an error"]),
        (lambda sql: None if guard_by_parser(sql).startswith("WITH") else sql, 1, ["returns None"]),
        (no_semicolon, 2, ["a semicolon inside a text"]),
        (parse_error_gets_out, 2, ["SELEC", "ParseError"]),
        (refuses_every_with, 1, ["a WITH that only reads", "It refuses every WITH"]),
        (refuses_with_runtime_error, 1, ["On DROP TABLE it stops with RuntimeError"]),
        (lambda sql: "SELECT 1" if guard_by_parser(sql) else "", 1, ["other rows"]),
        (
            lambda sql: sql if sql.startswith("with") else guard_by_parser(sql),
            2,
            ["WITH that ends in INSERT"],
        ),
        (lambda sql: sql if sql.startswith("SELECT") else guard_by_parser(sql), 2, ["two statements"]),
    ],
)
def test_cte_guard_wrong(answer, points, fragments):
    says(SQL.cte_guard.check(answer), points, *fragments)


def test_cte_guard_says_only_what_is_true():
    """To return None is not to refuse, and to refuse with another error is not to let pass."""
    said = SQL.cte_guard.check(lambda sql: None if sql.startswith("WITH p") else guard_by_parser(sql)).message
    assert "refuses every WITH" not in said
    assert "gets through" not in SQL.cte_guard.check(refuses_with_runtime_error).message
