"""The client of a service that is late, busy, broken or gone: each call ends, in words that can be read."""

import email.utils
import time

import httpx
import pytest

from course_utils.retrieval import json_client
from course_utils.retrieval.json_client import CarrierClient
from course_utils.retrieval.json_reply import CarrierError, seconds_asked


@pytest.fixture
def waits():
    return []


@pytest.fixture
def client(service, waits):
    return CarrierClient(service.url, sleep=waits.append)


def replying(*bodies, **more):
    """A client whose service gives these bodies in turn, the last one for ever; nothing is sent anywhere."""
    given = list(bodies)

    def answer(request):
        body = given.pop(0) if len(given) > 1 else given[0]
        return body if isinstance(body, httpx.Response) else httpx.Response(200, json=body)

    more = {"sleep": lambda _: None, **more}
    return CarrierClient("http://carrier.test", transport=httpx.MockTransport(answer), **more)


def item(number):
    return {"source": f"delays.json#/cities/{number}", "data": {"city": f"C{number}"}}


def test_each_question_has_its_record(client):
    found = {
        "4858": client.tracking_by_order(4858),
        "GP-2606-00882-K": client.tracking_by_number("GP-2606-00882-K"),
        "Bulky goods": client.service("bulky"),
        "north": client.zones(),
        "New Delhi": client.delays_of_city("Delhi"),
    }
    sources = [reply.records[0].source for reply in found.values()]
    assert sources == [
        "tracking.json#/shipments/31",
        "tracking.json#/shipments/42",
        "service_levels.json#/services/bulky",
        "service_levels.json#/zones",
        "delays.json#/cities/0",
    ]
    assert len(client.services().records) == 6


def test_a_list_is_followed_to_its_last_page(client, service):
    reply = client.delays()
    assert len({record.source for record in reply.records}) == 16
    assert (reply.complete, reply.note, reply.asked) == (True, "", "GET /v1/delays")
    assert len(service.requests) == 4
    assert client.delays(sort="extra_days").records[0].data["city"] == "Guwahati"


def test_nothing_there_is_a_reply_and_asked_once(client, service, waits):
    reply = client.tracking_by_order(9999)
    assert (reply.found, reply.records, reply.note) == (False, (), "no parcel with order_id 9999")
    assert len(service.requests) == 1 and waits == []


def test_l01_refused_twice_then_answered_is_three_calls_with_the_waits_asked_for(client, service, waits):
    service.fault(529, times=2, retry_after=2)
    assert client.zones().found
    assert len(service.requests) == 3 and waits == [2, 2]


def test_l01_after_the_limit_a_readable_error_and_what_was_finished_is_kept(client, service, waits):
    service.fault(529, times=None, path="/v1/delays?page=3")
    reply = client.delays()
    assert [record.source for record in reply.records] == [f"delays.json#/cities/{n}" for n in range(10)]
    assert not reply.complete and "page 3 did not come" in reply.note
    assert "GET /v1/delays?page=3&per_page=5, 3 times over" in reply.note and "HTTP 529" in reply.note
    assert len(service.requests) == 5 and len(waits) == 2


@pytest.mark.parametrize("kind", [500, 502, 503, 504, 429, "truncated", "length", "html", "drop"])
def test_what_is_over_at_the_next_try_is_no_error(client, service, waits, kind):
    service.fault(kind, times=2)
    assert client.zones().records[0].data["east"]["cities"] == ["Kolkata"]
    assert len(service.requests) == 3 and len(waits) == 2


@pytest.mark.parametrize(
    ("kind", "more", "came"),
    [
        (500, {}, "it refused with HTTP 500"),
        (429, {"retry_after": 1}, "it refused with HTTP 429 and asks to wait 1 s"),
        ("truncated", {}, "its JSON breaks off or is damaged"),
        ("length", {}, "the connection broke off: peer closed connection without sending complete"),
        ("length", {"by": -30}, "its JSON breaks off or is damaged"),
        ("html", {}, "no JSON came but text/html of 52 bytes"),
        ("drop", {}, "the connection broke off"),
    ],
)
def test_what_stays_is_an_error_that_says_what_was_asked_what_came_and_what_to_do(
    client, service, kind, more, came
):
    service.fault(kind, times=None, **more)
    with pytest.raises(CarrierError) as caught:
        client.zones()
    error = caught.value
    assert came in str(error) and "GET /v1/zones, 3 times over" in str(error) and "ask again" in str(error)
    assert (error.asked, error.tries) == ("GET /v1/zones", 3) and len(service.requests) == 3
    assert error.status == (kind if isinstance(kind, int) else error.status)


@pytest.mark.parametrize("kind", ["slow", "trickle"])
def test_a_late_reply_is_given_up_at_the_time_limit(service, kind):
    service.fault(kind, seconds=5, times=None)
    client = CarrierClient(service.url, timeout=0.3, attempts=1)
    with pytest.raises(CarrierError, match=r"no whole reply came within 0\.3 s"):
        client.zones()


def test_a_service_that_is_gone_is_named_with_its_address_and_comes_back(client, service):
    service.stop()
    with pytest.raises(CarrierError, match=f"nobody answers at {service.url}"):
        client.zones()
    service.start()
    assert client.zones().found


def test_a_service_that_dies_between_two_pages_leaves_what_had_come(client, service):
    service.fault("killed", after=1)
    reply = client.delays()
    assert len(reply.records) == 5 and not reply.complete and "nobody answers" in reply.note
    service.start()
    assert client.delays().complete


