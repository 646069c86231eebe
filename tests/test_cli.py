"""The command `course`."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from course_utils import cli, places


def test_lab_opens_the_first_lesson_and_hands_on_further_arguments(monkeypatch, capsys):
    calls, environments = [], []

    def call(command, env):
        calls.append(command)
        environments.append(env)
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    assert cli.main(["lab", "--no-browser", "--port=9999"]) == 0
    [command] = calls
    assert command[1:3] == ["-m", "jupyterlab"]
    assert command[3] == str(places.root() / "lessons" / "00_start_here.ipynb")
    # a terminal in JupyterLab finds `course`
    assert environments[0]["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    assert command[-2:] == ["--no-browser", "--port=9999"]


def test_shop_build_writes_a_shop_of_the_size_asked_for(tmp_path, capsys):
    file = tmp_path / "small.db"
    assert cli.main(["shop", "build", "--size", "0.1", "--out", str(file)]) == 0
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM orders").fetchone() == (500,)
    assert "500 orders" in capsys.readouterr().out


@pytest.mark.parametrize("size", ["huge", "-1", "nan"])
def test_a_bad_size_is_explained_without_a_traceback(tmp_path, capsys, size):
    assert cli.main(["shop", "build", "--size", size, "--out", str(tmp_path / "x.db")]) == 2
    assert capsys.readouterr().err.startswith("course: ")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path, capsys):
    file = tmp_path / "thesis.txt"
    file.write_text("years of work", encoding="utf-8")
    assert cli.main(["shop", "build", "--size", "tiny", "--out", str(file)]) == 2
    assert file.read_text(encoding="utf-8") == "years of work"


def test_arguments_that_no_command_takes_are_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["doctor", "--everything"])
    assert "--everything" in capsys.readouterr().err


def test_an_unknown_exercise_is_named_with_those_there_are(capsys):
    assert cli.main(["start", "99"]) == 2
    assert "01_sql_retrieval" in capsys.readouterr().err
