"""The quiz at the end of a lesson: clickable in a notebook, numbered text everywhere else."""

import functools
import html
import json
import random
import re
import string
import threading
from typing import Any
from unittest import mock

from course_utils import places
from course_utils.teaching import notebook
from course_utils.teaching.panel import Panel, box, prose
from course_utils.teaching.task import unknown

# Blue and vermilion: told apart by the colour-blind, readable on white and on black.
_COLOURS = {
    "--jq-multiple-choice-bg": "#1f3b57",
    "--jq-many-choice-bg": "#1f3b57",
    "--jq-correct-color": "#0a7bbb",
    "--jq-incorrect-color": "#c4501b",
}
_CODE = "background:transparent;color:inherit"  # the page's own code colours vanish on a dark question
_lock = threading.Lock()


def names() -> list[str]:
    """Return the names of all quizzes, one for each lesson that has one."""
    return sorted(path.stem for path in (places.data() / "quiz").glob("*.json"))


def questions(name: str) -> list[dict[str, Any]]:
    """Return a quiz in jupyterquiz's format. Raises LookupError naming the nearest for an unknown one."""
    if name not in names():
        raise LookupError(unknown("data/quiz", name, names()))
    return json.loads((places.data() / "quiz" / f"{name}.json").read_text(encoding="utf-8"))


def show(name: str) -> None:
    """Show a quiz: clickable in a notebook, printed without its answers elsewhere."""
    asked = questions(name)
    if notebook.in_notebook() and _shown(name, asked):
        return
    print(_as_text(asked))
    print(f'\nThe answers: quiz.answers("{name}")')


def answers(name: str) -> Panel:
    """Return the right answers of a quiz, each with its reason."""
    blocks, lines = [], []
    for number, question in enumerate(questions(name), 1):
        right = [(letter, answer) for letter, answer in _lettered(question) if answer["correct"]]
        for letter, answer in right:
            said = f"{number}{letter}. {answer['answer']} {answer['feedback']}"
            blocks.append(prose(said))
            lines.append(said)
    return Panel(box("note", "Answers", blocks), "\n".join(lines))


def _lettered(question: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(zip(string.ascii_lowercase, question["answers"], strict=False))


def _as_text(asked: list[dict[str, Any]]) -> str:
    blocks = []
    for number, question in enumerate(asked, 1):
        lines = [f"{number}. {question['question']}"]
        lines += [f"   {letter}) {answer['answer']}" for letter, answer in _lettered(question)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _shown(name: str, asked: list[dict[str, Any]]) -> bool:
    """Show the clickable quiz; False where jupyterquiz is not installed."""
    try:
        from jupyterquiz import display_quiz
        from jupyterquiz.dynamic import display as made_by
    except ImportError:
        return False
    # jupyterquiz names its box by chance and would change a saved notebook with each run; and its
    # script fetches a formula typesetter from the web where the page has an old one: no formula is here.
    fixed = random.Random(name)
    build = made_by.build_script

    @functools.wraps(build)
    def offline(*args: Any, **kwargs: Any) -> str:
        return re.sub(r"https?://[^'\"\s]+\.js", "", build(*args, **kwargs))

    with _lock, mock.patch.multiple(made_by, random=fixed, build_script=offline):
        display_quiz([_marked(question) for question in asked], shuffle_answers=False, colors=dict(_COLOURS))
    return True


def _marked(question: dict[str, Any]) -> dict[str, Any]:
    """Return a question with its texts as HTML; the page shows `code` as code."""
    shown = {**question, "question": _markup(question["question"])}
    shown["answers"] = [
        {**answer, "answer": _markup(answer["answer"]), "feedback": _markup(answer["feedback"])}
        for answer in question["answers"]
    ]
    return shown


def _markup(text: str) -> str:
    parts = re.split(r"`([^`]+)`", text)
    return "".join(
        f'<code style="{_CODE}">{html.escape(part)}</code>' if index % 2 else html.escape(part)
        for index, part in enumerate(parts)
    )
