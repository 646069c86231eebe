"""Derived files: execute lessons and solutions, make exercises from solutions, say what is stale.

Sources are `lessons/*.ipynb` and `solutions/NN_name/NN_name.ipynb` (their cells, not their outputs).
Derived are the outputs of both, the whole of `exercises/`, and `data/embeddings/`.
"""

import copy
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from course_utils import places

CODE_STUB = "# your code here"
TEXT_STUB = "*Your answer here.*"
TIMEOUT_S = 600
SHOWN = 300  # characters of an output that differs
# A build shows what a learner without a key sees, and leaves the author's own progress alone.
BUILD_ENV = {
    "COURSE_LLM": "scripted",
    "COURSE_PROGRESS": "off",
    "COURSE_EMBEDDER": "",
    "COURSE_RERANKER": "",
    "TQDM_DISABLE": "1",
    "PYTHONHASHSEED": "0",
}
IGNORE_TAG = "nbval-ignore-output"
MEANT_TAG = "raises-exception"


class NotebookFailed(RuntimeError):
    """A lesson or a solution ended in an error, or wrote on stderr."""


@dataclass(frozen=True)
class Stale:
    """One derived file that is not what its source says."""

    path: Path
    why: str


def lessons() -> list[Path]:
    """Return the lesson notebooks in reading order."""
    return sorted((places.root() / "lessons").glob("*.ipynb"))


def solutions() -> list[Path]:
    """Return the solution notebooks in reading order."""
    return sorted((places.root() / "solutions").glob("*/*.ipynb"))


def exercise_path(solution: Path) -> Path:
    """Return where the exercise of a solution notebook belongs."""
    return places.root() / "exercises" / solution.parent.name / solution.name


def read(path: Path):
    """Return the notebook at `path` as nbformat 4."""
    import nbformat

    return nbformat.read(path, as_version=4)


def to_text(nb) -> str:
    """Return the notebook as the text that goes into its file: sorted keys, LF, one newline at the end."""
    import nbformat

    return nbformat.writes(nb).rstrip("\n") + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8", newline="\n")
    new.replace(path)


