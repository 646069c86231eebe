"""What a model may ask for, read strictly; and nested JSON as lines, pieces and pointers."""

import json

import pytest

from course_utils.retrieval.caller import GUEST, Caller
from course_utils.retrieval.json_endpoints import CARRIER, described, offered, refusal
from course_utils.retrieval.json_flatten import lines, pieces, size, value_at
from course_utils.retrieval.json_plan import BadPlan, Reference, read_plan

BULKY = '{"calls": [{"endpoint": "service", "parameters": {"code": "bulky"}}]}'


def read(reply):
    calls, _ = read_plan(reply, CARRIER)
    return [(call.endpoint.name, dict(call.values)) for call in calls]


@pytest.mark.parametrize(
    "reply",
    [
        BULKY,
        f"```json\n{BULKY}\n```",
        f"~~~\n{BULKY}\n~~~",
        f"```{BULKY}```",
        f"Let me think [1] about {{this}}... The service knows.\n\n{BULKY}\n\nThat is all.",
        f"{BULKY}\n{BULKY}",
        '{"endpoint": "service", "parameters": {"code": "bulky"}}',
        '[{"endpoint": "service", "parameters": {"code": "bulky"}}]',
        f'{{"question": "what?"}} {BULKY}',
        f"It is in surcharges[], and in [] above.\n{BULKY}",
    ],
)
def test_fences_and_prose_around_a_plan_do_not_matter(reply):
    assert read(reply) == [("service", {"code": "bulky"})]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "holds no JSON"),
        ("I would ask for bulky goods.", "holds no JSON"),
        ("{'calls': []}", "holds no JSON"),
        ("events[] says it", "holds no JSON"),
        ('"calls"', "holds no JSON"),
        (BULKY[:-1], "damaged or breaks off"),
        ('[{"endpoint": "zones"}, ', "damaged or breaks off"),
        ('{"calls": [{"endpoint": "zones"}, {"endpoint": "servi', "damaged or breaks off"),
        (BULKY + BULKY.replace("bulky", "express"), "holds 2 plans"),
        ('{"calls": "zones"}', "calls must be a list"),
        ('{"calls": ["zones"]}', "calls must be a list"),
        ('{"calls": null}', "calls must be a list"),
        ('{"calls": [], "url": "http://x"}', "'url' does not belong"),
        ('{"url": "http://x/v1/zones"}', "'url' does not belong"),
        ('{"calls": [{"endpoint": "http://x/v1/zones"}]}', "a URL or a path is never taken"),
        ('{"calls": [{"endpoint": "/v1/zones"}]}', "a URL or a path is never taken"),
        ('{"calls": [{"endpoint": "GET /v1/zones"}]}', "no endpoint 'GET /v1/zones'"),
        ('{"calls": [{"endpoint": "Zones"}]}', "no endpoint 'Zones'"),
        ('{"calls": [{"endpoint": 5}]}', "no endpoint 5"),
        ('{"calls": [{"endpoint": ["zones"]}]}', "no endpoint"),
        ('{"calls": [{"parameters": {}}]}', "no endpoint None"),
        ('{"calls": [{"endpoint": "zones", "method": "DELETE"}]}', "'method' is not allowed"),
        ('{"calls": [{"endpoint": "zones", "endpoint": "services"}]}', "written twice"),
        ('{"calls": [{"endpoint": "zones", "parameters": []}]}', "parameters must be an object"),
        ('{"calls": [{"endpoint": "zones", "parameters": {"city": "Patna"}}]}', "which takes none"),
        ('{"calls": [{"endpoint": "service"}]}', "the parameter code of service is missing"),
        (
            '{"calls": [{"endpoint": "service", "parameters": {"name": "bulky"}}]}',
            "code of service is missing",
        ),
        (json.dumps({"calls": [{"endpoint": "zones"}] * 5}), "5 calls are too many"),
        (
            '{"calls": [{"endpoint": "tracking_by_order", "parameters": {"order_id": NaN}}]}',
            "NaN is no value",
        ),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(reply, said):
    with pytest.raises(BadPlan) as caught:
        read(reply)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("endpoint", "name", "value"),
    [
        ("tracking_by_order", "order_id", "4858"),
        ("tracking_by_order", "order_id", 4858.0),
        ("tracking_by_order", "order_id", 48.5),
        ("tracking_by_order", "order_id", True),
        ("tracking_by_order", "order_id", 0),
        ("tracking_by_order", "order_id", -1),
        ("tracking_by_order", "order_id", 10**30),
        ("tracking_by_order", "order_id", None),
        ("tracking_by_order", "order_id", [4858]),
        ("tracking_by_number", "tracking_number", "GP-2606-00417"),
        ("tracking_by_number", "tracking_number", "gp-2606-00417-h"),
        ("tracking_by_number", "tracking_number", "GP-2606-00417-H\n"),
        ("tracking_by_number", "tracking_number", "GP-2606-00417-H/../x"),
        ("service", "code", "../delays"),
        ("service", "code", "bulky?x=1"),
        ("service", "code", "bulky\n"),
        ("service", "code", ""),
        ("delays_of_city", "city", "../services"),
        ("delays_of_city", "city", "..%2Fservices"),
        ("delays_of_city", "city", "Pune#x"),
        ("delays_of_city", "city", "."),
        ("delays_of_city", "city", "P" * 41),
        ("delays", "sort", "city"),
    ],
)
def test_a_value_that_does_not_fit_its_parameter_is_refused_by_name(endpoint, name, value):
    reply = json.dumps({"calls": [{"endpoint": endpoint, "parameters": {name: value}}]})
    with pytest.raises(BadPlan, match=f"call 1: {name} must"):
        read(reply)


