"""Every test runs offline, in folders of its own, whatever the machine's settings are."""

import os
import tempfile

import pytest

_SETTINGS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "COURSE_LLM",
    "COURSE_EMBEDDER",
    "COURSE_RERANKER",
    "COURSE_EMBEDDINGS",
)


def pytest_configure(config):
    """Point cache and progress to scratch folders before any module asks for them."""
    scratch = tempfile.TemporaryDirectory(prefix="course-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(scratch.cleanup)
    for name in _SETTINGS:
        os.environ.pop(name, None)
    os.environ["COURSE_HOME"] = f"{scratch.name}/home"
    os.environ["COURSE_CACHE"] = f"{scratch.name}/cache"


@pytest.fixture(autouse=True)
def settings_stay_put(monkeypatch):
    """Undo after each test whatever it did to the settings."""
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
