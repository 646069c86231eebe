"""Fixed questions as tools: SQL written by us, values filled in by the caller, and who asks is known.

The model chooses a tool and its values; it writes no SQL and cannot say who it is. Each call is checked,
capped and logged to course_utils.tools with the user's identity, the tool, the values and the outcome.
The three totals name nobody, so anyone may ask for them; one customer's orders are another matter.
"""

import datetime
import logging
import numbers
import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from course_utils.retrieval.caller import GUEST, Caller

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from course_utils.retrieval.sql_guard import Rows, SafeDatabase

log = logging.getLogger("course_utils.tools")

MOST_ROWS = 50


REFUNDS_BY_REGION = """
SELECT places.region, COUNT(r.id) AS refunds, ROUND(COALESCE(SUM(r.amount), 0), 2) AS amount
FROM (SELECT DISTINCT region FROM customers) AS places
LEFT JOIN customers AS c ON c.region = places.region
LEFT JOIN orders AS o ON o.customer_id = c.id
LEFT JOIN refunds AS r ON r.order_id = o.id AND r.refunded_on >= :start AND r.refunded_on < :after
GROUP BY places.region
ORDER BY amount DESC, places.region
"""
REVENUE_BY_CITY = """
SELECT c.city, COUNT(*) AS orders, ROUND(SUM(o.amount), 2) AS revenue
FROM orders AS o
JOIN customers AS c ON c.id = o.customer_id
WHERE o.status = 'paid' AND o.ordered_on >= :start AND o.ordered_on < :after
GROUP BY c.city
ORDER BY revenue DESC, c.city
"""
TOP_PRODUCTS = """
SELECT p.sku, p.name, SUM(i.qty) AS units, ROUND(SUM(i.qty * i.unit_price), 2) AS revenue
FROM order_items AS i
JOIN orders AS o ON o.id = i.order_id
JOIN products AS p ON p.id = i.product_id
WHERE o.status = 'paid' AND o.ordered_on >= :start AND o.ordered_on < :after
GROUP BY p.id
ORDER BY units DESC, p.id
LIMIT :most
"""
ORDERS_OF = """
SELECT o.id AS order_id, o.ordered_on, o.status, o.amount,
       (SELECT SUM(qty) FROM order_items AS i WHERE i.order_id = o.id) AS pieces
FROM orders AS o
WHERE o.customer_id = :customer_id
ORDER BY o.ordered_on DESC, o.id DESC
"""


def refunds_by_region(quarter: str, db: "SafeDatabase | None" = None, *, caller: Caller = GUEST) -> "Rows":
    """Return region, number of refunds and rupees refunded in a quarter such as "2026-Q1", largest first.

    A refund belongs to the quarter in which the money went back, not to that of the order, and to the
    region of the customer. A region without refunds is there with 0. Raises ValueError for another quarter.
    """
    with Call("refunds_by_region", caller, quarter=quarter) as call:
        start, after = quarter_days(quarter)
        return call.run(db, REFUNDS_BY_REGION, start=start, after=after)


def revenue_by_city(
    start: str | datetime.date,
    end: str | datetime.date,
    db: "SafeDatabase | None" = None,
    *,
    caller: Caller = GUEST,
) -> "Rows":
    """Return city, number of paid orders and their value in rupees, first and last day included.

    Counts the orders that are paid, by the day of the order; refunds are not subtracted. Cities without a
    paid order are left out. Raises ValueError for what is no date, and when start is after end.
    """
    with Call("revenue_by_city", caller, start=start, end=end) as call:
        return call.run(db, REVENUE_BY_CITY, **period(start, end))


def top_products(
    start: str | datetime.date,
    end: str | datetime.date,
    limit: int = 5,
    db: "SafeDatabase | None" = None,
    *,
    caller: Caller = GUEST,
) -> "Rows":
    """Return sku, name, units and revenue of the products with most units in paid orders of a period.

    Ties go to the lower product id. Raises ValueError for bad dates or a limit outside 1 to 50.
    """
    with Call("top_products", caller, start=start, end=end, limit=limit) as call:
        return call.run(db, TOP_PRODUCTS, most=whole("limit", limit, 1, MOST_ROWS), **period(start, end))


