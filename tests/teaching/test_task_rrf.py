"""The check of rank fusion: on right answers, differently written right ones, and wrong ones."""

from collections import defaultdict

import pytest
from checking import says

from course_utils.retrieval import reciprocal_rank_fusion
from course_utils.teaching import tasks

CHECK = tasks.search.rrf.check


def by_score(pair):
    return (-pair[1], pair[0])


def made(
    share=lambda weight, k, rank: weight / (k + rank),
    *,
    once=dict.fromkeys,
    add=lambda old, new: old + new,
    last=lambda scores, weights: scores,
    order=lambda items: sorted(items, key=by_score),
    strict=True,
):
    """Return the right answer with some of its parts changed."""

    def fuse(rankings, weights=None, k=60):
        given = [1] * len(rankings) if weights is None else weights
        scores = {}
        for ranking, weight in zip(rankings, given, strict=strict):
            for rank, id in enumerate(once(ranking), start=1):
                scores[id] = add(scores.get(id, 0), share(weight, k, rank))
        return order(last(scores, given).items())

    return fuse


reference = made()


def library(rankings, weights=None, k=60):
    return reciprocal_rank_fusion(rankings, weights=weights, k=k)


def by_document(rankings, weights=None, k=60):
    """For each document the lists, not for each list the documents."""
    if weights and len(weights) != len(rankings) or weights == [] and rankings:
        raise ValueError("one weight for each ranking")
    lists = [sorted(set(ranking), key=ranking.index) for ranking in rankings]
    scores = defaultdict(float)
    for id in sorted({id for ids in lists for id in ids}):
        for place, ids in enumerate(lists):
            if id in ids:
                scores[id] += (weights[place] if weights else 1) / (k + 1 + ids.index(id))
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)


def as_lists(rankings, weights=None, k=60):
    return tuple([id, round(score, 6)] for id, score in reference(rankings, weights, k))


def no_length_check(rankings, weights=None, k=60):
    return made(strict=False)(rankings, weights, k)


def index_error(rankings, weights=None, k=60):
    weights = weights or [1] * len(rankings)
    return reference(rankings, [weights[place] for place in range(len(rankings))], k)


def empty_is_none(rankings, weights=None, k=60):
    return reference(rankings, weights or None, k)


def gaps(rankings, weights=None, k=60):
    scores, given = {}, [1] * len(rankings) if weights is None else weights
    for ranking, weight in zip(rankings, given, strict=True):
        seen = set()
        for rank, id in enumerate(ranking, start=1):
            if id not in seen:
                scores[id] = scores.get(id, 0) + weight / (k + rank)
            seen.add(id)
    return sorted(scores.items(), key=by_score)


def last_ranks(ranking):
    return list(dict.fromkeys(reversed(ranking)))[::-1]


def overwrites(rankings, weights=None, k=60):
    scores, given = {}, [1] * len(rankings) if weights is None else weights
    for ranking, weight in zip(rankings, given, strict=True):
        for id, rank in {id: rank for rank, id in enumerate(ranking, start=1)}.items():
            scores[id] = scores.get(id, 0) + weight / (k + rank)
    return sorted(scores.items(), key=by_score)


def takes_out(rankings, weights=None, k=60):
    found = reference(rankings, weights, k)
    for ranking in rankings:
        ranking.clear()
    return found


def shared(rankings, weights=None, k=60):
    return [pair for pair in reference(rankings, weights, k) if all(pair[0] in one for one in rankings)]


def over(divisor):
    def last(scores, weights):
        return {id: score / divisor(scores, weights) for id, score in scores.items()}

    return last


def by_position(items):
    return sorted(items, key=lambda pair: -pair[1])


def backwards(items):
    return sorted(items, key=lambda pair: pair[::-1], reverse=True)


def weights_alone(scores, weights):
    return sum(weights) if len(set(weights)) > 1 else 1


def ignores(rankings, weights=None, k=60):
    return reference(rankings, None, k)


