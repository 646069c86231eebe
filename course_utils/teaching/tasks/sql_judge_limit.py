"""Judge of the LIMIT guard of exercise 01."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks import sql_gold
from course_utils.teaching.tasks.judge_shared import forgot_return
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
    skips: int = 0


_PLAIN = (
    Limited("SELECT id, name FROM customers ORDER BY id", 50, "a plain query without a LIMIT"),
    Limited(
        "SELECT id, name FROM customers ORDER BY id LIMIT 7",
        7,
        "a query that has its own LIMIT and should come back as it is",
        bare="SELECT id, name FROM customers ORDER BY id",
    ),
    Limited("SELECT id FROM products ORDER BY id", 5, "a call with n=5, not the default", n=5),
)
_TRAPS = (
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
        "SELECT id, city FROM customers ORDER BY id -- limit 5",
        50,
        "`limit 5` stands in a comment at the end, so the query has none",
    ),
    Limited(
        "SELECT id, name FROM customers ORDER BY id LIMIT 5 -- five",
        5,
        "the query's own LIMIT is followed by a comment",
        bare="SELECT id, name FROM customers ORDER BY id",
    ),
    Limited(
        "SELECT id, name FROM customers ORDER BY id LIMIT 10, 5",
        5,
        "the query's own LIMIT has two numbers: skip ten, take five",
        bare="SELECT id, name FROM customers ORDER BY id",
        skips=10,
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
        return forgot_return("add_limit")
    if not isinstance(sql, str):
        return f"`add_limit` returns a value of type {call.get('type')}, not the SQL as a text"
    got = run_on(path, sql, _MAX_ROWS)
    if "refused" in got:
        return f"what `add_limit` returns does not run ({got['refused']})"
    every = sql_gold.rows(path, case.bare or case.sql)[1]
    if got["rows"] == every[case.skips : case.skips + case.keeps]:
        return ""
    if len(got["rows"]) > case.keeps:
        return f"its result has {len(got['rows'])} rows, and should have {case.keeps}"
    if len(got["rows"]) < case.keeps:
        return f"only {len(got['rows'])} rows come back, and {case.keeps} should"
    return "the rows are not those of the query that went in"
