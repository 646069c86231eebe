"""The carrier's service: what it answers, how it starts and ends, and which faults come when."""

import json
import shutil
import subprocess
import sys
import threading

import httpx
import pytest

from course_utils import places
from course_utils.shop import carrier
from course_utils.shop.carrier import Carrier


@pytest.fixture
def service():
    with Carrier() as service:
        yield service


@pytest.fixture
def get(service):
    with httpx.Client(base_url=service.url, trust_env=False, timeout=5) as http:
        yield http.get


def file(name):
    return json.loads((places.data() / "carrier_api" / name).read_text(encoding="utf-8"))


def resolved(source):
    name, _, pointer = source.partition("#")
    data = file(name)
    for part in pointer.split("/")[1:]:
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("/v1/tracking/by-order/4858", "tracking.json#/shipments/31"),
        ("/v1/tracking/by-number/GP-2606-00882-K", "tracking.json#/shipments/42"),
        ("/v1/services/bulky", "service_levels.json#/services/bulky"),
        ("/v1/services/same_day", "service_levels.json#/withdrawn/same_day"),
        ("/v1/zones", "service_levels.json#/zones"),
        ("/v1/delays/Guwahati", "delays.json#/cities/14"),
        ("/v1/delays/guwahati", "delays.json#/cities/14"),
    ],
)
def test_a_record_says_where_it_stands_in_the_data(get, path, source):
    reply = get(path)
    body = reply.json()
    assert (reply.status_code, body["source"]) == (200, source)
    assert body["data"] == resolved(source) and body["as_of"].startswith("2026-06-30")


def test_numbers_that_differ_in_one_character_are_different_parcels(get):
    orders = [
        get(f"/v1/tracking/by-number/GP-{number}").json().get("data", {}).get("order_id")
        for number in ("2606-00417-H", "2606-00417-K", "2605-00417-K", "2606-00823-K")
    ]
    assert len(set(orders)) == 4 and orders[3] is None


def test_delays_come_in_pages_that_lead_to_each_other(get):
    path, cities, totals = "/v1/delays?per_page=5", [], []
    while path:
        body = get(path).json()
        cities += [resolved(item["source"])["city"] for item in body["items"]]
        totals.append(body["total"])
        path = body["next"]
    assert cities == [city["city"] for city in file("delays.json")["cities"]]
    assert totals == [16] * 4


def test_delays_can_be_asked_for_with_the_longest_first(get):
    first = get("/v1/delays?sort=extra_days&per_page=5").json()
    days = [item["data"]["state"]["extra_days"] for item in first["items"]]
    assert days == sorted(days, reverse=True) and days[0] == 6
    second = get(first["next"]).json()
    assert second["items"][0]["data"]["state"]["extra_days"] <= days[-1]


def test_all_services_include_the_withdrawn_one(get):
    sources = [item["source"].rpartition("/")[2] for item in get("/v1/services").json()["items"]]
    assert sources == ["standard", "express", "cash_on_delivery", "bulky", "returns_pickup", "same_day"]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/v1/tracking/by-order/9999", 404, "no parcel with order_id 9999"),
        ("/v1/tracking/by-order/..%2F..%2Fstaff_notes.csv", 404, "no parcel"),
        ("/v1/services/overnight", 404, "there are standard, express"),
        ("/v1/delays/Atlantis", 404, "no city Atlantis"),
        ("/v1/parcels", 404, "no such address; there are /v1/tracking/by-order/{order_id}"),
        ("/", 404, "no such address"),
        ("/v1/delays?page=0", 400, "page must be a whole number from 1 to 9999"),
        ("/v1/delays?page=²", 400, "page must be"),
        ("/v1/delays?per_page=1000", 400, "per_page must be a whole number from 1 to 20"),
        ("/v1/delays?sort=city", 400, "sort must be extra_days"),
    ],
)
def test_what_is_not_there_or_makes_no_sense_is_an_error_in_json(get, path, status, said):
    reply = get(path)
    assert reply.status_code == reply.json()["error"]["status"] == status
    assert said in reply.json()["error"]["message"]


def test_a_page_after_the_last_is_empty_and_leads_nowhere(get):
    body = get("/v1/delays?page=9").json()
    assert (body["items"], body["next"], body["total"]) == ([], None, 16)


def test_another_method_is_refused_in_json(service):
    reply = httpx.post(f"{service.url}/v1/services", trust_env=False)
    assert reply.status_code == 405 and reply.json()["error"]["status"] == 405


def test_it_is_reached_from_this_machine_only_and_ends_when_told(service):
    assert service.url.startswith("http://127.0.0.1:") and service.running
    service.stop()
    service.stop()
    assert not service.running and "not running" in repr(service)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{service.url}/v1/zones", trust_env=False)
    assert not [thread for thread in threading.enumerate() if thread is service._thread]


def test_started_again_it_keeps_its_address(service):
    url = service.url
    assert service.start() is service
    service.stop()
    assert service.start().url == url
    assert httpx.get(f"{url}/v1/zones", trust_env=False).status_code == 200


