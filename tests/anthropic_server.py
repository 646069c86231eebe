"""A stand-in for the Anthropic API: a loopback server that speaks just enough of it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-ant-test-0123456789abcdef"


def message(*content: dict, stop: str = "end_turn") -> dict:
    """A reply as the Messages API gives it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 5},
    }


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def refusal(kind: str, words: str) -> dict:
    return {"type": "error", "error": {"type": kind, "message": words}}


class Api:
    """What the stand-in answers, in order (the last repeats), and what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict | bytes, dict]] = [(200, message(text("Good day.")), {})]
        self.requests: list[dict] = []
        self.paths: list[str] = []
        self.headers: list[dict] = []
        self.url = ""

    def will(self, *answers) -> None:
        """Each answer: a status, a body (dict, or bytes of a stream) and, if need be, headers."""
        self.answers = [(*answer, {})[:3] for answer in answers]


@contextmanager
def serving() -> Iterator[Api]:
    """Run the stand-in on a free port of this machine; yields what it answers and was asked."""
    state = Api()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            state.requests.append(json.loads(body))
            state.paths.append(self.path)
            state.headers.append(dict(self.headers))
            number = min(len(state.requests), len(state.answers)) - 1
            status, answer, headers = state.answers[number]
            stream = isinstance(answer, bytes)
            payload = answer if stream else json.dumps(answer).encode()
            self.send_response(status)
            default = {
                "content-type": "text/event-stream" if stream else "application/json",
                "content-length": str(len(payload)),
                "connection": "close",
            }
            for name, value in {**default, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