def orders_of(customer_id: int, db: "SafeDatabase | None" = None, *, caller: Caller = GUEST) -> "Rows":
    """Return the orders of one customer, newest first, at most 50.

    Staff may ask for anyone, a customer only for themselves, a guest for nobody: PermissionError, in the
    same words whether that customer exists or not, and before anything is read.
    """
    with Call("orders_of", caller, customer_id=customer_id) as call:
        number = whole("customer_id", customer_id, 1)
        own = caller.role == "customer" and str(caller.user) == str(number)
        if caller.role != "staff" and not own:
            raise PermissionError("a customer may ask for their own orders only, staff for anyone's")
        return call.run(db, ORDERS_OF, customer_id=number)


def quarter_days(quarter: str) -> tuple[str, str]:
    """Return the first day of a quarter and the first day after it.

    >>> quarter_days("2026-Q1")
    ('2026-01-01', '2026-04-01')
    """
    text = quarter.strip() if isinstance(quarter, str) else ""
    match = re.fullmatch(r"([12]\d{3})-Q([1-4])", text, re.ASCII)
    if not match:
        raise ValueError(f"quarter must look like 2026-Q1, not {shown(quarter)}")
    year, number = int(match[1]), int(match[2])
    after = f"{year + 1}-01-01" if number == 4 else f"{year}-{number * 3 + 1:02}-01"
    return f"{year}-{number * 3 - 2:02}-01", after


def period(start: str | datetime.date, end: str | datetime.date) -> dict[str, str]:
    """Return the first day and the day after the last one; raises ValueError that says which is wrong."""
    first, last = _day("start", start), _day("end", end)
    if first > last:
        raise ValueError(f"start must not be after end, but {first} is after {last}")
    after = "9999-12-32" if last == datetime.date.max else (last + datetime.timedelta(days=1)).isoformat()
    return {"start": first.isoformat(), "after": after}


def _day(name: str, value: Any) -> datetime.date:
    if isinstance(value, datetime.datetime):
        value = value.date()
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value.strip(), re.ASCII):
        try:
            return datetime.date.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(f"{name} must be a day that exists, not {shown(value)}") from None
    raise ValueError(f"{name} must look like 2026-01-31, not {shown(value)}")


def whole(name: str, value: Any, least: int, most: int = 2**53) -> int:
    """Return `value` if it is a whole number from `least` to `most`; raises ValueError with the range."""
    wanted = f"from {least} to {most}" if most < 2**53 else f"of at least {least}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number {wanted}, not {shown(value)}")
    return int(value)


def shown(value: Any) -> str:
    """Return a value as an error shows it: on one line, and short."""
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


class Call:
    """One call of a tool: runs its query and, whatever happens, writes one line to the log."""

    def __init__(self, tool: str, caller: Caller, **values: Any) -> None:
        self.tool, self.caller, self.rows = tool, caller, 0
        self.values = ", ".join(f"{name}={shown(value)}" for name, value in values.items())
        self.outcome = "failed"
        self.started = time.perf_counter()

    def __enter__(self) -> "Call":
        return self

    def run(self, db: "SafeDatabase | None", sql: str, **params: Any) -> "Rows":
        """Return the rows of `sql`, with `params` as its values: nothing is ever glued into its text."""
        rows = (db or _shop()).run(sql, params)
        self.rows = len(rows)
        self.outcome = "cut" if rows.truncated else "rows" if len(rows) else "no rows"
        return rows

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, (ValueError, PermissionError)):
            self.outcome = f"refused: {error}"
        log.info(
            "user=%r role=%s tool=%s values=(%s) outcome=%r rows=%d ms=%.1f",
            self.caller.user, self.caller.role, self.tool, self.values, self.outcome, self.rows,
            (time.perf_counter() - self.started) * 1000,
        )  # fmt: skip


def _shop() -> "SafeDatabase":
    from course_utils import shop

    return _opened(str(shop.published_path()))


@lru_cache(maxsize=2)
def _opened(path: str) -> "SafeDatabase":
    from course_utils.retrieval.sql_guard import SafeDatabase

    return SafeDatabase(path, max_rows=MOST_ROWS)


def as_tools(caller: Caller, db: "SafeDatabase | None" = None) -> "list[BaseTool]":
    """Return the four as LangChain tools, bound to `caller`: who asks is not an argument of a tool.

    A tool returns JSON {"columns", "rows", "truncated"}, and the Rows themselves as its artifact. What is
    wrong with a call comes back as text that begins with "Error:", for the model to act on.
    """
    from course_utils.retrieval.query_tool_args import make_tool

    functions = (refunds_by_region, revenue_by_city, top_products, orders_of)
    return [make_tool(function, caller, db) for function in functions]
