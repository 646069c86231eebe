"""The check of the vote: on right answers, others as right, and wrong ones."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.routing.vote.check


def order(similarities, k):
    return sorted(range(len(similarities)), key=lambda place: -similarities[place])[:k]


def voters(similarities, labels, k):
    return [labels[place] for place in order(similarities, k)]


def reference(similarities, labels, k):
    near = voters(similarities, labels, k)
    return max(near, key=near.count)


def by_counter(similarities, labels, k):
    return Counter(voters(similarities, labels, k)).most_common(1)[0][0]


def by_numpy(similarities, labels, k):
    near = np.argsort(-np.array(similarities), kind="stable")[:k]
    votes = defaultdict(int)
    for place in near:
        votes[labels[place]] += 1
    most = max(votes.values())
    return next(labels[place] for place in near if votes[labels[place]] == most)


def by_one_key(similarities, labels, k):
    places = order(similarities, k)
    near = [labels[place] for place in places]
    return labels[max(places, key=lambda place: (near.count(labels[place]), similarities[place], -place))]


def tied(similarities, labels, k):
    near = voters(similarities, labels, k)
    return [
        label
        for label in dict.fromkeys(near)
        if near.count(label) == near.count(reference(similarities, labels, k))
    ]


def sums(similarities, labels, k):
    total = defaultdict(float)
    for place in order(similarities, k):
        total[labels[place]] += similarities[place]
    return total


def ascending(similarities, labels, k):
    near = [label for _, label in sorted(zip(similarities, labels, strict=True))[:k]]
    return max(near, key=near.count)


def over_all(similarities, labels, k):
    return max(labels, key=labels.count)


def first_of_list(similarities, labels, k):
    return max(labels[:k], key=labels[:k].count)


def nearest(similarities, labels, k):
    return labels[order(similarities, 1)[0]]


def weighted(similarities, labels, k):
    total = sums(similarities, labels, k)
    return max(total, key=total.get)


def fewest(similarities, labels, k):
    near = voters(similarities, labels, k)
    return min(near, key=near.count)


def pairs(similarities, labels, k):
    near = [label for _, label in sorted(zip(similarities, labels, strict=True), reverse=True)[:k]]
    return max(near, key=near.count)


def threshold(similarities, labels, k):
    least = sorted(similarities, reverse=True)[:k][-1]
    near = [place for place in order(similarities, len(labels)) if similarities[place] >= least]
    return max((labels[n] for n in near), key=[labels[n] for n in near].count)


def insists(similarities, labels, k):
    if len(labels) < k:
        raise IndexError("too few")
    return reference(similarities, labels, k)


def pops(similarities, labels, k):
    told = reference(similarities, labels, k)
    similarities.sort()
    return told


def of_tied(choose):
    def vote(similarities, labels, k):
        return choose(tied(similarities, labels, k), similarities, labels, k)

    return vote


@pytest.mark.parametrize("answer", [reference, by_counter, by_numpy, by_one_key])
def test_right(answer):
    says(CHECK(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        (ascending, 0, "sorting goes upwards"),
        (over_all, 0, "all labelled questions have a vote"),
        (first_of_list, 0, "the first k of the list"),
        (nearest, 0, "the most similar question decides alone"),
        (weighted, 0, "similarities are added up"),
        (fewest, 0, "the fewest votes"),
        (lambda s, labels, k: "rows", 0, "none of the labels"),
        (lambda s, labels, k: voters(s, labels, k), 0, "a value of type list"),
        (lambda s, labels, k: labels[0], 0, "not the label with the most votes among"),
        (lambda s, labels, k: None if k > len(labels) else reference(s, labels, k), 1, "forget `return`"),
        (of_tied(lambda t, s, labels, k: min(t)), 1, "first in the alphabet"),
        (of_tied(lambda t, s, labels, k: max(t)), 1, "last in the alphabet"),
        (of_tied(lambda t, s, labels, k: t[-1]), 1, "is the least similar wins"),
        (of_tied(lambda t, s, labels, k: min(t, key=labels.index)), 1, "stands first in `labels`"),
        (of_tied(lambda t, s, labels, k: max(t, key=sums(s, labels, k).get)), 1, "the largest sum"),
        (of_tied(lambda t, s, labels, k: max(t, key=labels.count)), 1, "the most examples"),
        (
            lambda s, labels, k: (
                nearest(s, labels, k) if len(tied(s, labels, k)) > 1 else reference(s, labels, k)
            ),
            1,
            "tied or not",
        ),
        (pairs, 1, "Sorting pairs compares the labels"),
        (threshold, 1, "all have a vote that are as similar as the k-th"),
        (insists, 1, "With three questions and k=5 `vote` stops with IndexError"),
        (pops, 1, "changes a list it was given"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    assert CHECK(pairs).message.startswith("Right where one label wins. ")
