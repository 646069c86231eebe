"""How good a ranking is: pure functions of its ids, best first, and of the gold ids that answer the question.

One definition each: that of trec_eval, with gains of 0 and 1. A document that a ranking names twice keeps its
first place, and those behind the second move up. An empty ranking scores 0. A ranking shorter than k is not
filled up, and precision divides by k all the same. Without gold nothing can be measured: ValueError.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

NOISE = 1e-12  # two values nearer than this are the same
_EXACT = 14  # up to so many differences every sign is tried: 2 ** 14 means


def unique(ranking: Iterable[str]) -> list[str]:
    """Return the ids in their order, each once: ["b", "a", "b"] -> ["b", "a"]."""
    if isinstance(ranking, str):
        raise TypeError(f"A ranking is a list of ids, not the text {ranking!r}.")
    ids = list(ranking)
    for id in ids:
        if not isinstance(id, (str, int)):
            raise TypeError(f"A ranking holds ids, not {id!r}. Of pairs, give [id for id, score in pairs].")
    return list(dict.fromkeys(ids))


def recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold documents that are among the first k; at most k / len(gold).

    >>> recall(["a", "x", "b"], {"a", "b", "c"}, k=2)  # a, of three
    0.3333333333333333
    """
    hits = _hits(ranking, gold, k)
    return sum(hits) / len(set(gold))


def precision(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the first k places that hold a gold document; an empty place holds none.

    With one gold document it is at most 1 / k.
    """
    return sum(_hits(ranking, gold, k)) / k


def f1(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the harmonic mean of precision@k and recall@k: 2 hits / (k + len(gold))."""
    return 2 * sum(_hits(ranking, gold, k)) / (k + len(set(gold)))


def ndcg(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k.

    A hit at rank r counts 1 / log2(r + 1). Divided by what the best ranking would get: min(k, len(gold))
    hits from rank 1 on. Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques",
    TOIS 20 (2002).
    """
    hits = _hits(ranking, gold, k)
    best = [1] * min(k, len(set(gold)))
    return _discounted(hits) / _discounted(best)


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str], k: int | None = None) -> float:
    """Return 1 / rank of the first gold document, 0 if none is there. MRR is its mean over questions.

    It sees the first gold document only: with three, one of them at rank 1, it is 1 and recall@1 a third.
    """
    return next((1 / rank for rank, hit in enumerate(_hits(ranking, gold, k), start=1) if hit), 0.0)


def average_precision(ranking: Sequence[str], gold: Collection[str], k: int | None = None) -> float:
    """Return the sum of precision@r over the ranks r that hold a gold document, divided by len(gold).

    >>> average_precision(["x", "a"], {"a"})  # precision@2, of one gold document
    0.5
    """
    hits = _hits(ranking, gold, k)
    found = np.cumsum(hits)
    return float(sum(found[n] / (n + 1) for n, hit in enumerate(hits) if hit) / len(set(gold)))


def _hits(ranking: Sequence[str], gold: Collection[str], k: int | None) -> list[int]:
    """Return 1 or 0 for each of the first k ids: is it gold?"""
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise ValueError(f"k must be a whole number of at least 1, not {k!r}.")
    if isinstance(gold, str):
        raise TypeError(f'gold is a set of ids, {{"{gold}"}}, not the text {gold!r}.')
    if not gold:
        raise ValueError(
            "There is no gold document, so nothing can be measured: 0 would blame the ranking, 1 praise it. "
            "Leave the question out, and say how many were."
        )
    wanted = set(gold)
    return [int(id in wanted) for id in unique(ranking)[:k]]


def _discounted(hits: Sequence[int]) -> float:
    return math.fsum(hit / math.log2(rank + 1) for rank, hit in enumerate(hits, start=1))


@dataclass(frozen=True)
class Measure:
    """A measure by name: `of(ranking, gold)` is its value, `meaning` its definition in a line.

    cutoff: how deep it looks, in ranks; None for as deep as the ranking goes.
    """

    name: str
    meaning: str
    cutoff: int | None
    of: Callable[[Sequence[str], Collection[str]], float]


_KNOWN = {
    "recall": (recall, "gold documents among the first {k} / all gold documents of the question"),
    "precision": (precision, "gold documents among the first {k} / {k}"),
    "F1": (f1, "harmonic mean of precision@{k} and recall@{k}"),
    "nDCG": (ndcg, "1 / log2(r + 1) summed over the ranks r of gold documents up to {k} / the most possible"),
    "MRR": (reciprocal_rank, "1 / rank of the first gold document{deep}, 0 if there is none"),
    "AP": (average_precision, "precision@r summed over the ranks r of gold documents{deep} / all gold ones"),
}  # fmt: skip
_BARE = {"MRR", "AP"}


def measure(name: str) -> Measure:
    """Return a measure by its name: recall@5, candidate recall@50, precision@5, F1@5, nDCG@10, MRR, AP.

    MRR and AP may have a cutoff too; the case of letters does not count. Raises ValueError that lists the
    names for any other.
    """
    found = re.fullmatch(r"(?:candidate )?([a-z]+1?)(?:@([1-9]\d*))?", name.strip().casefold())
    known = {key.casefold(): key for key in _KNOWN}
    key = known.get(found[1]) if found else None
    if key is None or not (found[2] or key in _BARE):
        raise ValueError(
            f"There is no measure {name!r}, only recall@k, precision@k, F1@k, nDCG@k, MRR, AP; k as 5."
        )
    function, meaning = _KNOWN[key]
    k = int(found[2]) if found[2] else None
    told = meaning.format(k=k, deep=f" among the first {k}" if k else "")
    name = key if k is None else f"{key}@{k}"
    return Measure(name, told, k, lambda ranking, gold: function(ranking, gold, k))


def randomisation_test(differences: Sequence[float], *, rounds: int = 20_000, seed: int = 0) -> float:
    """Return the two-sided p of paired differences: how often chance alone gives a mean as far from 0.

    If two methods were alike, each difference could as well have had the other sign. With up to 14 that are
    not 0 every pattern of signs is tried; with more, `rounds` patterns are drawn with `seed`, and the one
    seen counts among them, so that p is never 0. Raises ValueError for a difference that is no number.
    Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval
    evaluation", CIKM 2007.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("A difference is not a number: a question that was not scored cannot be paired.")
    values = values[np.abs(values) > NOISE]
    if not len(values):
        return 1.0
    # Sums in another order differ in the last digits, and a tie with the sum seen must count.
    least = abs(values.sum()) - 1e-9 * np.abs(values).sum()
    if len(values) <= _EXACT:
        patterns = np.arange(2 ** len(values))[:, None] >> np.arange(len(values)) & 1
        return float(np.mean(np.abs((2 * patterns - 1) @ values) >= least))
    dice = np.random.default_rng(seed)
    sums = (2 * dice.integers(0, 2, size=(rounds, len(values)), dtype=np.int8) - 1) @ values
    return float((1 + np.count_nonzero(np.abs(sums) >= least)) / (1 + rounds))
