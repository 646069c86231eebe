"""The check of the scores out of a reply: on right answers, others as right, and wrong ones."""

import math
import re

import pytest
from checking import says

from course_utils.retrieval.llm_rerank import parse_scores
from course_utils.teaching import tasks
from course_utils.teaching.tasks import rerank_judge_parse

CHECK = tasks.rerank.parse_scores.check
LINE = r"Doc (-?\d+): (-?\d+(?:\.\d+)?)"


def entries(reply):
    found = (re.fullmatch(LINE, line.strip()) for line in reply.splitlines())
    return [(int(one[1]), float(one[2])) for one in found if one]


def reference(reply, n):
    scores = [None] * n
    for number, score in entries(reply):
        if 1 <= number <= n and 0 <= score <= 10 and scores[number - 1] is None:
            scores[number - 1] = score
    return scores


def without_a_pattern(reply, n):
    told = {}
    for line in reply.split("\n"):
        head, _, tail = line.partition(": ")
        try:
            number, score = int(head.removeprefix("Doc ")), float(tail)
        except ValueError:
            continue
        if 0 <= score <= 10:  # false for NaN
            told.setdefault(number, score)
    return [told.get(number) for number in range(1, n + 1)]


def document_by_document(reply, n):
    def one(number):
        found = re.findall(rf"^Doc {number}: (\d+\.?\d*)$", reply, re.M)
        valid = [float(score) for score in found if float(score) <= 10]
        return valid[0] if valid else None

    return tuple(one(number) for number in range(1, n + 1))


def by_the_course(reply, n):
    return [None if math.isnan(score) else score for score in parse_scores(reply, n).scores]


def placed(pairs, n):
    scores = [None] * n
    for number, score in pairs:
        if 1 <= number <= n and scores[number - 1] is None:
            scores[number - 1] = score
    return scores


def in_order(reply, n):
    scores = [score for _, score in entries(reply) if 0 <= score <= 10][:n]
    return scores + [None] * (n - len(scores))


def all_numbers(reply, n):
    return ([float(number) for number in re.findall(r"\d+", reply)] + [None] * n)[:n]


def only_those_there(reply, n):
    return [score for score in reference(reply, n) if score is not None]


def zeros(reply, n):
    return [score or 0.0 for score in reference(reply, n)]


def falsy(reply, n):
    return [score or None for score in reference(reply, n)]


def splits(reply, n):
    scores = [None] * n
    for line in reply.splitlines():
        head, tail = line.split(":")
        scores[int(head.split()[1]) - 1] = float(tail)
    return scores


def contained(reply, n):
    scores = [None] * n
    for number in range(1, n + 1):
        for line in reply.splitlines():
            found = re.fullmatch(LINE, line)
            if (
                f"Doc {number}" in line
                and found
                and 0 <= float(found[2]) <= 10
                and scores[number - 1] is None
            ):
                scores[number - 1] = float(found[2])
    return scores


def contained_last(reply, n):
    scores = [None] * n
    for number in range(1, n + 1):
        for line in reply.splitlines():
            found = re.fullmatch(LINE, line)
            if line.startswith(f"Doc {number}") and found:
                scores[number - 1] = float(found[2])
    return scores


def unbounded(reply, n):
    """Doc 0 writes to the last place, and a number above n has none."""
    scores = [None] * n
    for number, score in entries(reply):
        if 0 <= score <= 10 and number <= n and scores[number - 1] is None:
            scores[number - 1] = score
    return scores


def trusting(reply, n):
    scores = [None] * n
    for number, score in entries(reply):
        if 0 <= score <= 10:
            scores[number - 1] = score
    return scores


def last_wins(reply, n):
    return [
        dict(entries(reply)).get(n) if one is not None else None
        for n, one in enumerate(reference(reply, n), 1)
    ]


def none_when_twice(reply, n):
    told = {}
    for number, score in entries(reply):
        told.setdefault(number, set()).add(score)
    return [None if len(told.get(m, ())) > 1 else one for m, one in enumerate(reference(reply, n), 1)]


def clamped(reply, n):
    return placed([(number, min(max(score, 0.0), 10.0)) for number, score in entries(reply)], n)


def whatever(reply, n):
    return placed(entries(reply), n)


def searched(pattern):
    """Return an answer that takes what a pattern finds anywhere in the reply."""

    def parse(reply, n):
        pairs = [(int(number), float(score)) for number, score in re.findall(pattern, reply)]
        return placed([(number, score) for number, score in pairs if 0 <= score <= 10], n)

    return parse


