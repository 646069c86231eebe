"""Results, panels, hints, solutions, and the names of tasks."""

import html.parser
import json
import subprocess
import sys

import pytest

from course_utils.teaching import panel, tasks
from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.task import Task, group
from course_utils.teaching.verdict import NOT_YET, PASSED, Result, Verdict

TASK = tasks.sql.limit_guard


def task_worth(points):
    return Task("sql", "limit_guard", 1, "T", points, "add_limit", "S", ("a", "b", "c"), "01_sql_retrieval")


@pytest.mark.parametrize(
    ("points", "out_of", "kept"),
    [(1.5, 2, 1.5), (3, 2, 2.0), (-1, 2, 0.0), (float("nan"), 2, 0.0), (float("inf"), 2, 2.0), (1, 0, 0.0)],
)
def test_a_result_is_clamped_and_its_repr_is_the_plain_number(points, out_of, kept):
    result = Result(points, out_of=out_of, state=NOT_YET, message="why")
    assert isinstance(result, float)
    assert result == kept
    assert repr(result) == repr(kept)
    assert not hasattr(result, "_repr_markdown_")


def test_a_result_survives_pickling():
    import pickle

    result = pickle.loads(pickle.dumps(Result(1, out_of=2, state=NOT_YET, message="why")))
    assert (result, result.state, result.message) == (1.0, NOT_YET, "why")


def test_a_task_worth_nothing_is_graded_without_an_error():
    result = task_worth(0).result(Verdict(0, PASSED, "done"))
    assert (float(result), result.state) == (0.0, PASSED)
    assert "0 of 0 points" in result._repr_html_()


@pytest.mark.parametrize(("points", "expected"), [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (9.0, 2.0)])
def test_nbgrader_reads_the_points_of_a_result(points, expected):
    """A result of 0 is 0 points, not full points; partial credit is read from the text."""
    from IPython.core.interactiveshell import InteractiveShell
    from nbgrader.utils import get_partial_grade

    result = TASK.result(Verdict(points, NOT_YET, "why", 1))
    data, _ = InteractiveShell.instance().display_formatter.format(result)
    assert set(data) == {"text/plain", "text/html"}
    assert get_partial_grade({"data": data}, TASK.points) == expected


class Tags(html.parser.HTMLParser):
    """Collects tags and checks that each one that opens also closes."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(markup)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_panel_is_escaped_steady_and_without_scripts():
    message = '<script>alert("1")</script> & `<b>`'
    result = TASK.result(Verdict(1, NOT_YET, message, 2))
    markup = result._repr_html_()
    assert markup == TASK.result(Verdict(1, NOT_YET, message, 2))._repr_html_()
    tags = Tags(markup).seen
    assert {tag for tag, _ in tags} <= {"div", "strong", "span", "code", "br"}
    assert not any("id" in attrs or any(name.startswith("on") for name in attrs) for _, attrs in tags)
    assert "&lt;script&gt;" in markup
    assert "Not yet: 1 of 2 points" in markup
    assert f"{TASK.id}.hint(2)" in markup


def test_each_state_has_its_own_word_and_line_style():
    markups = [panel.box(state, state.capitalize(), []) for state in ("passed", "not yet", "not attempted")]
    styles = {style for style in ("solid", "double", "dotted") for markup in markups if style in markup}
    assert len(styles) == 3
    assert all("background" not in markup and " color" not in markup for markup in markups)  # theme's own


def test_str_says_in_text_what_the_panel_says():
    text = str(TASK.result(Verdict(1, NOT_YET, "because", 2)))
    assert text.splitlines()[:3] == ["Not yet: 1 of 2 points", TASK.heading, "because"]


def test_check_without_a_value_says_how_it_is_called():
    result = TASK.check()
    assert (float(result), result.state) == (0.0, "not attempted")
    assert "tasks.sql.limit_guard.check(add_limit)" in result.message


def test_a_passed_task_points_to_the_next_one():
    first, *_, last = tasks.sql
    assert "Task 2" in str(first.result(Verdict(first.points, PASSED, "yes")))
    assert "progress.show()" in str(last.result(Verdict(last.points, PASSED, "yes")))


def test_a_check_that_cannot_run_says_so_and_earns_nothing(monkeypatch, capfd):
    def no_shop(self):
        raise FileNotFoundError("no data folder")

    monkeypatch.setattr("course_utils.teaching.tasks.sql_judge_limit.LimitGuard.inputs", no_shop)
    result = TASK.check(lambda sql, n=50: sql)
    assert (float(result), result.state) == (0.0, "not attempted")
    assert "says nothing about your answer" in result.message
    assert "no data folder" in result.message
    assert capfd.readouterr() == ("", "")


def test_hints_are_a_ladder_of_three():
    for task in tasks.every():
        assert len(set(task.hints)) == 3
        for n in (1, 2, 3):
            assert task.hints[n - 1] in repr(task.hint(n))
            Tags(task.hint(n)._repr_html_())
    assert repr(TASK.hint()) == repr(TASK.hint(1))
    assert f"{TASK.id}.hint(3)" in repr(TASK.hint(2))


@pytest.mark.parametrize("n", [0, 4, -1, True, "2", None, 1.0])
def test_a_hint_out_of_range_says_how_many_there_are(n):
    assert "There are 3 hints" in repr(TASK.hint(n))


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A copy of the course without anything in it yet; returns its root."""
    data = tmp_path / "course" / "data"
    data.mkdir(parents=True)
    (data / "schema.sql").touch()
    (data / "products.csv").touch()
    monkeypatch.setenv("COURSE_DATA", str(data))
    return data.parent


