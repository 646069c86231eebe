"""Judge of the vote of exercise 05: who has a vote, who wins, and who wins a tie."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_LABELS = {"s": "structured", "j": "semi_structured", "u": "unstructured", "m": "mixed"}


@dataclass(frozen=True)
class Case:
    """One call of vote; `part` is the point it belongs to. Labels are written as their letters."""

    part: str
    says: str
    similarities: Sequence[float]
    letters: str
    k: int

    @property
    def labels(self) -> list[str]:
        """The labels, in order."""
        return self.at(range(len(self.letters)))

    @property
    def order(self) -> list[int]:
        """The places, most similar first, equal ones as they stand."""
        return sorted(range(len(self.letters)), key=lambda place: -self.similarities[place])

    @property
    def voters(self) -> list[str]:
        """The labels that have a vote, most similar first."""
        return self.at(self.order[: self.k])

    @property
    def tied(self) -> list[str]:
        """The labels with the most votes, the one with the most similar question first."""
        return _most(self.voters)

    @property
    def right(self) -> str:
        """The label that wins."""
        return self.tied[0]

    def at(self, places: Iterable[int]) -> list[str]:
        """Return the labels at some places."""
        return [_LABELS[self.letters[place]] for place in places]

    def summed(self, places: Iterable[int]) -> dict[str, float]:
        """Return the sum of the similarities at some places, by label."""
        sums: dict[str, float] = {}
        for place, label in ((place, self.at([place])[0]) for place in places):
            sums[label] = sums.get(label, 0.0) + self.similarities[place]
        return sums


def _most(labels: Sequence[str]) -> list[str]:
    """Return the labels that come most often, in the order of their first."""
    votes = Counter(labels)
    return [label for label, count in votes.items() if count == max(votes.values())]


_CASES = (
    Case("plain", "with four questions and k=3", (0.2, 0.9, 0.7, 0.6), "msuu", 3),
    Case("plain", "with five questions and k=1", (0.3, 0.4, 0.8, 0.1, 0.2), "uusju", 1),
    Case("plain", "with seven questions and k=3", (0.1, 0.62, 0.2, 0.91, 0.15, 0.7, 0.05), "sjsusjs", 3),
    Case("plain", "with eight questions and k=5", (0.8, 0.1, 0.7, 0.2, 0.6, 0.3, 0.5, 0.9), "jumumumj", 5),
    Case("plain", "with one that is far ahead of three others", (0.31, 0.99, 0.3, 0.29, 0.1), "jsjjs", 4),
    Case("plain", "with similarities below 0", (-0.1, -0.4, 0.2, -0.2, -0.9, -0.15, -0.5), "msusjus", 6),
    Case("tie", "with two labels of two votes each", (0.3, 0.8, 0.6, 0.5, 0.1, 0.4), "jussju", 4),
    Case("tie", "with two labels and k=2", (0.4, 0.1, 0.7), "msu", 2),
    Case("tie", "with three different labels and k=3", (0.6, 0.5, 0.8, 0.1), "sjuj", 3),
    Case("tie", "with a tie of the nearest and the steady", (0.7, 0.69, 0.9, 0.3), "mmss", 4),
    Case("tie", "with the same tie the other way round", (0.3, 0.9, 0.69, 0.7), "jjuu", 4),
    Case("tie", "with a tie, and another label before both", (0.95, 0.6, 0.7, 0.8, 0.5), "ujssj", 5),
    Case("few", "with three questions and k=5", (0.4, 0.9, 0.6), "sus", 5),
    Case("few", "with one question and k=3", (0.4,), "j", 3),
    Case("few", "with two questions and k=9", (0.2, 0.3), "ms", 9),
    Case("equal", "with two equal similarities and k=1", (0.1, 0.5, 0.5), "sju", 1),
    Case("equal", "with two equal similarities and k=2", (0.6, 0.6, 0.2), "msm", 2),
    Case("equal", "with two equal similarities behind the nearest and k=2", (0.9, 0.5, 0.5), "suu", 2),
    Case("equal", "with three equal similarities and k=2", (0.9, 0.5, 0.5, 0.5), "jsuj", 3),
)


def _heaviest(case: Case) -> str:
    sums = case.summed(case.order[: case.k])
    return max(sums, key=sums.__getitem__)


def _as_near_as_the_last(case: Case) -> str:
    least = case.similarities[case.order[: case.k][-1]]
    return _most(case.at(place for place in case.order if case.similarities[place] >= least))[0]


# Wrong labels that people arrive at, and what to say of each.
_WRONG: dict[str, tuple[tuple[Callable[[Case], str], str], ...]] = {
    "plain": (
        (
            lambda case: _most(case.at(case.order[::-1][: case.k]))[0],
            "the k least similar have the votes: sorting goes upwards unless told otherwise.",
        ),
        (
            lambda case: _most(case.labels)[0],
            "all labelled questions have a vote, and the route with the most examples wins every time: k of "
            "them may vote, the most similar.",
        ),
        (
            lambda case: _most(case.labels[: case.k])[0],
            "the first k of the list have the votes, however similar they are.",
        ),
        (
            lambda case: case.voters[0],
            "the most similar question decides alone: one example that happens to use the same words is "
            "what the other votes are there to correct.",
        ),
        (
            _heaviest,
            "similarities are added up, so that one very similar question outvotes several: each of the k "
            "has one vote.",
        ),
        (
            lambda case: min(case.voters, key=case.voters.count),
            "the label with the fewest votes is returned.",
        ),
    ),
    "tie": (
        (lambda case: min(case.tied), "the tied label that comes first in the alphabet wins."),
        (lambda case: max(case.tied), "the tied label that comes last in the alphabet wins."),
        (lambda case: case.tied[-1], "the tied label whose most similar question is the least similar wins."),
        (
            lambda case: min(case.tied, key=case.labels.index),
            "the tied label that stands first in `labels` wins: that is the order of the file, and says "
            "nothing about the question.",
        ),
        (
            lambda case: max(case.tied, key=case.summed(case.order[: case.k]).__getitem__),
            "the tied label with the largest sum of similarities wins.",
        ),
        (
            lambda case: max(case.tied, key=case.labels.count),
            "the tied label that has the most examples in the whole list wins.",
        ),
        (lambda case: case.voters[0], "the label of the most similar of all wins, tied or not."),
    ),
    "equal": (
        (
            _as_near_as_the_last,
            "all have a vote that are as similar as the k-th, and so more than k. Of equal similarities the "
            "earlier one comes first, and the k-th is the last that votes.",
        ),
    ),
}
_TIE = " The question decides, by its most similar example among the tied."


class Vote:
    """vote(similarities, labels, k): a point for votes that one label wins, a point for all else."""

    def inputs(self) -> dict[str, Any]:
        """Return the similarities, the labels, and k."""
        return {
            "cases": [
                {"similarities": list(case.similarities), "labels": case.labels, "k": case.k}
                for case in _CASES
            ]
        }

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare each label with the one that wins; without the first point there is no other."""
        calls = list(zip(_CASES, report["calls"], strict=True))
        if plain := _first_trouble([one for one in calls if one[0].part == "plain"]):
            return Verdict(0, NOT_YET, plain, 1)
        # The order in which people should mend it: ties, then what is rarer.
        for part in ("tie", "few", "equal"):
            if trouble := _first_trouble([one for one in calls if one[0].part == part]):
                return Verdict(1, NOT_YET, f"Right where one label wins. {trouble}", 3)
        if any(call.get("changed_arguments") for _, call in calls):
            changed = (
                "`vote` changes a list it was given: `.sort()` and `.pop()` work in place, and the next "
                "question meets labels that no longer fit."
            )
            return Verdict(1, NOT_YET, f"Right where one label wins. {changed}", 2)
        return Verdict(2, PASSED, "The nearest vote, one vote each, and the question decides a tie.")


