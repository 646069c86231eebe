"""A process of our own for work that may never end: killed at its deadline, started anew by the next call.

Engines that promise a timeout keep it late (SurrealDB took 3 s for 200 ms, ladybug up to 22 s for 0.7), and a
thread cannot be stopped at all. A process can.

    child = Child("course_utils.retrieval.graph_child:serve", "shop.lbug", seconds=2)
    child.call({"query": "MATCH (p:Product) RETURN p.name"})
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

START_SECONDS = 60.0  # a cold start on a busy machine; the deadline of a call does not include it
POLL_SECONDS = 0.02
SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


class ChildFailed(RuntimeError):
    """The child could not do it: `kind` is "late", "memory", "died", or the name of the exception in it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Child:
    """One process that answers one call after the other.

    serve: "package.module:function". In the child it is called once with `args`, opens what it needs and
    returns a function from a request to a reply. Requests, replies and args are plain JSON values.
    seconds: how long a call may take before the process is killed. megabytes: how much memory it may hold.

    The process starts at the first call and ends with `close`, with this process, or with this object.
    It gets no API key: environment variables that look like a secret are taken away. Any thread may call;
    calls wait for each other. A forked process starts a child of its own.
    """

    def __init__(self, serve: str, *args: Any, seconds: float = 2.0, megabytes: int = 1024) -> None:
        if not seconds > 0 or megabytes < 1:
            raise ValueError("seconds and megabytes must be above zero.")
        self.serve, self.args, self.seconds, self.megabytes = serve, args, seconds, megabytes
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._owner = os.getpid()
        self._end: weakref.finalize | None = None

    @property
    def pid(self) -> int | None:
        """The number of the running process, None if none runs."""
        running = self._owner == os.getpid() and self._process and self._process.poll() is None
        return self._process.pid if running else None

    def call(self, request: Any, seconds: float | None = None) -> Any:
        """Return the reply to a request; raises ChildFailed, after which the next call starts a new process.

        What the function in the child raises is a ChildFailed too, with its class as kind, and that process
        goes on.
        """
        with self._lock:
            if self.pid is None:
                self._start()
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
            except OSError as error:
                raise self._dead() from error
            return self._reply(self.seconds if seconds is None else seconds)

    def close(self) -> None:
        """End the process, if one runs; the next call starts another."""
        self._process = None
        if self._end is not None:
            self._end()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _start(self) -> None:
        self.close()
        self._owner, self._lines = os.getpid(), queue.SimpleQueue()
        code = "import sys; sys.path[:] = __import__('json').loads(sys.argv.pop(1)); "
        code += f"from {__name__} import main; main()"
        environment = {n: v for n, v in os.environ.items() if not any(s in n.upper() for s in SECRETS)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, json.dumps(sys.path), self.serve, json.dumps(self.args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            encoding="utf-8",
        )
        reader = threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True)
        reader.start()
        # Also called when this object goes, and before the interpreter ends.
        self._end = weakref.finalize(self, _stop, self._process, reader, os.getpid())
        self._reply(START_SECONDS)

    def _reply(self, seconds: float) -> Any:
        import psutil

        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=POLL_SECONDS)
                break
            except queue.Empty:
                pass
            if time.monotonic() > deadline:
                self.close()
                raise ChildFailed("late", f"it took longer than {seconds:g} s and was stopped")
            try:
                held = psutil.Process(self._process.pid).memory_info().rss
            except psutil.Error:
                continue  # it is ending: the queue will say so
            if held > self.megabytes * 2**20:
                self.close()
                raise ChildFailed("memory", f"it took more than {self.megabytes} MB and was stopped")
        if line is None:
            raise self._dead()
        reply = json.loads(line)
        if "error" in reply:
            raise ChildFailed(*reply["error"])
        return reply["ok"]

    def _dead(self) -> ChildFailed:
        self.close()
        return ChildFailed("died", "the process that ran it ended without an answer")


def _stop(process: subprocess.Popen, reader: threading.Thread, owner: int) -> None:
    if owner != os.getpid():  # a fork's copy: the process belongs to the parent
        return
    process.kill()
    process.wait()
    reader.join(timeout=5)
    if not reader.is_alive():  # closing a pipe that is being read would wait for the reader
        with contextlib.suppress(OSError):
            process.stdout.close()
    with contextlib.suppress(OSError):  # what was not sent yet has nobody to go to
        process.stdin.close()


def _read(pipe: Any, lines: "queue.SimpleQueue[str | None]") -> None:
    with contextlib.suppress(OSError, ValueError):  # closed while it was read
        for line in pipe:
            lines.put(line)
    lines.put(None)


def _watch(requests: "queue.SimpleQueue[str]") -> None:
    """Take requests from the parent; when the parent is gone, go too, whatever the engine is doing."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def main() -> None:
    """Be the child: answer requests, one JSON line each, until the parent goes away."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an engine prints must not pass for a reply
    sys.stdin.reconfigure(encoding="utf-8")

    def answer(do: Callable[[], Any]) -> Any:
        try:
            made = do()
            text = json.dumps({"ok": None if callable(made) else made})
        except Exception as error:  # it belongs to the caller, who is in another process
            made, text = None, json.dumps({"error": [type(error).__name__, str(error)]})
        out.write(text + "\n")
        out.flush()
        return made

    module, name = sys.argv[1].split(":")
    serve = answer(lambda: getattr(import_module(module), name)(*json.loads(sys.argv[2])))
    if serve is None:
        return
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_watch, args=(requests,), daemon=True).start()
    while True:
        request = json.loads(requests.get())
        answer(lambda request=request: serve(request))
