"""Probe and judge live apart: the learner's process can do without the judge and knows no answer."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import course_utils.teaching
from course_utils.teaching import notebook, tasks

ROOM = Path(course_utils.teaching.__file__).parent


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(
    "path",
    sorted(ROOM.glob("tasks/*_probes.py")) + [ROOM / "probe.py", ROOM / "raised.py"],
    ids=lambda p: p.name,
)
def test_probes_import_no_judge_and_hold_no_reference(path):
    names = list(imports_of(path))
    assert not [name for name in names if "judge" in name or "gold" in name]
    source = path.read_text(encoding="utf-8")
    assert "SELECT" not in source.upper().replace("SELECTION", "")


PROBED = """
import importlib.abc, json, sys

class Closed(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if "judge" in name or "gold" in name:
            raise ImportError(f"{name} is not for this process")

sys.meta_path.insert(0, Closed())
from course_utils.teaching import probe
told = json.load(sys.stdin)
exec("import re, sqlglot\\nfrom langchain_core.documents import Document")
exec("from langchain_core.vectorstores import InMemoryVectorStore")
exec("import math, statistics\\nimport numpy as np")
reports = []
for id, code, name, inputs in told:
    exec(code)
    reports.append(probe.report(id, globals()[name], inputs))
print(json.dumps(reports))
assert not [name for name in sys.modules if "course_utils" in name and ("judge" in name or "gold" in name)]
"""
BY_REGEX = 'def add_limit(sql, n=50):\n    return f"{sql} LIMIT {n}"'


@pytest.mark.slow
def test_probe_and_judge_agree_across_two_processes():
    """The learner's process cannot load a judge or the reference; the verdict is that of the notebook."""
    every = tasks.every()
    sent = [
        (task.id, notebook.solution_cells(task.notebook, task.id)[0], task.asks, task.inputs())
        for task in every
    ]
    limit = tasks.sql.limit_guard
    sent.append((limit.id, BY_REGEX, limit.asks, limit.inputs()))
    run = subprocess.run(
        [sys.executable, "-c", PROBED], input=json.dumps(sent), capture_output=True, text=True, check=True
    )
    *reports, by_regex = json.loads(run.stdout)
    for task, report, (*_, inputs) in zip(every, reports, sent, strict=False):
        verdict = task.judge(report, inputs)
        assert (verdict.points, verdict.state) == (task.points, "passed"), task.id
    here = limit.check(lambda sql, n=50: f"{sql} LIMIT {n}")
    verdict = limit.judge(by_regex, limit.inputs())
    assert (verdict.points, verdict.state, verdict.message) == (float(here), here.state, here.message)


# Wrong answers of each group, besides those that are wrong anywhere.
WRONG = {
    "docs": "lambda *a, **k: a[0], lambda *a, **k: list(a[0])[:2]",
    "rerank": "lambda *a, **k: a[0], lambda *a, **k: {'recall': 0.5, 'lost': {}}",
    "routing": "lambda *a, **k: 'unstructured', lambda *a, **k: {'documents': [], 'dropped': []}",
    "search": "lambda *a, **k: list(a[0]), lambda *a, **k: 0.5",
    "sql": "'SELECT name, city, region FROM customers', 'SELECT nothing'",
}
PANELS = """
from course_utils.teaching import tasks
answers = [lambda *a, **k: object(), lambda *a, **k: {"b", "a"}, lambda *a, **k: {}[object()], 3, None]
for task in tasks.GROUP:
    for answer in [*answers, OTHERS]:
        print(task.check(answer)._repr_html_())
"""


@pytest.mark.slow
@pytest.mark.parametrize("group", tasks.groups())
def test_panels_are_the_same_in_every_process(group):
    """No address, no order of a set, no time: a saved output does not change from run to run."""
    code = PANELS.replace("GROUP", group).replace("OTHERS", WRONG[group])
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count("<strong>") == 7 * len(getattr(tasks, group))
    assert runs[0].stderr == ""
