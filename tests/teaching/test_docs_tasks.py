"""What holds for every task of exercise 02: untouched, wrong type, broken, hostile."""

import json
import os
import subprocess
import sys

import pytest
from checking import says

from course_utils.teaching import notebook, tasks

DOCS = tasks.docs


def stub(*args, **kwargs):
    """The words of the task."""
    ...


def unfinished(*args, **kwargs):
    raise NotImplementedError


def endless(*args, **kwargs):
    return endless(*args, **kwargs)


def breaks(*args, **kwargs):
    return {}["nothing"]


def leaves(*args, **kwargs):
    sys.exit(0)


def forgets(*args, **kwargs):
    answer = [args, kwargs]
    print(answer[:0])


async def late(*args, **kwargs):
    return []


def many(*args, **kwargs):
    yield []


every_task = pytest.mark.parametrize("task", list(DOCS), ids=lambda task: task.name)


@every_task
@pytest.mark.parametrize("value", [None, ..., stub, unfinished])
def test_what_nobody_wrote_is_not_attempted(task, value):
    says(task.check(value), 0, state="not attempted")


@every_task
@pytest.mark.parametrize("value", [3.5, ["a"], {"a": 1}, "a text", object(), int], ids=repr)
def test_wrong_types_are_named(task, value):
    says(task.check(value), 0, "should be a function", type(value).__name__)


@every_task
@pytest.mark.parametrize(
    ("value", "fragment"),
    [
        (endless, "calls itself without an end"),
        (breaks, '(line 2 of `breaks`: `return {}["nothing"]`)'),
        (leaves, "SystemExit"),
        (forgets, "prints something instead"),
        (lambda: 1, "TypeError"),
        (late, "`async def`"),
        (many, "`yield`"),
    ],
)
def test_broken_functions_get_a_word_and_no_points(task, value, fragment, capfd):
    says(task.check(value), 0, fragment)
    assert capfd.readouterr() == ("", "")


@every_task
@pytest.mark.parametrize(
    "value", [3, "text", {}, {1}, b"x", float("nan"), [None], [[]], [{}], [object()], [1.5], [[], [], [{}]]]
)
def test_strange_values_get_a_word_of_the_judge(task, value):
    result = task.check(lambda *args, **kwargs: value)
    says(result, 0)
    assert "could not run" not in result.message


@every_task
def test_a_refusal_of_everything_earns_nothing(task):
    def refuses(*args, **kwargs):
        raise ValueError("no")

    says(task.check(refuses), 0, "ValueError: no")


@every_task
def test_judges_survive_any_report(task):
    inputs = task.inputs()
    count = len(inputs["cases"])
    for report in (
        None, [], "passed", {}, {"status": "answered"}, {"status": "answered", "calls": [{}] * count},
        {"status": "answered", "calls": [{"returned": 10**9}] * count},
        {"status": "answered", "calls": [{"raised": {"bases": 3}}] * count},
        {"status": "answered", "calls": [{"returned": 1, "type": []}] * count},
        {"status": "answered", "calls": [{"returned": {"document": 3}, "type": "Document"}] * count},
        {"status": "answered", "calls": [{"returned": [{"document": {}}], "type": "list"}] * count},
        {"status": "answered", "points": 99, "state": "passed"},
    ):  # fmt: skip
        verdict = task.judge(report, inputs)
        assert verdict.points == 0
        assert verdict.state != "passed"


@every_task
def test_inputs_travel_as_json(task):
    inputs = task.inputs()
    assert json.loads(json.dumps(inputs)) == inputs


@every_task
def test_the_solution_in_the_notebook_passes(task):
    (cell,) = notebook.solution_cells(task.notebook, task.id)
    names: dict = {}
    exec("from langchain_core.documents import Document", names)
    exec("from langchain_core.vectorstores import InMemoryVectorStore", names)
    exec(cell, names)
    says(task.check(names[task.asks]), task.points)


def test_the_points_are_those_of_the_exercise():
    assert {task.name: task.points for task in DOCS} == {
        "row_to_document": 2, "two_fields": 2, "filter_then_rank": 3, "entitlements": 2, "resync": 3,
    }  # fmt: skip


HTML_OF_WRONG_ANSWERS = """
from course_utils.teaching import tasks
answers = [lambda *a, **k: object(), lambda *a, **k: {"b", "a"}, lambda *a, **k: {}[object()], 3, None]
for task in tasks.docs:
    for answer in [*answers, lambda *a, **k: a[0], lambda *a, **k: list(a[0])[:2]]:
        print(task.check(answer)._repr_html_())
"""


@pytest.mark.slow
def test_panels_are_the_same_in_every_process():
    """No address, no order of a set, no time: a saved output does not change from run to run."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", HTML_OF_WRONG_ANSWERS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count("<strong>") == 7 * len(DOCS)
    assert runs[0].stderr == ""


PROBED = """
import importlib.abc, json, sys

class Closed(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if "judge" in name or "gold" in name:
            raise ImportError(f"{name} is not for this process")

sys.meta_path.insert(0, Closed())
from course_utils.teaching import notebook, probe
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
reports = {}
for id, (cell, name, inputs) in json.load(sys.stdin).items():
    exec(cell)
    reports[id] = probe.report(id, globals()[name], inputs)
print(json.dumps(reports))
"""


@pytest.mark.slow
def test_probes_do_without_the_judges_and_the_judges_read_what_they_send():
    sent = {
        task.id: (notebook.solution_cells(task.notebook, task.id)[0], task.asks, task.inputs())
        for task in DOCS
    }
    run = subprocess.run(
        [sys.executable, "-c", PROBED], input=json.dumps(sent), capture_output=True, text=True, check=True
    )
    reports = json.loads(run.stdout)
    for task in DOCS:
        verdict = task.judge(reports[task.id], sent[task.id][2])
        assert (verdict.points, verdict.state) == (task.points, "passed")
