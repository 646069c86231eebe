"""From a model's reply to calls of known endpoints: read strictly, and refused in words it can act on.

A reply is {"calls": [{"endpoint": "service", "parameters": {"code": "bulky"}}]}. A parameter may come from an
earlier call's first record, by JSON pointer (RFC 6901): {"from": 1, "pointer": "/destination/city"}.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonpointer import JsonPointer, JsonPointerException
from pydantic import ValidationError

from course_utils.models.errors import shorten

from .json_endpoints import MUST, Endpoint

MOST_CALLS = 4
_LONGEST = 20_000  # characters of a reply that are looked at
_MISSING = object()
_EXTRA = "extra_forbidden"
_BRACKET, _JSON = re.compile(r"[{\[]"), re.compile(r'\{\s*"|\[\s*\{')
_EMPTY = re.compile(r"[\s`~]*(?:json)?\s*\[\s*\][\s`~]*")  # no call, in a fence or without


class BadPlan(ValueError):
    """The model's reply is no list of calls that may be made; the message is for the model, too."""


@dataclass(frozen=True)
class Reference:
    """A value that stands in the first record of an earlier call (`call` counts from 1)."""

    call: int
    pointer: str


@dataclass(frozen=True)
class Call:
    """A call that may be made: an endpoint, values for its parameters, and references still to look up."""

    endpoint: Endpoint
    values: Mapping[str, Any]
    references: Mapping[str, Reference]

    def filled(self, records: Mapping[int, Any]) -> dict[str, Any]:
        """Return all values; `records` are the first records of earlier calls, by number.

        Raises BadPlan where a reference leads nowhere, or to what is no value for this parameter.
        """
        values = dict(self.values)
        for name, reference in self.references.items():
            if reference.call not in records:
                raise BadPlan(f"{name} was to come from call {reference.call}, which brought nothing")
            found = JsonPointer(reference.pointer).resolve(records[reference.call], _MISSING)
            if found is _MISSING:
                raise BadPlan(f"{name} was to come from {reference.pointer}, which is not in that record")
            values[name] = found
        try:
            _check(self.endpoint, values)
        except BadPlan:  # whose message would show what the service wrote there
            names = ", ".join(f"{name} from {one.pointer}" for name, one in self.references.items())
            raise BadPlan(f"what stands in the record is no value for its parameter: {names}") from None
        return values


def read_plan(
    reply: str, endpoints: Sequence[Endpoint], told: Sequence[Endpoint] | None = None
) -> tuple[tuple[Call, ...], str]:
    """Return the calls in a model's reply and, where there are none, the reason it gives.

    endpoints: all that exist. told: those that an error may name (default: all).

    Fences and prose around the JSON are tolerated. Raises BadPlan for no JSON, two plans, an unknown
    endpoint (a URL is one), parameters that are missing, too many, or of the wrong kind, and for more than
    four calls.
    """
    plan = _object(reply)
    if isinstance(plan, list):
        plan = {"calls": plan}
    elif "endpoint" in plan:
        plan = {"calls": [plan]}
    calls, reason = plan.get("calls"), plan.get("reason", "")
    if extra := plan.keys() - {"calls", "reason"}:
        raise BadPlan(f"{_shown(min(extra))} does not belong beside calls and reason")
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise BadPlan('calls must be a list of objects {"endpoint": …, "parameters": {…}}')
    if len(calls) > MOST_CALLS:
        raise BadPlan(f"{len(calls)} calls are too many: at most {MOST_CALLS}, so ask for a whole list once")
    names = [endpoint.name for endpoint in (endpoints if told is None else told)]
    made = tuple(_call(number, call, endpoints, names) for number, call in enumerate(calls, start=1))
    return made, shorten(reason, 200) if isinstance(reason, str) else ""


