"""The check of the LIMIT guard: on right answers, differently written right ones, and wrong ones."""

import re

import pytest
from checking import says

from course_utils.teaching import tasks

SQL = tasks.sql


def limit_by_parser(sql, n=50):
    import sqlglot

    tree = sqlglot.parse_one(sql, read="sqlite")
    return sql if tree.args.get("limit") else tree.limit(n).sql(dialect="sqlite")


def limit_by_lexer(sql, n=50):
    text = re.sub(r"'[^']*'|--[^\n]*|/\*.*?\*/", lambda found: " " * len(found[0]), sql, flags=re.S)
    while re.search(r"\([^()]*\)", text):
        text = re.sub(r"\([^()]*\)", lambda found: " " * len(found[0]), text)
    if re.search(r"\blimit\s+\d", text, re.I):
        return sql
    end = text.rstrip().rstrip(";").rstrip()
    return f"{sql[: len(end)]}\nLIMIT {n}"


def limit_by_regex(sql, n=50):
    return sql if re.search(r"\blimit\b", sql, re.I) else f"{sql} LIMIT {n}"


def limit_by_regex_no_semicolon(sql, n=50):
    return limit_by_regex(sql.strip().rstrip(";"), n)


def limit_at_the_end(sql, n=50):
    text = sql.strip().rstrip(";").rstrip()
    if re.search(r"\blimit\s+\d+(\s+offset\s+\d+)?\s*$", text, re.I):
        return sql
    return f"{text}\nLIMIT {n}"


def limit_wrapped(sql, n=50):
    inner = sql.strip().rstrip(";")
    return f"SELECT * FROM ({inner}\n) LIMIT {n}"


@pytest.mark.parametrize("answer", [limit_by_parser, limit_by_lexer])
def test_limit_guard_right(answer):
    says(SQL.limit_guard.check(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        (limit_by_regex, 1, "semicolon"),
        (limit_by_regex_no_semicolon, 1, "subquery"),
        (lambda sql, n=50: sql if "limit" in sql.lower() else limit_by_parser(sql, n), 1, "subquery"),
        (lambda sql, n=50: sql if "LIMIT " in sql else limit_by_parser(sql, n), 1, "subquery"),
        (lambda sql, n=50: limit_by_parser(sql, 50), 0, "n=5, not the default"),
        (limit_at_the_end, 1, "`limit 5` stands in a comment"),
        (lambda sql, n=50: sql, 0, "800"),
        (lambda sql, n=50: f"{sql} LIMIT {n}", 0, "has its own LIMIT"),
        (lambda sql, n=50: "SELECT 1", 0, "only 1 rows"),
        (lambda sql, n=50: sql.split(), 0, "type list"),
        (lambda sql, n=50: limit_by_parser(sql, n) if "LIMIT" not in sql else None, 0, "forget `return`"),
    ],
)
def test_limit_guard_wrong(answer, points, fragment):
    if fragment == "800":  # as many rows as the shop has customers
        fragment = "and should have 50"
    says(SQL.limit_guard.check(answer), points, fragment)


def test_limit_guard_names_a_larger_own_limit():
    says(SQL.limit_guard.check(limit_wrapped), 1, "larger than n")


@pytest.mark.parametrize(
    ("shortcut", "fragment"),
    [
        (lambda sql: "'no limit'" in sql, "text between quotes"),
        (lambda sql: "-- no" in sql, "comment"),
        (lambda sql: "limit_price" in sql, "name of a column"),
        (lambda sql: "-- limit 5" in sql, "`limit 5` stands in a comment"),
    ],
)
def test_limit_guard_names_each_trap(shortcut, fragment):
    says(
        SQL.limit_guard.check(lambda sql, n=50: sql if shortcut(sql) else limit_by_parser(sql, n)),
        1,
        fragment,
    )


def test_limit_guard_names_lower_case():
    def answer(sql, n=50):
        return f"{sql} LIMIT {n}" if sql.endswith("limit 9") else limit_by_parser(sql, n)

    says(SQL.limit_guard.check(answer), 1, "lower case")


@pytest.mark.parametrize(
    ("end", "fragment"), [("-- five", "followed by a comment"), ("LIMIT 10, 5", "has two numbers")]
)
def test_limit_guard_names_an_own_limit_written_otherwise(end, fragment):
    def answer(sql, n=50):
        return f"{sql}\nLIMIT {n}" if sql.endswith(end) else limit_by_parser(sql, n)

    says(SQL.limit_guard.check(answer), 1, fragment)
