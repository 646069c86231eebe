"""Judge of the two stages of exercise 04: the ceiling, the two numbers at k, and where a gold id was lost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, is_number, other_error, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_NEAR = 1e-6
_KEYS = ("candidate_recall", "recall", "precision", "lost")
_WORDS = ("found", "reranker", "candidates")


@dataclass(frozen=True)
class Case:
    """One call of measure; the ids are letters."""

    says: str
    candidates: str
    reranked: str
    gold: str
    k: int

    @property
    def before(self) -> list[str]:
        """The candidates, each once."""
        return list(dict.fromkeys(self.candidates))

    @property
    def after(self) -> list[str]:
        """The reranked ids, each once."""
        return list(dict.fromkeys(self.reranked))

    def hits(self, ids: Sequence[str]) -> int:
        """Return how many of these are gold, as often as they stand there."""
        return sum(id in self.gold for id in ids)

    def fates(self, top: Sequence[str], before: Sequence[str]) -> dict[str, str]:
        """Return where each gold id was lost, for these first places and candidates."""
        return {
            id: "found" if id in top else "reranker" if id in before else "candidates" for id in self.gold
        }


_EMPTY = "nothing was found"
_CASES = (
    Case("with the lists of the statement", "abcd", "cadb", "abx", 2),
    Case("with a gold id far down among the candidates", "abcdefgh", "habcdefg", "h", 3),
    Case("with a gold id that the reranker pushes out", "abcdef", "bcdefa", "ab", 3),
    Case("with fewer reranked ids than k", "abcd", "ca", "cdy", 5),
    Case("with more gold ids than k", "abcdefg", "gfedcba", "efgab", 2),
    Case("with an id that the candidates name twice", "abacada", "dcba", "axy", 2),
    Case("with a gold id that the reranked ids name twice", "abcdef", "bbacdef", "bafx", 3),
    Case("with another id that the reranked ids name twice", "abcdef", "cccbadef", "ba", 3),
    Case("with no gold id among the candidates", "abcd", "dcba", "xy", 3),
    Case(f"where {_EMPTY}", "", "", "ab", 3),
)
_NO_GOLD = Case("without a gold id", "abcd", "dcba", "", 2)
_RIGHT: dict[str, Callable[[Case], float]] = {
    "candidate_recall": lambda case: case.hits(case.before) / len(case.gold),
    "recall": lambda case: case.hits(case.after[: case.k]) / len(case.gold),
    "precision": lambda case: case.hits(case.after[: case.k]) / case.k,
}
# Wrong numbers that people arrive at, and what to say of each.
_WRONG: dict[str, tuple[tuple[Callable[[Case], float], str], ...]] = {
    "candidate_recall": (
        (
            lambda case: case.hits(case.before[: case.k]) / len(case.gold),
            "only the first k candidates are looked at. The reranker sees all of them, and its ceiling is "
            "what stands anywhere among them.",
        ),
        (
            lambda case: case.hits(case.after[: case.k]) / len(case.gold),
            "it is taken from the reranked ids. What the first stage found has to be seen before the "
            "reranker touches it.",
        ),
        (
            lambda case: case.hits(case.after) / len(case.gold),
            "it is taken from the reranked ids, and those may be fewer than the candidates.",
        ),
        (
            lambda case: case.hits(list(case.candidates)) / len(case.gold),
            "an id that the list names twice is counted twice, and the share can become more than 1.",
        ),
        (
            lambda case: case.hits(case.before) / max(len(case.before), 1),
            "it divides by the number of candidates: that is the precision of the first stage.",
        ),
        (
            lambda case: case.hits(case.before) / case.k,
            "it divides by k. A recall is a share of the gold ids, and this one does not know k at all.",
        ),
        (
            lambda case: float(case.hits(case.before) > 0),
            "it is 1 as soon as one gold id is there: the share of all of them is asked for.",
        ),
    ),
    "recall": (
        (
            lambda case: case.hits(case.after[: case.k]) / case.k,
            "it divides by k: that is precision. A recall is a share of the gold ids.",
        ),
        (
            lambda case: case.hits(case.after) / len(case.gold),
            "all reranked ids are looked at, where the first k are asked for.",
        ),
        (
            lambda case: case.hits(case.after[: case.k]) / max(case.hits(case.before), 1),
            "it divides by the gold ids that are among the candidates. So the reranker looks perfect where "
            "the first stage has lost half; the share of all gold ids is asked for.",
        ),
        (
            lambda case: case.hits(case.before[: case.k]) / len(case.gold),
            "it is taken from the candidates, as if there had been no reranker.",
        ),
        (
            lambda case: case.hits(case.reranked[: case.k]) / len(case.gold),
            "an id that the list names twice is counted twice.",
        ),
        (
            lambda case: len(set(case.reranked[: case.k]) & set(case.gold)) / len(case.gold),
            "the list is cut to k first and its repeats go then: those behind a repeat do not move up.",
        ),
        (
            lambda case: case.hits(case.after[: case.k]) / min(case.k, len(case.gold)),
            "it divides by k where there are more gold ids than k. With k=2 and five gold ids no recall can "
            "be 1, and that is meant.",
        ),
        (
            lambda case: float(case.hits(case.after[: case.k]) > 0),
            "it is 1 as soon as one gold id is there: the share of all of them is asked for.",
        ),
    ),
    "precision": (
        (
            lambda case: case.hits(case.after[: case.k]) / max(len(case.after[: case.k]), 1),
            "it divides by how many came back. Fewer than k came back here, and a place that stays empty "
            "holds no gold id: else a search looks better the less it returns.",
        ),
        (
            lambda case: case.hits(case.after[: case.k]) / len(case.gold),
            "it divides by the number of gold ids: that is recall. Precision is a share of the k places.",
        ),
        (
            lambda case: case.hits(case.after) / case.k,
            "all reranked ids are looked at, where the first k are asked for.",
        ),
        (
            lambda case: case.hits(case.after) / max(len(case.after), 1),
            "it goes over all reranked ids, where the first k places are asked for.",
        ),
        (
            lambda case: case.hits(case.before[: case.k]) / case.k,
            "it is taken from the candidates, as if there had been no reranker.",
        ),
        (
            lambda case: case.hits(case.reranked[: case.k]) / case.k,
            "an id that the list names twice is counted twice.",
        ),
        (
            lambda case: len(set(case.reranked[: case.k]) & set(case.gold)) / case.k,
            "the list is cut to k first and its repeats go then: those behind a repeat do not move up.",
        ),
    ),
}
_WRONG_FATES: tuple[tuple[Callable[[Case], dict[str, str]], str], ...] = (
    (
        lambda case: case.fates(case.before[: case.k], case.before),
        "goes by the first k candidates: what counts in the end is the first k after reranking.",
    ),
    (
        lambda case: case.fates(case.after, case.before),
        "says found of a gold id that stands behind place k: it was there, and no answer is made from it.",
    ),
    (
        lambda case: case.fates(case.after[: case.k], case.before[: case.k]),
        "blames the candidates for a gold id that is among them, behind place k: the reranker had it in "
        "its hands.",
    ),
    (
        lambda case: case.fates(case.reranked[: case.k], case.before),
        "does not let an id move up that stands behind a repeat.",
    ),
)


class TwoNumbers:
    """measure(candidates, reranked, gold, k): a point for the ceiling, for the numbers at k, for `lost`."""

    def inputs(self) -> dict[str, Any]:
        """Return the rankings, the gold ids, and k."""
        return {
            "cases": [
                {
                    "candidates": list(case.candidates),
                    "reranked": list(case.reranked),
                    "gold": list(case.gold),
                    "k": case.k,
                }
                for case in (*_CASES, _NO_GOLD)
            ]
        }

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Look at each key over all cases; an error where nothing was found counts against one of them."""
        *calls, without_gold = report["calls"]
        made: list[tuple[Case, Mapping[str, Any]]] = []
        troubles: dict[str, str] = {}
        for case, call in zip(_CASES, calls, strict=True):
            if "raised" in call:
                stops = f"{capital(case.says)}, `measure` stops {explain_error(call['raised'])}"
                if _EMPTY not in case.says:
                    return Verdict(0, NOT_YET, stops, 1)
                troubles["rates"] = stops
            elif shape := _shape(call):
                return Verdict(0, NOT_YET, f"{capital(case.says)}, {shape}", 1)
            else:
                made.append((case, call["returned"]))
        found = {
            "ceiling": _number_trouble("candidate_recall", made),
            "rates": _number_trouble("recall", made) or _number_trouble("precision", made),
            "lost": _lost_trouble(made) or _let_pass(without_gold),
        }
        troubles = {part: found[part] or troubles.get(part, "") for part in found}
        troubles = {part: trouble for part, trouble in troubles.items() if trouble}
        if not troubles:
            return Verdict(
                3, PASSED, "What the first stage found, what the reranker made of it, and who lost."
            )
        names = {"ceiling": "`candidate_recall`", "rates": "`recall` and `precision`", "lost": "`lost`"}
        right = [name for part, name in names.items() if part not in troubles]
        begin = so_far(right)
        part, trouble = next(iter(troubles.items()))
        return Verdict(3 - len(troubles), NOT_YET, begin + trouble, 3 if part == "lost" else 2)


