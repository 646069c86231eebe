"""The check of mixed z-scores: on right answers, differently written right ones, and wrong ones."""

import statistics

import numpy as np
import pytest
from checking import says

from course_utils.retrieval import mix_scores
from course_utils.teaching import tasks

CHECK = tasks.search.mix_z.check


def by_score(pair):
    return (-pair[1], pair[0])


def z_scores(pairs, spread=statistics.pstdev, centre=statistics.fmean):
    values = [score for _, score in pairs]
    deviation = spread(values) if len(values) > 1 else 0
    return {id: (score - centre(values)) / deviation if deviation else 0.0 for id, score in pairs}


def made(one=z_scores, absent=lambda z, every: min(z.values()), order=None, weigh=lambda w: w, keep=bool):
    """Return the right answer with some of its parts changed."""

    def mix(scored_lists, weights):
        pairs = [
            (one(pairs), weight)
            for pairs, weight in zip(scored_lists, weigh(weights), strict=True)
            if keep(pairs)
        ]
        every = [z for z, _ in pairs]
        ids = dict.fromkeys(id for z in every for id in z)
        sums = {id: sum(w * z.get(id, absent(z, every)) for z, w in pairs) for id in ids}
        return (order or (lambda items: sorted(items, key=by_score)))(sums.items())

    return mix


reference = made()


def library(scored_lists, weights):
    return mix_scores(scored_lists, weights=weights)


def with_numpy(scored_lists, weights):
    ids = sorted({id for pairs in scored_lists for id, _ in pairs})
    total = np.zeros(len(ids))
    for pairs, weight in zip(scored_lists, weights, strict=True):
        if pairs:
            scores = np.array([score for _, score in pairs])
            z = (scores - scores.mean()) / (scores.std() or 1)
            have = dict(zip([id for id, _ in pairs], z, strict=True))
            total += weight * np.array([have.get(id, z.min()) for id in ids])
    return [[ids[place], total[place]] for place in np.argsort(-total, kind="stable")]


def sample(values):
    return statistics.stdev(values) if len(values) > 1 else 0


def min_max(pairs):
    low, high = min(score for _, score in pairs), max(score for _, score in pairs)
    return {id: (score - low) / ((high - low) or 1) for id, score in pairs}


def unguarded(pairs):
    values = [score for _, score in pairs]
    return {id: (s - statistics.fmean(values)) / statistics.pstdev(values) for id, s in pairs}


def ones_where_flat(pairs):
    return z_scores(pairs) if len({score for _, score in pairs}) > 1 else {id: 1.0 for id, _ in pairs}


def pooled(scored_lists, weights):
    values = [score for pairs in scored_lists for _, score in pairs]
    mean, deviation = statistics.fmean(values), statistics.pstdev(values)
    return made(lambda pairs: {id: (score - mean) / deviation for id, score in pairs})(scored_lists, weights)


def filled_with(value):
    def mix(scored_lists, weights):
        ids = sorted({id for pairs in scored_lists for id, _ in pairs})
        filled = [[(id, dict(pairs).get(id, value(pairs))) for id in ids] for pairs in scored_lists if pairs]
        kept = [weight for pairs, weight in zip(scored_lists, weights, strict=True) if pairs]
        return reference(filled, kept)

    return mix


def shared(scored_lists, weights):
    lists = [pairs for pairs in scored_lists if pairs]
    return [pair for pair in reference(scored_lists, weights) if all(pair[0] in dict(one) for one in lists)]


def keeps_the_weight(scored_lists, weights):
    full = [pairs for pairs in scored_lists if pairs]
    return reference(full, weights[: len(full)])


def sorts_in_place(scored_lists, weights):
    for pairs in scored_lists:
        pairs.sort()
    return reference(scored_lists, weights)


def by_position(items):
    return sorted(items, key=lambda pair: -pair[1])


def backwards(items):
    return sorted(items, key=lambda pair: pair[::-1], reverse=True)


def lowest_score(pairs):
    return min(score for _, score in pairs)


def lowest_of_all(z, every):
    return min(min(one.values()) for one in every)


