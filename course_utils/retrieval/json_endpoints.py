"""The closed list of what may be asked of the carrier's service: by name, with checked parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .caller import Caller

NUMBER = r"^GP-\d{4}-\d{5}-[A-Z]$"


class _Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Order(_Nothing):
    order_id: int = Field(description="the shop's number of the order, such as 4858", ge=1, le=10**12)


class _Number(_Nothing):
    tracking_number: str = Field(description="as in GP-2606-00417-H, copied exactly", pattern=NUMBER)


class _Code(_Nothing):
    code: str = Field(
        description="standard, express, cash_on_delivery, bulky, returns_pickup, or the withdrawn same_day",
        pattern=r"^[a-z_]{1,30}$",
    )


class _City(_Nothing):
    city: str = Field(description="an Indian city, such as Guwahati", pattern=r"^[A-Za-z][A-Za-z '-]{0,39}$")


class _Sort(_Nothing):
    sort: Literal["extra_days"] | None = Field(
        default=None, description="extra_days: the longest present delay first; left out: no order"
    )


MUST = {
    "order_id": "be a whole number of at least 1, without quotes",
    "tracking_number": "look like GP-2606-00417-H",
    "code": "be a code in small letters, such as bulky",
    "city": "be the name of a city, in letters",
    "sort": "be extra_days or left out",
}


@dataclass(frozen=True)
class Endpoint:
    """One thing that may be asked. path: with {names} of parameters; no model ever writes it.

    parameters: a pydantic model, strict. gives: the shape of a record, for the model. kind and key: how
    documents are called, as "tracking" and the field whose value follows it. open_to: "everyone"; "staff";
    or "holder", whoever gives the parcel's number in the question, and staff. hidden: fields of a record
    that only staff see.
    """

    name: str
    path: str
    parameters: type[BaseModel]
    about: str
    gives: str
    kind: str
    key: str = ""
    open_to: Literal["everyone", "staff", "holder"] = "everyone"
    hidden: tuple[str, ...] = ()


_PARCEL = (
    "order_id, tracking_number, service, weight_g, origin_hub, destination {city, zone}, promised_on, "
    "delivered_on, events [{time, place, code, reason, received_by, note}]"
)
_SERVICE = (
    "name, valid {from, to}, limits, promised_days by zone {min, max}, cut_off, surcharges, not_carried, "
    "insurance, attempts; of a withdrawn one also reason and replaced_by"
)
_CITY = "city, hub, zone, state {code, extra_days, services, suspended}, events [{kind, from, to, …}]"

CARRIER: tuple[Endpoint, ...] = (
    Endpoint(
        "tracking_by_order", "/v1/tracking/by-order/{order_id}", _Order,
        "the parcel of one order: where it is, when it is due, every scan", _PARCEL,
        "tracking", "tracking_number", "staff",
    ),
    Endpoint(
        "tracking_by_number", "/v1/tracking/by-number/{tracking_number}", _Number,
        "the parcel with one tracking number", _PARCEL,
        "tracking", "tracking_number", "holder", ("order_id",),
    ),
    Endpoint(
        "service", "/v1/services/{code}", _Code,
        "one service: limits, promised days, cut-off times, surcharges, insurance", _SERVICE, "services",
    ),
    Endpoint("services", "/v1/services", _Nothing, "all services, to compare them", _SERVICE, "services"),
    Endpoint(
        "zones", "/v1/zones", _Nothing, "which city lies in which zone of the tariff",
        "by zone: cities, note", "zones",
    ),
    Endpoint(
        "delays_of_city", "/v1/delays/{city}", _City,
        "what delays parcels in one city now, and what did before", _CITY, "delays", "city",
    ),
    Endpoint(
        "delays", "/v1/delays", _Sort, "the same for all cities, to compare them", _CITY, "delays", "city",
    ),
)  # fmt: skip


def offered(endpoints: Sequence[Endpoint], caller: Caller) -> tuple[Endpoint, ...]:
    """Return the endpoints that the model is told of when `caller` asks."""
    return tuple(one for one in endpoints if one.open_to != "staff" or caller.role == "staff")


def refusal(endpoint: Endpoint, values: dict[str, Any], caller: Caller, question: str) -> str:
    """Return why `caller` may not ask this, in the same words whether it exists or not; "" if they may."""
    if caller.role == "staff" or endpoint.open_to == "everyone":
        return ""
    if endpoint.open_to == "staff":
        return (
            f"{endpoint.name} is for staff, and this caller is a {caller.role}: give the parcel's tracking "
            "number instead"
        )
    given = [str(value).casefold() in question.casefold() for value in values.values()]
    if given and all(given):
        return ""
    return f"{endpoint.name} answers whoever gives the number in the question, and it does not stand there"


def described(endpoints: Sequence[Endpoint]) -> str:
    """Return the list as the model reads it."""
    lines = []
    for one in endpoints:
        lines.append(f"- {one.name}: {one.about}")
        for name, field in one.parameters.model_fields.items():
            kind = "whole number" if field.annotation is int else "text"
            need = "" if field.is_required() else ", may be left out"
            lines.append(f"    parameter {name} ({kind}{need}): {field.description}")
        lines.append(f"    gives {one.gives}")
    return "\n".join(lines)
