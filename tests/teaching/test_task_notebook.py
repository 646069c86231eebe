"""Checks in IPython and in a real kernel: a check that came too early, and nothing else changed."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from course_utils.teaching import notebook
from course_utils.teaching.verdict import Result

CHECK = "tasks.sql.limit_guard.check(add_limit)"


@pytest.fixture
def shell(monkeypatch):
    """A fresh shell in which the teaching room has been imported."""
    shell = InteractiveShell()
    monkeypatch.setattr(notebook, "shell", lambda: shell)
    notebook.explain_missing_names()
    shell.run_cell("from course_utils.teaching import tasks")
    yield shell
    shell.history_manager.end_session()


def test_a_check_before_its_cell_names_the_missing_step(shell, capfd):
    done = shell.run_cell(CHECK)
    assert done.success
    assert isinstance(done.result, Result)
    assert (float(done.result), done.result.state) == (0.0, "not attempted")
    assert "`add_limit` is not defined yet: run the cell of Task 1 first" in done.result.message
    assert capfd.readouterr().err == ""


def test_another_missing_name_is_named_too(shell):
    result = shell.run_cell("tasks.sql.limit_guard.check(my_function)").result
    assert "`my_function` is not defined yet: run the cell that defines `my_function`" in result.message


def test_a_check_after_its_cell_is_an_ordinary_check(shell):
    shell.run_cell("def add_limit(sql, n=50): ...")
    assert "no answer" in shell.run_cell(CHECK).result.message
    result = shell.run_cell(f"def add_limit(sql, n=50):\n    return sql\n{CHECK}").result
    assert result.state == "not yet"
    assert shell.run_cell(f"points = {CHECK}\nfloat(points)").result == 0.0


def test_a_name_error_inside_the_answer_is_the_answers(shell):
    shell.run_cell("def add_limit(sql, n=50): return slq")
    assert "name 'slq' is not defined (line 1" in shell.run_cell(CHECK).result.message


@pytest.mark.parametrize(
    "cell",
    [
        "add_limit",
        "print(add_limit)",
        "add_limit.check(sql)",
        "tasks.sql.limit_guard.check(add_limit, 1)",
        "other.sql.limit_guard.check(add_limit)",
        "tasks.sql.limit_guard.check(add_limit())",
    ],
)
def test_every_other_name_error_is_ipythons_own(shell, cell, capsys):
    plain = InteractiveShell()
    plain.run_cell("from course_utils.teaching import tasks")
    failed, expected = shell.run_cell(cell), plain.run_cell(cell)
    assert type(failed.error_in_exec) is type(expected.error_in_exec) is NameError
    assert str(failed.error_in_exec) == str(expected.error_in_exec)
    shown = capsys.readouterr().out.splitlines()
    assert shown[: len(shown) // 2] == shown[len(shown) // 2 :]
    plain.history_manager.end_session()


def test_registering_twice_rewrites_once(shell):
    notebook.explain_missing_names()
    assert sum(isinstance(one, notebook.CheckLines) for one in shell.ast_transformers) == 1


def test_tasks_complete_by_tab(shell):
    from IPython.core.completer import provisionalcompleter

    def completed(text):
        with provisionalcompleter():
            return {found.text for found in shell.Completer.completions(text, len(text))}

    assert "sql" in completed("tasks.")
    assert {"limit_guard", "repair_loop"} <= completed("tasks.sql.")


@pytest.mark.slow
def test_an_exercise_run_from_top_to_bottom_says_what_is_missing_and_goes_on(tmp_path, monkeypatch):
    import nbclient
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    stub = "def guard(sql: str) -> str:\n    '''Words.'''\n    ..."
    cells = [
        "from course_utils.teaching import tasks",
        CHECK,
        stub,
        "tasks.sql.cte_guard.check(guard)",
        "import sys\ndef add_limit(sql, n=50):\n    print('x', file=sys.stderr)\n    return sql",
        CHECK,
        "tasks.sql.limit_guard.hint()",
        "slq",
    ]
    book = new_notebook(cells=[new_code_cell(source) for source in cells])
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="name 'slq' is not defined"):
        nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    nbformat.validate(book)
    outputs = [cell.outputs for cell in book.cells[1:7]]
    assert not [one for some in outputs for one in some if one.output_type in ("error", "stream")]
    shown = [some[0].data for some in outputs if some]
    assert [data["text/plain"] for data in shown[:3]] == ["0.0", "0.0", "0.0"]
    for data, words in zip(
        shown, ("run the cell of Task 1 first", "no answer", "Not yet", "hint 1 of 3"), strict=True
    ):
        assert words in data["text/html"]
