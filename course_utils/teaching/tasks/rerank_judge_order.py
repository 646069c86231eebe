"""Judge of the new order of exercise 04: by score, with scores that are missing, and with equal ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, other_error, part_by_part
from course_utils.teaching.verdict import Verdict

Score = float | str  # "None" and "NaN" are for the two kinds of a missing one
_FOUND = ("product:41", "product:12", "product:77", "product:30", "product:58")


@dataclass(frozen=True)
class Case:
    """One call of rerank; `part` is the point it belongs to."""

    part: str
    says: str
    scores: Sequence[Score]
    k: int = 5
    candidates: Sequence[str] = _FOUND

    @property
    def of(self) -> dict[str, Score]:
        """The score of each candidate."""
        return dict(zip(self.candidates, self.scores, strict=True))

    @property
    def missing(self) -> list[str]:
        """The candidates without a score, in the order of the first stage."""
        return [id for id, score in self.of.items() if isinstance(score, str)]

    def ordered(self, missing: float | None = None) -> list[str]:
        """Return all candidates, best first; with `missing`, as if that were the score of those without."""

        def key(id: str) -> tuple[bool, float]:
            score = self.of[id]
            if isinstance(score, str):
                return (missing is None, -(missing or 0.0))
            return (False, -score)

        return sorted(self.candidates, key=key)


_MANY = tuple(f"product:{37 * place % 101}" for place in range(1, 27))  # unstable sorts are stable on few
_PLAIN = (0.35, 0.91, 0.2, 0.64, 0.5)
_CASES = (
    Case("order", "with k as large as the list", _PLAIN),
    Case("order", "with five candidates and k=2", _PLAIN, 2),
    Case("order", "with five candidates and k=3", _PLAIN, 3),
    Case("order", "with five candidates and k=9", _PLAIN, 9),
    Case("order", "with scores below 0", (-4.8, 8.1, -0.3, 2.2, -7.0)),
    Case("order", "with no candidates", (), 3, ()),
    Case("missing", "with one NaN", (0.35, "NaN", 0.2, 0.64, 0.5)),
    Case("missing", "with a NaN in front", ("NaN", 0.2, 0.64, 0.35, 0.5)),
    Case("missing", "with two None", ("None", 0.91, 0.2, "None", 0.5)),
    Case("missing", "with NaN and None among scores below 0", ("NaN", -4.8, "None", -0.3, -7.0)),
    Case("missing", "with None before NaN", ("None", 0.4, "NaN", 0.9, "NaN")),
    Case("missing", "with a score of 0.0 and two that are missing", (0.0, "None", 0.7, -0.2, "NaN")),
    Case("missing", "with two scores and k=3", ("NaN", 0.1, 0.3, "None", "NaN"), 3),
    Case("missing", "with three scores and k=2", ("None", 0.1, "NaN", 0.3, 0.2), 2),
    Case("missing", "with no score at all", ("None", "NaN", "NaN", "None", "NaN"), 4),
    Case("manners", "with equal scores and k=5", (0.5, 0.5, 0.9, 0.5, 0.5)),
    Case("manners", "with equal scores and k=3", (0.5, 0.5, 0.9, 0.5, 0.5), 3),
    Case("manners", "with equal scores, the list the other way round", (0.5, 0.5, 0.9, 0.1, 0.5), 5,
         _FOUND[::-1]),
    Case("manners", "with 26 candidates and two different scores", (0.5, 0.1) * 13, 26, _MANY),
    Case("length", "with five candidates and four scores", _PLAIN[:4]),
    Case("length", "with three candidates and five scores", _PLAIN, 3, _FOUND[:3]),
    Case("length", "with five candidates and no scores", ()),
)  # fmt: skip
_RIGHT = {
    "missing": "candidates without a score are kept, and behind",
    "manners": "equal scores, wrong lengths and untouched lists",
}
_HINTS = {"order": 1, "missing": 2, "manners": 3}


class Rerank:
    """rerank(candidates, scores, k): a point for the order, for missing scores, for ties and manners."""

    def inputs(self) -> dict[str, Any]:
        """Return the candidates, their scores, and k."""
        return {
            "cases": [
                {"candidates": list(case.candidates), "scores": list(case.scores), "k": case.k}
                for case in _CASES
            ]
        }

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare each list of ids with the right one; without the first point there is no other."""
        troubles: dict[str, str] = {}
        changed = False
        for case, call in zip(_CASES, report["calls"], strict=True):
            changed = changed or bool(call.get("changed_arguments"))
            trouble = _let_pass(call, case) if case.part == "length" else _trouble(call, case)
            if trouble:
                part = "manners" if case.part == "length" else case.part
                troubles.setdefault(part, f"{capital(case.says)}: {trouble}")
        if changed:
            troubles.setdefault(
                "manners",
                "`rerank` changes a list it was given: `.sort()`, `.pop()` and `[…] =` work in place, for "
                "everybody who holds it.",
            )
        passed = "The best first, nobody lost, and where scores say nothing the search decides."
        return part_by_part(troubles, _RIGHT, passed, _HINTS)


