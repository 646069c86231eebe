"""Judge of what the sources bear out of exercise 05: citations, pieces without one, and numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_KEYS = ("dropped", "uncited", "numbers")
_NUMBER = re.compile(r"\d+(?:,\d+)*(?:\.\d+)?")
Cite = tuple[str, str]
Valid = Callable[[Cite, Mapping[str, str]], bool]


@dataclass(frozen=True)
class Case:
    """An answer in pieces, (text, citations); `about` are the keys that it says something about."""

    about: Sequence[str]
    says: str
    pieces: tuple[tuple[str, tuple[Cite, ...]], ...]

    def dropped(self, valid: Valid) -> list[list[str]]:
        """Return the citations that are not valid, by this rule."""
        return [list(cite) for _, cites in self.pieces for cite in cites if not valid(cite, _SOURCES)]

    def numbers(self, known: Callable[[Sequence[Cite]], set[str]]) -> set[str]:
        """Return the numbers that are not known, by this rule, from the citations of their piece."""
        return {number for text, cites in self.pieces for number in _numbers(text) - known(cites)}

    def unknown(self) -> list[str]:
        """Return the numbers that are not known, in the order of the answer, each time they occur."""
        return [
            number for text, cites in self.pieces for number in _listed(text) if number not in _known(cites)
        ]


def _flat(text: str) -> str:
    return " ".join(text.lower().split())


def _numbers(text: str) -> set[str]:
    return set(_listed(text))


def _listed(text: str) -> list[str]:
    return [number.replace(",", "") for number in _NUMBER.findall(text)]


def _valid(cite: Cite, sources: Mapping[str, str]) -> bool:
    id, quote = cite
    return bool(_flat(quote)) and _flat(quote) in _flat(sources.get(id, ""))


def _known(cites: Sequence[Cite]) -> set[str]:
    return {number for cite in cites if _valid(cite, _SOURCES) for number in _numbers(_SOURCES[cite[0]])}


_SOURCES = {
    "article:shipping#2": "Orders from 1500 rupees ship free.\nBelow that, shipping\n  costs 80 rupees.",
    "article:returns#1": "A lamp may go back within 30 days of delivery. Sale items: 7 days.",
    "ticket:12": "Paid 2,499 for the Tara lamp, and it came after 9.5 days",
}
_FREE = ("article:shipping#2", "Orders from 1500 rupees ship free")
_BACK = ("article:returns#1", "within 30 days of delivery")
_PAID = ("ticket:12", "it came after 9.5 days")
_GHOST = ("article:shipping#9", "ship free")
_FALSE = ("article:returns#1", "within 45 days of delivery")
_MOVED = ("article:returns#1", "Orders from 1500 rupees ship free")
_ALL = _KEYS
_CASES = (
    Case(_ALL, "where all is in order", (("From 1500 rupees on, shipping is free. ", (_FREE,)),
         ("Lamps go back within 30 days.", (_BACK,)))),
    Case(_ALL, "with a citation of a source that does not exist", (("Shipping is free. ", (_GHOST,)),
         ("Lamps go back within 30 days.", (_BACK,)))),
    Case(_ALL, "with a quote that is in no source", (("Lamps go back within 45 days.", (_FALSE,)),)),
    Case(_ALL, "with a quote that stands in another source", (("It is free from 1500 on.", (_MOVED,)),)),
    Case(_ALL, "with one citation that is valid and two that are not",
         (("From 1500 rupees on it ships free.", (_GHOST, _FREE, _MOVED)),)),
    Case(_ALL, "with pieces without a citation", (("Good news: ", ()), ("it takes 12 days.", ()))),
    Case(("dropped",), "with a quote in other letters, small and capital",
         (("It is free.", (("article:shipping#2", "ORDERS FROM 1500 Rupees"),)),)),
    Case(("dropped",), "with a quote that runs over a line break",
         (("It costs.", (("article:shipping#2", "shipping costs 80 rupees"),)),)),
    Case(("dropped",), "with line breaks and spaces in a quote",
         (("It may go back.", (("article:returns#1", "  may go\n back   within "),)),)),
    Case(("dropped",), "with an empty quote and one of spaces",
         (("It is free.", (("article:shipping#2", ""), ("ticket:12", " \n"), ("none:1", ""))),)),
    Case(("dropped",), "with words of a source in another order",
         (("It may.", (("article:returns#1", "delivery of 30 days"),)),)),
    Case(("dropped",), "with the same bad citation in two pieces",
         (("It is free. ", (_GHOST,)), ("Really.", (_GHOST, _FALSE)))),
    Case(("uncited",), "with pieces of which one lost all its citations",
         (("It is free. ", (_GHOST, _MOVED)), ("It goes back. ", (_FALSE, _BACK)), ("Yes.", ()))),
    Case(("numbers",), "with thousands written with a comma and without",
         (("From 1,500 on it is free. ", (_FREE,)), ("She paid 2499.", (_PAID,)))),
    Case(("numbers",), "with numbers that are part of another", (("It costs 8, or 15, or 500.", (_FREE,)),)),
    Case(("numbers",), "with a number that stands in a source which another piece cites",
         (("It goes back within 30 days. ", (_BACK,)), ("It is free from 30 rupees on.", (_FREE,)))),
    Case(("numbers",), "with a number that stands in a source which nobody cites",
         (("Below, it costs 80 rupees, and 2,499 above.", (_FREE,)),)),
    Case(("numbers",), "with a number behind the words that are quoted",
         (("Below 1500 it costs 80.", (_FREE,)), ("Sale items have 7 days.", (_BACK,)))),
    Case(("numbers",), "with two sources for one piece",
         (("It came after 9.5 days and may go back for 30.", (_PAID, _BACK)),)),
    Case(("numbers",), "with a number from a source that was cited falsely",
         (("It may go back within 7 days.", (_FALSE, _FREE)),)),
    Case(("numbers",), "with a number at the end of a clause", (("In 2024, it was 95.", (_PAID,)),)),
    Case(("numbers",), "with numbers that come again, and one in thousands",
         (("It takes 45 days or 12, but not 45. ", (_FREE,)), ("So 12, or 12,000?", ()))),
)  # fmt: skip


def _any_source(cite: Cite, sources: Mapping[str, str]) -> bool:
    return bool(_flat(cite[1])) and any(_flat(cite[1]) in _flat(text) for text in sources.values())


def _spaced(cite: Cite, sources: Mapping[str, str]) -> bool:
    return bool(cite[1].split()) and cite[1].lower() in sources.get(cite[0], "").lower()


def _cased(cite: Cite, sources: Mapping[str, str]) -> bool:
    return bool(cite[1].split()) and " ".join(cite[1].split()) in " ".join(sources.get(cite[0], "").split())


_DROPPED: tuple[tuple[Valid, str], ...] = (
    (
        lambda cite, sources: cite[0] in sources,
        "only the id is looked at: a source that exists does not back words which do not stand in it.",
    ),
    (_any_source, "a quote is valid that stands in any source, and it has to stand in the one it names."),
    (
        lambda cite, sources: cite[0] in sources and _flat(cite[1]) in _flat(sources[cite[0]]),
        "an empty quote is valid: no words at all stand in every text.",
    ),
    (
        lambda cite, sources: _flat(cite[1]) in _flat(sources.get(cite[0], "")),
        "an empty quote is valid: no words at all stand in every text, even in the one of no source.",
    ),
    (_cased, "capitals and small letters count as different."),
    (_spaced, "a line break or a run of spaces counts as different from one space."),
    (
        lambda cite, sources: bool(cite[1].split()) and cite[1] in sources.get(cite[0], ""),
        "the texts are compared as they are, and line breaks and capitals make them different.",
    ),
    (
        lambda cite, sources: (
            bool(cite[1].split())
            and set(_flat(cite[1]).split()) <= set(_flat(sources.get(cite[0], "")).split())
        ),
        "the words are compared one by one. In another order they say something else, and nobody wrote that.",
    ),
)


def _uncited(case: Case) -> list[str]:
    return [text for text, cites in case.pieces if not any(_valid(cite, _SOURCES) for cite in cites)]


_UNCITED: tuple[tuple[Callable[[Case], list[str]], str], ...] = (
    (
        lambda case: [text for text, cites in case.pieces if not cites],
        "a piece counts as cited that has lost all its citations: look at what is left of them.",
    ),
    (
        lambda case: [
            text for text, cites in case.pieces if not all(_valid(c, _SOURCES) for c in cites) or not cites
        ],
        "a piece is listed for one bad citation beside a good one: one that is valid is enough.",
    ),
    (
        lambda case: [t for t, cites in case.pieces if cites and not any(_valid(c, _SOURCES) for c in cites)],
        "a piece that never had a citation is left out: nothing backs it either.",
    ),
    (
        lambda case: [text for text, cites in case.pieces if any(_valid(c, _SOURCES) for c in cites)],
        "the pieces are listed that have a valid citation, not those that have none.",
    ),
)


def _by_id(cites: Sequence[Cite]) -> set[str]:
    return {number for id, _ in cites for number in _numbers(_SOURCES.get(id, ""))}


def _quoted(cites: Sequence[Cite]) -> set[str]:
    return {number for cite in cites if _valid(cite, _SOURCES) for number in _numbers(cite[1])}


def _everywhere(cites: Sequence[Cite]) -> set[str]:
    return {number for text in _SOURCES.values() for number in _numbers(text)}


def _whole_answer(case: Case) -> set[str]:
    cited = [cite for _, cites in case.pieces for cite in cites]
    return case.numbers(lambda cites: _known(cited))


def _as_part(case: Case) -> set[str]:
    """Return the numbers that are not somewhere inside the text of a cited source."""
    found = set()
    for text, cites in case.pieces:
        told = " ".join(_SOURCES[cite[0]] for cite in cites if _valid(cite, _SOURCES)).replace(",", "")
        found |= {number for number in _numbers(text) if number not in told}
    return found


def _with_commas(case: Case) -> set[str]:
    found = set()
    for text, cites in case.pieces:
        told = {n for c in cites if _valid(c, _SOURCES) for n in _NUMBER.findall(_SOURCES[c[0]])}
        found |= {number.replace(",", "") for number in _NUMBER.findall(text) if number not in told}
    return found


_WRONG_NUMBERS: tuple[tuple[Callable[[Case], set[str]], str], ...] = (
    (
        lambda case: case.numbers(_everywhere),
        "numbers are looked for in all sources, and have to stand in one that the piece cites: 30 days are "
        "no 30 rupees.",
    ),
    (_whole_answer, "numbers are looked for in what any piece cites, and each piece stands on its own."),
    (
        lambda case: case.numbers(_by_id),
        "a source bears out numbers although its citation is not valid: whoever quotes it falsely does not "
        "speak of it.",
    ),
    (
        lambda case: case.numbers(_quoted),
        "numbers are looked for in the quotes alone, and may stand anywhere in a source that is cited.",
    ),
    (_with_commas, "a number with a comma and the same without count as different."),
    (
        _as_part,
        "a number counts as known that is a part of a longer one: compare number with number, not a number "
        "with a text.",
    ),
    (
        lambda case: {
            number
            for text, cites in case.pieces
            if any(_valid(cite, _SOURCES) for cite in cites)
            for number in _numbers(text) - _known(cites)
        },
        "the numbers of pieces without a valid citation are left out: nothing bears them out.",
    ),
    (
        lambda case: {number for text, _ in case.pieces for number in _numbers(text)},
        "all numbers of the answer come back, those of the sources too.",
    ),
)


class Supported:
    """supported(answer, sources): a point for each of the three keys."""

    def inputs(self) -> dict[str, Any]:
        """Return the answers and the sources."""
        return {
            "cases": [
                {
                    "answer": [
                        {"text": text, "cites": [list(cite) for cite in cites]} for text, cites in case.pieces
                    ],
                    "sources": _SOURCES,
                }
                for case in _CASES
            ]
        }

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Look at each key in the cases that are about it; the three points stand alone."""
        calls = list(zip(_CASES, report["calls"], strict=True))
        troubles: dict[str, str] = {}
        for case, call in calls:
            for key in case.about:
                if trouble := _trouble(key, call, case, calls):
                    troubles.setdefault(key, f"{capital(case.says)}, {trouble}")
        if not troubles:
            return Verdict(
                3, PASSED, "What has no source is dropped, what is bare is named, each number is held up."
            )
        right = [f"`{key}`" for key in _KEYS if key not in troubles]
        key = next(key for key in _KEYS if key in troubles)
        return Verdict(
            3 - len(troubles), NOT_YET, so_far(right) + troubles[key], 1 if key == "uncited" else 2
        )


