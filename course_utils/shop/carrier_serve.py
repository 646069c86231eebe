"""The carrier's JSON service: what it answers, and the faults that can be switched on.

Imported by `carrier` when a service starts, for it needs tornado.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler

from .carrier_faults import Fault, Faults

log = logging.getLogger("course_utils.carrier")
MOST_PER_PAGE = 20
_SLICES = 20  # of a reply that trickles in
ENDPOINTS = (
    "/v1/tracking/by-order/{order_id}",
    "/v1/tracking/by-number/{tracking_number}",
    "/v1/services",
    "/v1/services/{code}",
    "/v1/zones",
    "/v1/delays?page=1&per_page=5&sort=extra_days",
    "/v1/delays/{city}",
)


class NotThere(LookupError):
    """What was asked for does not exist: 404."""


class BadRequest(ValueError):
    """A parameter makes no sense: 400."""


def _record(file: str, pointer: str, data: Any) -> dict[str, Any]:
    """Return one record; `source` says where it stands in the data, as a file and a JSON pointer."""
    return {"source": f"{file}#{pointer}", "data": data}


class Answers:
    """What each address answers, from the three files: {"tracking": …, "service_levels": …, "delays": …}."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self.files = files

    def _one(self, file: str, record: dict[str, Any]) -> dict[str, Any]:
        return {"as_of": self.files[file]["as_of"], **record}

    def parcel(self, key: str, value: str) -> dict[str, Any]:
        for number, shipment in enumerate(self.files["tracking"]["shipments"]):
            if str(shipment[key]) == value:
                return self._one("tracking", _record("tracking.json", f"/shipments/{number}", shipment))
        raise NotThere(f"no parcel with {key} {value[:40]}")

    def _services(self) -> dict[str, dict[str, Any]]:
        levels = self.files["service_levels"]
        return {
            code: _record("service_levels.json", f"/{part}/{code}", service)
            for part in ("services", "withdrawn")
            for code, service in levels[part].items()
        }

    def services(self) -> dict[str, Any]:
        items = list(self._services().values())
        return {"as_of": self.files["service_levels"]["as_of"], "items": items, "total": len(items)}

    def service(self, code: str) -> dict[str, Any]:
        if (found := self._services().get(code)) is None:
            raise NotThere(f"no service with code {code[:40]}; there are {', '.join(self._services())}")
        return self._one("service_levels", found)

    def zones(self) -> dict[str, Any]:
        levels = self.files["service_levels"]
        return self._one("service_levels", _record("service_levels.json", "/zones", levels["zones"]))

    def _delays(self) -> list[dict[str, Any]]:
        cities = self.files["delays"]["cities"]
        return [_record("delays.json", f"/cities/{number}", city) for number, city in enumerate(cities)]

    def delays(self, page: int, per_page: int, sort: str) -> dict[str, Any]:
        items = self._delays()
        if sort == "extra_days":  # longest first; equal ones stay in the order of the file
            items.sort(key=lambda item: -item["data"]["state"]["extra_days"])
        elif sort:
            raise BadRequest(f"sort must be extra_days or left out, not {sort[:40]!r}")
        end = page * per_page
        more = f"&sort={quote(sort)}" if sort else ""
        following = f"/v1/delays?page={page + 1}&per_page={per_page}{more}" if end < len(items) else None
        return {
            "as_of": self.files["delays"]["as_of"],
            "items": items[end - per_page : end],
            "page": page,
            "per_page": per_page,
            "total": len(items),
            "next": following,
        }

    def delay(self, city: str) -> dict[str, Any]:
        for record in self._delays():
            if record["data"]["city"].casefold() == city.casefold():
                return self._one("delays", record)
        raise NotThere(f"no city {city[:40]}")


