"""What holds for every task of every exercise: untouched, wrong type, broken, hostile, solved."""

import json
import sys

import pytest
from checking import says

from course_utils.teaching import notebook, tasks

# What each exercise gives for its tasks.
POINTS = {
    "docs": {"row_to_document": 2, "two_fields": 2, "filter_then_rank": 3, "entitlements": 2, "resync": 3},
    "rerank": {"max_sim": 2, "rerank": 3, "two_numbers": 3, "parse_scores": 3},
    "routing": {"parse_route": 3, "vote": 2, "follow_pages": 3, "side_by_side": 3, "supported": 3},
    "search": {"keep_codes": 2, "bm25_score": 3, "rrf": 3, "mix_z": 3, "choose_weight": 3},
    "sql": {
        "limit_guard": 2, "customers_per_city": 1, "cte_guard": 3, "repair_loop": 3, "revenue_tool": 3,
    },
}  # fmt: skip
# What a solution of each exercise may use, besides what it imports itself.
IMPORTS = {
    "docs": "from langchain_core.documents import Document\n"
    "from langchain_core.vectorstores import InMemoryVectorStore",
    "rerank": "import math, re\nimport numpy as np",
    "routing": "import re",
    "search": "import math, re, statistics",
    "sql": "import re, sqlglot",
}
TEXTS = {"sql.customers_per_city"}  # all other tasks ask for a function
# Values that a function might return and that are right for no task.
STRANGE = [
    3, 0.0, 0.8, True, 10**400, float("nan"), float("inf"), "text", b"x", {}, {1}, (), [], [None], [[]], [{}],
    [object()], [1.5], [[], [], [{}]], [None] * 3, [0.0, 0.0, 0.0], ["a", "b"], ["product:41"], [("a", 1.0)],
    [("a", None)], [(1.0, "a")], {1: 2}, {"recall": None, "lost": [1]},
    {"candidate_recall": "1", "lost": {"a": []}},
]  # fmt: skip
# What a probe might report of one call, or be made to report.
CALLS = [
    {},
    {"returned": 10**9},
    {"raised": {"bases": 3}},
    {"returned": 1, "type": []},
    {"returned": {"document": 3}, "type": "Document"},
    {"returned": [{"document": {}}], "type": "list"},
    {"returned": {"a": 3}, "type": "dict"},
    {"returned": {"lost": 3}, "type": "dict"},
    {"returned": [["a", {}]], "type": "list"},
    {"returned": [{"a": {}}], "type": "list"},
]
REPORTS = [
    None, [], "passed", {}, {"status": "answered"}, {"status": "answered", "sql": 3},
    {"status": "answered", "calls": [{"returned": [["a", 1.0]], "type": "list"}]},
    {"status": "answered", "calls": [{"returned": [], "type": "list"}]},
    {"status": "answered", "points": 99, "state": "passed"},
]  # fmt: skip


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


def named(value):
    return type(value).__name__


every_task = pytest.mark.parametrize("task", tasks.every(), ids=lambda task: task.id)
every_function = pytest.mark.parametrize(
    "task", [task for task in tasks.every() if task.id not in TEXTS], ids=lambda task: task.id
)


@every_task
@pytest.mark.parametrize("value", [None, ...], ids=repr)
def test_untouched_names_are_not_attempted(task, value):
    says(task.check(value), 0, state="not attempted")


@every_function
@pytest.mark.parametrize("value", [stub, unfinished])
def test_stubs_are_not_attempted(task, value):
    says(task.check(value), 0, state="not attempted")


@every_task
@pytest.mark.parametrize("value", [3.5, ["a"], {"a": 1}, b"x", float("nan"), object()], ids=named)
def test_wrong_types_are_named(task, value):
    wanted = "should be" if task.id in TEXTS else "should be a function"
    says(task.check(value), 0, wanted, named(value))


@every_function
@pytest.mark.parametrize(
    ("value", "fragment"),
    [(int, "a function, but it is a type"), (3, "it is an int"), ("a text", "Pass the function itself")],
)
def test_what_is_no_function_gets_a_word_of_its_own(task, value, fragment, capfd):
    says(task.check(value), 0, "should be a function", named(value), fragment)
    assert capfd.readouterr() == ("", "")


@every_function
@pytest.mark.parametrize(
    ("value", "fragment"),
    [
        (endless, "calls itself without an end"),
        (breaks, "KeyError"),
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


@every_function
@pytest.mark.parametrize("value", STRANGE, ids=lambda value: f"{named(value)} {repr(value)[:8]}")
def test_strange_values_get_a_word_of_the_judge(task, value):
    result = task.check(lambda *args, **kwargs: value)
    says(result, 0)
    assert "could not run" not in result.message


@every_function
def test_a_refusal_of_everything_earns_nothing(task):
    def refuses(*args, **kwargs):
        raise ValueError("no")

    says(task.check(refuses), 0, "ValueError: no")


@every_task
def test_judges_survive_any_report(task):
    inputs = task.inputs()
    count = len(inputs.get("cases", [1]))
    for report in [*REPORTS, *({"status": "answered", "calls": [call] * count} for call in CALLS)]:
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
    exec(IMPORTS[task.group], names)
    exec(cell, names)
    says(task.check(names[task.asks]), task.points)


@pytest.mark.parametrize("group", tasks.groups())
def test_the_points_are_those_of_the_exercise(group):
    assert {task.name: task.points for task in getattr(tasks, group)} == POINTS[group]