def _trouble(
    key: str, call: Mapping[str, Any], case: Case, calls: list[tuple[Case, Mapping[str, Any]]]
) -> str:
    """Return what is wrong with one key of one result, "" if nothing is."""
    if broken := _broken(key, call):
        return broken
    got = call["returned"][key]
    told = [(one, it["returned"][key]) for one, it in calls if key in one.about and not _broken(key, it)]
    if key == "dropped":
        return _wrong_dropped(got, case, told)
    return (_wrong_uncited if key == "uncited" else _wrong_numbers)(got, case, told)


def _broken(key: str, call: Mapping[str, Any]) -> str:
    """Return why nothing can be read from a key of a result, "" if it can."""
    if "raised" in call:
        return f"`supported` stops {explain_error(call['raised'])}"
    got = call.get("returned")
    if got is None:
        return forgot_return("supported")
    if not isinstance(got, dict) or "not_json" in got:
        return f"a value of type {call.get('type')} comes back, not a dict with text as its keys."
    if key not in got:
        return f"the dict has no key `{key}`."
    if not isinstance(got[key], list):
        return f"`{key}` is not a list."
    return ""


def _wrong_dropped(got: list[Any], case: Case, told: list[tuple[Case, list[Any]]]) -> str:
    want = case.dropped(_valid)
    if got == want:
        return ""
    if any(not isinstance(one, list) or len(one) != 2 for one in got):
        return "`dropped` holds something else than pairs of an id and a quote, as they came."
    for wrong, words in _DROPPED:
        if all(dropped == one.dropped(wrong) for one, dropped in told):
            return f"`dropped` is wrong: {words}"
    cited = [list(cite) for _, cites in case.pieces for cite in cites]
    if any(one not in cited for one in got):
        return "`dropped` holds what is no citation of the answer: leave id and quote as they came."
    if sorted(got) == sorted(want):
        return "`dropped` is not in the order of the answer."
    if len(got) > len(want):
        return "`dropped` holds a citation that is valid."
    return "`dropped` leaves out a citation that is not valid."


