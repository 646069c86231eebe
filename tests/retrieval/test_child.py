"""A child process: it answers, is killed when it is late or too large, and the next call starts anew."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from course_utils.retrieval.child import Child, ChildFailed

HERE = Path(__file__).parent


@pytest.fixture
def child(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    with Child("child_serves:serve", "tawa", seconds=20) as one:
        yield one


def test_it_keeps_its_process_between_calls(child):
    assert child.pid is None
    assert child.call({"do": "echo", "say": "é\n𝄞"}) == ["tawa", "é\n𝄞"]
    assert child.call({"do": "pid"}) == child.call({"do": "pid"}) == child.pid != os.getpid()


def test_what_it_raises_comes_back_and_it_goes_on(child):
    before = child.call({"do": "pid"})
    with pytest.raises(ChildFailed, match="not that one") as caught:
        child.call({"do": "raise"})
    assert caught.value.kind == "ValueError"
    with pytest.raises(ChildFailed) as caught:
        child.call({"do": "no json"})
    assert caught.value.kind == "TypeError"
    assert child.call({"do": "pid"}) == before


def test_it_is_killed_when_late_and_the_next_call_starts_another(child):
    before = child.call({"do": "pid"})
    with pytest.raises(ChildFailed, match=r"longer than 0.2 s") as caught:
        child.call({"do": "sleep", "seconds": 600}, seconds=0.2)
    assert caught.value.kind == "late" and not psutil.pid_exists(before)
    assert child.call({"do": "pid"}) != before


def test_it_is_killed_when_it_takes_too_much_memory(child):
    child.megabytes = 300
    with pytest.raises(ChildFailed, match="300 MB") as caught:
        child.call({"do": "memory", "megabytes": 600, "seconds": 600})
    assert caught.value.kind == "memory"
    assert child.call({"do": "echo", "say": 1}) == ["tawa", 1]


def test_its_end_is_told_and_the_next_call_starts_another(child):
    with pytest.raises(ChildFailed) as caught:
        child.call({"do": "end"})
    assert caught.value.kind == "died"
    assert child.call({"do": "echo", "say": 1}) == ["tawa", 1]


def test_what_it_prints_is_not_taken_for_a_reply(child):
    assert child.call({"do": "print"}) == "real"
    assert child.call({"do": "echo", "say": 2}) == ["tawa", 2]


def test_a_start_that_fails_says_why(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    with (
        Child("child_serves:fails", "x") as child,
        pytest.raises(ChildFailed, match="no such shop") as caught,
    ):
        child.call({})
    assert caught.value.kind == "FileNotFoundError"


def test_it_gets_no_secrets(child, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-none")
    monkeypatch.setenv("KITCHEN", "open")
    names = child.call({"do": "environment"})
    assert "KITCHEN" in names and "ANTHROPIC_API_KEY" not in names


def test_calls_of_several_threads_each_get_their_own_reply(child):
    got = {}
    threads = [
        threading.Thread(target=lambda n=n: got.update({n: child.call({"do": "echo", "say": n})}))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {n: ["tawa", n] for n in range(8)}


@pytest.mark.skipif(os.name == "nt", reason="the parent is killed by a signal")
def test_it_ends_when_its_parent_is_killed(child):
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "from course_utils.retrieval.child import Child\n"
        "child = Child('child_serves:serve', 'x', seconds=600)\n"
        "child.call({'do': 'echo', 'say': 1}); print(child.pid, flush=True)\n"
        "child.call({'do': 'sleep', 'seconds': 600})"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(1000):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.02)
    else:
        raise AssertionError("the child outlived its parent by 20 s")


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"seconds": float("nan")}, {"megabytes": 0}])
def test_limits_must_be_above_zero(limits):
    with pytest.raises(ValueError, match="above zero"):
        Child("child_serves:serve", **limits)
