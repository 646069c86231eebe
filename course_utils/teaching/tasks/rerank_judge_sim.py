"""Judge of MaxSim by hand of exercise 04: the right mean of the right maxima, on every shape."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import forgot_return, is_number
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

Rows = list[list[float]]
_NEAR = 1e-6  # float32 is good enough
_ROUNDED = 0.01


def _unit(*rows: Sequence[float]) -> Rows:
    """Return the rows with length 1."""
    return [[x / math.hypot(*row) for x in row] for row in rows]


@dataclass(frozen=True)
class Pair:
    """A question and a document as rows of token vectors; `part` is the point they belong to."""

    part: str
    question: Rows
    document: Rows

    @property
    def says(self) -> str:
        """The pair in words."""
        sizes = [f"{len(rows)} token{'s' * (len(rows) > 1)}" for rows in (self.question, self.document)]
        return f"For a question of {sizes[0]} and a document of {sizes[1]},"

    @property
    def table(self) -> Rows:
        """All dot products: a row for each token of the question, a column for each of the document."""
        return [[_dot(asked, told) for told in self.document] for asked in self.question]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


_TWO = _unit((3, 1, 0, 2), (0, 2, 5, 1))
_FOUR = _unit((1, 0, 0, 4), (0, 1, 6, 0), (2, 2, 0, 1), (5, 0, 1, 0))
_THREE = _unit((0, 4, 1), (2, 0, 3), (6, 1, 1))
_PAIRS = (
    Pair("square", _unit((1, 0), (0, 1)), _unit((0.8, 0.6), (1, 0))),
    Pair("square", _THREE, _unit((1, 1, 0), (1, 3, 1), (7, 0, 2))),
    Pair("square", _unit((1, 0, 0)), _unit((3, 4, 0))),
    Pair("shapes", _TWO, _FOUR),
    Pair("shapes", _FOUR, _TWO),
    Pair("shapes", _THREE, _unit((1, 2, 2))),
    Pair("shapes", _unit((2, 1, 2)), _THREE),
    # For the second token of the question, every dot product is negative.
    Pair("shapes", _unit((1, 2, 0), (-3, -1, -1)), _THREE),
)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _maxima(table: Rows) -> list[float]:
    return [max(row) for row in table]


def _turned(table: Rows) -> Rows:
    return [list(column) for column in zip(*table, strict=True)]


def _flat(table: Rows) -> list[float]:
    return [value for row in table for value in row]


# Wrong numbers that people arrive at, from the table of dot products, and what to say of each.
_WRONG: tuple[tuple[Callable[[Rows], float], str], ...] = (
    (
        lambda table: _mean(_maxima(_turned(table))),
        "the maximum is taken along the wrong axis: each token of the document seeks its like in the "
        "question. It is the question's tokens that have to be found; a long document may speak of more.",
    ),
    (
        lambda table: math.fsum(_maxima(table)),
        "the largest dot products are added up and not averaged: a long question would get a high "
        "score for its length.",
    ),
    (
        lambda table: math.fsum(_maxima(_turned(table))),
        "the maximum is taken along the wrong axis, for each token of the document, and the sum is no mean.",
    ),
    (
        lambda table: _mean(_flat(table)),
        "the mean goes over all pairs of tokens. That is what the mean vectors of both texts would give: "
        "one good match drowns among all that do not fit.",
    ),
    (
        lambda table: max(_flat(table)),
        "a single maximum decides, that of the best pair: one token in common, such as a comma, and the "
        "document looks perfect. Each token of the question has a maximum of its own.",
    ),
    (
        lambda table: math.fsum(_maxima(table)) / len(table[0]),
        "the sum of the maxima is divided by the number of the document's tokens: a longer document would "
        "get a lower score for the same matches.",
    ),
    (
        lambda table: _mean([max(0.0, value) for value in _maxima(table)]),
        "a maximum below 0 becomes 0: a search for the largest that starts at 0 never finds a negative one.",
    ),
    (
        lambda table: _mean([min(row) for row in table]),
        "the smallest dot product of each token counts, where the largest is asked for.",
    ),
    (
        lambda table: max(map(_mean, table)),
        "mean and maximum have changed places: first the largest for each token of the question, then "
        "the mean.",
    ),
    (
        lambda table: _mean([row[place] for place, row in enumerate(table) if place < len(row)]),
        "the first token is compared with the first, the second with the second: a token may find its "
        "like anywhere in the document.",
    ),
)  # fmt: skip


class MaxSimByHand:
    """max_sim(question, document): a point for equal numbers of tokens, a point for all other pairs."""

    def inputs(self) -> dict[str, Any]:
        """Return the pairs of arrays, as lists of rows."""
        return {"cases": [{"question": pair.question, "document": pair.document} for pair in _PAIRS]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare each number with the right one; without the first point there is no other."""
        calls = list(zip(_PAIRS, report["calls"], strict=True))
        square = _first_trouble([one for one in calls if one[0].part == "square"])
        if square:
            return Verdict(0, NOT_YET, square, 1)
        shapes = _first_trouble([one for one in calls if one[0].part == "shapes"])
        if not shapes and any(call.get("changed_arguments") for _, call in calls):
            shapes = (
                "`max_sim` changes an array it was given: `/=` and `[…] =` write into it, and the next "
                "document is compared with what they left. Work on a new one."
            )
        if shapes:
            return Verdict(1, NOT_YET, f"Right where both have as many tokens. {shapes}", 2)
        return Verdict(2, PASSED, "Each token of the question finds its best partner, and all count alike.")


def _first_trouble(calls: Sequence[tuple[Pair, Mapping[str, Any]]]) -> str:
    for pair, call in calls:
        if "raised" in call:
            return f"{pair.says} `max_sim` stops {explain_error(call['raised'])}"
        if shape := _shape(call):
            return f"{pair.says} {shape}"
        if not _is(call["returned"], _right(pair.table)):
            return f"{pair.says} {_trouble(calls)}"
    return ""


def _right(table: Rows) -> float:
    return _mean(_maxima(table))


def _is(got: float, number: float, near: float = _NEAR) -> bool:
    return abs(got - number) < near


def _shape(call: Mapping[str, Any]) -> str:
    got, kind = call["returned"], call.get("type")
    if got is None:
        return forgot_return("max_sim")
    if is_number(got):
        return ""
    if isinstance(got, dict) and got.get("repr") == "nan":
        return "NaN comes back, which is no number: is there a division by 0, or a mean of nothing?"
    if kind in {"ndarray", "list", "tuple"}:
        return "several numbers come back, where one is asked for: is the mean still missing?"
    return f"a value of type {kind} comes back, not a number."


def _trouble(calls: Sequence[tuple[Pair, Mapping[str, Any]]]) -> str:
    """Return the misconception that explains every number of these calls."""
    told = [
        (pair.table, call["returned"]) for pair, call in calls if "raised" not in call and not _shape(call)
    ]
    for wrong, words in _WRONG:
        if all(_is(got, wrong(table)) for table, got in told):
            return words
    if all(_is(got, _right(table), _ROUNDED) for table, got in told):
        return "the number is rounded: two documents may differ by less than that."
    return "the number is not the mean of the largest dot products of the question's tokens."
