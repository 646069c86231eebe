"""Checks in tests keep no progress, and have a learner's folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def _no_traces(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "learner"))
