"""The check of the new order: on right answers, others as right, and wrong ones."""

import math

import numpy as np
import pytest
from checking import says

from course_utils.retrieval.rerank import reranked
from course_utils.teaching import tasks

CHECK = tasks.rerank.rerank.check


def missing(score):
    return score is None or math.isnan(score)


def same_length(candidates, scores):
    if len(candidates) != len(scores):
        raise ValueError("as many scores as candidates are needed")


def reference(candidates, scores, k):
    same_length(candidates, scores)

    def key(place):
        score = scores[place]
        return (True, 0.0) if missing(score) else (False, -score)

    return [candidates[place] for place in sorted(range(len(scores)), key=key)[:k]]


def in_two_parts(candidates, scores, k):
    pairs = list(zip(candidates, scores, strict=True))
    scored = sorted((one for one in pairs if not missing(one[1])), key=lambda one: one[1], reverse=True)
    return tuple(id for id, _ in scored + [one for one in pairs if missing(one[1])])[:k]


def by_numpy(candidates, scores, k):
    same_length(candidates, scores)
    order = np.argsort(-np.array(scores, dtype=float), kind="stable")
    return [candidates[place] for place in order[:k]]


def by_minus_infinity(candidates, scores, k):
    same_length(candidates, scores)
    filled = [-math.inf if missing(score) else score for score in scores]
    places = sorted(range(len(filled)), key=lambda place: filled[place], reverse=True)
    return [candidates[place] for place in places][:k]


def by_the_course(candidates, scores, k):
    same_length(candidates, scores)
    return [candidates[place] for place in reranked([math.nan if s is None else s for s in scores])[:k]]


def as_if(value):
    """Return an answer that takes `value` for a missing score."""
    return lambda candidates, scores, k: reference(
        candidates, [value if missing(s) else s for s in scores], k
    )


def zipped(candidates, scores, k):
    pairs = [(id, score) for id, score in zip(candidates, scores, strict=False)]
    pairs.sort(key=lambda one: (True, 0.0) if missing(one[1]) else (False, -one[1]))
    return [id for id, _ in pairs][:k]


def plainly_sorted(candidates, scores, k):
    same_length(candidates, scores)
    return [candidates[n] for n in sorted(range(len(scores)), key=lambda n: -scores[n])][:k]


def nan_compared(candidates, scores, k):
    return plainly_sorted(candidates, [math.nan if score is None else score for score in scores], k)


def drops(test):
    def answer(candidates, scores, k):
        same_length(candidates, scores)
        kept = [(id, score) for id, score in zip(candidates, scores, strict=True) if not test(score)]
        return reference([id for id, _ in kept], [score for _, score in kept], k)

    return answer


def falsy_is_missing(candidates, scores, k):
    return reference(candidates, [score or None for score in scores], k)


def cut_first(candidates, scores, k):
    same_length(candidates, scores)
    return reference(candidates[:k], scores[:k], k)


def ascending(candidates, scores, k):
    return reference(candidates, [s if missing(s) else -s for s in scores], k)


def turned_round(candidates, scores, k):
    same_length(candidates, scores)
    filled = [-math.inf if missing(score) else score for score in scores]
    return [candidates[n] for n in sorted(range(len(filled)), key=lambda n: filled[n])[::-1]][:k]


def ties_by_id(candidates, scores, k):
    same_length(candidates, scores)
    pairs = [(-score, id) for id, score in zip(candidates, scores, strict=True) if not missing(score)]
    rest = [id for id, score in zip(candidates, scores, strict=True) if missing(score)]
    return ([id for _, id in sorted(pairs)] + rest)[:k]


def none_before_nan(candidates, scores, k):
    order = {id: n for n, id in enumerate(candidates)}
    none = {id for id, score in zip(candidates, scores, strict=True) if score is None}
    found = reference(candidates, scores, len(candidates))
    gone = [id for id, score in zip(candidates, scores, strict=True) if missing(score)]
    gone.sort(key=lambda id: (id not in none, order[id]))
    return (found[: len(found) - len(gone)] + gone)[:k]


def stable_if_short(candidates, scores, k):
    """Sort as NumPy's argsort does without `kind`, which leaves equals in order up to 16 of them."""
    same_length(candidates, scores)
    kind = "stable" if len(scores) <= 16 else "heapsort"
    order = np.argsort(-np.array(scores, dtype=float), kind=kind)
    return [candidates[place] for place in order[:k]]