def _wrong_uncited(got: list[Any], case: Case, told: list[tuple[Case, list[Any]]]) -> str:
    want = _uncited(case)
    if got == want:
        return ""
    if any(not isinstance(one, str) for one in got):
        return "`uncited` holds something else than the texts of pieces."
    for wrong, words in _UNCITED:
        if all(uncited == wrong(one) for one, uncited in told):
            return f"`uncited` is wrong: {words}"
    if any(one not in [text for text, _ in case.pieces] for one in got):
        return "`uncited` holds what is no text of a piece: leave it as it came."
    if sorted(got) == sorted(want):
        return "`uncited` is not in the order of the answer."
    if len(got) > len(want):
        return "`uncited` holds a piece that has a valid citation."
    return "`uncited` leaves out a piece without a valid citation."


def _wrong_numbers(got: list[Any], case: Case, told: list[tuple[Case, list[Any]]]) -> str:
    want = case.numbers(_known)
    if any(isinstance(one, bool) or not isinstance(one, (str, int, float)) for one in got):
        return "`numbers` holds something else than numbers."
    if _bare(got) == want:
        return _not_as_asked(got, case)
    for wrong, words in _WRONG_NUMBERS:
        if all(_bare(numbers) == wrong(one) for one, numbers in told):
            return f"`numbers` is wrong: {words}"
    there = {number for text, _ in case.pieces for number in _numbers(text)}
    if extra := _bare(got) - there:
        why = ""
        if any(number.strip(",.") in {"", *there} for number in extra):
            why = " A comma or full stop at its end is no part of a number."
        elif any(number in whole for number in extra for whole in there):
            why = " A number is cut in two at its comma or its point."
        return f"`numbers` holds what is no number of the answer.{why}"
    if _bare(got) - want:
        return "`numbers` holds one that stands in a source which its piece validly cites."
    return "`numbers` leaves out one that stands in no source which its piece validly cites."


def _not_as_asked(got: list[Any], case: Case) -> str:
    """Return what is wrong with a list that holds the right numbers, "" if it is the right list."""
    want = case.unknown()
    if got == want:
        return ""
    if any(not isinstance(one, str) for one in got):
        return "`numbers` holds numbers that are no texts: leave them as `re.findall` gives them, as texts."
    if any("," in one for one in got):
        return "`numbers` holds a number with its commas: it is returned without them, as it is compared."
    if len(got) < len(want):
        return "`numbers` holds a number once that stands in the answer more than once: each time counts."
    if len(got) > len(want):
        return "`numbers` holds a number more often than it stands in the answer."
    return "`numbers` is not in the order of the answer."


def _bare(numbers: list[Any]) -> set[str]:
    """Return numbers as texts without commas between digits, whether they came as texts or as numbers."""
    return {
        re.sub(r"(?<=\d),(?=\d)", "", f"{one:g}" if isinstance(one, float) else str(one)) for one in numbers
    }
