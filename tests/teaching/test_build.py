"""Derived files: executing, what counts as stale, exercises from solutions, work that is never lost."""

import nbformat
import pytest

from course_utils import places
from course_utils.teaching import build


def notebook(*cells):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    for number, cell in enumerate(nb.cells):
        cell.id = f"cell-{number}"
    return nb


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one solution; what `build` executes is returned as it is, so that no kernel starts."""
    (tmp_path / "data" / "embeddings").mkdir(parents=True)
    monkeypatch.setattr(places, "root", lambda: tmp_path)
    monkeypatch.setattr(places, "data", lambda: tmp_path / "data")
    monkeypatch.setattr(build, "execute", lambda nb, folder, record=False: build.normalise(nb))
    nb = notebook("answer = ...\n### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION", "answer")
    grading = {"schema_version": 3, "locked": False, "task": False, "grade": False, "solution": True}
    nb.cells[0].metadata["nbgrader"] = {"grade_id": "answer", **grading}
    for cell in nb.cells:
        cell.execution_count = 1
    path = tmp_path / "solutions" / "01_x" / "01_x.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(build.to_text(build.normalise(nb)), encoding="utf-8")
    return tmp_path / "exercises" / "01_x" / "01_x.ipynb"


def quietly(**options):
    return [item.path.parts[-3] for item in build.build(say=lambda line: None, **options)]


def test_an_exercise_is_made_without_the_solution_and_then_nothing_is_stale(course):
    assert quietly() == ["exercises"]
    source = build.read(course).cells[0].source
    assert source == f"answer = ...\n{build.CODE_STUB}"
    assert quietly(check=True) == []


def test_check_says_what_is_stale_and_writes_nothing(course):
    assert quietly(check=True) == ["exercises"]
    assert not course.exists()


def test_work_in_an_exercise_is_moved_aside_before_a_new_one_is_written(course):
    quietly()
    nb = build.read(course)
    nb.cells[0].source = "answer = 41  # mine"
    course.write_text(build.to_text(nb), encoding="utf-8")
    quietly()
    assert build.read(course).cells[0].source.endswith(build.CODE_STUB)
    aside = course.with_name("01_x.yours-1.ipynb")
    assert build.read(aside).cells[0].source == "answer = 41  # mine"


def test_an_exercise_that_was_only_run_is_not_taken_for_work(course):
    quietly()
    nb = build.read(course)
    nb.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    course.write_text(build.to_text(nb), encoding="utf-8")
    quietly()
    assert sorted(path.name for path in course.parent.iterdir()) == ["01_x.ipynb"]


def test_a_changed_output_is_named_by_its_cell():
    old, new = notebook("1 + 1"), notebook("1 + 1")
    for nb, text in ((old, "2"), (new, "3")):
        nb.cells[0].execution_count = 1
        nb.cells[0].outputs = [
            nbformat.v4.new_output("execute_result", {"text/plain": text}, execution_count=1)
        ]
    assert "cell-0" in build._first_difference(old, new)
    assert build._first_difference(old, old) is None
    for nb in (old, new):
        nb.cells[0].metadata["tags"] = [build.IGNORE_TAG]
    assert build._first_difference(old, new) is None


def test_a_notebook_that_was_never_executed_is_stale():
    assert "without being executed" in build._first_difference(notebook("x = 1"), notebook("x = 1"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("%notmagic", "notmagic"),
        ("import sys; print('careful', file=sys.stderr)", "careful"),
    ],
)
def test_errors_bad_magics_and_noise_fail_a_build(source, told, tmp_path):
    with pytest.raises(build.NotebookFailed, match=told):
        build.execute(notebook(source, "'the end'"), tmp_path)


@pytest.mark.slow
def test_two_runs_of_a_notebook_give_the_same_text(tmp_path):
    nb = notebook("print('one')", "print('two'); {'a': 1}")
    first, second = (build.execute(nb, tmp_path) for _ in range(2))
    assert build.to_text(first) == build.to_text(second)
    assert first.cells[1].outputs[0].text == "two\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((places.root() / "exercises").glob("*/*.ipynb")), ids=lambda path: path.stem
)
def test_an_untouched_exercise_runs_to_its_end_and_reports_not_attempted(path):
    nb = build.execute(build.read(path), path.parent)
    checks = [cell for cell in nb.cells if cell.cell_type == "code" and ".check(" in cell.source]
    assert len(checks) >= 3
    for cell in checks:
        [output] = cell.outputs
        assert output.data["text/plain"] == "0.0"
        assert "Not attempted" in output.data["text/html"]