def _let_pass(call: Mapping[str, Any], case: Case) -> str:
    """Return what is wrong with the answer to lists of different length."""
    if "raised" in call:
        return other_error(call["raised"], "this", "`rerank`")
    return (
        "something comes back, though nobody can tell whose score is whose. `zip` stops at the shorter "
        "list without a word: raise ValueError."
    )


def _trouble(call: Mapping[str, Any], case: Case) -> str:
    """Return what is wrong with one list of ids, "" if nothing is."""
    if "raised" in call:
        why = ""
        if case.missing and "TypeError" in call["raised"]["bases"]:
            why = " None cannot be compared, negated or handed to `math.isnan`: ask for it first."
        return f"`rerank` stops {explain_error(call['raised'])}{why}"
    got = call["returned"]
    if shape := _shape(got, call.get("type")):
        return shape
    want = case.ordered()[: case.k]
    if got == want:
        return ""
    if any(id not in case.candidates for id in got):
        return "ids come back that were not among the candidates."
    if len(set(got)) < len(got):
        return "an id comes back more than once."
    if len(got) > case.k:
        return f"{len(got)} ids come back; at most k={case.k} may."
    if len(got) < len(want):
        return _too_few(got, case)
    return _missing_trouble(got, case) if case.missing else _wrong_order(got, want, case)


def _shape(got: Any, kind: Any) -> str:
    if got is None:
        return forgot_return("rerank")
    if not isinstance(got, list):
        return f"a value of type {kind} comes back, not a list of ids."
    if any(isinstance(one, list) for one in got):
        return "pairs come back, ids with their scores: the ids alone are asked for."
    if any(isinstance(one, int) and not isinstance(one, bool) for one in got):
        return "places come back, not the ids that stand there."
    if any(isinstance(one, float) for one in got):
        return "scores come back, not the ids that have them."
    if any(not isinstance(one, str) for one in got):
        return "the list holds something else than the ids that came in."
    return ""


def _too_few(got: Sequence[str], case: Case) -> str:
    lost = [id for id in case.candidates if id not in got]
    if case.k < len(case.candidates):
        what = "Who drops those without a score loses them." if case.missing else ""
        return f"only {len(got)} ids come back, and k has room for more. {what}".rstrip()
    if all(id in case.missing for id in lost):
        return (
            "candidates without a score are lost. The search had found them, and no score means that nobody "
            "judged them, not that they are bad."
        )
    if any(case.of[id] == 0 for id in lost):
        return "a candidate with the score 0.0 is lost: 0.0 is a score, and counts as false in a condition."
    return "candidates with a score are lost: a low score is a low rank, no reason to drop."


def _missing_trouble(got: Sequence[str], case: Case) -> str:
    k = len(got)
    if got == case.ordered(missing=0.0)[:k]:
        return (
            "a missing score counts as 0 here, and so stands before every score below 0. Missing is no "
            "number: it stands behind all of them."
        )
    if any(case.of[id] == 0 for id in got) and got == _zeros_missing(case)[:k]:
        return "a score of 0.0 is taken for a missing one: 0.0 counts as false in a condition."
    scored = [id for id in got if id not in case.missing]
    if scored != [id for id in case.ordered() if id not in case.missing][: len(scored)]:
        return (
            "those that have a score are out of order: a comparison with NaN is never true, so that "
            "sorting leaves any order behind. Keep what is missing out of the comparison."
        )
    if any(id in case.missing for id in got[: len(scored)]):
        return "a candidate without a score stands before one that has one."
    return "those without a score are not in the order of the first stage."


def _zeros_missing(case: Case) -> list[str]:
    having = [id for id in case.ordered() if id not in case.missing and case.of[id]]
    return having + [id for id in case.candidates if id not in having]


def _wrong_order(got: Sequence[str], want: Sequence[str], case: Case) -> str:
    scores = [case.of[id] for id in got]
    if scores == [case.of[id] for id in want]:
        return (
            "the scores are in order, and equal ones are not as the first stage had them. Where the reranker "
            "sees no difference, the search still does; and turning a sorted list round turns equals too."
        )
    if scores == sorted(scores) and len(got) > 1:
        return "the lowest score comes first: sorting goes upwards unless told otherwise."
    if list(got) == list(case.candidates[: len(got)]):
        return "the ids come back in the order of the first stage: their scores do not count yet."
    if set(got) == set(case.candidates[: case.k]) and len(got) < len(case.candidates):
        return (
            "the list is cut to k first and sorted then. What the first stage had behind place k could not "
            "come up, and that is all a reranker is for."
        )
    if list(got) in (sorted(got), sorted(got, reverse=True)) and len(got) > 1:
        return "they are sorted by id: a tuple is compared by its first part."
    return "those that come back are not the best ones in order of score."
