"""The check of filter and ranking by hand: on right answers, others as right, and wrong ones."""

import heapq

import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.docs.filter_then_rank.check


def key(one):
    return (-one[1], one[0])


def ids(found):
    return [id for id, _, _ in found]


def reference(scored, keep, k):
    return ids(sorted((one for one in scored if keep(one[2])), key=key)[:k])


def by_heap(scored, keep, k):
    return tuple(ids(heapq.nsmallest(k, [one for one in scored if keep(one[2])], key=key)))


def by_loop(scored, keep, k):
    """Rank first, then take while reading: a filter after the ranking and before the cut."""
    found = []
    for id, _, metadata in sorted(scored, key=key):
        if len(found) < k and keep(metadata):
            found.append(id)
    return found


def by_two_sorts(scored, keep, k):
    kept = sorted(one for one in scored if keep(one[2]))
    return ids(sorted(kept, key=lambda one: one[1], reverse=True))[:k]


def cut_then_filter(scored, keep, k):
    return [id for id, _, metadata in sorted(scored, key=key)[:k] if keep(metadata)]


def cut_unsorted(scored, keep, k):
    return ids(sorted((one for one in scored[:k] if keep(one[2])), key=key))


def oversampled(factor):
    def top(scored, keep, k):
        return [id for id, _, metadata in sorted(scored, key=key)[: factor * k] if keep(metadata)][:k]

    return top


def filled_up(scored, keep, k):
    found = reference(scored, keep, k)
    return (found + [id for id in ids(sorted(scored, key=key)) if id not in found])[:k]


def ranked_by(order, **options):
    def top(scored, keep, k):
        return ids(sorted((one for one in scored if keep(one[2])), key=order, **options)[:k])

    return top


def sorts_in_place(scored, keep, k):
    scored.sort(key=key)
    return by_loop(scored, keep, k)


def takes_out(scored, keep, k):
    for one in list(scored):
        if not keep(one[2]):
            scored.remove(one)
    return reference(scored, keep, k)


def exactly_k(scored, keep, k):
    kept = sorted((one for one in scored if keep(one[2])), key=key)
    return [kept[place][0] for place in range(k)]


def only(test):
    return lambda scored, keep, k: reference([one for one in scored if test(one)], keep, k)


@pytest.mark.parametrize("answer", [reference, by_heap, by_loop, by_two_sorts])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the cut
        (cut_then_filter, 2, "is cut to k first and filtered then"),
        (cut_unsorted, 1, "is cut to k first and filtered then"),
        (oversampled(2), 2, "no margin of more than k is wide enough"),
        (oversampled(10), 2, "no margin of more than k is wide enough"),
        (lambda scored, keep, k: reference(scored, keep, len(scored)), 1, "3 ids come back; at most k=2"),
        (lambda scored, keep, k: reference(scored, keep, k + 1), 1, "at most k=2"),
        (
            lambda scored, keep, k: reference(scored, keep, k - 1) if k < 5 else reference(scored, keep, k),
            1,
            "",
        ),
        # equal scores, and the list
        (ranked_by(lambda one: -one[1]), 2, "the smaller id comes first"),
        (ranked_by(lambda one: one[1], reverse=True), 2, "the smaller id comes first"),
        (ranked_by(lambda one: one[1::-1], reverse=True), 2, "the smaller id comes first"),
        (sorts_in_place, 2, "`.sort()` and `.remove()` work in place"),
        (takes_out, 2, "changes the list it was given"),
        # without these nothing else counts
        (ranked_by(lambda one: one[1]), 0, "the lowest score comes first"),
        (ranked_by(lambda one: one[0]), 0, "sorted by id"),
        (ranked_by(None, reverse=True), 0, "sorted by id"),
        (ranked_by(lambda one: abs(one[1] - 0.7)), 0, "not the best ones in order"),
        (ranked_by(lambda one: 0), 0, "in the order of the list"),
        (ranked_by(lambda one: -abs(one[1])), 0, "scores of 0 and below"),
        (filled_up, 0, "`keep` refuses"),
        (lambda scored, keep, k: ids(sorted(scored, key=key))[:k], 0, "`keep` refuses"),
        (
            lambda scored, keep, k: [one[0] for one in sorted(scored, key=key) if keep][:k],
            0,
            "`keep` refuses",
        ),
        (only(lambda one: one[1] > 0), 0, "a low score is a low rank"),
        (only(lambda one: one[1]), 0, "a low score is a low rank"),
        (only(lambda one: one[1] >= 0.5), 0, "k has room for all"),
        (exactly_k, 0, "IndexError"),
        (lambda scored, keep, k: [one[0] for one in scored if keep(one)], 0, "keep takes the metadata"),
        (lambda scored, keep, k: sorted(one for one in scored if keep(one[2])), 0, "whole entries"),
        (lambda scored, keep, k: [(id, 1) for id in reference(scored, keep, k)], 0, "whole entries"),
        (lambda scored, keep, k: set(reference(scored, keep, k)), 0, "a value of type set"),
        (lambda scored, keep, k: ", ".join(reference(scored, keep, k)), 0, "a value of type str"),
        (lambda scored, keep, k: reference(scored, keep, k) or None, 0, "forget `return`"),
        (
            lambda scored, keep, k: [one[1] for one in scored if keep(one[2])],
            0,
            "something else than the ids",
        ),
        (lambda scored, keep, k: ["product:14"], 0, ""),
        (lambda scored, keep, k: [], 0, "k has room for all"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_cut_too_early_and_ties_by_position_earn_the_first_point():
    def both(scored, keep, k):
        best = sorted(scored, key=lambda one: one[1], reverse=True)[:k]
        return [id for id, _, metadata in best if keep(metadata)]

    says(CHECK(both), 1, "cut to k first")


def test_what_is_right_is_said():
    for answer, right in (
        (cut_then_filter, "Right so far: equal scores are in order. "),
        (sorts_in_place, "Right so far: the filter comes before the cut. "),
    ):
        assert CHECK(answer).message.startswith(right)


def test_the_passed_message_holds_for_every_way_that_passes():
    """Who ranks first and filters then has passed as well."""
    for answer in (reference, by_loop):
        says(CHECK(answer), 3, "As many as fit")
        assert "then rank" not in CHECK(answer).message