def test_every_fault_of_a_call_is_named_at_once():
    reply = '{"calls": [{"endpoint": "service", "parameters": {"code": 7, "city": "Pune"}}]}'
    with pytest.raises(BadPlan) as caught:
        read(reply)
    assert "code must be" in str(caught.value) and "'city' is no parameter" in str(caught.value)


def test_no_call_is_a_plan_with_its_reason():
    assert read_plan('{"calls": [], "reason": "no prices here"}', CARRIER) == ((), "no prices here")
    assert read_plan("```json\n[]\n```", CARRIER) == ((), "")


def test_a_deep_or_endless_reply_is_refused_quickly():
    for reply in ("[" * 100_000, '{"calls": ' * 20_000, "{" * 100_000):
        with pytest.raises(BadPlan):
            read(reply)


def two(reference):
    second = {"endpoint": "delays_of_city", "parameters": {"city": reference}}
    first = {"endpoint": "tracking_by_order", "parameters": {"order_id": 4887}}
    return read_plan(json.dumps({"calls": [first, second]}), CARRIER)[0][1]


def test_a_parameter_may_come_from_an_earlier_record():
    call = two({"from": 1, "pointer": "/destination/city"})
    assert call.references == {"city": Reference(1, "/destination/city")}
    assert call.filled({1: {"destination": {"city": "Guwahati"}}}) == {"city": "Guwahati"}


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"from": 2, "pointer": "/x"}, "number of an earlier call"),
        ({"from": 0, "pointer": "/x"}, "number of an earlier call"),
        ({"from": -1, "pointer": "/x"}, "number of an earlier call"),
        ({"from": True, "pointer": "/x"}, "number of an earlier call"),
        ({"from": 1}, "number of an earlier call"),
        ({"from": 1, "pointer": "/x", "url": "y"}, "number of an earlier call"),
        ({"from": 1, "pointer": "destination.city"}, "a pointer looks like /destination/city"),
        ({"from": 1, "pointer": 5}, "a pointer looks like /destination/city"),
        ({}, "number of an earlier call"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_before_anything_is_asked(reference, said):
    with pytest.raises(BadPlan) as caught:
        two(reference)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({}, "not in that record"),
        ([], "not in that record"),
        ({"destination": "Pune"}, "not in that record"),
        ({"destination": {"city": 7}}, "no value for its parameter"),
        ({"destination": {"city": "../x"}}, "no value for its parameter"),
        ({"destination": {"city": {"from": 1}}}, "no value for its parameter"),
    ],
)
def test_what_an_earlier_record_holds_is_checked_like_any_value(record, said):
    with pytest.raises(BadPlan) as caught:
        two({"from": 1, "pointer": "/destination/city"}).filled({1: record})
    assert said in str(caught.value)


