"""Judge of filter and ranking by hand of exercise 02: what is kept, the cut, and equal scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, part_by_part
from course_utils.teaching.verdict import Verdict

Scored = list[tuple[str, float, dict[str, Any]]]


def _made(*lines: tuple[str, float, str]) -> Scored:
    return [(f"product:{id}", score, {"category": category}) for id, score, category in lines]


_MUGS = _made(
    ("35", 0.31, "kitchen"),
    ("22", 0.78, "home"),
    ("57", 0.87, "kitchen"),
    ("41", 0.93, "fitness"),
    ("14", 0.64, "kitchen"),
    ("63", 0.55, "home"),
)
_LOW = _made(("18", -0.22, "home"), ("29", 0.4, "home"), ("33", 0.0, "home"), ("47", 0.9, "kitchen"))
_EQUAL = _made(
    ("92", 0.5, "home"), ("15", 0.5, "home"), ("71", 0.5, "home"), ("38", 0.5, "kitchen"), ("26", 0.7, "home")
)
# 600 products; only four are for fitness, and all of them far down the ranking.
_FAR = _made(*((str(100 + n), 0.9 - n / 1000, "home") for n in range(596))) + _made(
    ("904", 0.11, "fitness"), ("902", 0.14, "fitness"), ("901", 0.12, "fitness"), ("903", 0.13, "fitness")
)


@dataclass(frozen=True)
class Case:
    """One call of top; `part` is the point it belongs to."""

    part: str
    says: str
    scored: Scored
    k: int
    keep: dict[str, Any] = field(default_factory=lambda: {"category": "kitchen"})


_HOME = {"category": "home"}
_CASES = (
    Case("kept", "with k as large as the list", _MUGS, 6),
    Case("kept", "with a keep that lets everything through", _MUGS, 6, {}),
    Case("kept", "with scores of 0 and below", _LOW, 4, _HOME),
    Case("kept", "with a keep that lets nothing through", _MUGS, 3, {"category": "toys"}),
    Case("kept", "with an empty list", [], 3),
    Case("cut", "with three that fit and k=2", _MUGS, 2),
    Case("cut", "with three that fit and k=3", _MUGS, 3),
    Case("cut", "with three that fit and k=5", _MUGS, 5),
    Case("cut", "with four that fit among 600 and k=3", _FAR, 3, {"category": "fitness"}),
    Case("ties", "with equal scores and k=5", _EQUAL, 5, _HOME),
    Case("ties", "with equal scores and k=3", _EQUAL, 3, {}),
    Case("ties", "with equal scores, the list the other way round", _EQUAL[::-1], 2, {}),
)
_RIGHT = {"cut": "the filter comes before the cut", "ties": "equal scores are in order"}
_HINTS = {"kept": 1, "cut": 2, "ties": 3}


class FilterThenRank:
    """top(scored, keep, k): a point for what is kept and its order, for the cut, for ties and manners."""

    def inputs(self) -> dict[str, Any]:
        """Return the scored lists, the condition that keep asks, and k."""
        return {
            "cases": [
                {"scored": [list(one) for one in case.scored], "keep": case.keep, "k": case.k}
                for case in _CASES
            ]
        }

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare each list of ids with the right one; without the first point there is no other."""
        troubles: dict[str, str] = {}
        changed = False
        for case, call in zip(_CASES, report["calls"], strict=True):
            changed = changed or bool(call.get("changed_arguments"))
            if trouble := _trouble(call, case):
                troubles.setdefault(case.part, f"{capital(case.says)}: {trouble}")
        if changed:
            troubles.setdefault(
                "ties",
                "`top` changes the list it was given: `.sort()` and `.remove()` work in place, for everybody "
                "who holds it.",
            )
        passed = "As many as fit and never fewer, the best first, equal scores always in one order."
        return part_by_part(troubles, _RIGHT, passed, _HINTS)


def _best(scored: Scored) -> Scored:
    return sorted(scored, key=lambda one: (-one[1], one[0]))


def _trouble(call: Mapping[str, Any], case: Case) -> str:
    """Return what is wrong with one list of ids, "" if nothing is."""
    if "raised" in call:
        return f"`top` stops {explain_error(call['raised'])}"
    got = call["returned"]
    if shape := _shape(got, call["type"]):
        return shape
    kept = [one for one in case.scored if case.keep.items() <= one[2].items()]
    want = [id for id, _, _ in _best(kept)][: case.k]
    if got == want:
        return ""
    fit = [id for id, _, _ in kept]
    if any(id not in [one[0] for one in case.scored] for id in got):
        return "ids come back that are not in the list."
    if any(id not in fit for id in got):
        return (
            "ids come back that `keep` refuses. It is called with the metadata of each; where fewer than k "
            "fit, fewer come back."
        )
    if len(set(got)) < len(got):
        return "an id comes back more than once."
    if len(got) > case.k:
        return f"{len(got)} ids come back; at most k={case.k} may."
    if len(got) < len(want):
        return _too_few(got, kept, case)
    return _wrong_order(got, want, kept)


def _shape(got: Any, kind: Any) -> str:
    if got is None:
        return forgot_return("top")
    if not isinstance(got, list):
        return f"a value of type {kind} comes back, not a list of ids."
    if any(isinstance(one, list) for one in got):
        return "whole entries come back, with score and metadata: the ids alone are asked for."
    if any(not isinstance(one, str) for one in got):
        return "the list holds something else than the ids that came in."
    return ""


def _too_few(got: Sequence[str], kept: Scored, case: Case) -> str:
    score = {id: value for id, value, _ in kept}
    left_out = [id for id in score if id not in got]
    if len(got) + len(left_out) <= case.k and left_out and all(score[id] <= 0 for id in left_out):
        return "what has a score of 0 or less is left out: a low score is a low rank, no reason to drop."
    if case.part == "kept":
        return "some that `keep` lets through are missing, and k has room for all of them."
    cuts = (_best(case.scored)[: case.k], case.scored[: case.k])
    if case.scored is not _FAR and any(set(got) == {it[0] for it in cut if it in kept} for cut in cuts):
        why = "The list is cut to k first and filtered then, so what fits further down is lost."
    else:
        why = (
            "A filter after a cut finds only what the cut has left, and no margin of more than k is wide "
            "enough for every filter."
        )
    return f"{len(kept)} fit and {len(got)} came back. {why}"


def _wrong_order(got: Sequence[str], want: Sequence[str], kept: Scored) -> str:
    score = {id: value for id, value, _ in kept}
    scores = [score[id] for id in got]
    if scores == [score[id] for id in want]:
        return (
            "the scores are in order and equal ones are not: among them the smaller id comes first, wherever "
            "it stands in the list. Else the same question has another answer after the next loading."
        )
    if scores == sorted(scores) and len(set(scores)) > 1:
        return "the lowest score comes first: sorting goes upwards unless told otherwise."
    if list(got) == [id for id, _, _ in kept][: len(got)]:
        return "the ids come back in the order of the list: their scores do not count yet."
    if list(got) in (sorted(got), sorted(got, reverse=True)) and len(got) > 1:
        return "they are sorted by id: without a key, a tuple is compared by its first part."
    return "those that come back fit, and are not the best ones in order of score."
