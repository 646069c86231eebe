"""What tests/retrieval/test_child.py has a child do."""

import os
import time


def serve(name):
    """Answer by what is asked for: to echo, sleep, raise, print, end, or take memory."""
    held = []

    def answer(request):
        match request["do"]:
            case "echo":
                return [name, request["say"]]
            case "sleep":
                time.sleep(request["seconds"])
            case "raise":
                raise ValueError("not that one")
            case "print":
                os.write(1, b'{"ok": "forged"}\n')
                print('{"ok": "forged"}', flush=True)
                return "real"
            case "end":
                os._exit(3)
            case "memory":
                held.append(b"x" * request["megabytes"] * 2**20)
                time.sleep(request["seconds"])
            case "environment":
                return sorted(os.environ)
            case "no json":
                return {1, 2}
        return os.getpid()

    return answer


def fails(_):
    raise FileNotFoundError("no such shop")
