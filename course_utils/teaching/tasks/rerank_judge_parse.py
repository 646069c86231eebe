"""Judge of the scores out of a reply of exercise 04: each at its place, and nothing where there is none."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, is_number, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

Scores = list[float | None]
_HIGHEST = 10
_ENTRY = re.compile(r"^Doc (-?\d+): (-?\d+(?:\.\d+)?)[ \t]*$", re.M)


@dataclass(frozen=True)
class Case:
    """One reply about n documents; `part` is the point it belongs to."""

    part: str
    says: str
    reply: str
    n: int

    @property
    def entries(self) -> list[tuple[int, float]]:
        """What the reply says in the right form: number of the document, and number behind the colon."""
        return [(int(number), float(score)) for number, score in _ENTRY.findall(self.reply)]

    @property
    def scores(self) -> list[tuple[int, float]]:
        """The entries for documents that exist, with scores in range."""
        return [(n, score) for n, score in self.entries if 1 <= n <= self.n and 0 <= score <= _HIGHEST]

    @property
    def right(self) -> Scores:
        """The first score of each document, None where there is none."""
        return _placed(self.scores[::-1], self.n)


def _placed(entries: Sequence[tuple[int, float | None]], n: int) -> Scores:
    """Return a list of n, in which each entry stands at its document's place; a later one wins."""
    placed: Scores = [None] * n
    for number, score in entries:
        if 1 <= number <= n:
            placed[number - 1] = score
    return placed


_PROSE = (
    "Here are my scores for the 3 documents, from 0 to 10:\n\nDoc 1: 6\n"
    "Doc 2 is about something else.\nDocument 3 took me longer, 2 minutes.\nDoc 3: 4\n\nI hope this helps."
)
_CASES = (
    Case("place", "with a line for each document", "Doc 1: 7\nDoc 2: 0\nDoc 3: 9", 3),
    Case("place", "with the lines in another order", "Doc 3: 9\nDoc 1: 4\nDoc 2: 6", 3),
    Case("place", "with the first line missing", "Doc 2: 8\nDoc 3: 1", 3),
    Case("place", "with two lines missing in the middle", "Doc 1: 2\nDoc 5: 5\nDoc 3: 9", 5),
    Case("place", "with the last line missing", "Doc 1: 2\nDoc 2: 3", 3),
    Case("place", "with prose around the lines", _PROSE, 3),
    Case("place", "with nothing but prose", "I am sorry, none of the 3 documents can be judged.", 3),
    Case("place", "with an empty reply", "", 2),
    Case("value", "with 11 and -3 behind a colon", "Doc 1: 11\nDoc 2: 5\nDoc 3: -3", 3),
    Case("value", "with 75 and 100 behind a colon", "Doc 1: 75\nDoc 2: 100\nDoc 3: 10", 3),
    Case("value", "with decimals", "Doc 1: 0\nDoc 2: 7.5\nDoc 3: 10.5\nDoc 4: 0.25", 4),
    Case("value", "with words behind a colon", "Doc 1: seven\nDoc 2: n/a\nDoc 3: 3\nDoc 4:", 4),
    Case("value", "with nan and inf behind a colon", "Doc 1: nan\nDoc 2: inf\nDoc 3: 4", 3),
    Case("value", "with 7/10 and 1,5 behind a colon", "Doc 1: 7/10\nDoc 2: 1,5\nDoc 3: 4", 3),
    Case("value", "with a score inside a sentence", "I would give Doc 2: 9 if it were newer.\nDoc 1: 3", 2),
    Case("number", "with twelve documents", "Doc 10: 7\nDoc 11: 3\nDoc 2: 5\nDoc 12: 9", 12),
    Case("number", "with a Doc 0 and a Doc -1", "Doc 0: 9\nDoc -1: 5\nDoc 1: 2", 3),
    Case("number", "with numbers that no document has", "Doc 4: 9\nDoc 2: 6\nDoc 12: 1", 3),
    Case("number", "with a document that is scored twice", "Doc 2: 8\nDoc 1: 3\nDoc 2: 4\nDoc 1: 3", 2),
    Case("number", "with a 0 and then an 8 for the same document", "Doc 1: 0\nDoc 1: 8", 1),
)


def _clamped(score: float) -> float:
    return min(max(score, 0.0), float(_HIGHEST))


