"""What a model is told of the fixed query tools: their arguments, with types, limits and descriptions."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from course_utils.retrieval.query_tools import Call, Caller, shown
from course_utils.retrieval.sql_errors import QueryFailed

if TYPE_CHECKING:
    from course_utils.retrieval.sql_guard import Rows, SafeDatabase

DAY = r"^\d{4}-\d\d-\d\d$"
MUST = {
    "quarter": "look like 2026-Q1",
    "start": "look like 2026-01-31",
    "end": "look like 2026-01-31",
    "limit": "be a whole number from 1 to 50",
    "customer_id": "be a whole number of at least 1",
}


class _Args(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RefundsByRegion(_Args):
    """Refunds in one quarter by region: how many, and how many rupees, by the day of the refund."""

    quarter: str = Field(description="a calendar quarter such as 2026-Q1", pattern=r"^[12]\d{3}-Q[1-4]$")


class RevenueByCity(_Args):
    """Value in rupees and number of paid orders by city, for the days from start to end."""

    start: str = Field(description="first day, as 2026-01-31", pattern=DAY)
    end: str = Field(description="last day, included, as 2026-01-31", pattern=DAY)


class TopProducts(RevenueByCity):
    """The products with most units sold in paid orders, for the days from start to end."""

    limit: int = Field(default=5, description="how many products", ge=1, le=50)


class OrdersOf(_Args):
    """The orders of one customer, newest first. Customers get their own orders only."""

    customer_id: int = Field(description="the customer's number", ge=1)


SCHEMAS = {
    "refunds_by_region": RefundsByRegion,
    "revenue_by_city": RevenueByCity,
    "top_products": TopProducts,
    "orders_of": OrdersOf,
}


def make_tool(function: Callable[..., "Rows"], caller: Caller, db: "SafeDatabase | None") -> StructuredTool:
    """Return `function` as a LangChain tool that runs for `caller`.

    The schema tells the model the limits and stops what is outside of them; the function checks again, for
    it may be called directly. Both say the same.
    """
    schema = SCHEMAS[function.__name__]

    def call(**values: Any) -> tuple[str, Any]:
        try:
            rows = function(**values, db=db, caller=caller)
        except (ValueError, PermissionError, QueryFailed) as error:
            raise ToolException(str(error)) from error
        return as_json(rows), rows

    def refuse(error: ValidationError) -> str:
        try:
            with Call(function.__name__, caller):
                raise ValueError(_said(error))
        except ValueError as refused:
            return f"Error: {refused}"

    return StructuredTool.from_function(
        func=call,
        name=function.__name__,
        description=schema.__doc__,
        args_schema=schema,
        response_format="content_and_artifact",
        handle_tool_error=lambda error: f"Error: {error}",
        handle_validation_error=refuse,
    )


def as_json(rows: "Rows") -> str:
    """Return rows as JSON text, in which no value can pass for anything but data."""
    found = {"columns": rows.columns, "rows": rows.rows, "truncated": rows.truncated}
    return json.dumps(found, ensure_ascii=False, default=str)


def _said(error: ValidationError) -> str:
    """Return what is wrong with a call's arguments, in one line that names each of them."""
    parts = []
    for one in error.errors():
        name = ".".join(map(str, one["loc"])) or "arguments"
        known = {"missing": "is missing", "extra_forbidden": "is not an argument of this tool"}
        wrong = f"must {MUST.get(name, 'be of another kind')}, not {shown(one['input'])}"
        parts.append(f"{name} {known.get(one['type'], wrong)}")
    return "; ".join(parts)
