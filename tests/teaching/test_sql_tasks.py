"""What holds for every task of exercise 01: untouched, wrong type, broken, hostile."""

import json
import sys

import pytest
from checking import says

from course_utils.teaching import tasks

SQL = tasks.sql


def stub(*args, **kwargs):
    """The words of the task."""
    ...


def endless(*args, **kwargs):
    return endless(*args, **kwargs)


def breaks(*args, **kwargs):
    return {}["nothing"]


def leaves(*args, **kwargs):
    sys.exit(0)


def unfinished(*args, **kwargs):
    raise NotImplementedError


def forgets(*args, **kwargs):
    answer = [args, kwargs]
    print(answer[:0])


async def late(*args, **kwargs):
    return "SELECT 1"


def many(*args, **kwargs):
    yield "SELECT 1"


FUNCTIONS = [task for task in SQL if task.name != "customers_per_city"]


@pytest.mark.parametrize("task", list(SQL), ids=lambda task: task.name)
@pytest.mark.parametrize("value", [None, ...], ids=["None", "Ellipsis"])
def test_untouched_names_are_not_attempted(task, value):
    says(task.check(value), 0, state="not attempted")


@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.name)
@pytest.mark.parametrize("value", [stub, unfinished])
def test_stubs_are_not_attempted(task, value):
    says(task.check(value), 0, state="not attempted")


@pytest.mark.parametrize("task", list(SQL), ids=lambda task: task.name)
@pytest.mark.parametrize("value", [3.5, ["a"], {"a": 1}, b"x", float("nan"), object()], ids=repr)
def test_wrong_types_are_named(task, value):
    says(task.check(value), 0, "should be", type(value).__name__)


@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.name)
@pytest.mark.parametrize(
    ("value", "fragment"),
    [
        (endless, "calls itself without an end"),
        (breaks, "KeyError"),
        (leaves, "SystemExit"),
        (forgets, "prints something instead"),
        (lambda: 1, "TypeError"),
        (late, "`async def`"),
        (many, "`yield`"),
        (breaks, '(line 2 of `breaks`: `return {}["nothing"]`)'),
        (int, "a function, but it is a type"),
        (3, "it is an int"),
        ("a text", "Pass the function itself"),
    ],
)
def test_broken_functions_get_a_word_and_no_points(task, value, fragment, capfd):
    says(task.check(value), 0, fragment)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("task", list(SQL), ids=lambda task: task.name)
def test_judges_survive_any_report(task):
    inputs = task.inputs()
    count = len(inputs.get("cases", [1]))
    for report in (
        None, [], "passed", {}, {"status": "answered"}, {"status": "answered", "calls": [{}] * count},
        {"status": "answered", "calls": [{"returned": 10**9}] * count}, {"status": "answered", "sql": 3},
        {"status": "answered", "calls": [{"raised": {"bases": 3}}] * count},
        {"status": "answered", "calls": [{"returned": 1, "type": []}] * count},
        {"status": "answered", "points": 99, "state": "passed"},
    ):  # fmt: skip
        verdict = task.judge(report, inputs)
        assert verdict.points == 0
        assert verdict.state != "passed"


@pytest.mark.parametrize("task", list(SQL), ids=lambda task: task.name)
def test_inputs_travel_as_json_and_hold_no_reference(task):
    inputs = task.inputs()
    assert json.loads(json.dumps(inputs)) == inputs
    text = json.dumps(inputs)
    assert "GROUP BY city" not in text or task.name == "repair_loop"
    assert "o.status = 'paid'" not in text


def test_the_points_are_those_of_the_exercise():
    assert {task.name: task.points for task in SQL} == {
        "limit_guard": 2, "customers_per_city": 1, "cte_guard": 3, "repair_loop": 3, "revenue_tool": 3,
    }  # fmt: skip
