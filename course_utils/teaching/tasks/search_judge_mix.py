"""Judge of mixed z-scores in exercise 03: the z of a list, missing documents, and lists that say nothing."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from course_utils.teaching.tasks.search_judge_shared import (
    Asked,
    Calls,
    Case,
    changed,
    of_part,
    ordered,
    pairs_shape,
    pairs_trouble,
    same_pairs,
    verdict,
)
from course_utils.teaching.verdict import NOT_YET, Verdict

Scored = Sequence[tuple[str, float]]

_WORDS = [("product:7", 21.5), ("review:2", 6.0), ("article:9", 9.25)]
_MEANING = [("article:9", 0.61), ("review:2", 0.48), ("product:7", 0.33)]
_CODES = [("product:7", 3.5), ("review:2", 0.25), ("article:9", 1.0)]
_MORE = [("review:5", 0.71), ("article:9", 0.55), ("product:7", 0.35), ("article:4", 0.39)]
_BELOW = [("review:5", -4.0), ("article:9", -9.0), ("product:7", -1.5), ("review:8", -2.0)]
_CASES = (
    Case("same", "For two lists of the same documents", ([_WORDS, _MEANING], [1, 1])),
    Case("same", "For one list with the weight 2", ([_WORDS], [2])),
    Case("same", "For two lists and the weights .3 and .7", ([_WORDS, _MEANING], [0.3, 0.7])),
    Case("same", "For three lists and the weights 2, 1 and .5", ([_WORDS, _MEANING, _CODES], [2, 1, 0.5])),
    Case("missing", "For two lists that share two documents", ([_WORDS, _MORE], [1, 1])),
    Case("missing", "For two lists and the weights .2 and .9", ([_MORE, _WORDS], [0.2, 0.9])),
    Case("missing", "For a list with scores below 0", ([_WORDS, _BELOW], [0.4, 0.6])),
    Case("flat", "For a list whose scores are all 2.5", ([_WORDS, [(id, 2.5) for id, _ in _WORDS]], [1, 1])),
    Case("flat", "For a list of one document", ([_WORDS, [("review:2", 0.9)]], [0.5, 0.5])),
    Case("flat", "For two lists of one document each", ([[("b", 1.0)], [("a", 0.2)]], [0.5, 0.5])),
    Case("empty", "For two lists, one of them empty", ([[], _MEANING], [0.5, 0.5])),
    Case(
        "empty", "For an empty list of weight 5 and one of weight 1", ([[], [("a", 2.0), ("b", 1.0)]], [5, 1])
    ),
    Case("empty", "For two empty lists", ([[], []], [0.5, 0.5])),
    Case("ties", "For equal sums", ([[("m", 9.0), ("d", 1.0)], [("d", 30.0), ("m", 10.0)]], [1, 1])),
)
_RIGHT = {
    "same": "lists of the same documents are mixed as they should be",
    "missing": "a missing document counts as it should",
    "rest": "flat and empty lists, equal sums and untouched lists are right",
}


def _z_scores(pairs: Scored, *, less: int = 0, root: bool = True, centre: bool = True) -> dict[str, float]:
    values = [score for _, score in pairs]
    if max(values) == min(values):
        return {id: 0.0 for id, _ in pairs}
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - less)
    spread = math.sqrt(variance) if root else variance
    return {id: (score - mean * centre) / spread for id, score in pairs}


def _lowest(z: Mapping[str, float], every: Sequence[Mapping[str, float]]) -> float:
    return min(z.values())


def _mix(
    scored_lists: Sequence[Scored],
    weights: Sequence[float],
    *,
    one: Callable[[Scored], dict[str, float]] = _z_scores,
    absent: Callable[[Mapping[str, float], Sequence[Mapping[str, float]]], float] = _lowest,
    shared: bool = False,
) -> list[list[Any]]:
    """Return the reference, or what another scale for one list or value for the absent gives."""
    pairs = [(one(pairs), weight) for pairs, weight in zip(scored_lists, weights, strict=True) if pairs]
    every = [z for z, _ in pairs]
    ids = dict.fromkeys(id for z in every for id in z if not shared or all(id in other for other in every))
    return ordered({id: sum(w * z.get(id, absent(z, every)) for z, w in pairs) for id in ids})


def _min_max(pairs: Scored) -> dict[str, float]:
    low, high = min(score for _, score in pairs), max(score for _, score in pairs)
    return {id: (score - low) / (high - low) for id, score in pairs}


def _by_highest(pairs: Scored) -> dict[str, float]:
    high = max(score for _, score in pairs)
    return {id: score / high for id, score in pairs}


def _pooled(scored_lists: Sequence[Scored], weights: Sequence[float]) -> list[list[Any]]:
    """Return what comes of one mean and one deviation for all lists."""
    values = [score for pairs in scored_lists for _, score in pairs]
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return _mix(scored_lists, weights, one=lambda pairs: {id: (s - mean) / spread for id, s in pairs})


def _zero_before(scored_lists: Sequence[Scored], weights: Sequence[float]) -> list[list[Any]]:
    """Return what comes of a score of 0 for each missing document before mean and deviation."""
    ids = dict.fromkeys(id for pairs in scored_lists for id, _ in pairs)
    return _mix([[(id, dict(pairs).get(id, 0.0)) for id in ids] for pairs in scored_lists], weights)


def _low_before(scored_lists: Sequence[Scored], weights: Sequence[float]) -> list[list[Any]]:
    """Return what comes of the lowest score for each missing document before mean and deviation."""
    ids = dict.fromkeys(id for pairs in scored_lists for id, _ in pairs)
    filled = [
        [(id, dict(pairs).get(id, min(score for _, score in pairs))) for id in ids] for pairs in scored_lists
    ]
    return _mix(filled, weights)


_SAME = {
    "The scores are added as they stand: a BM25 score of 20 drowns every cosine.": partial(_mix, one=dict),
    "Each list is stretched from 0 to 1: its own mean and deviation are asked for, not its ends.": partial(
        _mix, one=_min_max
    ),
    "Each list is divided by its highest score: its own mean and deviation are asked for.": partial(
        _mix, one=_by_highest
    ),
    "This is the deviation of a sample, with 1/(n - 1): that of the population has 1/n.": partial(
        _mix, one=partial(_z_scores, less=1)
    ),
    "The scores are divided by the variance: the standard deviation is its root.": partial(
        _mix, one=partial(_z_scores, root=False)
    ),
    "The mean is not taken off: a z-score says how far above or below the mean a score is.": partial(
        _mix, one=partial(_z_scores, centre=False)
    ),
    "The mean is taken off and the scale is left: the difference is divided by the deviation.": partial(
        _mix, one=lambda pairs: {id: score - sum(s for _, s in pairs) / len(pairs) for id, score in pairs}
    ),
    "All lists share one mean and one deviation: each list has its own, else the larger scale wins.": _pooled,
    "The weights do not count: each z is multiplied by the weight of its list.": (
        lambda lists, weights: _mix(lists, [1.0] * len(weights))
    ),
    "The weights are normalised to a sum of 1: take them as they are given.": (
        lambda lists, weights: _mix(lists, [weight / sum(weights) for weight in weights])
    ),
    "The weights are handed to the wrong lists: the first belongs to the first.": (
        lambda lists, weights: _mix(lists, weights[::-1])
    ),
}
_MISSING = {
    "A missing document gets a z of 0, which is the mean: not found counts as much as found in the middle. "
    "Think of the lowest.": partial(_mix, absent=lambda z, every: 0.0),
    "A document that is not in every list is left out: it should get the lowest z where it is missing.": (
        partial(_mix, shared=True)
    ),
    "A missing document gets the lowest z of all lists: the list that it is missing from has its own.": (
        partial(_mix, absent=lambda z, every: min(min(one.values()) for one in every))
    ),
    "A missing document gets a score of 0 before mean and deviation: that moves both, and 0 is not the "
    "lowest on every scale.": _zero_before,
    "A missing document gets the lowest score before mean and deviation, which moves both: first the z of "
    "those that were found, then the lowest z.": _low_before,
    "A missing document gets less than the lowest z: it gets just that.": partial(
        _mix, absent=lambda z, every: min(z.values()) - 1
    ),
    "A missing document gets the highest z of the list: it should get the lowest.": partial(
        _mix, absent=lambda z, every: max(z.values())
    ),
}

_EMPTY = {
    "An empty list is left out and its weight stays, so that the next list gets it: leave out each empty "
    "list together with its weight.": (
        lambda lists, weights: _mix(full := [pairs for pairs in lists if pairs], weights[: len(full)])
    ),
}


class MixZ:
    """mix(scored_lists, weights): a point for z, without which there is no other; two for the rest."""

    def inputs(self) -> dict[str, Any]:
        """Return the scored lists and weights."""
        return {"cases": [case.sent() for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the mixed lists, part by part."""
        calls: Calls = list(zip(_CASES, report["calls"], strict=True))
        if same := _trouble(_SAME, of_part(calls, "same")):
            return Verdict(0, NOT_YET, same, 2)
        troubles = {
            "missing": _trouble(_MISSING, of_part(calls, "missing")),
            "rest": (
                _explained(
                    of_part(calls, "flat"),
                    "Where all scores are equal, the deviation is 0: every z is 0 then.",
                )
                or _named(_EMPTY, of_part(calls, "empty"))
                or _explained(of_part(calls, "empty"), "A list without entries has no mean and no lowest z.")
                or _trouble({}, of_part(calls, "ties"))
                or changed("mix", calls)
            ),
        }
        passed = "Each list speaks on the same scale, and what it did not find counts as its last."
        return verdict(troubles, _RIGHT, passed, {"missing": 2, "rest": 3})


def _trouble(wrong: Mapping[str, Callable[..., Any]], calls: Calls) -> str:
    return Asked("mix", _mix, wrong, pairs_shape("mix"), same_pairs, pairs_trouble).trouble(calls)


def _named(wrong: Mapping[str, Callable[..., Any]], calls: Calls) -> str:
    """Return the trouble if a known mistake explains all of these calls."""
    trouble = _trouble(wrong, calls)
    return trouble if trouble in wrong else ""


def _explained(calls: Calls, why: str) -> str:
    """Return the trouble with calls of lists that say nothing, and why they are different."""
    trouble = _trouble({}, calls)
    return f"{trouble} {why}" if trouble else ""
