"""A client for the carrier's JSON service: time-outs, second tries, pages, and errors that can be read.

Whatever the service does, a call ends: with a reply, with "nothing there", or with a CarrierError.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from course_utils.models.errors import shorten

from .json_reply import GO_ON, CarrierError, Record, Reply, message, next_page, read_records, seconds_asked

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

log = logging.getLogger("course_utils.api")

AGAIN = frozenset({429, 500, 502, 503, 504, 529})  # statuses that may be gone at the next try
LONGEST_WAIT = 5.0  # seconds; a service that asks for more is given up for now
MOST_BYTES = 1_000_000
MOST_PAGES = 10


class _TryAgain(Exception):
    """One try failed in a way that a second may not. wait: seconds that the service asks for."""

    def __init__(self, came: str, status: int | None = None, wait: float | None = None) -> None:
        super().__init__(came)
        self.came, self.status, self.wait = came, status, wait


class CarrierClient:
    """Asks the carrier's service: `CarrierClient(carrier.start().url).delays_of_city("Mumbai")`.

    timeout: seconds to connect, for the first word, and for the whole body. attempts: tries for one address.
    Between them it waits about 0.1, 0.2, 0.4 … s, with jitter so that thirty laptops do not come back at
    once, or as long as Retry-After asks, up to 5 s. sleep: what waits; tests give one that does not.
    max_pages: of one list. transport: httpx's, for a service that is none. Settings for proxies are not used.

    Each method raises CarrierError; a 404 is a reply with `found` false.
    """

    def __init__(
        self,
        base_url: str,
        timeout: float = 2.0,
        attempts: int = 3,
        *,
        sleep: Callable[[float], None] = time.sleep,
        max_pages: int = MOST_PAGES,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        if urlsplit(base_url).scheme not in {"http", "https"} or not urlsplit(base_url).netloc:
            raise ValueError(f"base_url must look like http://127.0.0.1:8737, not {base_url!r}.")
        if timeout <= 0 or attempts < 1 or max_pages < 1:
            raise ValueError(
                "timeout must be above 0, attempts and max_pages at least 1, not "
                f"{timeout!r}, {attempts!r}, {max_pages!r}."
            )
        self.base_url, self.timeout, self.attempts = base_url.rstrip("/"), timeout, attempts
        self.max_pages, self._sleep, self._transport = max_pages, sleep, transport

    def __repr__(self) -> str:
        return f"CarrierClient({self.base_url!r}, timeout={self.timeout}, attempts={self.attempts})"

    @cached_property
    def _http(self) -> "httpx.Client":
        import httpx

        # A connection that is kept may be closed at the other end just when it is used again.
        return httpx.Client(
            base_url=self.base_url,
            timeout=self.timeout,
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
            transport=self._transport,
        )

    def tracking_by_order(self, order_id: int) -> Reply:
        """Return the parcel of one order."""
        return self.get("/v1/tracking/by-order/{order_id}", {"order_id": order_id})

    def tracking_by_number(self, tracking_number: str) -> Reply:
        """Return the parcel with one tracking number."""
        return self.get("/v1/tracking/by-number/{tracking_number}", {"tracking_number": tracking_number})

    def services(self) -> Reply:
        """Return all services, the withdrawn one too."""
        return self.get("/v1/services")

    def service(self, code: str) -> Reply:
        """Return one service by its code, such as "bulky"."""
        return self.get("/v1/services/{code}", {"code": code})

    def zones(self) -> Reply:
        """Return which city lies in which zone of the tariff."""
        return self.get("/v1/zones")

    def delays(self, sort: str | None = None) -> Reply:
        """Return all cities, page after page; sort "extra_days": the longest present delay first."""
        return self.get("/v1/delays", {"sort": sort} if sort else None)

    def delays_of_city(self, city: str) -> Reply:
        """Return state and events of one city."""
        return self.get("/v1/delays/{city}", {"city": city})

    def get(self, path: str, values: dict[str, Any] | None = None) -> Reply:
        """Return what stands at `path`, whose {names} are filled from `values`; the rest is the query.

        A list is followed to its last page, up to `max_pages`. Where a later page fails, what had come is
        kept, and the reply says that it is incomplete.
        """
        query: dict[str, Any] | None = dict(values or {})
        path = "/".join(_filled(part, query) for part in path.split("/"))
        asked, started, note = _asked(path, query), time.perf_counter(), ""
        records: list[Record] = []
        seen: list[dict[str, str]] = []
        while query is not None and not note:
            try:
                status, body = self._ask(path, query)
                if status == 404 and not seen:
                    return self._told(Reply(asked, found=False, note=message(body)), started)
                if status == 404:
                    raise CarrierError(_asked(path, query), "it said that there is no such page")
                records += read_records(body, _asked(path, query))
            except CarrierError as error:
                if not seen:
                    log.info("asked=%r outcome=%r", asked, error.came)
                    raise
                note = f"page {len(seen) + 1} did not come: {error}"
                break
            seen.append({"page": "1"} | {name: str(value) for name, value in query.items()})
            try:
                query = next_page(body, path)
            except ValueError as error:
                note = str(error)
                break
            if query in seen:
                note = f"after page {len(seen)} the service sent back to an earlier one"
            elif query is not None and len(seen) == self.max_pages:
                note = f"it has more than {len(seen)} pages, and no more were asked for"
        return self._told(Reply(asked, tuple(records), True, not note, note), started)

    def _told(self, reply: Reply, started: float) -> Reply:
        outcome = "nothing there" if not reply.found else "records" if reply.complete else "incomplete"
        milliseconds = (time.perf_counter() - started) * 1000
        log.info("asked=%r outcome=%s n=%d ms=%.1f", reply.asked, outcome, len(reply.records), milliseconds)
        return reply

    def _ask(self, path: str, query: dict[str, Any]) -> tuple[int, Any]:
        """Return status (200 or 404) and JSON of one address, after as many tries as it takes."""
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        retrying = Retrying(
            stop=stop_after_attempt(self.attempts),
            wait=_wait,
            sleep=self._sleep,
            retry=retry_if_exception_type(_TryAgain),
            reraise=True,
        )
        asked = _asked(path, query)
        try:
            return retrying(self._try, path, query, asked)
        except _TryAgain as error:
            tries = retrying.statistics["attempt_number"]
            raise CarrierError(asked, error.came, tries, error.status) from None

    def _try(self, path: str, query: dict[str, Any], asked: str) -> tuple[int, Any]:
        import httpx

        try:
            with self._http.stream("GET", path, params=query) as response:
                body = b"".join(self._bytes(response, asked))
                status, headers = response.status_code, response.headers
        except httpx.ConnectError:
            raise _TryAgain(f"nobody answers at {self.base_url}: it is not running there") from None
        except httpx.TimeoutException:
            raise _TryAgain(f"no whole reply came within {self.timeout:g} s") from None
        except httpx.TransportError as error:
            raise _TryAgain(f"the connection broke off: {shorten(str(error), 120).rstrip('.')}") from None
        except httpx.DecodingError:
            raise _TryAgain("the reply could not be decompressed") from None
        if status in AGAIN:
            wait = seconds_asked(headers.get("retry-after"))
            came = f"it refused with HTTP {status}" + (
                "" if wait is None else f" and asks to wait {wait:g} s"
            )
            if wait is not None and wait > LONGEST_WAIT:
                raise CarrierError(asked, came, status=status, next=f"Ask again after that. {GO_ON}")
            raise _TryAgain(came, status, wait)
        kind = headers.get("content-type", "").partition(";")[0].strip() or "no content type"
        if status not in {200, 404}:
            said = f', saying "{message(_json(body))}"' if kind == "application/json" else ""
            raise CarrierError(asked, f"it refused with HTTP {status}{said}", status=status)
        try:
            return status, json.loads(body)
        except (ValueError, RecursionError):
            if kind != "application/json":
                came = f"no JSON came but {kind} of {len(body)} bytes"
            else:
                came = f"its JSON breaks off or is damaged ({len(body)} bytes came)"
            raise _TryAgain(came, status) from None

    def _bytes(self, response: "httpx.Response", asked: str) -> Iterator[bytes]:
        """Yield the body; a slow trickle is stopped at the time limit, a flood at a megabyte."""
        import httpx

        end, size = time.monotonic() + self.timeout, 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > MOST_BYTES:
                raise CarrierError(asked, f"its reply is longer than {MOST_BYTES:,} bytes")
            if time.monotonic() > end:
                raise httpx.ReadTimeout("trickle")
            yield chunk


def _wait(state: "RetryCallState") -> float:
    from tenacity import wait_exponential_jitter

    asked = getattr(state.outcome.exception(), "wait", None)
    return asked if asked is not None else wait_exponential_jitter(multiplier=0.1, max=2.0, jitter=0.1)(state)


def _filled(part: str, values: dict[str, Any]) -> str:
    """Return a part of a path, {name} replaced by its value, which is taken out of `values`."""
    if not part.startswith("{"):
        return part
    value = str(values.pop(part[1:-1]))
    if value.strip(". ") == "":
        raise ValueError(f"{part[1:-1]} must be a name or a number, not {value!r}.")
    return quote(value, safe="")


def _asked(path: str, query: dict[str, Any]) -> str:
    return f"GET {path}" + ("?" + "&".join(f"{key}={value}" for key, value in query.items()) if query else "")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
