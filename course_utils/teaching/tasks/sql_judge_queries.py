"""Judge of the query of exercise 01 that a learner writes: both shops must agree."""

from collections.abc import Mapping
from typing import Any

from course_utils.retrieval.compare import same_rows
from course_utils.teaching.diagnose import Table, difference
from course_utils.teaching.tasks import sql_gold
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_PER_CITY = "SELECT city, COUNT(*) AS customers FROM customers GROUP BY city"
_JOINED = "FROM customers c JOIN orders o ON o.customer_id = c.id"
_OTHER_COUNTS = (
    (
        f"SELECT c.city, COUNT(*) {_JOINED} GROUP BY c.city",
        "The numbers count orders: the join repeats a customer for each order. Count customers.",
    ),
    (
        f"SELECT c.city, COUNT(DISTINCT c.id) {_JOINED} GROUP BY c.city",
        "Only customers who have ordered something are counted. The question asks for all of them.",
    ),
    (
        "SELECT region, COUNT(*) FROM customers GROUP BY region",
        "The groups are regions. The question asks for cities.",
    ),
    (
        "SELECT tier, COUNT(*) FROM customers GROUP BY tier",
        "The groups are tiers. The question asks for cities.",
    ),
    (
        "SELECT city, COUNT(DISTINCT city) FROM customers GROUP BY city",
        "Each city counts 1: what is counted is the city itself, not the customers in it.",
    ),
)


class CustomersPerCity:
    """REPLY: the right rows on the shop and on a second one with other customers."""

    def inputs(self) -> dict[str, Any]:
        """Return the two shops; room for more rows than any right answer has."""
        return {"shops": sql_gold.shops(), "max_rows": 2_000}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare rows as a multiset; column order, names and row order are free."""
        if not report["sql"]:
            why = (report.get("extract") or {}).get("message", "").splitlines()
            why = why[0].removeprefix("no SQL found: ") if why else "it holds none"
            text = f"No SQL could be taken from `REPLY`: {why}. Write the query itself into it."
            return Verdict(0, NOT_YET, text, 1)
        troubles = {}
        for name, path in inputs["shops"].items():
            result = report["results"][name]
            if "refused" in result:
                said = " ".join(part for part in (f"{result['refused']}.", result.get("hint", "")) if part)
                return Verdict(0, NOT_YET, f"The SQL in `REPLY` does not run: {said}", 2)
            got = Table.of(result["columns"], result["rows"], report["sql"])
            troubles[name] = _per_city_trouble(got, path)
        if not any(troubles.values()):
            return Verdict(1, PASSED, "The right rows on both shops.")
        if not troubles["shop"]:
            text = (
                "Right on this shop and wrong on a second one with other customers: are numbers or names "
                "typed in? Let the query count them."
            )
            return Verdict(0, NOT_YET, text, 2)
        return Verdict(0, NOT_YET, troubles["shop"], 2)


def _per_city_trouble(got: Table, path: str) -> str | None:
    want = Table.of(*sql_gold.rows(path, _PER_CITY))
    if same_rows(got, want):
        return None
    for sql, message in _OTHER_COUNTS:
        if same_rows(got, Table.of(*sql_gold.rows(path, sql))):
            return message
    return difference(got, want)
