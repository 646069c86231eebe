"""Retrievers measured on questions with known answers: by pattern, one against another, where they lose."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from .asking import as_asked, counted, deep, ids_of, name_of, reason, retriever_for
from .duels import Duel, Duels, compare
from .missed import Fate, Stages, why_missed
from .runs import Answer, Run, listed

__all__ = [
    "Answer", "Duel", "Duels", "Fate", "Run", "Stages", "as_asked", "compare", "evaluate", "why_missed",
]  # fmt: skip


def evaluate(
    retriever: Any,
    questions: Iterable[Any],
    *,
    k: int = 50,
    name: str | None = None,
    gold: Mapping[str, Collection[str]] | None = None,
    collection: Collection[str] | None = None,
    on_error: Literal["raise", "zero"] = "raise",
    warm_up: bool = True,
    text: Callable[[Any], str] | None = None,
) -> Run:
    """Put every question that has gold documents to a retriever and return the Run.

    retriever: has `ranking(text)`, or is a LangChain retriever whose documents have ids; or a factory
    question -> retriever; or an index, which is then asked as `as_asked` does. It is asked for k documents.
    questions: with id, question, pattern and documents, as `shop.questions.load()` returns them.
    gold: question id -> documents, instead of the question's own. collection: the ids of all documents.
    on_error: "zero" lets a question that fails count as an empty ranking, and the Run says so.
    warm_up: ask the first question once more before, untimed, so that loading a model is no one's latency.
    text: what is asked instead of question.question, such as a follow-up rewritten to stand alone.

    Raises ValueError for gold that the collection does not hold, for questions that come twice, and if more
    than a fifth have no gold of any kind: then questions and gold were paired wrongly.
    """
    from .hybrid import RetrieverFailed

    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, not {k!r}.")
    asked = list(questions)
    wanted, left_out = _sorted_out(asked, gold or {}, collection)
    name = name or name_of(retriever)
    answers = []
    for question in wanted[: int(warm_up)] + wanted:
        start, error, ids = time.perf_counter(), "", []
        with counted() as calls, warnings.catch_warnings():
            warnings.simplefilter("error", RetrieverFailed)  # half a hybrid is not what is to be measured
            try:
                one = deep(retriever_for(retriever, question), k)
                start = time.perf_counter()
                ids = ids_of(one, question.question if text is None else text(question))
            except Exception as problem:
                if on_error != "zero":
                    problem.add_note(f"This was {name}, asked {question.id}: {question.question}")
                    raise
                error = f"{type(problem).__name__}: {problem}"
            spent = 1000 * (time.perf_counter() - start)
        tokens = None if None in calls else sum(calls)
        own = frozenset((gold or {}).get(question.id, question.documents))
        answers.append(Answer(question, own, tuple(ids[:k]), spent, len(calls), tokens, error))
    replaced = tuple(question.id for question in wanted if question.id in (gold or {}))
    return Run(name, k, tuple(answers[-len(wanted) :]), left_out, replaced)


def _sorted_out(
    asked: Sequence[Any], gold: Mapping[str, Collection[str]], collection: Collection[str] | None
) -> tuple[list[Any], dict[str, int]]:
    """Return the questions to score, and how many are left out for which reason."""
    counts = Counter(question.id for question in asked)
    if twice := [id for id, count in counts.items() if count > 1]:
        raise ValueError(f"Questions come twice: {', '.join(twice)}.")
    if strange := gold.keys() - counts.keys():
        raise ValueError(f"gold is given for questions that are not asked: {', '.join(sorted(strange))}.")
    own = {question.id: gold.get(question.id, question.documents) for question in asked}
    if texts := [id for id, documents in own.items() if isinstance(documents, str)]:
        raise TypeError(f"The gold of {texts[0]} is a text, and must be a list of ids.")
    without = [question for question in asked if not own[question.id]]
    reasons = Counter(reason(question) for question in without)
    if 5 * reasons["without any gold"] > len(asked) or len(without) == len(asked):
        raise ValueError(
            f"{len(without)} of {len(asked)} questions have no gold documents: {listed(reasons)}. Are "
            "questions and gold paired rightly? Some collections number the one differently from the other."
        )
    held = set().union(*own.values()) if collection is None else set(collection)
    if lost := {id: sorted(set(documents) - held) for id, documents in own.items() if set(documents) - held}:
        named = "; ".join(f"{id}: {', '.join(documents)}" for id, documents in list(lost.items())[:5])
        raise ValueError(
            f"The gold of {len(lost)} questions is not in the collection ({named}). It was written for "
            "other documents: load both again, or give the gold that holds now with gold=."
        )
    return [question for question in asked if own[question.id]], dict(reasons)
