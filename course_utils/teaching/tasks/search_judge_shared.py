"""What the judges of exercise 03 share: cases, mistakes known by their answers, lists of (id, score)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import forgot_return, is_number, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_NEAR = 1e-6  # of two numbers: far more than rounding in float64, less than any mistake makes


@dataclass(frozen=True)
class Case:
    """One call; `part` is the point it belongs to, `says` what is called, in words."""

    part: str
    says: str
    args: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def sent(self) -> dict[str, Any]:
        """Return what the probe needs."""
        return {"args": list(self.args), "options": self.options}


Calls = Sequence[tuple[Case, Mapping[str, Any]]]


@dataclass(frozen=True)
class Asked:
    """How the answers of one function are looked at.

    right: the reference. wrong: for each mistake in words, the function that makes it. shape(call): what
    is wrong with the kind of value, "" if nothing. same(got, want). other(got, want, case): words for an
    answer that no known mistake gives.
    """

    name: str
    right: Callable[..., Any]
    wrong: Mapping[str, Callable[..., Any]]
    shape: Callable[[Mapping[str, Any]], str]
    same: Callable[[Any, Any], bool]
    other: Callable[[Any, Any, Case], str]

    def trouble(self, calls: Calls) -> str:
        """Return what is wrong with the first call that is, named if one mistake explains all of them."""
        for case, call in calls:
            if "raised" in call:
                return f"{case.says}: `{self.name}` stops {explain_error(call['raised'])}"
            if shape := self.shape(call):
                return f"{case.says}: {shape}"
            got, want = call["returned"], self.right(*case.args, **case.options)
            if not self.same(got, want):
                return self._named(calls) or f"{case.says}: {self.other(got, want, case)}"
        return ""

    def _named(self, calls: Calls) -> str:
        usable = [(case, call) for case, call in calls if "returned" in call and not self.shape(call)]
        return next((says for says, answer in self.wrong.items() if self.gives(answer, usable)), "")

    def gives(self, answer: Callable[..., Any], calls: Calls) -> bool:
        """Return whether `answer` gives just what these calls gave."""
        try:
            return all(
                "returned" in call and self.same(call["returned"], answer(*case.args, **case.options))
                for case, call in calls
            )
        except (ArithmeticError, ValueError):  # the mistake has no answer at all for one of the cases
            return False


def verdict(
    troubles: Mapping[str, str], right: Mapping[str, str], passed: str, hints: Mapping[str, int]
) -> Verdict:
    """Return a point for each part without trouble. right: what is said of each part that is right."""
    wrong = [part for part in right if troubles.get(part)]
    if not wrong:
        return Verdict(len(right), PASSED, passed)
    begin = so_far([text for part, text in right.items() if part not in wrong], "; ")
    return Verdict(len(right) - len(wrong), NOT_YET, begin + troubles[wrong[0]], hints[wrong[0]])


def of_part(calls: Calls, part: str) -> Calls:
    """Return the calls of one part."""
    return [pair for pair in calls if pair[0].part == part]


def changed(name: str, calls: Calls) -> str:
    """Return that a call changed what it was given, "" if none did."""
    if not any(call.get("changed_arguments") for _, call in calls):
        return ""
    return (
        f"`{name}` changes the lists it was given, and whoever passed them in still needs them as they were."
    )


def near(got: float, want: float) -> bool:
    """Return whether two numbers are the same but for rounding."""
    return math.isclose(got, want, rel_tol=_NEAR, abs_tol=_NEAR)


def ordered(scores: Mapping[str, float]) -> list[list[Any]]:
    """Return [id, score], highest first, ties by id."""
    return [[id, scores[id]] for id in sorted(scores, key=lambda id: (-scores[id], id))]


def pairs_shape(name: str) -> Callable[[Mapping[str, Any]], str]:
    """Return the `shape` of a function that returns a list of (id, score)."""

    def shape(call: Mapping[str, Any]) -> str:
        got = call["returned"]
        if got is None:
            return forgot_return(name)
        kind = got.get("not_json", "") if isinstance(got, dict) else ""
        if isinstance(got, dict) and (not kind or kind in {"dict_items", "Counter", "defaultdict"}):
            return (
                "the scores come back unsorted, as a dict or its items: a list of (id, score) is asked for."
            )
        if not isinstance(got, list):
            return f"a value of type {call['type']} comes back, not a list of (id, score)."
        if got and all(isinstance(one, str) for one in got):
            return "the ids alone come back: each should stand with its score, as (id, score)."
        if any(not isinstance(one, list) or len(one) != 2 for one in got):
            return "the list holds something else than pairs of id and score."
        if any(is_number(one[0]) and isinstance(one[1], str) for one in got):
            return "the pairs are the wrong way round: first the id, then the score."
        if any(not isinstance(one[0], str) or not is_number(one[1]) for one in got):
            return "the list holds something else than pairs of an id, a text, and a score, a number."
        return ""

    return shape


def same_pairs(got: Any, want: Any) -> bool:
    """Return whether two lists of (id, score) have the same ids in the same order, and near scores."""
    return len(got) == len(want) and all(
        mine[0] == other[0] and near(mine[1], other[1]) for mine, other in zip(got, want, strict=True)
    )


def pairs_trouble(got: Any, want: Any, case: Case) -> str:
    """Return in words how a list of (id, score) differs from the right one."""
    mine, wanted = [id for id, _ in got], dict(want)
    if len(set(mine)) < len(mine):
        return "a document comes back more than once: what it gets from each list should be added up."
    if strange := set(mine) - set(wanted):
        return f"{min(strange)!r} comes back, which is in none of the lists."
    if len(mine) < len(wanted):
        return "not all documents come back: those that only one of the lists has belong to the answer."
    scores = {id: near(score, wanted[id]) for id, score in got}
    if all(scores.values()):
        return _order_trouble(mine, wanted)
    return f"the score of {next(id for id in sorted(scores) if not scores[id])!r} is not the right one."


def _order_trouble(mine: Sequence[str], wanted: Mapping[str, float]) -> str:
    values = [wanted[id] for id in mine]
    if _goes_down(values):
        return (
            "the scores are right and equal ones are not in order: among them the id decides, in ascending "
            "order. Else it is left to chance which of them comes first."
        )
    if _goes_down(values[::-1]):
        return "the scores are right and the lowest comes first: sorting goes upwards unless told otherwise."
    return "the scores are right and the list is not sorted by them."


def _goes_down(values: Iterable[float]) -> bool:
    listed = list(values)
    return all(one >= two or near(one, two) for one, two in zip(listed, listed[1:], strict=False))