def _twice(case: Case) -> Scores:
    given = [[score for number, score in case.scores if number == place] for place in range(1, case.n + 1)]
    return [scores[0] if len(set(scores)) == 1 else None for scores in given]


def _begin_of_numbers(case: Case) -> Scores:
    """Return what a pattern finds that takes one digit behind the colon, or 10, and no more."""
    found = re.findall(r"^Doc (\d+): (10|\d)", case.reply, re.M)
    return _placed([(int(number), float(score)) for number, score in reversed(found)], case.n)


def _in_a_line(case: Case, begin: str) -> Scores:
    """Return what a right pattern finds that need not fit all of a line, only from `begin` on."""
    found = re.findall(begin + r"Doc (-?\d+): (-?\d+(?:\.\d+)?)", case.reply, re.M)
    scores = [(int(number), float(score)) for number, score in reversed(found)]
    return _placed([one for one in scores if 0 <= one[1] <= _HIGHEST], case.n)


def _zero_is_free(case: Case) -> Scores:
    """Return the list in which a 0 counts as a place that is still free."""
    placed: Scores = [None] * case.n
    for number, score in case.scores:
        placed[number - 1] = placed[number - 1] or score
    return placed


def _whole_parts(case: Case) -> Scores:
    found = [(int(number), float(score)) for number, score in re.findall(r"Doc (\d+): (\d+)", case.reply)]
    return _placed([(number, score) for number, score in found[::-1] if score <= _HIGHEST], case.n)


def _without_signs(case: Case) -> Scores:
    signless = [(number, abs(score)) for number, score in case.entries]
    return _placed([(number, score) for number, score in signless if score <= _HIGHEST], case.n)


def _contained(case: Case, *, last: bool) -> Scores:
    """Return what is found by asking whether "Doc 1" is in a line."""
    found: Scores = []
    for place in range(1, case.n + 1):
        lines = [score for number, score in case.entries if str(number).startswith(str(place))]
        found.append(lines[-1 if last else 0] if lines else None)
    return found


def _from_the_end(case: Case) -> Scores:
    """Return the list in which Doc 0 is written at -1, the last place."""
    placed: Scores = [None] * case.n
    for number, score in case.entries:
        if -case.n < number <= case.n:
            placed[number - 1] = score
    return placed


# Wrong lists that people arrive at, from a reply, by the point they cost; and what to say of each.
_WRONG: dict[str, tuple[tuple[Callable[[Case], Scores], str], ...]] = {
    "value": (
        (
            lambda case: _placed([(number, _clamped(score)) for number, score in case.entries], case.n),
            "a number outside the range is moved to its nearest end. The model did not do what it was asked, "
            "and nobody knows what it meant: that is no score.",
        ),
        (
            lambda case: _placed(case.entries, case.n),
            "a number that is not from 0 to 10 is taken as a score, and would beat every honest one.",
        ),
        (_without_signs, "a minus is passed over: what stands behind the colon is a negative number."),
        (
            _begin_of_numbers,
            "only the first digits of a number are read, and the rest is passed over. The pattern has to fit "
            "all of the line.",
        ),
        (
            lambda case: _in_a_line(case, "^"),
            "the beginning of a line is read, and what follows is passed over: 7/10 is no 7, and 1,5 no 1. "
            "The pattern has to fit all of the line.",
        ),
        (
            lambda case: _in_a_line(case, ""),
            "a score is found somewhere in a line that holds more: 7/10 is no 7, and a sentence may name a "
            "score that is not given. The pattern has to fit all of the line.",
        ),
        (_whole_parts, "what stands behind the decimal point is lost."),
    ),
    "number": (
        (
            _from_the_end,
            "a document that does not exist has given its score to one that does: the place -1 of a Python "
            "list is its last.",
        ),
        (
            lambda case: _placed(case.scores, case.n),
            "the second score of a document has taken the place of the first.",
        ),
        (
            _zero_is_free,
            "a first score of 0 has lost its place to the second: 0 counts as false in a condition. A place "
            "is free if None is there.",
        ),
        (_twice, "a document that is scored twice has lost its score, and the first was to count."),
        *(
            (
                lambda case, last=last: _contained(case, last=last),
                "the line of a Doc 10, 11 or 12 is taken for Doc 1: the one text begins with the other. Read "
                "the whole number.",
            )
            for last in (False, True)
        ),
    ),
}


