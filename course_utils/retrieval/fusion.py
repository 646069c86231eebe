"""Several rankings made one: by ranks, which can always be added, or by scores brought to one scale.

Both functions take plain lists and know nothing of retrievers, so each can be checked with a pencil.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from numbers import Real
from typing import Any

Scored = tuple[str, float]
# Sums that are equal on paper may differ in the last of 16 digits: nearer than this, relatively, is a tie.
_NOISE = 1e-13
# A list whose scores lie this close together, relatively, orders nothing: its spread is rounding.
_FLAT = 1e-12


def reciprocal_rank_fusion(
    rankings: Iterable[Iterable[str | Scored]],
    *,
    k: float = 60,
    weights: Iterable[float] | None = None,
    limit: int | None = None,
) -> list[Scored]:
    """Return (id, score), best first: each list adds weight / (k + rank) to the documents in it, rank from 1.

    >>> reciprocal_rank_fusion([["X", "a", "Y"], ["b", "c", "Y"]], limit=2)
    [('Y', 0.031746...), ('X', 0.016393...)]

    Y is third twice, 1/63 + 1/63, and passes both winners, 1/61 each. X and b tie, and ties go by id.

    rankings: lists of ids or of (id, score), best first; a score in them is not looked at. A document that is
    listed again in one list keeps its best rank there, and those below move up. k: how little the top ranks
    stand out. weights: one per list, 1 each if not given; only their ratio matters for the order, and a list
    of weight 0 is left out. limit: how many to return, all if None.
    Raises ValueError for a k not above 0, a negative limit, and weights that do not fit, are negative or not
    finite, or are all 0; TypeError for what is no list of rankings.
    Source: Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods, SIGIR 2009, doi:10.1145/1571941.1572114, which has k = 60 and no weights.
    """
    if not _is_number(k) or k <= 0:
        raise ValueError(f"k must be a number above 0, not {k!r}. The usual one is 60.")
    lists = [list(dict.fromkeys(id for id, _ in _pairs(ranking))) for ranking in _listed(rankings)]
    shares = [
        {id: weight / (k + rank) for rank, id in enumerate(ids, start=1)}
        for ids, weight in zip(lists, _checked(weights, len(lists)), strict=True)
        if weight
    ]
    return _summed(shares, [0.0] * len(shares), limit)


def mix_scores(
    rankings: Iterable[Iterable[Scored]],
    *,
    weights: Iterable[float] | None = None,
    limit: int | None = None,
) -> list[Scored]:
    """Return (id, score), best first: the sum of weight * z, z = (score - mean) / deviation within each list.

    >>> mix_scores([[("a", 9.0), ("b", 1.0)], [("c", 30.0), ("a", 10.0)]])
    [('a', 0.0), ('c', 0.0), ('b', -2.0)]

    a is +1 and -1; b is -1 and, missing from the second list, -1 again; c is missing, -1, and +1.

    rankings: lists of (id, score), higher is better (a distance is not), in any order; listed twice, the
    higher score counts. The deviation is that of the population, 1/n. A document missing from a list counts
    as that list's lowest z. So a list of one document, or of equal scores, is all 0 and says nothing, not
    even that it found something: where one exact hit must win, fuse ranks. weights, limit, ties and errors
    as in `reciprocal_rank_fusion`; also ValueError for a score that is missing or not finite.
    Source: ZMUV (zero mean, unit variance) of Montague and Aslam, Relevance score normalization for
    metasearch, CIKM 2001, doi:10.1145/502585.502657.
    """
    lists = [_z_scores(ranking) for ranking in _listed(rankings)]
    shares = [
        {id: weight * value for id, value in z.items()}
        for z, weight in zip(lists, _checked(weights, len(lists)), strict=True)
        if z and weight
    ]
    return _summed(shares, [min(share.values()) for share in shares], limit)


def _z_scores(ranking: Iterable[Scored]) -> dict[str, float]:
    """Return id -> z; all 0 where the scores do not differ."""
    best: dict[str, float] = {}
    for id, score in _pairs(ranking):
        if not _is_number(score):
            raise ValueError(f"The score of {id!r} must be a finite number, not {score!r}.")
        best[id] = max(float(score), best.get(id, -math.inf))
    # Brought below 1 by a power of two: exact, z stays the same, and no square can overflow.
    shift = -math.frexp(max(map(abs, best.values()), default=0.0))[1]
    values = [math.ldexp(score, shift) for score in best.values()]
    if not values or max(values) - min(values) <= _FLAT:
        return dict.fromkeys(best, 0.0)
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return {id: (value - mean) / deviation for id, value in zip(best, values, strict=True)}


def _summed(shares: list[dict[str, float]], absent: list[float], limit: int | None) -> list[Scored]:
    """Return the best by the sum of their shares, ties by id. absent: what a list gives to all others.

    fsum rounds once, so the order of the lists changes nothing. Sums that only rounding tells apart, as with
    weights .4 and .6 at ranks 4 and 36, become equal, so that ties are ties.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ValueError(f"limit must be a whole number, or None for all, not {limit!r}.")
    ids = dict.fromkeys(id for share in shares for id in share)
    columns = ([share.get(id, rest) for id in ids] for share, rest in zip(shares, absent, strict=True))
    sums = zip(ids, map(math.fsum, zip(*columns, strict=True)), strict=True)
    near = _NOISE * sum(max(map(abs, share.values()), default=0.0) for share in shares)
    level, found = math.inf, []
    for id, score in sorted(sums, key=lambda pair: -pair[1]):
        if level - score > near:
            level = score
        found.append((id, level))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]


def _listed(rankings: Iterable[Any]) -> list[Any]:
    lists = [rankings] if isinstance(rankings, str) else list(rankings)
    for one in lists:
        if isinstance(one, str) or (isinstance(one, tuple) and len(one) == 2 and _is_number(one[1])):
            raise TypeError(
                f"rankings must be a list of rankings, each a list, and {one!r} is an entry. If there is "
                "only one ranking, write [ranking]."
            )
    return lists


def _pairs(ranking: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (id, score) for each entry; the score of a bare id is None."""
    for entry in ranking:
        id, score = entry if isinstance(entry, (tuple, list)) and len(entry) == 2 else (entry, None)
        if not isinstance(id, str) and (not isinstance(id, Hashable) or isinstance(id, tuple)):
            hint = " For documents give [document.id for document in found]." if hasattr(id, "id") else ""
            raise TypeError(f"A ranking holds ids or (id, score), not {entry!r}.{hint}")
        yield id, score


def _checked(weights: Iterable[float] | None, count: int) -> Sequence[float]:
    """Return a weight for each list; ValueError says which one cannot be used."""
    if weights is None:
        return [1.0] * count
    listed = list(weights)
    if len(listed) != count:
        raise ValueError(f"There are {count} rankings and {len(listed)} weights: give one weight for each.")
    for place, weight in enumerate(listed):
        if not _is_number(weight) or weight < 0:
            raise ValueError(f"weights[{place}] must be a finite number of at least 0, not {weight!r}.")
    if listed and not any(listed):
        raise ValueError("All weights are 0, so nothing would be found: give at least one list a weight.")
    return listed


def _is_number(value: Any) -> bool:
    if not isinstance(value, (float, int)) and not isinstance(value, Real):  # asking Real alone is slow
        return False
    return not isinstance(value, bool) and math.isfinite(value)