@contextmanager
def _environment(extra: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(extra)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def execute(nb, folder: Path, *, record: bool = False):
    """Return an executed copy of `nb`, run with the kernel python3 in `folder`, offline.

    With `record`, vectors of texts that `data/embeddings/` lacks are added there.
    Raises NotebookFailed if a cell errors that is not tagged `raises-exception`, or writes on stderr.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    done = copy.deepcopy(nb)
    client = NotebookClient(
        done,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=40"],
    )
    with _environment(BUILD_ENV | ({"COURSE_EMBEDDINGS": "record"} if record else {})):
        try:
            client.execute()
        except CellExecutionError as error:
            raise NotebookFailed(str(error)) from error
    _assert_clean(done)
    return normalise(done)


def _assert_clean(nb) -> None:
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        meant = MEANT_TAG in cell.metadata.get("tags", [])
        for output in cell.outputs:
            noisy = output.output_type == "stream" and output.name == "stderr"
            if noisy or (output.output_type == "error" and not meant):
                text = output.get("text") or "\n".join(output.get("traceback", []))
                raise NotebookFailed(f"cell {cell.id} wrote an error or on stderr:\n{cell.source}\n{text}")


def normalise(nb):
    """Return `nb` without what differs from run to run: timings, kernel details, split streams."""
    nb.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        **({"course": nb.metadata["course"]} if "course" in nb.metadata else {}),
    }
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        merged = []
        for output in cell.outputs:
            last = merged[-1] if merged else None
            if output.output_type == "stream" and last and last.get("name") == output.name:
                last.text += output.text
            else:
                merged.append(output)
        cell.outputs = merged
    return nb


def make_exercise(solution_nb, name: str):
    """Return the exercise for a solution notebook, by nbgrader's own preprocessors.

    They clear the solution regions and the outputs, lock the check cells and compute the checksums,
    exactly as `nbgrader generate_assignment` does, without its gradebook.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells
    from traitlets.config import Config

    config = Config()
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    nb = copy.deepcopy(solution_nb)
    resources = {"unique_key": name, "nbgrader": {"assignment": name, "notebook": name, "student": "."}}
    for preprocessor in GenerateAssignment.preprocessors.default_args[0]:
        if preprocessor is not SaveCells:
            nb, resources = preprocessor(config=config, parent=None).preprocess(nb, resources)
    nb = normalise(nb)
    nb.metadata["course"] = {"sources": sources_hash(nb)}
    return nb


def sources_hash(nb) -> str:
    """Return a hash of the cells' kinds and sources: it tells an untouched exercise from one worked on."""
    told = json.dumps([[cell.cell_type, cell.source] for cell in nb.cells], ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8")).hexdigest()[:16]


def worked_on(path: Path, fresh) -> bool:
    """Return whether the exercise at `path` holds cells that neither an earlier build nor `fresh` wrote."""
    nb = read(path)
    return sources_hash(nb) not in {nb.metadata.get("course", {}).get("sources"), sources_hash(fresh)}


def keep_work(path: Path, fresh) -> Path | None:
    """Move an exercise that somebody worked on aside, so that nothing is lost; return its new place."""
    if not path.exists() or not worked_on(path, fresh):
        return None
    number = 1
    while (aside := path.with_name(f"{path.stem}.yours-{number}.ipynb")).exists():
        number += 1
    path.rename(aside)
    return aside


def _compared(nb) -> list:
    """Return what a second run must repeat: text outputs of all cells that are not tagged to be ignored."""
    told = []
    for cell in nb.cells:
        if cell.cell_type != "code" or IGNORE_TAG in cell.metadata.get("tags", []):
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                told.append([cell.id, "a picture"])
            elif output.output_type == "error":
                told.append([cell.id, output.ename, output.evalue])
            else:
                told.append([cell.id, output.get("text"), data.get("text/plain"), data.get("text/html")])
    return told


def _first_difference(old, new) -> str | None:
    before, after = _compared(old), _compared(new)
    for left, right in zip(before, after, strict=False):
        if left != right:
            was, now = (f"{side[1:]}"[:SHOWN] for side in (left, right))
            return f"the output of cell {left[0]} differs:\n  was {was}\n  is  {now}"
    if len(before) != len(after):
        return f"{len(before)} outputs are committed, {len(after)} came out"
    if any(c.cell_type == "code" and c.source.strip() and c.execution_count is None for c in old.cells):
        return "it was committed without being executed"
    return None


def build(*, check: bool = False, only: str = "", say=print) -> list[Stale]:
    """Execute every lesson and solution, make every exercise; return what was stale.

    With `check`, write nothing. `only` keeps the notebooks whose name contains it. An exercise that
    somebody worked on is moved aside before a new one takes its place. `say` gets a line a notebook.
    """
    from tqdm.auto import tqdm

    stale: list[Stale] = []
    todo = [path for path in [*lessons(), *solutions()] if only in path.stem]
    for path in tqdm(todo, desc="notebooks", disable=None):
        say(f"running {path.relative_to(places.root()).as_posix()}")
        old = read(path)
        known = _vectors()
        new = execute(old, path.parent, record=not check)
        if _vectors() != known:  # the run that stored new vectors also said so: show what a learner sees
            new = execute(old, path.parent)
        difference = _first_difference(old, new)
        if difference:
            stale.append(Stale(path, difference))
        if not check and (difference or to_text(new) != path.read_text(encoding="utf-8")):
            _write(path, to_text(new))
        if path in solutions():
            stale += _exercise(path, new, check=check, say=say)
    return stale


def embed(*, check: bool = False, say=print) -> list[Stale]:
    """Make the vectors of the shop's documents, golden questions and labelled questions for the router.

    Of documents and golden questions those of their tokens too. Returns what was stale. With `check`, write
    nothing.
    """
    from course_utils.models.shipping import ship, ship_tokens
    from course_utils.retrieval.routing_labels import load_examples, text_of
    from course_utils.shop import documents, questions

    asked = questions.load(None)
    follow_ups = [text_of(question) for question in asked if question.previous]
    collections = {
        "documents": [document.page_content for document in documents.load()],
        "questions": [question.question for question in asked],
        "routes": [*(example.text for example in load_examples()), *follow_ups],
    }
    stale = []
    for name, texts in collections.items():
        say(f"vectors of {len(texts)} {name}")
        kind = name.removesuffix("s")
        made = [ship(name, texts, check=check)]
        if name != "routes":
            made.append(ship_tokens(kind, texts, check=check))
        for shipped in made:
            if shipped:
                why = f"{shipped.missing} texts had no vectors, {shipped.stale} are of texts that are gone"
                stale.append(Stale(shipped.file, why))
    return stale


def _vectors() -> set[tuple[str, int]]:
    return {(file.name, file.stat().st_mtime_ns) for file in (places.data() / "embeddings").glob("*")}


def _exercise(solution: Path, nb, *, check: bool, say) -> list[Stale]:
    target = exercise_path(solution)
    fresh = make_exercise(nb, solution.stem)
    text = to_text(fresh)
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return []
    if not check:
        if aside := keep_work(target, fresh):
            say(f"work found in {target.name}: kept as {aside.name}")
        _write(target, text)
    return [Stale(target, "it is not what its solution makes")]
