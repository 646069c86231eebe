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

# The exercise, its tasks, and for one of them an answer that is half right and one that is wrong.
CLASSES = {
    "01_sql_retrieval": (
        tasks.sql,
        "limit_guard",
        'def add_limit(sql, n=50):\n    return sql if "LIMIT" in sql else f"{sql} LIMIT {n}"',
        'def add_limit(sql, n=50):\n    return "SELECT 1"',
    ),
    "02_rows_as_documents": (
        tasks.docs,
        "entitlements",
        'def visible(documents, role):\n    sees = ["public", "partner", "staff"]\n'
        '    most = {"guest": 1, "customer": 1, "partner": 2}.get(role, 3)\n'
        '    return [d for d in documents if d.metadata.get("audience") in sees[:most]]',
        "def visible(documents, role):\n    return list(documents)",
    ),
    "03_search": (
        tasks.search,
        "keep_codes",
        "def terms(text):\n"
        '    words = re.findall("[a-z0-9]+(?:[_-][a-z0-9]+)*", text.lower())\n'
        '    return [re.sub("[_-]", "", word) for word in words]',
        "def terms(text):\n    return text.lower().split()",
    ),
    "04_reranking": (
        tasks.rerank,
        "max_sim",
        "def max_sim(question, document):\n"
        "    return (question @ document.T).max(axis=1).sum() / len(document)",
        "def max_sim(question, document):\n    return (question @ document.T).max()",
    ),
    "05_routing": (
        tasks.routing,
        "vote",
        "def vote(similarities, labels, k):\n"
        "    order = sorted(range(len(labels)), key=lambda place: -similarities[place])\n"
        "    voters = [labels[place] for place in order[:k]]\n"
        "    return max(sorted(voters), key=voters.count)",
        "def vote(similarities, labels, k):\n    return max(labels, key=labels.count)",
    ),
}


@pytest.fixture(scope="module", params=CLASSES)
def graded(request, tmp_path_factory):
    """Grade four submissions in a copy of the course; return the exercise, the scores and its release."""
    assignment = request.param
    _, task, half_right, all_wrong = CLASSES[assignment]
    root = tmp_path_factory.mktemp("class")
    shutil.copy(places.root() / "nbgrader_config.py", root)
    source = places.root() / "solutions" / assignment
    shutil.copytree(source, root / "solutions" / assignment)
    environment = dict(os.environ, COURSE_DATA=str(places.data()), JUPYTER_CONFIG_DIR=str(root / "jupyter"))
    tools = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])  # nbgrader calls alembic
    environment |= {"PYTHONPATH": str(places.root()), "COURSE_LLM": "scripted", "PATH": tools}

    def nbgrader(*arguments):
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr

    nbgrader("generate_assignment", assignment)
    released = root / "exercises" / assignment / f"{assignment}.ipynb"
    half = nbformat.read(released, as_version=4)
    wrong = nbformat.read(released, as_version=4)
    for nb, text in (
        (half, half_right),
        (wrong, all_wrong),
    ):
        next(cell for cell in nb.cells if cell.id == f"{task}-answer").source = text
    submissions = {
        "solved": nbformat.read(source / f"{assignment}.ipynb", as_version=4),
        "untouched": nbformat.read(released, as_version=4),
        "half": half,
        "wrong": wrong,
    }
    for student, nb in submissions.items():
        folder = root / "submitted" / student / assignment
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{assignment}.ipynb")
    nbgrader("autograde", assignment)

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{(root / 'gradebook.db').as_posix()}") as book:
        scores = {name: book.find_submission(assignment, name).score for name in submissions}
        most = book.find_assignment(assignment).max_score
    return assignment, scores, most, nbformat.read(released, as_version=4)


@pytest.mark.slow
def test_solutions_earn_everything_and_untouched_exercises_nothing(graded):
    assignment, scores, most, _ = graded
    assert most == sum(task.points for task in CLASSES[assignment][0])
    assert (scores["solved"], scores["untouched"]) == (most, 0)


@pytest.mark.slow
def test_partial_credit_is_read_and_a_zero_stays_a_zero(graded):
    _, scores, _, _ = graded
    assert (scores["half"], scores["wrong"]) == (1, 0)


@pytest.mark.slow
def test_nbgrader_releases_the_exercise_that_the_build_makes(graded):
    assignment, _, _, released = graded
    shipped = build.read(places.root() / "exercises" / assignment / f"{assignment}.ipynb")
    assert build.sources_hash(released) == build.sources_hash(shipped)
    assert [cell.metadata for cell in released.cells] == [cell.metadata for cell in shipped.cells]