class ParseScores:
    """parse(reply, n): a point for the places, for what is no score, for the numbers of the documents."""

    def inputs(self) -> dict[str, Any]:
        """Return the replies."""
        return {"cases": [{"reply": case.reply, "n": case.n} for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare each list of scores with the right one; the three points stand alone."""
        troubles: dict[str, str] = {}
        calls = list(zip(_CASES, report["calls"], strict=True))
        for case, call in calls:
            if trouble := _trouble(call, case, [one for one in calls if one[0].part == case.part]):
                troubles.setdefault(case.part, f"{capital(case.says)}: {trouble}")
        if not troubles:
            return Verdict(3, PASSED, "Each score stays with its document, and what is no score is None.")
        names = {
            "place": "order, gaps and prose",
            "value": "what is no score",
            "number": "numbers of documents",
        }
        right = [name for part, name in names.items() if part not in troubles]
        begin = so_far(right)
        part, trouble = next((name, troubles[name]) for name in names if name in troubles)
        return Verdict(3 - len(troubles), NOT_YET, begin + trouble, 1 if part == "place" else 3)


def _trouble(call: Mapping[str, Any], case: Case, alike: Sequence[tuple[Case, Mapping[str, Any]]]) -> str:
    """Return what is wrong with one list of scores, "" if nothing is; `alike` are all calls of its point."""
    if "raised" in call:
        return f"`parse` stops {explain_error(call['raised'])}"
    got = call["returned"]
    if shape := _shape(got, call.get("type"), case):
        return shape
    if got == case.right:
        return ""
    if case.part == "place":
        return _misplaced(got, case)
    told = [(one, it["returned"]) for one, it in alike if "raised" not in it]
    fitting = [(wrong, words) for wrong, words in _WRONG[case.part] if got == wrong(case)]
    # Several explain this list; one that explains every list of the point is likelier.
    for wrong, words in fitting:
        if all(scores == wrong(one) for one, scores in told):
            return words
    if fitting:
        return fitting[0][1]
    if any(want is None and one is not None for one, want in zip(got, case.right, strict=True)):
        return "a document has a score, and the reply holds no valid one for it."
    return "a score that the reply gives to a document is not at its place."


def _shape(got: Any, kind: Any, case: Case) -> str:
    if got is None:
        return forgot_return("parse")
    if kind == "dict":
        return "a dict comes back. A list is asked for, in which document 1 stands first."
    if not isinstance(got, list):
        return f"a value of type {kind} comes back, not a list of scores."
    if any(isinstance(one, list) for one in got):
        return "the list holds more than scores: leave the numbers of the documents out."
    if any(isinstance(one, str) for one in got):
        return "scores come back as texts. Texts compare letter by letter, so '10' comes before '7'."
    if any(isinstance(one, dict) and one.get("not_json") == "float" for one in got):
        return "NaN or infinity is in the list: where there is no score, None is asked for."
    if any(one is not None and not is_number(one) for one in got):
        return "the list holds something else than numbers and None."
    if len(got) != case.n:
        return (
            f"{len(got)} entries come back for {case.n} documents. Each document needs its place, also one "
            "without a score, or all behind it take the score of another."
        )
    return ""


def _misplaced(got: Scores, case: Case) -> str:
    pairs = list(zip(got, case.right, strict=True))
    given = [score for _, score in case.scores]
    there = [score for score in got if score is not None]
    if there == given or (given and there[: len(given)] == given):
        return (
            "the scores stand in the order of the reply. The number beside each says whose it is; a line "
            "that is missing or moved gives all others the score of a neighbour."
        )
    if all(one == want for one, want in pairs if want is not None):
        return (
            "a document that nobody scored has a number. A 0 says that a document has nothing to do with "
            "the question, and nobody said so: None is asked for."
        )
    if all(one == (want or None) for one, want in pairs):
        return "a score of 0 is lost: it is a score, and counts as false in a condition."
    digits = [float(number) for number in re.findall(r"\d+", case.reply)]
    if there and there == digits[: len(there)]:
        return "all numbers of the reply are taken, whatever they count: the scores stand behind a colon."
    if len(there) < len(given):
        return "a score that is in the reply did not arrive."
    return "a document has a score that the reply does not give to it."