def test_the_wait_grows_and_is_not_the_same_for_everyone(client, service, waits):
    for _ in range(8):
        service.fault(500, times=2)
        client.zones()
    first, second = waits[::2], waits[1::2]
    assert all(0.1 <= wait <= 0.2 for wait in first) and all(0.2 <= wait <= 0.3 for wait in second)
    assert len(set(first)) > 1


def test_a_wait_of_minutes_is_not_waited_for(client, service, waits):
    service.fault(429, retry_after=120)
    with pytest.raises(CarrierError, match="asks to wait 120 s. Ask again after that"):
        client.zones()
    assert waits == [] and len(service.requests) == 1


def test_a_refusal_that_will_not_change_is_not_repeated(client, service, waits):
    service.fault(403)
    with pytest.raises(CarrierError, match="HTTP 403, saying"):
        client.zones()
    assert waits == [] and len(service.requests) == 1


def test_one_attempt_is_one_request(service, waits):
    service.fault(500, times=None)
    with pytest.raises(CarrierError, match="was asked GET /v1/zones, and it refused"):
        CarrierClient(service.url, attempts=1, sleep=waits.append).zones()
    assert waits == [] and len(service.requests) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3), ("0", 0), ("-5", 0), ("1.5", 1.5), (None, None), ("soon", None), ("nan", None), ("", None)],
)
def test_how_long_a_service_asks_to_wait(header, seconds):
    assert seconds_asked(header) == seconds


def test_a_wait_may_be_asked_for_as_a_date():
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert 50 <= seconds_asked(in_a_minute) <= 61
    assert seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0


@pytest.mark.parametrize(
    "link",
    ["http://elsewhere.test/v1/delays?page=2", "//elsewhere.test/v1/delays?page=2", "/v1/tracking?page=2", 7],
)
def test_a_link_to_the_next_page_cannot_lead_elsewhere(link):
    reply = replying({"items": [item(0)], "next": link}).delays()
    assert len(reply.records) == 1 and not reply.complete and "leads elsewhere" in reply.note


def test_pages_that_lead_in_a_circle_are_left():
    client = replying(
        {"items": [item(0)], "next": "/v1/delays?page=2"}, {"items": [item(1)], "next": "/v1/delays?page=1"}
    )
    reply = client.delays()
    assert len(reply.records) == 2 and not reply.complete and "sent back to an earlier one" in reply.note


def test_pages_without_an_end_are_bounded():
    bodies = [{"items": [item(n)], "next": f"/v1/delays?page={n + 2}"} for n in range(30)]
    reply = replying(*bodies, max_pages=4).delays()
    assert len(reply.records) == 4 and not reply.complete and "more than 4 pages" in reply.note


def nested(levels):
    return [] if not levels else [nested(levels - 1)]


@pytest.mark.parametrize(
    ("body", "came"),
    [
        ([], "does not have the form"),
        ("ok", "does not have the form"),
        (httpx.Response(200, content=b"null"), "does not have the form"),
        ({"items": {"0": 1}}, "does not have the form"),
        ({"items": [1, 2]}, "does not have the form"),
        ({"status": "fine"}, "does not have the form"),
        ({"data": nested(80)}, "nested more than 50 levels"),
    ],
)
def test_json_of_another_form_is_an_error(body, came):
    with pytest.raises(CarrierError, match=came):
        replying(body).zones()


def test_a_page_of_another_program_is_not_taken_for_nothing_there():
    with pytest.raises(CarrierError, match="no JSON came but text/html"):
        replying(httpx.Response(404, html="<h1>Not Found</h1>")).zones()


def test_an_endless_reply_is_cut_off(monkeypatch):
    monkeypatch.setattr(json_client, "MOST_BYTES", 1000)
    with pytest.raises(CarrierError, match="longer than 1,000 bytes"):
        replying({"data": "x" * 2000}).zones()


def test_a_redirection_is_not_followed():
    away = httpx.Response(302, headers={"location": "http://elsewhere.test/"})
    with pytest.raises(CarrierError, match="refused with HTTP 302"):
        replying(away).zones()


@pytest.mark.parametrize("code", ["../x", "a/b", "x?y=1", "x#y", "%2e%2e", "ü"])
def test_a_value_stays_inside_its_part_of_the_path(client, service, code):
    assert client.service(code).found is False
    assert len(service.requests) == 1 and service.requests[0].count("/") == 3


@pytest.mark.parametrize("code", ["..", ".", "", " . "])
def test_a_value_that_would_change_the_path_is_refused(client, code):
    with pytest.raises(ValueError, match="code must be a name or a number"):
        client.service(code)


@pytest.mark.parametrize(
    ("url", "more", "said"),
    [
        ("127.0.0.1:8737", {}, "base_url must look like"),
        ("file:///etc", {}, "base_url must look like"),
        ("http://x", {"timeout": 0}, "timeout must be above 0"),
        ("http://x", {"attempts": 0}, "attempts and max_pages at least 1"),
    ],
)
def test_a_client_that_cannot_work_is_refused(url, more, said):
    with pytest.raises(ValueError, match=said):
        CarrierClient(url, **more)


def test_the_log_says_what_was_asked_and_nothing_of_what_came(client, caplog):
    with caplog.at_level("INFO", "course_utils.api"):
        client.tracking_by_order(4858)
    assert "asked='GET /v1/tracking/by-order/4858' outcome=records n=1" in caplog.text
    assert "Patna" not in caplog.text