def by_line(find):
    """Return the reference with another function of `re` in the place of fullmatch."""

    def parse(reply, n):
        found = [find(LINE, line.strip()) for line in reply.splitlines()]
        pairs = [(int(one[1]), float(one[2])) for one in found if one]
        return placed([(number, score) for number, score in pairs if 0 <= score <= 10], n)

    return parse


def zero_is_free(reply, n):
    scores = [None] * n
    for number, score in entries(reply):
        if 1 <= number <= n and 0 <= score <= 10 and not scores[number - 1]:
            scores[number - 1] = score
    return scores


def nan_passes(reply, n):
    pairs = []
    for number, score in re.findall(r"^Doc (\d+): (\S+)$", reply, re.M):
        try:
            value = float(score)
        except ValueError:
            continue
        if not (value < 0 or value > 10):
            pairs.append((int(number), value))
    return placed(pairs, n)


def not_in_python(reply, n):
    pairs = [(int(number), float(score)) for number, score in re.findall(r"^Doc (\d+): (\S+)$", reply, re.M)]
    return placed([one for one in pairs if 0 <= one[1] <= 10], n)


@pytest.mark.parametrize(
    "answer",
    [
        reference,
        without_a_pattern,
        document_by_document,
        lambda reply, n: [int(s) if s is not None and s == int(s) else s for s in reference(reply, n)],
    ],
)
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # places
        (in_order, 0, "stand in the order of the reply"),
        (all_numbers, 0, "all numbers of the reply are taken"),
        (only_those_there, 0, "2 entries come back for 3 documents"),
        (zeros, 0, "a document that nobody scored has a number"),
        (falsy, 0, "a score of 0 is lost"),
        (splits, 0, "`parse` stops with ValueError"),
        (lambda reply, n: {number + 1: s for number, s in enumerate(reference(reply, n))}, 0, "a dict comes"),
        (lambda reply, n: list(enumerate(reference(reply, n), 1)), 0, "more than scores"),
        (lambda reply, n: [s if s is None else str(s) for s in reference(reply, n)], 0, "as texts"),
        (
            lambda reply, n: [math.nan if s is None else s for s in reference(reply, n)],
            0,
            "None is asked for",
        ),
        (lambda reply, n: [False if s is None else s for s in reference(reply, n)], 0, "something else than"),
        (lambda reply, n: reference(reply, n) if "Doc" in reply else None, 2, "forget `return`"),
        (lambda reply, n: set(reference(reply, n)), 0, "a value of type set"),
        (lambda reply, n: [None] * n, 0, "did not arrive"),
        (lambda reply, n: reference(reply, n)[::-1], 0, "does not give to it"),
        # what is no score
        (clamped, 2, "moved to its nearest end"),
        (whatever, 2, "taken as a score"),
        (searched(r"Doc (\d+): -?(\d+(?:\.\d+)?)"), 2, "a minus is passed over"),
        (searched(r"Doc (\d+): (10|\d)"), 2, "only the first digits"),
        (searched(r"Doc (\d+): (\d)"), 2, ""),
        (searched(r"Doc (\d+): (\d+)"), 2, "behind the decimal point is lost"),
        (by_line(re.match), 2, "the beginning of a line is read"),
        (by_line(re.search), 2, "somewhere in a line that holds more"),
        (nan_passes, 2, "NaN or infinity is in the list"),
        (not_in_python, 2, "`parse` stops with ValueError: could not convert string to float"),
        # numbers of documents
        (contained, 2, "taken for Doc 1"),
        (contained_last, 1, "is taken as a score"),
        (unbounded, 2, "the place -1 of a Python list"),
        (trusting, 2, "the place -1 of a Python list"),
        (last_wins, 2, "the second score of a document"),
        (none_when_twice, 2, "the first was to count"),
        (zero_is_free, 2, "a first score of 0 has lost its place"),
        (searched(r"(?m)^Doc (\d).*?: (\d+(?:\.\d+)?)$"), 2, ""),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_a_number_above_n_is_an_index_error_away():
    def above(reply, n):
        scores = [None] * n
        for number, score in entries(reply):
            if number >= 1 and 0 <= score <= 10 and scores[number - 1] is None:
                scores[number - 1] = score
        return scores

    says(CHECK(above), 2, "With numbers that no document has: `parse` stops with IndexError")


def test_the_course_reads_7_of_10_too_and_nothing_else_differently():
    says(CHECK(by_the_course), 2, "With 7/10 and 1,5 behind a colon")
    for case in rerank_judge_parse._CASES:
        told = by_the_course(case.reply.replace("7/10", "n/a"), case.n)
        assert told == case.right


def test_what_is_right_is_said():
    assert CHECK(clamped).message.startswith("Right so far: order, gaps and prose, numbers of documents. ")
