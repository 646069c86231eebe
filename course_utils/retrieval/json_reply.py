"""What the carrier's service replies: its form read strictly, and the error where there is no use in it."""

import email.utils
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from course_utils.models.errors import shorten

DEEPEST = 50
GO_ON = (
    "What other sources know is not affected. In a lesson, course_utils.shop.carrier.start() brings the "
    "service back, and its .clear() switches faults off; then ask again."
)


class CarrierError(RuntimeError):
    """The service gave no usable reply. The message says what was asked, what came, and what to do next.

    asked: "GET /v1/zones". came: what was wrong, in words. tries: how often it was asked. status: the HTTP
    status of the last refusal, None where none came.
    """

    def __init__(self, asked: str, came: str, tries: int = 1, status: int | None = None, next: str = GO_ON):
        self.asked, self.came, self.tries, self.status = asked, came, tries, status
        often = f", {tries} times over" if tries > 1 else ""
        super().__init__(f"The carrier's service was asked {asked}{often}, and {came}. {next}")


@dataclass(frozen=True)
class Record:
    """One thing that the service knows. source: where it stands, as "delays.json#/cities/14"."""

    source: str
    data: Any
    as_of: str = ""


@dataclass(frozen=True)
class Reply:
    """What one question to the service brought.

    asked: "GET /v1/delays". found: false for "nothing there" (404). complete: false where a later page did
    not come, or there were too many. note: why, in words; for a 404 the service's own.
    """

    asked: str
    records: tuple[Record, ...] = ()
    found: bool = True
    complete: bool = True
    note: str = ""


def seconds_asked(retry_after: str | None) -> float | None:
    """Return what a Retry-After header asks for, in seconds or as a date; None where it is neither."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        date = email.utils.parsedate_tz(retry_after or "")
        seconds = email.utils.mktime_tz(date) - time.time() if date else float("nan")
    return max(0.0, seconds) if seconds == seconds else None


def message(body: Any) -> str:
    """Return the service's own words for a refusal, shortened: they are data too."""
    error = body.get("error") if isinstance(body, dict) else None
    said = error.get("message") if isinstance(error, dict) else None
    return shorten(said, 200) if isinstance(said, str) else "no reason given"


def read_records(body: Any, asked: str) -> tuple[Record, ...]:
    """Return the records of a reply, {data} or {items: [{data}, …]}; raises CarrierError for another form."""
    items = body.get("items", [body]) if isinstance(body, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) and "data" in item for item in items):
        raise CarrierError(asked, "its reply does not have the form {data} or {items, next}")
    if _deeper(items, DEEPEST):
        raise CarrierError(asked, f"its reply is nested more than {DEEPEST} levels deep")
    as_of = body["as_of"] if isinstance(body.get("as_of"), str) else ""
    return tuple(Record(str(item.get("source", "")), item["data"], as_of) for item in items)


def _deeper(data: Any, levels: int) -> bool:
    members = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return levels == 0 or any(_deeper(one, levels - 1) for one in members)


def next_page(body: dict[str, Any], path: str) -> dict[str, str] | None:
    """Return the query of the next page, None after the last; raises ValueError for a link elsewhere.

    Only the query of the link is used: no reply can send the client to another address.
    """
    if (link := body.get("next")) is None:
        return None
    parts = urlsplit(link) if isinstance(link, str) else None
    if parts is None or parts.scheme or parts.netloc or parts.path != path:
        raise ValueError(f"the link to the next page leads elsewhere: {shorten(repr(link), 80)}")
    return dict(parse_qsl(parts.query))
