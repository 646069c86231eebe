"""What holds for every task of exercise 03: untouched, wrong type, broken, hostile."""

import json
import sys

import pytest
from checking import says

from course_utils.teaching import notebook, tasks

SEARCH = tasks.search


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


every_task = pytest.mark.parametrize("task", list(SEARCH), ids=lambda task: task.name)


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
    [3, 0.0, True, "text", {}, {1}, b"x", float("nan"), [], [None], [[]], [{}], [object()], [1.5]]
    + [[("a", 1.0)], [("a", None)], [(1.0, "a")], ["a", "b"], [[], [], [{}]]],
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
        {"status": "answered", "calls": [{"returned": {"a": 3}, "type": "dict"}] * count},
        {"status": "answered", "calls": [{"returned": [["a", {}]], "type": "list"}] * count},
        {"status": "answered", "calls": [{"returned": [["a", 1.0]], "type": "list"}]},
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
    exec("import math, re, statistics", names)
    exec(cell, names)
    says(task.check(names[task.asks]), task.points)


def test_the_points_are_those_of_the_exercise():
    assert {task.name: task.points for task in SEARCH} == {
        "keep_codes": 2, "bm25_score": 3, "rrf": 3, "mix_z": 3, "choose_weight": 3,
    }  # fmt: skip