def test_what_is_told_to_a_model_is_the_list_for_its_caller():
    for_guest, for_staff = (offered(CARRIER, caller) for caller in (GUEST, Caller("m", "staff")))
    assert {one.name for one in for_staff} - {one.name for one in for_guest} == {"tracking_by_order"}
    text = described(for_guest)
    assert "/v1/" not in text and "parameter city (text)" in text and "sort (text, may be left out)" in text
    with pytest.raises(BadPlan) as caught:
        read_plan('{"calls": [{"endpoint": "x"}]}', CARRIER, for_guest)
    assert "tracking_by_order" not in str(caught.value)


def test_a_number_counts_as_given_only_in_the_question():
    by_number = next(one for one in CARRIER if one.open_to == "holder")
    asked = {"tracking_number": "GP-2606-00417-H"}
    assert refusal(by_number, asked, GUEST, "where is gp-2606-00417-h?") == ""
    assert refusal(by_number, asked, GUEST, "where is my parcel?")
    assert refusal(by_number, {}, GUEST, "where is my parcel?")
    assert refusal(by_number, asked, Caller("m", "staff"), "where is my parcel?") == ""


def test_nested_json_as_lines():
    data = {"a": {"b": [1, {"c": None}]}, "d": [], "e": True, "f": "two\nlines", "g": " ", "h\ni": "x"}
    assert list(lines(data)) == [
        "a/b/0: 1", "a/b/1/c: null", "d: []", "e: true", 'f: "two\\nlines"', 'g: " "', '"h\\ni": x',
    ]  # fmt: skip
    assert list(lines(5)) == ["value: 5"] and list(lines({})) == ["value: {}"]


@pytest.mark.parametrize("most", [10, 60, 200, 600, 10_000])
def test_pieces_hold_every_value_once_and_lead_back(most):
    data = {
        "name": "x" * 30, "limits": {"a": 1, "b/c": 2}, "days": {str(n): {"min": n} for n in range(9)},
        "list": [f"value {n}" for n in range(9)], "events": [{"n": n, "at": ["y" * 9]} for n in range(9)],
        "mixed": [1, {"z": 2}, [3, 4]], "none": None, "empty": {},
    }  # fmt: skip
    found = list(pieces(data, most))
    leaves = [f"{pointer[1:]}/{line}" if pointer else line for pointer, part in found for line in lines(part)]
    assert len(leaves) == len(list(lines(data)))
    assert len({pointer for pointer, _ in found}) == len(found)
    for pointer, part in found:
        stored = value_at(data, "", pointer)
        assert stored == part or part.items() <= stored.items()
        assert size(part) <= most or not isinstance(part, dict | list) or len(list(lines(part))) == 1
    assert (len(found) == 1) == (most == 10_000)


def test_a_value_is_found_below_a_piece_only():
    parcel = {"delivered_on": "2026-06-22", "events": [{"code": "PICKED"}]}
    assert value_at(parcel, "/shipments/3", "/shipments/3/events/0/code") == "PICKED"
    assert value_at(parcel, "/shipments/3", "/shipments/3") == parcel
    for below in ("/shipments/31/delivered_on", "/shipments/3/weight_g", "/cities/0"):
        with pytest.raises(LookupError, match="not"):
            value_at(parcel, "/shipments/3", below)
