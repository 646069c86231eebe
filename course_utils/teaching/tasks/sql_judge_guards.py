"""Judges of the two guards of exercise 01: LIMIT, and WITH."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks import sql_gold
from course_utils.teaching.tasks.sql_probes import run_on
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_MAX_ROWS = 2_000


@dataclass(frozen=True)
class Limited:
    """A query for add_limit: `n` rows of `sql` without its LIMIT are right; `says` names the trap."""

    sql: str
    keeps: int
    says: str
    n: int | None = None
    bare: str = ""


_PLAIN = (
    Limited("SELECT id, name FROM customers ORDER BY id", 50, "a plain query without a LIMIT"),
    Limited(
        "SELECT id, name FROM customers ORDER BY id LIMIT 7",
        7,
        "a query that has its own LIMIT and should come back as it is",
        bare="SELECT id, name FROM customers ORDER BY id",
    ),
)
_TRAPS = (
    Limited("SELECT id FROM products ORDER BY id", 5, "n is 5 here, not the default", n=5),
    Limited(
        "SELECT id FROM customers ORDER BY id LIMIT 80",
        80,
        "the query's own LIMIT is larger than n, and stays all the same",
        bare="SELECT id FROM customers ORDER BY id",
    ),
    Limited(
        "SELECT id FROM customers ORDER BY id;\n",
        50,
        "the query ends with a semicolon and a line break: what follows a semicolon is a second statement",
    ),
    Limited(
        "SELECT id, name FROM customers WHERE id IN (SELECT customer_id FROM orders ORDER BY id LIMIT 600) "
        "ORDER BY id",
        50,
        "the LIMIT belongs to a subquery, so the outer query has none",
    ),
    Limited(
        "SELECT id, 'no limit' AS note FROM customers ORDER BY id",
        50,
        "the word limit stands in a text between quotes, which is no clause",
    ),
    Limited(
        "SELECT id, city FROM customers ORDER BY id -- no LIMIT here",
        50,
        "the word LIMIT stands in a comment at the end, and a LIMIT appended to that line is comment too",
    ),
    Limited(
        "SELECT id, price AS limit_price FROM products ORDER BY id",
        50,
        "limit_price is the name of a column, not a clause",
    ),
    Limited(
        "select id, name from customers order by id\nlimit 9",
        9,
        "the query's own limit is written in lower case",
        bare="select id, name from customers order by id",
    ),
)


class LimitGuard:
    """add_limit(sql, n=50): one point for plain queries, one for all traps."""

    def inputs(self) -> dict[str, Any]:
        """Return the queries, with n where it is not the default, and the shop they run on."""
        cases = [[case.sql] if case.n is None else [case.sql, case.n] for case in (*_PLAIN, *_TRAPS)]
        return {"cases": [{"args": args} for args in cases], "shop": sql_gold.shops()["shop"]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Run what add_limit returned and compare the rows with the right number of right rows."""
        cases = (*_PLAIN, *_TRAPS)
        troubles = [
            _limit_trouble(call, case, inputs["shop"])
            for call, case in zip(report["calls"], cases, strict=True)
        ]
        plain, traps = troubles[: len(_PLAIN)], troubles[len(_PLAIN) :]
        for trouble, case in zip(plain, _PLAIN, strict=True):
            if trouble:
                return Verdict(0, NOT_YET, f"First {case.says}: {trouble}.", 1)
        caught = [(case, trouble) for case, trouble in zip(_TRAPS, traps, strict=True) if trouble]
        if not caught:
            return Verdict(2, PASSED, "Plain queries and all traps: each returns the right rows.")
        case, trouble = caught[0]
        score = f"{len(_TRAPS) - len(caught)} of {len(_TRAPS)} traps are passed."
        text = f"Plain queries are right. A trap: {case.says}. Here {trouble}. {score}"
        return Verdict(1, NOT_YET, text, 2)


def _limit_trouble(call: Mapping[str, Any], case: Limited, path: str) -> str:
    """Return what went wrong with one query, "" if nothing did."""
    if "raised" in call:
        return f"`add_limit` stops {explain_error(call['raised'])}".rstrip(".")
    sql = call["returned"]
    if sql is None:
        return "`add_limit` returns None: did you forget `return` on one of its ways out?"
    if not isinstance(sql, str):
        return f"`add_limit` returns a value of type {call.get('type')}, not the SQL as a text"
    got = run_on(path, sql, _MAX_ROWS)
    if "refused" in got:
        return f"what `add_limit` returns does not run ({got['refused']})"
    every = sql_gold.rows(path, case.bare or case.sql)[1]
    if got["rows"] == every[: case.keeps]:
        return ""
    if len(got["rows"]) > case.keeps:
        return f"its result has {len(got['rows'])} rows, and should have {case.keeps}"
    if len(got["rows"]) < case.keeps:
        return f"only {len(got['rows'])} rows come back, and {case.keeps} should"
    return "the rows are not those of the query that went in"


@dataclass(frozen=True)
class Query:
    """A query for guard, and in words what is particular about it."""

    sql: str
    says: str


