"""nbgrader, with the settings that ship: solutions earn everything, untouched exercises nothing."""

import os
import shutil
import subprocess
import sys
import sysconfig

import nbformat
import pytest

from course_utils import places
from course_utils.teaching import build, tasks

ASSIGNMENT = "01_sql_retrieval"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade four submissions in a copy of the course; return the scores and the released exercise."""
    root = tmp_path_factory.mktemp("class")
    shutil.copy(places.root() / "nbgrader_config.py", root)
    source = places.root() / "solutions" / ASSIGNMENT
    shutil.copytree(source, root / "solutions" / ASSIGNMENT)
    environment = dict(os.environ, COURSE_DATA=str(places.data()), JUPYTER_CONFIG_DIR=str(root / "jupyter"))
    tools = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])  # nbgrader calls alembic
    environment |= {"PYTHONPATH": str(places.root()), "COURSE_LLM": "scripted", "PATH": tools}

    def nbgrader(*arguments):
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr

    nbgrader("generate_assignment", ASSIGNMENT)
    released = root / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    half = nbformat.read(released, as_version=4)
    wrong = nbformat.read(released, as_version=4)
    for nb, text in (
        (half, 'def add_limit(sql, n=50):\n    return sql if "LIMIT" in sql else f"{sql} LIMIT {n}"'),
        (wrong, 'def add_limit(sql, n=50):\n    return "SELECT 1"'),
    ):
        next(cell for cell in nb.cells if cell.id == "limit_guard-answer").source = text
    submissions = {
        "solved": nbformat.read(source / f"{ASSIGNMENT}.ipynb", as_version=4),
        "untouched": nbformat.read(released, as_version=4),
        "half": half,
        "wrong": wrong,
    }
    for student, nb in submissions.items():
        folder = root / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{ASSIGNMENT}.ipynb")
    nbgrader("autograde", ASSIGNMENT)

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{(root / 'gradebook.db').as_posix()}") as book:
        scores = {name: book.find_submission(ASSIGNMENT, name).score for name in submissions}
        most = book.find_assignment(ASSIGNMENT).max_score
    return scores, most, nbformat.read(released, as_version=4)


@pytest.mark.slow
def test_solutions_earn_everything_and_untouched_exercises_nothing(graded):
    scores, most, _ = graded
    assert most == sum(task.points for task in tasks.sql) == 12
    assert (scores["solved"], scores["untouched"]) == (12, 0)


@pytest.mark.slow
def test_partial_credit_is_read_and_a_zero_stays_a_zero(graded):
    scores, _, _ = graded
    assert (scores["half"], scores["wrong"]) == (1, 0)


@pytest.mark.slow
def test_nbgrader_releases_the_exercise_that_the_build_makes(graded):
    _, _, released = graded
    shipped = build.read(places.root() / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    assert build.sources_hash(released) == build.sources_hash(shipped)
    assert [cell.metadata for cell in released.cells] == [cell.metadata for cell in shipped.cells]