def test_a_kernel_has_one_service_and_can_make_others():
    one = carrier.start()
    try:
        assert carrier.start() is one
        with Carrier() as other:
            assert other.url != one.url
        one.stop()
        assert carrier.start() is one and one.running
    finally:
        one.stop()


def test_a_taken_port_is_named(service):
    with pytest.raises(OSError, match=f"Port {service.port} of this machine cannot be used"):
        Carrier(service.port).start()


@pytest.mark.parametrize("port", [-1, 70000, "8737", True])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(ValueError, match="port must be a whole number"):
        Carrier(port)


def test_before_its_start_it_has_no_address():
    with pytest.raises(RuntimeError, match="call .start"):
        _ = Carrier().url


def test_damaged_data_is_named_before_anything_starts(tmp_path, monkeypatch):
    shutil.copytree(places.data() / "carrier_api", tmp_path / "data" / "carrier_api")
    for name in ("schema.sql", "products.csv"):
        (tmp_path / "data" / name).touch()
    (tmp_path / "data" / "carrier_api" / "delays.json").write_text('{"as_of": ', encoding="utf-8")
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    service = Carrier()
    with pytest.raises(ValueError, match=r"delays\.json is not valid JSON"):
        service.start()
    assert not service.running


def test_faults_come_in_order_for_the_requests_they_were_meant_for(service, get):
    service.fault(500, times=2, path="/v1/services")
    service.fault(429, retry_after=7, after=1, path="/v1/zones")
    seen = [get(path).status_code for path in ("/v1/zones", "/v1/services", "/v1/services", "/v1/services")]
    assert seen == [200, 500, 500, 200]
    busy = get("/v1/zones")
    assert (busy.status_code, busy.headers["retry-after"]) == (429, "7")
    assert get("/v1/zones").status_code == 200
    assert service.requests[:2] == ["GET /v1/zones", "GET /v1/services"] and len(service.requests) == 6


def test_a_fault_without_an_end_lasts_until_it_is_cleared(service, get):
    service.fault(503, times=None)
    assert [get("/v1/zones").status_code for _ in range(3)] == [503] * 3
    service.clear()
    assert get("/v1/zones").status_code == 200


def test_a_truncated_reply_is_honest_about_its_length_and_half_of_the_json(service, get):
    whole = get("/v1/zones").content
    service.fault("truncated")
    half = get("/v1/zones")
    assert int(half.headers["content-length"]) == len(half.content) == len(whole) // 2
    with pytest.raises(ValueError):
        half.json()


@pytest.mark.parametrize(("by", "raises"), [(100, True), (-30, False)])
def test_a_length_that_is_a_lie(service, get, by, raises):
    size = len(get("/v1/zones").content)
    service.fault("length", by=by)
    if raises:
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete|without sending complete"):
            get("/v1/zones")
    else:
        assert len(get("/v1/zones").content) == size - 30


def test_a_page_instead_of_json_and_a_connection_without_a_word(service, get):
    service.fault("html")
    assert get("/v1/zones").headers["content-type"].startswith("text/html")
    service.fault("drop")
    with pytest.raises(httpx.RemoteProtocolError):
        get("/v1/zones")
    assert get("/v1/zones").status_code == 200


@pytest.mark.parametrize("kind", ["slow", "trickle"])
def test_a_late_reply_is_whole(service, get, kind):
    whole = get("/v1/zones").json()
    service.fault(kind, seconds=0.05)
    assert get("/v1/zones").json() == whole


def test_a_service_that_was_killed_is_gone_until_it_is_started(service, get):
    service.fault("killed", after=1)
    assert get("/v1/zones").status_code == 200
    with pytest.raises(httpx.RemoteProtocolError):
        get("/v1/zones")
    assert not service.running
    service.start()
    assert get("/v1/zones").status_code == 200


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("late", {}, "There is no fault 'late'"),
        (200, {}, "A status from 400 to 599"),
        (500, {"times": 0}, "times must be at least 1"),
        ("slow", {"seconds": -1}, "must not be below 0"),
        ("length", {"by": 0}, "by must not be 0"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(kind, more, said):
    with pytest.raises(ValueError, match=said):
        Carrier().fault(kind, **more)


@pytest.mark.slow
def test_it_does_not_keep_a_process_alive_and_says_nothing_on_stderr():
    code = (
        "import httpx; from course_utils.shop import carrier; service = carrier.start(); "
        "print(httpx.get(service.url + '/nowhere', trust_env=False).status_code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "404", "")


def test_served_in_the_foreground_it_prints_its_address_and_ends(capsys, monkeypatch):
    def killed(self):
        started(self)
        self._loop.call_soon_threadsafe(self._end.set)
        return self

    started = Carrier.start
    monkeypatch.setattr(Carrier, "start", killed)
    carrier.serve(0)
    out = capsys.readouterr().out
    assert "Gauraiya Parcels answers at http://127.0.0.1:" in out and "GET /v1/delays/{city}" in out