_GOOD = (
    Query("SELECT name, city FROM customers ORDER BY id LIMIT 3", "a plain SELECT"),
    Query(
        "WITH paid AS (SELECT customer_id, amount FROM orders WHERE status = 'paid') "
        "SELECT COUNT(*) FROM paid",
        "a WITH that only reads",
    ),
    Query("VALUES (1, 'gold'), (2, 'silver')", "VALUES, which reads nothing but what it holds"),
    Query("SELECT 'please delete or update me' AS note", "words that write, inside a text"),
    Query("SELECT id AS update_count FROM products ORDER BY id LIMIT 2", "a column called update_count"),
    Query("SELECT id FROM orders ORDER BY id LIMIT 2 -- drop this filter later", "drop, inside a comment"),
    Query("SELECT replace(name, 'a', 'o') FROM products ORDER BY id LIMIT 2", "the function replace()"),
    Query("SELECT city FROM customers UNION SELECT name FROM products ORDER BY 1 LIMIT 3", "a UNION"),
    Query("SELECT COUNT(*) FROM orders;", "one statement with its semicolon"),
)
_BAD = (
    Query("DROP TABLE orders", "DROP TABLE"),
    Query("DELETE FROM orders", "DELETE"),
    Query("UPDATE orders SET amount = 0", "UPDATE"),
    Query("INSERT INTO customers (id, name) VALUES (99999, 'Eve')", "INSERT"),
    Query("REPLACE INTO customers (id, name) VALUES (1, 'Eve')", "REPLACE INTO"),
    Query("PRAGMA table_info(customers)", "PRAGMA"),
    Query("ATTACH DATABASE 'other.db' AS other", "ATTACH"),
    Query("SELECT 1; DELETE FROM orders", "two statements"),
    Query("SELECT id FROM orders -- all of them\n; DELETE FROM orders", "a second statement after a comment"),
    Query("SELECT 1 /* ; */ ; DROP TABLE orders", "a second statement behind a comment with a semicolon"),
)
_BAD_WITH = (
    Query(
        "WITH gone AS (SELECT id FROM orders) DELETE FROM orders WHERE id IN (SELECT id FROM gone)",
        "a WITH that ends in DELETE",
    ),
    Query(
        "with new as (select 99999 as id, 'Eve' as name) "
        "insert into customers (id, name) select id, name from new",
        "a WITH that ends in INSERT",
    ),
    Query(
        "WITH paid AS (SELECT id FROM orders) UPDATE orders SET amount = 0 WHERE id IN (SELECT id FROM paid)",
        "a WITH that ends in UPDATE",
    ),
)


class CteGuard:
    """guard(sql): a point each for the good ones, the plain bad ones, and WITH told apart."""

    def inputs(self) -> dict[str, Any]:
        """Return the queries, good and bad, and the shop that shows whether a good one came back whole."""
        cases = [{"sql": query.sql} for query in (*_GOOD, *_BAD, *_BAD_WITH)]
        return {"cases": cases, "shop": sql_gold.shops()["shop"]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """A good query must come back with its rows, a bad one must end in a ValueError."""
        calls = list(report["calls"])
        if len(calls) != len(inputs["cases"]):
            raise ValueError("one outcome for each query was expected")
        if all(call.get("type") == "bool" for call in calls if "raised" not in call) and "type" in calls[0]:
            text = (
                "`guard` returns True or False: return the SQL that may run, and raise ValueError otherwise."
            )
            return Verdict(0, NOT_YET, text, 1)
        refuses_all = all("raised" in call for call in calls[: len(_GOOD)])
        good = [_good_trouble(call, query, inputs["shop"]) for query, call in zip(_GOOD, calls, strict=False)]
        calls = calls[len(_GOOD) :]
        bad = [_bad_trouble(call, query) for query, call in zip(_BAD, calls, strict=False)]
        calls = calls[len(_BAD) :]
        bad_with = [_bad_trouble(call, query) for query, call in zip(_BAD_WITH, calls, strict=True)]
        if refuses_all:
            text = "No good query gets through. A guard that refuses everything is safe and useless. "
            return Verdict(0, NOT_YET, text + good[0], 1)
        if all(bad) and all(bad_with):
            text = "Every bad query gets through: a guard that refuses nothing guards nothing. "
            return Verdict(0, NOT_YET, text + bad[0], 1)
        reads_with = not good[1]
        points = (not any(good)) + (not any(bad)) + (reads_with and not any(bad_with))
        trouble = next((text for text in (*good, *bad, *bad_with) if text), "")
        if not trouble:
            return Verdict(3, PASSED, "Every query that reads gets through, and none that writes.")
        if not reads_with and not any(bad_with):
            trouble += " It refuses every WITH, so it has not told those that write from those that read."
        return Verdict(points, NOT_YET, trouble, 2 if not reads_with or any(bad_with) else 3)


def _good_trouble(call: Mapping[str, Any], query: Query, path: str) -> str:
    if "raised" in call:
        return f"It refuses {query.says}, {explain_error(call['raised'])}"
    sql = call["returned"]
    if not isinstance(sql, str):
        kind = "None" if sql is None else f"a value of type {call.get('type')}"
        return f"It lets {query.says} pass, but returns {kind}: return the SQL."
    got = run_on(path, sql, _MAX_ROWS)
    if "refused" in got:
        return f"It lets {query.says} pass, but what it returns does not run ({got['refused']})."
    if got["rows"] != sql_gold.rows(path, query.sql)[1]:
        return (
            f"It lets {query.says} pass, but the SQL it returns brings other rows than the one that went in."
        )
    return ""


def _bad_trouble(call: Mapping[str, Any], query: Query) -> str:
    if "raised" not in call:
        return f"It lets this pass: {query.says}."
    if "ValueError" in call["raised"].get("bases", ()):
        return ""
    kind = call["raised"].get("type")
    return f"On {query.says} it stops with {kind}: raise ValueError with the reason, as the caller expects."