class _Handler(RequestHandler):
    """Every address: find the fault that is due, make the body, send it."""

    def initialize(self, answer: Callable, faults: Faults, asked: list[str], kill: Callable) -> None:
        self._answer, self._faults, self._asked, self._kill = answer, faults, asked, kill

    def _number(self, name: str, default: int, most: int) -> int:
        text = self.get_query_argument(name, str(default))
        if not (text.isascii() and text.isdigit()) or len(text) > 4 or not 1 <= int(text) <= most:
            raise BadRequest(f"{name} must be a whole number from 1 to {most}, not {text[:40]!r}")
        return int(text)

    def _reply(self, words: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
        try:
            return 200, self._answer(self, *words)
        except NotThere as error:
            return 404, {"error": {"status": 404, "message": str(error)}}
        except BadRequest as error:
            return 400, {"error": {"status": 400, "message": str(error)}}

    async def get(self, *words: str) -> None:
        self._asked.append(f"GET {self.request.uri}")
        fault = self._faults.due(self.request.uri)
        status, body = self._reply(words)
        if fault is None:
            return self._send(status, body)
        if fault.kind == "status":
            if fault.retry_after is not None:
                self.set_header("Retry-After", f"{fault.retry_after:g}")
            said = {"error": {"status": fault.status, "message": "switched on for a lesson or a test"}}
            return self._send(fault.status, said)
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
            return self._send(status, body)
        if fault.kind == "html":
            self.set_header("Content-Type", "text/html; charset=utf-8")
            return self.finish("<html><body><h1>Under maintenance</h1></body></html>")
        if fault.kind == "killed":
            self._kill()
        await self._raw(fault, json.dumps(body, ensure_ascii=False).encode())

    async def _raw(self, fault: Fault, body: bytes) -> None:
        """Write to the connection what no server library would send, then close it."""
        stream = self.detach()
        length = len(body)
        if fault.kind == "truncated":
            body = body[: length // 2]
            length = len(body)
        elif fault.kind == "length":
            length += fault.by
        if fault.kind not in {"drop", "killed"}:
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            slices = _SLICES if fault.kind == "trickle" else 1
            step = -(-len(body) // slices)
            try:
                await stream.write(head.encode())
                for start in range(0, len(body), step):
                    await asyncio.sleep(fault.seconds / slices if slices > 1 else 0)
                    await stream.write(body[start : start + step])
            except StreamClosedError:
                log.info("the client left before the end of the reply")
        stream.close()

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(body, ensure_ascii=False))

    def write_error(self, status_code: int, **more: Any) -> None:
        self._send(status_code, {"error": {"status": status_code, "message": self._reason}})


def application(files: Mapping[str, Any], faults: Faults, asked: list[str], kill: Callable) -> Application:
    """Return the service as a tornado application.

    files: the three data files, as read. faults: what goes wrong on purpose. asked: gets one line for each
    request. kill: called, in the service's own loop, when it is to vanish.
    """
    answers = Answers(files)

    def delays(handler: _Handler) -> dict[str, Any]:
        return answers.delays(
            handler._number("page", 1, 9999),
            handler._number("per_page", 5, MOST_PER_PAGE),
            handler.get_query_argument("sort", ""),
        )

    routes: dict[str, Callable] = {
        r"/v1/tracking/by-order/([^/]+)": lambda _, order: answers.parcel("order_id", order),
        r"/v1/tracking/by-number/([^/]+)": lambda _, number: answers.parcel("tracking_number", number),
        r"/v1/services": lambda _: answers.services(),
        r"/v1/services/([^/]+)": lambda _, code: answers.service(code),
        r"/v1/zones": lambda _: answers.zones(),
        r"/v1/delays": delays,
        r"/v1/delays/([^/]+)": lambda _, city: answers.delay(city),
    }

    def unknown(_: _Handler) -> dict[str, Any]:
        raise NotThere(f"no such address; there are {', '.join(ENDPOINTS)}")

    shared = {"faults": faults, "asked": asked, "kill": kill}
    return Application(
        [(path, _Handler, {"answer": answer, **shared}) for path, answer in routes.items()],
        default_handler_class=_Handler,
        default_handler_args={"answer": unknown, **shared},
        # tornado's own log would put each 404 of a lesson on stderr
        log_function=lambda handler: log.info("%d %s", handler.get_status(), handler.request.uri),
    )
