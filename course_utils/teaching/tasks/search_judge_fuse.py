"""Judge of rank fusion in exercise 03: the sums, the weights, and equal scores and repeated ids."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from course_utils.teaching.tasks.judge_shared import other_error
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

Share = Callable[[float, float, int, int], float]

_WORDS = ["article:9", "product:7", "review:2", "product:3"]
_MEANING = ["product:3", "review:8", "article:9", "review:5", "product:7"]
_CODES = ["review:8"]
_CASES = (
    Case("sums", "For one ranking", ([_WORDS],)),
    Case("sums", "For two rankings", ([_WORDS, _MEANING],)),
    Case("sums", "For three rankings, one of a single id", ([_WORDS, _MEANING, _CODES],)),
    Case("sums", "For two rankings with k=5", ([_WORDS, _MEANING],), {"k": 5}),
    Case("sums", "For two rankings, one of them empty", ([_MEANING, []],)),
    Case("sums", "For no ranking at all", ([],)),
    Case("weights", "For the weights .7 and .3", ([["a", "b"], ["c", "a"]], [0.7, 0.3])),
    Case("weights", "For the weights 3 and 1", ([_WORDS, _MEANING], [3, 1])),
    Case("weights", "For three weights and k=10", ([_WORDS, _MEANING, _CODES], [0.2, 0.5, 1.5]), {"k": 10}),
    Case("few", "For two rankings and one weight", ([_WORDS, _MEANING], [1.0])),
    Case("many", "For two rankings and three weights", ([_WORDS, _MEANING], [0.5, 0.3, 0.2])),
    Case("many", "For two rankings and no weight in the list", ([_WORDS, _MEANING], [])),
    Case("ties", "For two rankings that share their third", ([["d", "e", "y"], ["a", "b", "y"]],)),
    Case("ties", "For two rankings with nothing in common", ([["q", "c"], ["m", "z"]],)),
    Case("twice", "For a ranking that lists an id again", ([["b", "a", "b", "c"], ["c", "d", "d", "a"]],)),
)
_RIGHT = {
    "sums": "the sums without weights are right",
    "weights": "weights count",
    "rest": "equal scores, repeated ids and untouched lists are right",
}


def _fuse(
    rankings: Sequence[Sequence[str]],
    weights: Sequence[float] | None = None,
    k: float = 60,
    *,
    share: Share = lambda weight, k, rank, length: weight / (k + rank),
    once: Callable[[Sequence[str]], Sequence[str]] = lambda ids: list(dict.fromkeys(ids)),
    join: Callable[[list[float]], float] = sum,
    scale: Callable[[dict[str, float], Sequence[float]], float] = lambda scores, weights: 1.0,
) -> list[list[Any]]:
    """Return the reference, or what another share, way to drop repetitions, join or scale gives."""
    given = [1.0] * len(rankings) if weights is None else weights
    found: dict[str, list[float]] = {}
    for ranking, weight in zip(rankings, given, strict=True):
        ids = once(ranking)
        for rank, id in enumerate(ids, start=1):
            found.setdefault(id, []).append(share(weight, k, rank, len(ids)))
    scores = {id: join(shares) for id, shares in found.items()}
    divisor = scale(scores, given) if scores else 1.0
    return ordered({id: score / divisor for id, score in scores.items()})


def _last(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(reversed(ids)))[::-1]


def _gaps(rankings: Sequence[Sequence[str]], weights: Any = None, k: float = 60) -> list[list[Any]]:
    """Return what comes of a repeated id that counts once and still takes a rank."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for id in dict.fromkeys(ranking):
            scores[id] = scores.get(id, 0) + 1 / (k + ranking.index(id) + 1)
    return ordered(scores)


