"""Probe and judge live apart: the learner's process can do without the judge and knows no answer."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import course_utils.teaching
from course_utils.teaching import tasks

ROOM = Path(course_utils.teaching.__file__).parent


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(
    "path", sorted(ROOM.glob("tasks/*_probes.py")) + [ROOM / "probe.py"], ids=lambda p: p.name
)
def test_probes_import_no_judge_and_hold_no_reference(path):
    names = list(imports_of(path))
    assert not [name for name in names if "judge" in name or "gold" in name]
    source = path.read_text(encoding="utf-8")
    assert "SELECT" not in source.upper().replace("SELECTION", "")


def test_probe_and_judge_agree_across_two_processes():
    """The learner's process cannot load a judge or the reference; the verdict is that of the notebook."""
    task = tasks.sql.limit_guard
    inputs = task.inputs()
    child = """
import importlib.abc, json, sys

class Closed(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if "judge" in name or "gold" in name:
            raise ImportError(f"{name} is not for this process")

sys.meta_path.insert(0, Closed())
from course_utils.teaching import probe
inputs = json.load(sys.stdin)
report = probe.report("sql.limit_guard", lambda sql, n=50: f"{sql} LIMIT {n}", inputs)
print(json.dumps(report))
assert not [name for name in sys.modules if "judge" in name or "gold" in name]
"""
    run = subprocess.run(
        [sys.executable, "-c", child], input=json.dumps(inputs), capture_output=True, text=True, check=True
    )
    verdict = task.judge(json.loads(run.stdout), inputs)
    here = task.check(lambda sql, n=50: f"{sql} LIMIT {n}")
    assert (verdict.points, verdict.state, verdict.message) == (float(here), here.state, here.message)
