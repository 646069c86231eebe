"""Promises about the project as a whole: pins, floors, notebooks, words that must not be there."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from course_utils import places

ROOT = places.root()
NOTEBOOKS = sorted(
    path for folder in ("lessons", "solutions", "exercises") for path in (ROOT / folder).rglob("*.ipynb")
)
NOTEBOOKS = [
    path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts and ".yours-" not in path.name
]
MODULES = sorted((ROOT / "course_utils").rglob("*.py"))
FLOORS = {"places": 0, "shop": 1, "models": 1, "retrieval": 2, "teaching": 3, "cli": 4}


def name(path):
    return path.relative_to(ROOT).as_posix()


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_conda_file_has_the_same_pins():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    pins = [line for line in pip if "==" in line]
    assert "-e .[graph]" in pip
    assert len(pins) >= 15
    assert set(pins) <= set(project()["dependencies"])


def test_the_readme_shows_exactly_the_two_commands_on_its_first_screen():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines[:25] if line.startswith("python3 -m venv")]
    assert commands == [
        'python3 -m venv .venv && .venv/bin/pip install -e ".[graph]" && .venv/bin/course lab',
        'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest',
    ]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", *map(name, NOTEBOOKS)])
def test_links_between_files_lead_somewhere(document):
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join(
            "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"
        )
    targets = re.findall(r"\]\(((?!https?:)[^)#]+)\)", text)
    assert [target for target in targets if not (path.parent / target).exists()] == []


def room(module):
    """Return "course_utils.shop" -> "shop"; "" for the package itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "course_utils" and len(parts) > 1 else ""


def imported(path):
    package = ["course_utils", *path.relative_to(ROOT / "course_utils").parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *filter(None, [node.module])])
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_arrow_goes_up(path):
    parts = path.relative_to(ROOT / "course_utils").with_suffix("").parts
    here = FLOORS.get(parts[0], -1)
    rooms = {room(module) for module in imported(path)} - {"", parts[0]}
    above = {other for other in rooms if FLOORS.get(other, 0) > here >= 0}
    assert not above


def test_importing_the_package_loads_nothing_heavy():
    heavy = [
        "torch",
        "transformers",
        "sentence_transformers",
        "faiss",
        "anthropic",
        "pandas",
        "numpy",
        "sqlglot",
    ]
    heavy += ["sqlalchemy", "langchain_core", "langchain_community", "matplotlib", "nbformat", "jupyterquiz"]
    code = (
        "import sys, course_utils, course_utils.shop, course_utils.models, course_utils.retrieval, "
        "course_utils.teaching, course_utils.cli; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_is_fit_to_ship(path):
    nb = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in nb["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    ids = [cell["id"] for cell in nb["cells"]]
    assert nb["metadata"]["kernelspec"]["name"] == "python3"
    assert len(ids) == len(set(ids))
    assert not [o for o in outputs if o.get("name") == "stderr" or o["output_type"] == "error"]
    if path.is_relative_to(ROOT / "exercises"):
        assert outputs == []
    else:
        assert [cell["id"] for cell in code if cell["execution_count"] is None] == []
    lengths = [len("".join(cell["source"]).splitlines()) for cell in code]
    assert max(lengths) <= 25


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_holds_no_path_of_one_machine(path):
    text = path.read_text(encoding="utf-8")
    assert [
        place for place in (str(ROOT), str(Path.home()), "/tmp/") if len(place) > 3 and place in text
    ] == []


def test_exercises_give_no_solution_away():
    for path in (ROOT / "exercises").rglob("*.ipynb"):
        assert "SOLUTION" not in path.read_text(encoding="utf-8")


def test_every_statement_of_an_exercise_is_the_one_its_task_shows():
    from course_utils.teaching import tasks

    for task in tasks.every():
        path = ROOT / "solutions" / task.notebook / f"{task.notebook}.ipynb"
        text = " ".join(
            "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        )
        assert " ".join(task.statement.split()) in " ".join(text.split()), task.id


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if "solutions" in path.parts], ids=name)
def test_an_exercise_is_what_its_solution_makes(path):
    from course_utils.teaching import build

    made = build.to_text(build.make_exercise(build.read(path), path.stem))
    assert made == build.exercise_path(path).read_text(encoding="utf-8"), "run `course build` and commit"