def _last_rank(rankings: Sequence[Sequence[str]], weights: Any = None, k: float = 60) -> list[list[Any]]:
    """Return what comes of a dict from id to rank, in which the last rank overwrites the first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for id, rank in {id: rank for rank, id in enumerate(ranking, start=1)}.items():
            scores[id] = scores.get(id, 0) + 1 / (k + rank)
    return ordered(scores)


_SUMS = {
    "Your ranks start at 0: the first document of a list should get 1 / (k + 1).": partial(
        _fuse, share=lambda w, k, rank, n: w / (k + rank - 1)
    ),
    "Here k does not count: it is added to each rank, so that first places stand out less.": partial(
        _fuse, share=lambda w, k, rank, n: w / rank
    ),
    "Here k is always the usual 60: what the call gives as k should count.": (
        lambda rankings, weights=None, k=60: _fuse(rankings, weights)
    ),
    "A document keeps what one list gave it: what the others give is added, not written over it.": partial(
        _fuse, join=lambda shares: shares[-1]
    ),
    "A document gets its best share only: what it gets from each list is added up.": partial(_fuse, join=max),
    "The sums are divided by the number of lists: they should stay sums.": (
        lambda rankings, weights=None, k=60: _fuse(rankings, [1 / max(1, len(rankings))] * len(rankings), k)
    ),
    "The scores are normalised to a sum of 1: they should stay sums of 1 / (k + rank).": partial(
        _fuse, scale=lambda scores, weights: sum(scores.values())
    ),
    "The scores are normalised to a highest of 1: they should stay sums of 1 / (k + rank).": partial(
        _fuse, scale=lambda scores, weights: max(scores.values())
    ),
    "Places are counted from the end and added: a list should add 1 / (k + rank).": partial(
        _fuse, share=lambda w, k, rank, n: n - rank + 1
    ),
}
_WEIGHTS = {
    "The weights do not count: each list's share is multiplied by its own.": (
        lambda rankings, weights=None, k=60: _fuse(rankings, None, k)
    ),
    "The weights are normalised to a sum of 1: take them as they are given.": partial(
        _fuse, scale=lambda scores, weights: sum(weights)
    ),
    "The weights are handed to the wrong lists: the first belongs to the first.": (
        lambda rankings, weights, k=60: _fuse(rankings, weights[::-1], k)
    ),
    "The weight multiplies the rank or k: it belongs above the line.": partial(
        _fuse, share=lambda w, k, rank, n: 1 / (k + w * rank)
    ),
    "All weights are added to one: each list's share has its own.": (
        lambda rankings, weights, k=60: _fuse(rankings, [sum(weights)] * len(weights), k)
    ),
}
_TWICE = {
    "A document that one list names twice counts twice: a list gives it one share.": partial(
        _fuse, once=list
    ),
    "The repeated id counts once and still takes up a rank: those below it move up.": _gaps,
    "A document that one list names twice gets its last rank: its first should count.": _last_rank,
    "Of a repeated id the first is dropped and the last kept: it is the first that counts.": partial(
        _fuse, once=_last
    ),
    "The ids of a list lose their order when the repeated ones are dropped: a set has no order.": partial(
        _fuse, once=lambda ids: sorted(set(ids))
    ),
}


class Rrf:
    """fuse(rankings, weights, k): a point for the sums, without which there is no other; two for the rest."""

    def inputs(self) -> dict[str, Any]:
        """Return the rankings."""
        return {"cases": [case.sent() for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the fused lists, part by part."""
        calls: Calls = list(zip(_CASES, report["calls"], strict=True))
        if sums := _trouble(_SUMS, of_part(calls, "sums")):
            return Verdict(0, NOT_YET, sums, 1)
        refused = of_part(calls, "few") + of_part(calls, "many")
        troubles = {
            "weights": _trouble(_WEIGHTS, of_part(calls, "weights")) or _unfit(refused),
            "rest": (
                _trouble({}, of_part(calls, "ties"))
                or _trouble(_TWICE, of_part(calls, "twice"))
                or changed("fuse", calls)
            ),
        }
        passed = (
            "Agreement between lists beats a single good place, and the same lists always give one order."
        )
        return verdict(troubles, _RIGHT, passed, {"weights": 3, "rest": 2})


def _trouble(wrong: Mapping[str, Callable[..., Any]], calls: Calls) -> str:
    return Asked("fuse", _fuse, wrong, pairs_shape("fuse"), same_pairs, pairs_trouble).trouble(calls)


def _unfit(calls: Calls) -> str:
    """Return what is wrong with the answers to weights that do not fit, "" if each is ValueError."""
    for case, call in calls:
        if "raised" not in call:
            return (
                f"{case.says} an answer comes back, and a list or a weight was left out in silence: raise "
                "ValueError. `zip` stops at the shorter side unless it is told to be strict."
            )
        if other := other_error(call["raised"], f"{case.says} `fuse`"):
            return other
    return ""