def sorts_in_place(candidates, scores, k):
    found = reference(candidates, scores, len(candidates))
    candidates[:] = found
    return found[:k]


def missing_by_id(candidates, scores, k):
    found = reference(candidates, scores, len(candidates))
    scored = sum(not missing(score) for score in scores)
    return (found[:scored] + sorted(found[scored:]))[:k]


@pytest.mark.parametrize("answer", [reference, in_two_parts, by_numpy, by_minus_infinity, by_the_course])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # candidates without a score
        (nan_compared, 2, "a comparison with NaN is never true"),
        (plainly_sorted, 2, "never true"),
        (drops(missing), 2, "candidates without a score are lost"),
        (drops(lambda score: score is None), 2, "are lost"),
        (as_if(0.0), 2, "a missing score counts as 0"),
        (as_if(-1.0), 2, "stands before one that has one"),
        (as_if(math.inf), 2, "stands before one that has one"),
        (falsy_is_missing, 2, "0.0 is taken for a missing one"),
        (drops(lambda score: not missing(score) and score == 0), 2, "0.0 is a score"),
        (none_before_nan, 2, "not in the order of the first stage"),
        (missing_by_id, 2, "not in the order of the first stage"),
        (lambda c, s, k: reference(c, s, k) if not any(map(missing, s)) else c[0:k], 2, ""),
        # equal scores, lengths, lists
        (zipped, 2, "`zip` stops at the shorter list"),
        (ties_by_id, 2, "equal ones are not as the first stage had them"),
        (stable_if_short, 2, "With 26 candidates and two different scores: the scores are in order"),
        (sorts_in_place, 2, "changes a list it was given"),
        (turned_round, 1, "the order of the first stage"),
        (
            lambda c, s, k: reference(c, s, k) if len(c) == len(s) else [c[n] for n in range(99)],
            2,
            "this should raise ValueError; `rerank` stops with IndexError",
        ),
        (lambda c, s, k: reference(c, s, k) if len(c) == len(s) else None, 2, "raise ValueError"),
        # without the order nothing else counts
        (ascending, 0, "the lowest score comes first"),
        (cut_first, 0, "cut to k first and sorted then"),
        (lambda c, s, k: c[:k], 0, "their scores do not count yet"),
        (lambda c, s, k: sorted(c)[:k], 0, "sorted by id"),
        (lambda c, s, k: reference(c, s, len(c)), 0, "5 ids come back; at most k=2"),
        (drops(lambda score: score is not None and score < 0), 0, "no reason to drop"),
        (drops(lambda score: score is not None and score < 0.3), 0, "no reason to drop"),
        (lambda c, s, k: [reference(c, s, k)[n] for n in range(k)], 0, "IndexError"),
        (lambda c, s, k: [(id, 1.0) for id in reference(c, s, k)], 0, "pairs come back"),
        (lambda c, s, k: [c.index(id) for id in reference(c, s, k)], 0, "places come back"),
        (lambda c, s, k: sorted(s, key=lambda one: -(one or 0))[:k], 0, "scores come back"),
        (lambda c, s, k: set(reference(c, s, k)), 0, "a value of type set"),
        (lambda c, s, k: reference(c, s, k) or None, 0, "forget `return`"),
        (lambda c, s, k: [c[0]] * min(k, len(c)) if c else [], 0, "more than once"),
        (lambda c, s, k: ["product:1"], 0, "not among the candidates"),
        (lambda c, s, k: [], 0, ""),
        (lambda c, s, k: reference(c, [x if missing(x) else abs(x) for x in s], k), 0, "not the best ones"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_none_without_a_test_is_explained():
    def negated(candidates, scores, k):
        same_length(candidates, scores)
        return [id for _, id in sorted((-s, id) for id, s in zip(candidates, scores, strict=True))][:k]

    def asks_isnan(candidates, scores, k):
        same_length(candidates, scores)
        gone = [math.isnan(score) for score in scores]
        return [candidates[n] for n in sorted(range(len(scores)), key=lambda n: (gone[n], -scores[n]))[:k]]

    says(CHECK(asks_isnan), 2, "TypeError", "ask for it first")
    says(CHECK(negated), 1, "a comparison with NaN is never true")


def test_what_is_right_is_said():
    assert CHECK(zipped).message.startswith("Right so far: candidates without a score are kept")
    assert CHECK(as_if(0.0)).message.startswith("Right so far: equal scores")