@pytest.mark.parametrize("answer", [reference, library, by_document, as_lists])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the sums, without which nothing else counts
        (made(lambda weight, k, rank: weight / (k + rank - 1)), 0, "Your ranks start at 0"),
        (made(lambda weight, k, rank: weight / rank), 0, "k does not count"),
        (lambda rankings, weights=None, k=60: reference(rankings, weights), 0, "always the usual 60"),
        (made(add=lambda old, new: new), 0, "not written over it"),
        (made(add=max), 0, "its best share only"),
        (made(last=over(lambda scores, weights: len(weights))), 0, "divided by the number of lists"),
        (made(last=over(lambda scores, weights: sum(scores.values()))), 0, "normalised to a sum of 1"),
        (made(last=over(lambda scores, weights: max(scores.values()))), 0, "normalised to a highest of 1"),
        (made(lambda weight, k, rank: weight * rank), 0, "the score of"),
        (made(order=lambda items: sorted(items, key=lambda pair: pair[1])), 0, "the lowest comes first"),
        (made(order=list), 0, "is not sorted by them"),
        (made(order=sorted), 0, "is not sorted by them"),
        (made(order=dict), 0, "as a dict or its items"),
        (made(order=lambda items: items), 0, "as a dict or its items"),
        (made(order=lambda items: [id for id, _ in sorted(items, key=by_score)]), 0, "the ids alone"),
        (made(order=lambda items: [(score, id) for id, score in items]), 0, "the wrong way round"),
        (shared, 0, "not all documents come back"),
        (lambda rankings, weights=None, k=60: [("shop", 1.0)], 0, "in none of the lists"),
        (lambda rankings, weights=None, k=60: reference(rankings, weights, k) or None, 0, "forget `return`"),
        (lambda rankings, weights=None, k=60: str(reference(rankings, weights, k)), 0, "a value of type str"),
        (lambda rankings, weights=None, k=60: reference(rankings, weights, k) * 2, 0, "more than once"),
        # the weights
        (ignores, 2, "The weights do not count"),
        (made(last=over(weights_alone)), 2, "a sum of 1"),
        (lambda r, weights=None, k=60: reference(r, weights and weights[::-1], k), 2, "to the wrong lists"),
        (made(lambda weight, k, rank: 1 / (k + weight * rank)), 2, "it belongs above the line"),
        (no_length_check, 2, "left out in silence"),
        (empty_is_none, 2, "no weight in the list an answer comes back"),
        (index_error, 2, "should raise ValueError; it stops with IndexError"),
        (lambda rankings, weights, k=60: reference(rankings, weights, k), 0, "TypeError"),
        # equal scores, repeated ids, untouched lists
        (made(order=by_position), 2, "among them the id decides"),
        (made(order=backwards), 2, "the id decides"),
        (made(once=list), 2, "counts twice"),
        (gaps, 2, "still takes up a rank"),
        (overwrites, 2, "gets its last rank"),
        (made(once=last_ranks), 2, "the last kept"),
        (takes_out, 2, "`fuse` changes the lists"),
        # more than one
        (made(order=by_position, strict=False), 1, "left out in silence"),
        (made(once=list, order=by_position, strict=False), 1, "left out in silence"),
    ],
)  # fmt: skip
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(
        CHECK(ignores),
        2,
        "Right so far: the sums",
        "; equal scores, repeated ids and untouched lists are right. The",
    )
    says(CHECK(gaps), 2, "Right so far: the sums without weights are right; weights count. The")


def test_no_message_holds_a_score():
    for answer in (made(lambda weight, k, rank: weight * rank), made(order=by_position), gaps, ignores):
        assert "0.0" not in CHECK(answer).message


@pytest.mark.parametrize(
    ("rankings", "weights", "expected"),
    [
        ([["a", "b"], ["c", "a"]], [0.7, 0.3], [("a", 0.016314), ("b", 0.011290), ("c", 0.004918)]),
        ([["X", "a", "Y"], ["b", "c", "Y"]], None, [("Y", 0.031746), ("X", 0.016393), ("b", 0.016393)]),
        ([["b", "a", "b", "c"], ["c", "d", "d", "a"]], None, None),
    ],
)
def test_the_tested_twin_of_the_lesson_agrees_with_the_reference(rankings, weights, expected):
    found = reference(rankings, weights)
    assert found == reciprocal_rank_fusion(rankings, weights=weights)
    if expected:
        assert [(id, round(score, 6)) for id, score in found][:3] == expected