@pytest.mark.parametrize("answer", [reference, library, with_numpy])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # z, without which nothing else counts
        (made(dict), 0, "drowns every cosine"),
        (made(min_max), 0, "stretched from 0 to 1"),
        (made(lambda pairs: z_scores(pairs, sample)), 0, "deviation of a sample"),
        (made(lambda pairs: z_scores(pairs, statistics.pvariance)), 0, "divided by the variance"),
        (made(lambda pairs: z_scores(pairs, centre=lambda values: 0)), 0, "The mean is not taken off"),
        (made(lambda pairs: z_scores(pairs, spread=lambda values: 1)), 0, "the scale is left"),
        (made(lambda pairs: z_scores(pairs, centre=statistics.median)), 0, "is not the right one"),
        (pooled, 0, "share one mean and one deviation"),
        (made(weigh=lambda weights: [1] * len(weights)), 0, "The weights do not count"),
        (made(weigh=lambda weights: [w / sum(weights) for w in weights]), 0, "normalised to a sum of 1"),
        (made(weigh=lambda weights: weights[::-1]), 0, "to the wrong lists"),
        (made(order=lambda items: sorted(items, key=lambda pair: pair[1])), 0, "the lowest comes first"),
        (made(order=list), 0, "is not sorted by them"),
        (made(order=dict), 0, "as a dict or its items"),
        (made(order=lambda items: [id for id, _ in items]), 0, "the ids alone"),
        (lambda lists, weights: [], 0, "not all documents come back"),
        (lambda lists, weights: reference(lists, weights)[0], 0, "pairs of id and score"),
        # a missing document
        (made(absent=lambda z, every: 0), 2, "a z of 0, which is the mean"),
        (made(absent=lowest_of_all), 1, "the lowest z of all lists"),
        (made(absent=lambda z, every: max(z.values())), 2, "the highest z"),
        (made(absent=lambda z, every: min(z.values()) - 1), 1, "less than the lowest z"),
        (filled_with(lambda pairs: 0.0), 1, "a score of 0 before mean and deviation"),
        (filled_with(lowest_score), 2, "the lowest score before mean and deviation"),
        (shared, 1, "is left out"),
        # lists that say nothing, equal sums, untouched lists
        (made(unguarded), 2, "ZeroDivisionError"),
        (made(ones_where_flat), 2, "every z is 0 then"),
        (made(keep=lambda pairs: True), 2, "no mean and no lowest z"),
        (keeps_the_weight, 2, "leave out each empty list together with its weight"),
        (made(keep=lambda pairs: len(pairs) > 1), 2, "every z is 0 then"),
        (lambda lists, weights: reference(lists, weights) or None, 2, "forget `return`"),
        (made(order=by_position), 2, "the id decides"),
        (made(order=backwards), 2, "the id decides"),
        (sorts_in_place, 2, "`mix` changes the lists"),
        # more than one
        (made(unguarded, absent=lambda z, every: 0), 1, "a z of 0, which is the mean"),
        (made(absent=lambda z, every: 0, order=by_position), 1, "a z of 0, which is the mean"),
        (lambda scored_lists: [], 0, "TypeError"),
    ],
)  # fmt: skip
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(
        CHECK(made(absent=lambda z, every: 0)),
        2,
        "Right so far: lists of the same",
        "; flat and empty lists,",
    )
    says(CHECK(sorts_in_place), 2, "; a missing document counts as it should. `mix`")


@pytest.mark.parametrize(
    ("lists", "weights"),
    [
        ([[("a", 9.0), ("b", 1.0)], [("c", 0.75), ("a", 0.25)]], [1, 1]),
        ([[("a", 9.0), ("b", 1.0), ("c", 4.0)], [("c", 0.75), ("d", 0.25)], []], [0.2, 0.7, 0.1]),
        ([[("a", 2.5), ("b", 2.5)], [("z", 1.0)]], [0.5, 0.5]),
    ],
)
def test_the_tested_twin_of_the_lesson_agrees_with_the_reference(lists, weights):
    found, twin = reference(lists, weights), mix_scores(lists, weights=weights)
    assert [id for id, _ in found] == [id for id, _ in twin]
    assert dict(found) == pytest.approx(dict(twin))
