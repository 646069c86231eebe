"""The check of MaxSim by hand: on right answers, others as right, and wrong ones."""

import numpy as np
import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.rerank.max_sim.check


def reference(question, document):
    return float((question @ document.T).max(axis=1).mean())


def by_loops(question, document):
    best = []
    for asked in question:
        most = -2.0
        for told in document:
            most = max(most, sum(a * b for a, b in zip(asked, told, strict=True)))
        best.append(most)
    return sum(best) / len(best)


def by_einsum(question, document):
    return np.einsum("nd,md->mn", question, document).max(axis=0).mean()


def in_float32(question, document):
    return np.float32(reference(question.astype(np.float32), document.astype(np.float32)))


def normalising_again(question, document):
    lengths = [np.linalg.norm(rows, axis=1, keepdims=True) for rows in (question, document)]
    return reference(question / lengths[0], document / lengths[1])


def from_zero(question, document):
    total = 0.0
    for asked in question:
        best = 0.0
        for told in document:
            best = max(best, float(asked @ told))
        total += best
    return total / len(question)


def table(change):
    return lambda question, document: change(question @ document.T)


def halves_the_array(question, document):
    found = reference(question, document)
    document /= 2
    return found


def paired(question, document):
    n = min(len(question), len(document))
    return float(np.mean((question[:n] * document[:n]).sum(axis=1)))


@pytest.mark.parametrize(
    "answer",
    [
        reference,
        by_loops,
        by_einsum,
        in_float32,
        normalising_again,
        table(lambda t: np.mean(np.max(t, axis=-1))),
        table(lambda t: t.max(axis=1).mean(keepdims=True)),
    ],
)
def test_right(answer):
    says(CHECK(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        (table(lambda t: t.max(axis=0).mean()), 0, "along the wrong axis"),
        (table(lambda t: t.max(axis=0).sum()), 0, "along the wrong axis"),
        (table(lambda t: t.mean()), 0, "goes over all pairs"),
        (lambda q, d: float(q.mean(axis=0) @ d.mean(axis=0)), 0, "goes over all pairs"),
        (table(lambda t: t.max()), 0, "a single maximum decides"),
        (table(lambda t: t.max(axis=1).sum()), 0, "added up and not averaged"),
        (table(lambda t: t.min(axis=1).mean()), 0, "smallest"),
        (table(lambda t: t.mean(axis=1).max()), 0, "have changed places"),
        (table(lambda t: t.max(axis=1)), 0, "several numbers come back"),
        (table(lambda t: list(t.max(axis=1))), 0, "several numbers come back"),
        (paired, 0, "the first token is compared with the first"),
        (lambda q, d: (q @ d).max(axis=1).mean(), 0, ""),
        (lambda q, d: (q * d).sum(axis=1).mean(), 0, "the first token is compared with the first"),
        (table(lambda t: round(float(t.max(axis=1).mean()), 2)), 0, "rounded"),
        (table(lambda t: str(t.max(axis=1).mean())), 0, "a value of type str"),
        (table(lambda t: np.nan), 0, "NaN comes back"),
        (table(lambda t: None if len(t) > 2 else t.max(axis=1).mean()), 0, "forget `return`"),
        (lambda q, d: 0.8, 0, "not the mean of the largest"),
        # right where both have as many tokens
        (table(lambda t: t.max(axis=1).sum() / t.shape[1]), 1, "number of the document's tokens"),
        (from_zero, 1, "never finds a negative one"),
        (table(lambda t: t.max(axis=1).mean() if t.shape[0] == t.shape[1] else t.max()), 1, "single maximum"),
        (lambda q, d: [][1] if len(d) == 1 < len(q) else reference(q, d), 1, "stops with IndexError"),
        (halves_the_array, 1, "changes an array"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    assert CHECK(from_zero).message.startswith("Right where both have as many tokens. ")


def test_the_tested_twin_agrees(monkeypatch):
    """MaxSim of the course, given the token vectors of each pair."""
    from course_utils.models import token_vectors
    from course_utils.models.reranking import MaxSim

    def twin(question, document):
        monkeypatch.setattr(token_vectors, "of_question", lambda text: question)
        monkeypatch.setattr(token_vectors, "of_documents", lambda texts: [[document]])
        return MaxSim().scores("q", ["d"])[0]

    says(CHECK(twin), 2)