def with_solution(root, cells):
    path = root / "solutions" / "01_sql_retrieval" / "01_sql_retrieval.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")


def cell(source, task="sql.limit_guard", kind="code"):
    return {
        "cell_type": kind,
        "source": source.splitlines(keepends=True),
        "metadata": {"course": {"task": task}},
    }


def test_solution_shows_the_cell_in_context_without_its_markers(course):
    source = "def add_limit(sql):\n    ### BEGIN SOLUTION\n    return sql + ' <5'\n    ### END SOLUTION\n"
    with_solution(
        course,
        [
            cell(source),
            cell("### BEGIN SOLUTION\nelsewhere\n### END SOLUTION", task="sql.cte_guard"),
            cell("tasks.sql.limit_guard.check(add_limit)"),
            cell("### BEGIN SOLUTION in prose", kind="markdown"),
            {"cell_type": "code", "source": "no metadata"},
        ],
    )
    shown = TASK.solution()
    assert repr(shown).endswith("def add_limit(sql):\n    return sql + ' <5'")
    assert "' &lt;5'" in shown._repr_html_().replace("&#x27;", "'")
    assert "SOLUTION" not in repr(shown)
    assert "elsewhere" not in repr(shown)
    Tags(shown._repr_html_())


@pytest.mark.parametrize("content", [None, "not json", "{}", '{"cells": []}', '{"cells": 3}'])
def test_solution_says_kindly_when_this_copy_has_none(course, content, capfd):
    if content is not None:
        with_solution(course, [])
        (course / "solutions/01_sql_retrieval/01_sql_retrieval.ipynb").write_text(content, encoding="utf-8")
    assert "comes without the solution" in repr(TASK.solution())
    assert capfd.readouterr() == ("", "")


def test_groups_and_tasks_complete_and_unknown_names_are_answered_with_the_nearest():
    assert "sql" in dir(tasks)
    assert set(dir(tasks.sql)) == {task.name for task in tasks.sql}
    with pytest.raises(AttributeError, match=r"Did you mean tasks\.sql\?"):
        tasks.sqll  # noqa: B018
    with pytest.raises(AttributeError, match=r"Did you mean tasks\.sql\.limit_guard\?"):
        tasks.sql.limitguard  # noqa: B018
    with pytest.raises(AttributeError, match=r"There is: .*repair_loop"):
        tasks.sql.zzz  # noqa: B018
    assert tasks.find("sql", "cte_guard") is tasks.sql.cte_guard
    assert tasks.find("sql", "nothing") is tasks.find("nothing", "sql") is None


def test_a_group_numbers_its_tasks():
    entry = {"points": 1, "asks": "x", "statement": "", "hints": ("a", "b", "c")}
    made = list(
        group(
            "g", "09_x", [{"name": "one", "title": "One", **entry}, {"name": "two", "title": "Two", **entry}]
        )
    )
    assert [(task.id, task.number) for task in made] == [("g.one", 1), ("g.two", 2)]


def test_importing_the_room_is_light():
    code = (
        "import sys; from course_utils.teaching import tasks, quiz, progress; tasks.sql;"
        "heavy = {'IPython', 'nbformat', 'sqlglot', 'pandas', 'jupyterquiz', 'langchain_core', 'sqlalchemy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_probe_that_broke_earns_nothing_and_says_why():
    raised = {"type": "KeyError", "message": "'x'", "line": 2, "function": "f", "code": "y = `z`"}
    verdict = TASK.judge({"status": "broken", "raised": raised}, {})
    assert (verdict.points, verdict.state) == (0, NOT_YET)
    said = "it stops with KeyError: 'x' (line 2 of `f`)."
    assert verdict.message == f"`add_limit` could not be tried out: {said}"
    assert TASK.judge("nonsense", {}).message == "`add_limit` could not be tried out."


@pytest.mark.parametrize(
    ("raised", "where"),
    [
        ({"line": 2, "function": "f", "code": "y = z"}, " (line 2 of `f`: `y = z`)"),
        ({"line": 2, "function": "f", "code": ""}, " (line 2 of `f`)"),
        ({"line": None, "function": "f", "code": "y = z"}, " (in `f`: `y = z`)"),
        ({"line": None, "function": "", "code": "lambda: z"}, " (in `lambda: z`)"),
        ({"line": None, "function": "", "code": "lambda: `z`"}, ""),
        ({"line": None, "function": "", "code": ""}, ""),
        ({}, ""),
    ],
)
def test_an_error_says_where_it_happened_as_well_as_it_can(raised, where):
    said = explain_error({"type": "KeyError", "message": "'x'", **raised})
    assert said == f"with KeyError: 'x'{where}."


def test_a_learner_never_reads_the_name_that_python_gave():
    def add_limit(sql, n=50):
        return [one["sql"] for one in [sql]]

    for answer in (add_limit, lambda sql, n=50: {}[sql]):
        message = TASK.check(answer).message
        assert "Error" in message
        assert not [word for word in ("<lambda>", "<listcomp>", "<module>") if word in message]
    assert '(line 2 of `add_limit`: `return [one["sql"] for one in [sql]]`)' in TASK.check(add_limit).message