def _shape(call: Mapping[str, Any]) -> str:
    got, kind = call["returned"], call.get("type")
    if got is None:
        return forgot_return("measure")
    if kind in {"tuple", "list"}:
        return f"a {kind} comes back, not a dict: nobody can tell which number is which."
    if not isinstance(got, dict) or "not_json" in got:
        return f"a value of type {kind} comes back, not a dict with text as its keys."
    if not set(got) & set(_KEYS):
        return "the dict has none of the four keys that are asked for."
    return ""


def _number_trouble(key: str, made: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    """Return what is wrong with one of the three numbers, "" if nothing is."""
    for case, got in made:
        begin = f"{capital(case.says)}, `{key}` is wrong"
        if key not in got:
            return f"{capital(case.says)}, the dict has no key `{key}`."
        if not is_number(got[key]):
            return f"{capital(case.says)}, `{key}` is no number."
        if abs(got[key] - _RIGHT[key](case)) >= _NEAR:
            return f"{begin}: {_why(key, made)}"
    return ""


def _why(key: str, made: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    """Return the misconception that explains this number in every case."""
    told = [(case, got[key]) for case, got in made if is_number(got.get(key))]
    for wrong, words in _WRONG[key]:
        if all(abs(number - wrong(case)) < _NEAR for case, number in told):
            return words
    if all(abs(number - 100 * _RIGHT[key](case)) < _NEAR for case, number in told):
        return "it is in percent. A share goes from 0 to 1."
    if all(abs(number - _RIGHT[key](case)) < 0.01 for case, number in told):
        return "it is rounded, and a mean over many questions would add the errors up."
    if any(number > 1 for _, number in told):
        return "a share is never more than 1. What is counted twice, or what does it divide by?"
    places = key == "precision"
    return f"it is not the share of the {'first k places' if places else 'gold ids'} that the task asks for."


def _lost_trouble(made: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    """Return what is wrong with `lost`, "" if nothing is."""
    for case, got in made:
        if "lost" not in got:
            return f"{capital(case.says)}, the dict has no key `lost`."
        if got["lost"] != case.fates(case.after[: case.k], case.before):
            return f"{capital(case.says)}, {_wrong_fate(got['lost'], case, made)}"
    return ""


def _wrong_fate(got: Any, case: Case, made: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    if not isinstance(got, dict) or "not_json" in got:
        return "`lost` is not a dict from each gold id to a word."
    want = case.fates(case.after[: case.k], case.before)
    if any(id not in want for id in got):
        return "`lost` speaks of ids that are not gold: of what does not answer nothing can be lost."
    if any(id not in got for id in want):
        return "`lost` leaves gold ids out: each of them has its word, whatever became of it."
    if any(word not in _WORDS for word in got.values()):
        return f"`lost` has a word that is none of {', '.join(_WORDS)}."
    for wrong, words in _WRONG_FATES:
        if all(told.get("lost") == wrong(one) for one, told in made):
            return f"`lost` {words}"
    blamed = {"candidates": "the first stage", "reranker": "the reranker", "found": "nobody"}
    wronged = next(id for id in want if got[id] != want[id])
    return f"`lost` blames {blamed[got[wronged]]} for a gold id, and that is not where it went."


def _let_pass(call: Mapping[str, Any]) -> str:
    """Return what is wrong with the answer to a question without gold."""
    if "raised" in call:
        return other_error(call["raised"], "Without a gold id `measure`")
    return (
        "Without a gold id numbers come back: 0 would blame the search, 1 would praise it, and either would "
        "go into a mean. Raise ValueError."
    )
