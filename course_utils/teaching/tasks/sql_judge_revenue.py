"""Judge of the revenue tool of exercise 01: both shops must agree, and no text may become SQL."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks import sql_gold
from course_utils.teaching.tasks.judge_shared import is_number
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_JOINED = "FROM customers c JOIN orders o ON o.customer_id = c.id"
_REVENUE = f"SELECT COALESCE(SUM(o.amount), 0) {_JOINED} WHERE c.city = ?1"
_PAID, _MONTH = " AND o.status = 'paid'", " AND substr(o.ordered_on, 1, 7) = ?2"
_START, _NEXT = "?2 || '-01'", "date(?2 || '-01', '+1 month')"
_OTHER_SUMS = (
    (
        _REVENUE + _MONTH,
        "refunded, cancelled and pending orders are counted too: revenue counts status paid only",
    ),
    (
        f"{_REVENUE}{_PAID} AND o.ordered_on >= {_START} AND o.ordered_on < date({_NEXT}, '-1 day')",
        "the last day of the month is left out",
    ),
    (
        f"{_REVENUE}{_PAID} AND o.ordered_on BETWEEN {_START} AND {_NEXT}",
        "the first day of the next month is counted too: BETWEEN includes both ends",
    ),
    (
        f"{_REVENUE}{_PAID} AND o.ordered_on BETWEEN {_START} AND ?2 || '-30'",
        "the 31st of a month is left out",
    ),
    (f"{_REVENUE}{_PAID} AND ordered_on > {_START} AND ordered_on < {_NEXT}", "the first day is left out"),
    (f"{_REVENUE}{_PAID} AND ?2 <> ''", "every month is counted, not the one asked for"),
    (
        f"SELECT COALESCE(SUM(o.amount), 0) FROM orders o WHERE ?1 <> ''{_PAID}{_MONTH}",
        "every city is counted, not the one asked for",
    ),
    (
        f"SELECT COALESCE(SUM(o.amount), 0) {_JOINED} JOIN order_items i ON i.order_id = o.id "
        f"WHERE c.city = ?1{_PAID}{_MONTH}",
        "each order is added once for each of its items: the join with order_items repeats it (fan-out)",
    ),
    (
        f"SELECT COUNT(*) {_JOINED} WHERE c.city = ?1{_PAID}{_MONTH}",
        "orders are counted, not their amounts added",
    ),
)
_STRANGE_CITIES = ("Pune' OR 1=1 --", "O'Fallon", "Atlantis")
_BAD_MONTHS = ("2026-3", "2026-13", "2026-00", "March 2026", "2026-03-01", "", "2026-03' OR '1'='1")


class RevenueTool:
    """revenue(city, month, db): a point each for the sums, the month's check and the parameters."""

    def inputs(self) -> dict[str, Any]:
        """Return months and cities chosen from the shops so that each usual mistake shows."""
        shops = sql_gold.shops()
        cases = [
            {"kind": "sum", "shop": name, "city": city, "month": month}
            for name, path in shops.items()
            for city, month in _telling(path)
        ]
        city, month = cases[0]["city"], cases[0]["month"]
        cases.append({"kind": "sum", "shop": "shop", "city": city, "month": "1999-01"})
        cases += [{"kind": "city", "shop": "shop", "city": odd, "month": month} for odd in _STRANGE_CITIES]
        cases += [{"kind": "month", "shop": "shop", "city": city, "month": odd} for odd in _BAD_MONTHS]
        return {"cases": cases, "shops": shops, "max_rows": 50}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare sums with the reference; a constant, whatever it is asked, earns nothing."""
        played = list(zip(inputs["cases"], report["calls"], strict=True))
        by_kind = {
            kind: [pair for pair in played if pair[0]["kind"] == kind] for kind in ("sum", "city", "month")
        }
        sums = _sums(by_kind["sum"], inputs["shops"])
        numbers = {
            call.get("returned") for _, call in by_kind["sum"] if _near(call.get("returned"), 0, math.inf)
        }
        if len(numbers) < 2:
            return Verdict(0, NOT_YET, sums, 3)
        months, cities = _months(by_kind["month"]), _cities(by_kind["city"])
        points = sum(not trouble for trouble in (sums, months, cities))
        if points == 3:
            return Verdict(
                3,
                PASSED,
                "The right sums on both shops, a month that is checked, and a city that never becomes SQL.",
            )
        return Verdict(points, NOT_YET, sums or cities or months, 1 if sums else 2)


def _telling(path: str) -> list[tuple[str, str]]:
    """Return (city, month) pairs with paid orders: on the last day, just after it, in December, and most."""
    count = f"SELECT c.city, substr(o.ordered_on, 1, 7) AS month {_JOINED} WHERE o.status = 'paid'"
    order = " GROUP BY c.city, month ORDER BY COUNT(*) DESC, c.city, month LIMIT 1"
    after = "SELECT c.city, substr(date(o.ordered_on, '-1 day'), 1, 7) AS month"
    after += f" {_JOINED} WHERE o.status = 'paid'"
    last_day = " AND o.ordered_on = date(o.ordered_on, 'start of month', '+1 month', '-1 day')"
    first_day = " AND substr(o.ordered_on, 9) = '01'"
    wanted = (
        count + order,
        count + last_day + " AND substr(o.ordered_on, 9) = '31'" + order,
        count + last_day + " AND substr(o.ordered_on, 9) = '30'" + order,
        after + first_day + order,
        count + first_day + order,
        count + " AND substr(o.ordered_on, 6, 2) = '12'" + order,
    )
    found = [tuple(row) for sql in wanted for row in sql_gold.rows(path, sql)[1]]
    return list(dict.fromkeys(found))


def _reference(sql: str, case: Mapping[str, Any], shops: Mapping[str, str]) -> float:
    return sql_gold.value(shops[case["shop"]], sql, (case["city"], case["month"]))


def _is_sum(case: Mapping[str, Any], call: Mapping[str, Any], shops: Mapping[str, str]) -> bool:
    return _near(call.get("returned"), _reference(_REVENUE + _PAID + _MONTH, case, shops))


def _near(got: Any, want: float, apart: float = 0.006) -> bool:
    """Return whether `got` is a number, less than `apart` rupees from `want`."""
    return is_number(got) and abs(got - want) < apart


def _sums(played: Sequence[tuple[Mapping, Mapping]], shops: Mapping[str, str]) -> str:
    """Return what is wrong with the sums, "" if nothing is."""
    wrong = [(case, call) for case, call in played if not _is_sum(case, call, shops)]
    if not wrong:
        return ""
    case, call = wrong[0]
    asked = f'`revenue("{case["city"]}", "{case["month"]}", db)`'
    if "raised" in call:
        return f"{asked} stops {explain_error(call['raised'])}"
    if any(entry["truncated"] for entry in call.get("ran", ())):
        return "Rows are fetched to be added in Python, and only the first 50 arrive: let the SQL do the SUM."
    returned = call["returned"]
    if returned is None:
        return f"{asked} returns None: SUM over no rows is NULL, and the tool should say 0.0."
    if not _near(returned, returned):
        return f"{asked} returns a value of type {call.get('type')}: it should be one number, a float."
    for sql, message in _OTHER_SUMS:
        if all(_near(c.get("returned"), _reference(sql, one, shops)) for one, c in played):
            return f"The sums are not right: {message}."
    if all(one["shop"] != "shop" for one, _ in wrong):
        return (
            f"{asked} does not give the paid revenue of that month on a second shop, though right on this "
            "one. Does it use the db that it is given, and nothing typed in?"
        )
    nothing = returned == 0 and _reference(_REVENUE + _PAID + _MONTH, case, shops) > 0
    gave = ": it gives 0.0, though something was sold" if nothing else ""
    return f"{asked} does not give the paid revenue of that month{gave}."


def _cities(played: Sequence[tuple[Mapping, Mapping]]) -> str:
    """Return whether a city's text became SQL."""
    for case, call in played:
        texts = (case["city"], case["city"].replace("'", "''"))
        pasted = any(text in str(entry["sql"]) for entry in call.get("ran", ()) for text in texts)
        if "raised" in call and "'" in case["city"] and pasted:
            return (
                f"The city `{case['city']}` breaks the query: its text became part of the SQL. Write ? in "
                "the SQL and hand the city to db.run as a parameter."
            )
        if "raised" in call:
            stops = explain_error(call["raised"])
            return f"A city that is not in the shop stops it {stops} It should give 0.0."
        if call["returned"] is None:
            return "For a city without orders it returns None, as SUM over no rows does: it should give 0.0."
        if not _near(call["returned"], 0.0):
            return (
                f"The city `{case['city']}` brings revenue, though no customer lives there: its text became "
                "part of the SQL. Write ? in the SQL and hand the city to db.run as a parameter."
            )
        if pasted:
            return (
                "The city stands inside the text of the SQL. Doubling quotes by hand works until somebody "
                "forgets it once: write ? and hand the city to db.run as a parameter."
            )
    return ""


def _months(played: Sequence[tuple[Mapping, Mapping]]) -> str:
    """Return which month got through that should not have."""
    for case, call in played:
        shown = f"the month `{case['month']}`" if case["month"] else "an empty month"
        if "raised" not in call:
            does = "It returns a text for" if isinstance(call["returned"], str) else "It accepts"
            return f'{does} {shown}: raise ValueError("month must look like 2026-03").'
        bases, message = call["raised"].get("bases", ()), str(call["raised"].get("message"))
        if "ValueError" not in bases:
            kind = call["raised"].get("type")
            return f"For {shown} it stops with {kind}: check the month first and raise ValueError."
        if "month" not in message.lower():
            said = f"For {shown} the ValueError says “{message[:80]}”"
            return f"{said}; say what is expected: month must look like 2026-03."
    return ""