def _object(reply: str) -> Any:
    """Return the one plan in a reply."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
    text, place, found = reply[:_LONGEST], 0, []
    for _ in range(100):
        if (start := _BRACKET.search(text, place)) is None:
            break
        try:
            one, place = decoder.raw_decode(text, start.start())
        except BadPlan:
            raise
        except (ValueError, RecursionError):
            if _JSON.match(text, start.start()):  # a whole call in what was cut off is no plan
                raise BadPlan("the JSON in the reply is damaged or breaks off") from None
            place = start.start() + 1  # a bracket in the prose
            continue
        listed = isinstance(one, list) and one and isinstance(one[0], dict)
        if listed or (isinstance(one, dict) and one.keys() & {"calls", "endpoint", "url"}):
            found.append(one)
    if not found and _EMPTY.fullmatch(text):
        return []
    if not found:
        raise BadPlan('the reply holds no JSON of the form {"calls": [{"endpoint": …, "parameters": {…}}]}')
    if any(one != found[0] for one in found):
        raise BadPlan(f"the reply holds {len(found)} plans: write one, with all its calls in one list")
    return found[0]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise BadPlan(f"{_shown(max(names, key=names.count))} is written twice in one object")
    return dict(pairs)


def _no_number(word: str) -> Any:
    raise BadPlan(f"{word} is no value in JSON")


def _call(number: int, call: dict[str, Any], endpoints: Sequence[Endpoint], names: list[str]) -> Call:
    known = {endpoint.name: endpoint for endpoint in endpoints}
    name, given = call.get("endpoint"), call.get("parameters", {})
    if extra := call.keys() - {"endpoint", "parameters"}:
        raise BadPlan(f"call {number}: {_shown(min(extra))} is not allowed beside endpoint and parameters")
    if not isinstance(name, str) or name not in known:
        raise BadPlan(
            f"call {number}: there is no endpoint {_shown(name)}. An endpoint is one of {', '.join(names)}; "
            "a URL or a path is never taken"
        )
    if not isinstance(given, dict):
        raise BadPlan(f"call {number}: parameters must be an object, not {_shown(given)}")
    references = {key: _reference(number, key, value) for key, value in given.items() if type(value) is dict}
    values = {key: value for key, value in given.items() if key not in references}
    try:
        _check(known[name], values, references)
    except BadPlan as error:
        raise BadPlan(f"call {number}: {error}") from None
    return Call(known[name], values, references)


def _reference(number: int, name: str, value: dict[str, Any]) -> Reference:
    call, pointer = value.get("from"), value.get("pointer")
    if value.keys() != {"from", "pointer"} or type(call) is not int or not 1 <= call < number:
        raise BadPlan(
            f'call {number}: {name} must be a value, or {{"from": number of an earlier call, "pointer": …}}, '
            f"not {_shown(value)}"
        )
    try:
        JsonPointer(pointer)
    except (JsonPointerException, TypeError, AttributeError):
        raise BadPlan(
            f"call {number}: {name}: a pointer looks like /destination/city, not {_shown(pointer)}"
        ) from None
    return Reference(call, pointer)


def _check(endpoint: Endpoint, values: Mapping[str, Any], later: Mapping[str, Any] = {}) -> None:
    """Raise BadPlan that names each parameter which is wrong; those in `later` have no value yet."""
    try:
        endpoint.parameters.model_validate({**dict.fromkeys(later), **values})
    except ValidationError as error:
        wrong = [one for one in error.errors() if one["loc"][0] not in later or one["type"] == _EXTRA]
        if wrong:
            raise BadPlan("; ".join(_said(endpoint, one) for one in wrong)) from None


def _said(endpoint: Endpoint, error: Any) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] == _EXTRA:
        takes = ", ".join(endpoint.parameters.model_fields) or "none"
        return f"{_shown(name)} is no parameter of {endpoint.name}, which takes {takes}"
    if error["type"] == "missing":
        return f"the parameter {name} of {endpoint.name} is missing"
    return f"{name} must {MUST.get(name, 'be of another kind')}, not {_shown(error['input'])}"


def _shown(value: Any) -> str:
    return shorten(repr(value), 80)
