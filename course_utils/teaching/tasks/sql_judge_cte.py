"""Judge of the guard of exercise 01 that understands WITH."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks import sql_gold
from course_utils.teaching.tasks.sql_probes import run_on
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_MAX_ROWS = 2_000
_PASSES = "It lets this pass"


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
    Query("SELECT name, ';' AS mark FROM products ORDER BY id LIMIT 2", "a semicolon inside a text"),
    Query("SELECT COUNT(*) FROM orders -- paid; refunded; pending", "semicolons inside a comment"),
)
_BAD = (
    Query("DROP TABLE orders", "DROP TABLE"),
    Query("DELETE FROM orders", "DELETE"),
    Query("UPDATE orders SET amount = 0", "UPDATE"),
    Query("INSERT INTO customers (id, name) VALUES (99999, 'Eve')", "INSERT"),
    Query("REPLACE INTO customers (id, name) VALUES (1, 'Eve')", "REPLACE INTO"),
    Query("PRAGMA table_info(customers)", "PRAGMA"),
    Query("ATTACH DATABASE 'other.db' AS other", "ATTACH"),
    Query("SELEC name FROM customers", "SELEC, which is no SQL"),
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
        if all(text.startswith(_PASSES) for text in (*bad, *bad_with)):
            text = "Every bad query gets through: a guard that refuses nothing guards nothing. "
            return Verdict(0, NOT_YET, text + bad[0], 1)
        reads_with, with_refused = not good[1], "raised" in report["calls"][1]
        points = (not any(good)) + (not any(bad)) + (reads_with and not any(bad_with))
        trouble = next((text for text in (*good, *bad, *bad_with) if text), "")
        if not trouble:
            return Verdict(3, PASSED, "Every query that reads gets through, and none that writes.")
        if with_refused and not any(bad_with):
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
        returned, kind = call["returned"], str(call.get("type"))
        if (
            isinstance(returned, str)
            and returned.strip() != query.sql.strip()
            and "error" in returned.lower()
        ):
            return f"For {query.says} it returns a text that speaks of an error: raise ValueError instead."
        if kind.endswith(("Error", "Exception")):
            return f"For {query.says} it returns a {kind}: raise it instead."
        return f"{_PASSES}: {query.says}."
    if "ValueError" in call["raised"].get("bases", ()):
        return ""
    kind = call["raised"].get("type")
    return f"On {query.says} it stops with {kind}: raise ValueError with the reason, as the caller expects."