def _first_trouble(calls: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    for case, call in calls:
        begin = capital(case.says)
        if "raised" in call:
            return f"{begin} `vote` stops {explain_error(call['raised'])}"
        if shape := _shape(call, case):
            return f"{begin}, {shape}"
        if call["returned"] != case.right:
            return f"{begin}, {_why(case, calls)}"
    return ""


def _shape(call: Mapping[str, Any], case: Case) -> str:
    got = call["returned"]
    if got is None:
        return forgot_return("vote")
    if not isinstance(got, str):
        return f"a value of type {call.get('type')} comes back, not one label."
    if got not in case.labels:
        return "a text comes back that is none of the labels."
    return ""


def _why(case: Case, calls: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    """Return the misconception that explains every label of these calls."""
    told = [(one, call["returned"]) for one, call in calls if "raised" not in call]
    for wrong, words in _WRONG.get(case.part, ()):
        if all(got == wrong(one) for one, got in told):
            return words + (_TIE if case.part == "tie" else "")
    if case.part == "equal":
        return (
            "of equal similarities not the one that stands earlier comes first. Sorting pairs compares the "
            "labels where the similarities are equal, and turning a sorted list round turns equals too."
        )
    if case.part == "few":
        return "it is not the label with the most votes, and all of them may vote where k is larger."
    if case.part == "tie":
        return "not the right one of the tied labels wins. A set, for one, has no order to rely on." + _TIE
    return "it is not the label with the most votes among the k most similar."
