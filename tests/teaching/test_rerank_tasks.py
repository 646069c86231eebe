"""What holds for every task of exercise 04: untouched, wrong type, broken, hostile."""

import json

import pytest
from checking import says
from test_docs_tasks import breaks, endless, forgets, late, leaves, many, stub, unfinished

from course_utils.teaching import notebook, tasks

RERANK = tasks.rerank
every_task = pytest.mark.parametrize("task", list(RERANK), ids=lambda task: task.name)


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
    "value",
    [
        3, 0.8, True, "text", {}, {1}, b"x", float("nan"), float("inf"), [None], [[]], [{}], [object()],
        [1.5], [[], [], [{}]], {"recall": None, "lost": [1]}, {"candidate_recall": "1", "lost": {"a": []}},
        {1: 2}, ["product:41"], [None] * 3, [0.0, 0.0, 0.0], (), 10**400,
    ],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
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
        {"status": "answered", "calls": [{"returned": {"lost": 3}, "type": "dict"}] * count},
        {"status": "answered", "calls": [{"returned": [{"a": {}}], "type": "list"}] * count},
        {"status": "answered", "calls": [{"returned": [], "type": "list"}]},
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
    exec("import math, re\nimport numpy as np", names)
    exec(cell, names)
    says(task.check(names[task.asks]), task.points)


def test_the_points_are_those_of_the_exercise():
    assert {task.name: task.points for task in RERANK} == {
        "max_sim": 2, "rerank": 3, "two_numbers": 3, "parse_scores": 3,
    }  # fmt: skip
