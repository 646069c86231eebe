"""Gauraiya Parcels: the invented carrier's JSON service, on a port of this machine, for as long as a lesson.

from course_utils.shop import carrier
service = carrier.start()
service.url  # "http://127.0.0.1:40123"
"""

import asyncio
import json
import socket
import threading
from contextlib import suppress
from typing import Any

from course_utils import places

from .carrier_faults import Fault, Faults

HOST = "127.0.0.1"
PORT = 8737  # of `course carrier serve`; a lesson takes any free one
FILES = ("tracking", "service_levels", "delays")
_SECONDS = 10  # to start or to stop in; it takes milliseconds


def read() -> dict[str, Any]:
    """Return the carrier's three files by name; raises ValueError that names the one that is no JSON."""
    files = {}
    for name in FILES:
        file = places.data() / "carrier_api" / f"{name}.json"
        try:
            files[name] = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{file} is not valid JSON: {error}. Restore it with git.") from None
    return files


class Carrier:
    """One service: `with Carrier() as service:`, or `.start()` and `.stop()`.

    It runs in a daemon thread with an event loop of its own, so it ends with the kernel at the latest, and
    listens on 127.0.0.1 only. port 0 takes a free one; started again, it keeps its address if that is free.
    `requests` lists what was asked, as "GET /v1/services".
    """

    def __init__(self, port: int = 0) -> None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
            raise ValueError(f"port must be a whole number from 0 (any that is free) to 65535, not {port!r}.")
        self.port = port
        self._wanted = port
        self.requests: list[str] = []
        self._faults = Faults()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it listens; raises RuntimeError before its first start."""
        if not self.port:
            raise RuntimeError("The carrier's service has no address yet: call .start() first.")
        return f"http://{HOST}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether it answers: false before the start, after `stop`, and when a fault killed it."""
        return self._thread is not None and self._thread.is_alive() and not self._ending()

    def _ending(self) -> bool:
        return self._end is not None and self._end.is_set()

    def start(self) -> "Carrier":
        """Start it, if it is not running, and return it. Raises OSError where its port is taken."""
        with self._lock:
            if self.running:
                return self
            if self._thread is not None:
                self._thread.join(_SECONDS)  # one that was killed is on its way out
            files, listening, ready = read(), self._listen(), threading.Event()
            self._end = None
            self._thread = threading.Thread(
                target=self._run, args=(files, listening, ready), name="carrier", daemon=True
            )
            self._thread.start()
            if not ready.wait(_SECONDS):
                raise RuntimeError("The carrier's service did not start; restart the kernel and try again.")
            return self

    def _listen(self) -> list[socket.socket]:
        from tornado.netutil import bind_sockets

        for port in (self.port, *([0] if self.port and not self._wanted else [])):
            try:
                listening = bind_sockets(port, HOST)
            except OSError as error:
                problem = error
                continue
            self.port = listening[0].getsockname()[1]
            return listening
        raise OSError(
            f"Port {self.port} of this machine cannot be used ({problem.strerror}): another program, or "
            "another carrier service, has it. Choose another port, or 0 for any that is free."
        )

    def _run(self, files: dict[str, Any], listening: list[socket.socket], ready: threading.Event) -> None:
        # The selector loop, also on Windows: tornado is at home there.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve(files, listening, ready))

    async def _serve(
        self, files: dict[str, Any], listening: list[socket.socket], ready: threading.Event
    ) -> None:
        from tornado.httpserver import HTTPServer

        from .carrier_serve import application

        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()

        def kill() -> None:
            server.stop()  # first: nobody is to be let in and then dropped
            self._end.set()

        server = HTTPServer(application(files, self._faults, self.requests, kill))
        server.add_sockets(listening)
        ready.set()
        await self._end.wait()
        server.stop()
        await server.close_all_connections()

    def stop(self) -> None:
        """Stop it and wait until its port is free; stopping twice is no error."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                return
            with suppress(RuntimeError):  # its loop has closed in this moment: a fault killed it
                self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(_SECONDS)

    def __enter__(self) -> "Carrier":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        where = f"at {self.url}" if self.port else "without an address"
        return f"<Carrier {where}, {'running' if self.running else 'not running'}>"

    def fault(
        self,
        kind: str | int,
        *,
        times: int | None = 1,
        after: int = 0,
        path: str = "/",
        retry_after: float | None = None,
        seconds: float = 3.0,
        by: int = 100,
    ) -> None:
        """Let requests go wrong: the next `times` (None: all until `clear`), after the first `after`.

        kind: a status such as 500, or 429 with `retry_after` in seconds; "slow" by `seconds`; "trickle",
        little by little for `seconds`; "truncated", half of the JSON; "length", a Content-Length that is
        `by` bytes wrong (below 0: too short); "html", a page instead of JSON; "drop", the connection closed
        without a word; "killed", the service gone. path: only for addresses that begin so, such as
        "/v1/delays?page=2". Raises ValueError.
        """
        more = {"times": times, "after": after, "path": path, "seconds": seconds, "by": by}
        if isinstance(kind, int):
            self._faults.add(Fault("status", status=kind, retry_after=retry_after, **more))
        else:
            self._faults.add(Fault(kind, **more))

    def clear(self) -> None:
        """Switch all faults off. A service that was killed needs `start` as well."""
        self._faults.clear()


_shared = Carrier()


def start() -> Carrier:
    """Return the kernel's one service, running; called twice, it is the same. `Carrier()` is another one.

    One that was stopped or killed is started again, at its old address if that is free.
    """
    return _shared.start()


def serve(port: int = PORT) -> None:
    """Run a service in the foreground until Ctrl-C; raises OSError where the port is taken."""
    from .carrier_serve import ENDPOINTS

    with Carrier(port) as service:
        print(f"Gauraiya Parcels answers at {service.url} (Ctrl-C ends it)", flush=True)
        for endpoint in ENDPOINTS:
            print(f"  GET {endpoint}", flush=True)
        try:
            while service.running:
                service._thread.join(0.5)
        except KeyboardInterrupt:
            print("stopped", flush=True)
