"""A clean environment, a tiny course folder, and a stand-in for the Anthropic API."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from anthropic_server import KEY, serving

import course_utils


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path_factory):
    """No key, no setting, no .env above, no memory of earlier tests."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "COURSE_", "LANGSMITH_", "LANGCHAIN_")) and name != "COURSE_HOME":
            monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path_factory.mktemp("cache")))
    from course_utils.models import chat

    monkeypatch.setattr(chat, "_announced", set())


@pytest.fixture
def course(monkeypatch, tmp_path) -> Path:
    """The folder of a course with empty data; the working directory is elsewhere."""
    root = tmp_path / "course"
    for name in ("data/replies", "data/embeddings", "lessons"):
        (root / name).mkdir(parents=True)
    for name in ("schema.sql", "products.csv"):
        (root / "data" / name).touch()
    monkeypatch.setenv("COURSE_DATA", str(root / "data"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return root


@pytest.fixture
def fresh_python():
    """Run code in a new process that finds the package; returns its output, and fails on any stderr."""

    def run(code: str) -> str:
        root = str(Path(course_utils.__file__).parent.parent)
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": root, "PYTHONUTF8": "1"},
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.fixture
def script(course):
    """Write a script of replies for a task; returns its path."""

    def write(text: str, task: str = "demo", newline: str = "\n") -> Path:
        file = course / "data" / "replies" / f"{task}.yaml"
        file.write_text(text, encoding="utf-8", newline=newline)
        return file

    return write


@pytest.fixture
def api(monkeypatch, course):
    """A server on this machine that speaks the Messages API; the key and the address are set."""
    with serving() as state:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", state.url)
        yield state
