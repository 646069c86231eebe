"""Judge of the BM25 score of exercise 03: how rare a term is, how much it gains, and the edges."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, is_number
from course_utils.teaching.tasks.search_judge_shared import (
    Asked,
    Calls,
    Case,
    changed,
    near,
    of_part,
    verdict,
)
from course_utils.teaching.verdict import Verdict

Terms = list[str]
Wrong = dict[str, Any]  # a mistake in words -> what it puts in the place of idf or gain


def _split(*texts: str) -> list[Terms]:
    return [text.split() for text in texts]


_THREE = _split(
    "plug will not pair",
    "plug shows err_4471 and will not pair with the hub",
    "hub shows err_4472",
)
# Lamp is in four of six, six times in all; lock is in two, four times.
_SIX = _split(
    "lamp on the hall wall",
    "lamp lamp lamp goes out",
    "lamp and hub in kitchen",
    "lock lock lock will close",
    "lamp on the door lock",
    "keypad on the back door",
)
_UNEVEN = _split(
    "mat",
    "mat mat mat mat for the hall and for the stairs and for the car",
    "a mat and a rug and a mat",
    "a rug of wool",
    "bell",
)
_FLAT = {"k1": 0.9, "b": 0}


def _score(
    query: Terms, document: Terms, corpus: Sequence[Terms], k1: float = 0.9, b: float = 0.4, *,
    idf: Any = None, gain: Any = None,
) -> float:  # fmt: skip
    """Return the reference, or what another idf(n, term, corpus) or gain(tf, document, corpus, …) gives."""
    total = 0.0
    for term in query:
        n = sum(term in other for other in corpus)
        if tf := document.count(term):
            total += (idf or _idf)(n, term, corpus) * (gain or _gain)(tf, document, corpus, k1, b)
    return total


def _idf(n: int, term: str, corpus: Sequence[Terms]) -> float:
    return math.log(1 + _odds(n, corpus))


def _odds(n: float, corpus: Sequence[Terms]) -> float:
    return (len(corpus) - n + 0.5) / (n + 0.5)


def _gain(tf: int, document: Terms, corpus: Sequence[Terms], k1: float, b: float) -> float:
    return tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(document) / _mean(map(len, corpus))))


def _mean(values: Any) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _occurrences(term: str, corpus: Sequence[Terms]) -> int:
    return sum(other.count(term) for other in corpus)


_IDF = {
    "The 1 inside the logarithm is missing, as in the oldest formula: a term that most documents have gets a "
    "weight below 0, and a match would push a document down.": lambda n, t, c: math.log(_odds(n, c)),
    "A term that most documents have gets nothing: with the 1 inside the logarithm every weight stays above "
    "0, and nothing need be cut off.": lambda n, t, c: max(0.0, math.log(_odds(n, c))),
    "The 1 stands outside of the logarithm: added inside, it keeps every weight above 0.": (
        lambda n, t, c: 1 + math.log(_odds(n, c))
    ),
    "The logarithm has the base 10: ln is asked for, which is `math.log`.": (
        lambda n, t, c: math.log10(1 + _odds(n, c))
    ),
    "The logarithm has the base 2: ln is asked for, which is `math.log`.": (
        lambda n, t, c: math.log2(1 + _odds(n, c))
    ),
    "Your n counts occurrences: a document that has the term three times is still one document.": (
        lambda n, t, c: math.log(1 + _odds(_occurrences(t, c), c))
    ),
    "This is ln(N / n), or the 0.5 are missing: BM25's idf has them above and below.": (
        lambda n, t, c: math.log(len(c) / n)
    ),
    "There is no logarithm: a term that is a hundred times as rare is not a hundred times as telling.": (
        lambda n, t, c: 1 + _odds(n, c)
    ),
    "Every term counts the same, however rare: where does idf come in?": lambda n, t, c: 1.0,
    "Here n is taken for N, or N for n: a rare term gets less than a frequent one.": (
        lambda n, t, c: math.log(1 + (n + 0.5) / (len(c) - n + 0.5))
    ),
}
_GAIN = {
    "Your tf counts in full: without saturation four times the word is four times the score.": (
        lambda tf, d, c, k1, b: tf
    ),
    "A word counts once, however often the document has it: where does tf come in?": (
        lambda tf, d, c, k1, b: 1.0
    ),
    "The average length is missing: a length is long or short only beside the others.": (
        lambda tf, d, c, k1, b: tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(d)))
    ),
    "The length of the document does not count: b should say how much it does.": (
        lambda tf, d, c, k1, b: tf * (k1 + 1) / (tf + k1)
    ),
    "Length and average have changed places: a long document gains instead of losing.": (
        lambda tf, d, c, k1, b: tf * (k1 + 1) / (tf + k1 * (1 - b + b * _mean(map(len, c)) / len(d)))
    ),
    "The k1 + 1 above the line is missing.": (
        lambda tf, d, c, k1, b: tf / (tf + k1 * (1 - b + b * len(d) / _mean(map(len, c))))
    ),
    "Here k1 multiplies only the first part of the bracket: it stands before all of it.": (
        lambda tf, d, c, k1, b: tf * (k1 + 1) / (tf + k1 * (1 - b) + b * len(d) / _mean(map(len, c)))
    ),
    "The length counts each different term once: it is the number of all terms.": (
        lambda tf, d, c, k1, b: (
            tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(set(d)) / _mean(len(set(o)) for o in c)))
        )
    ),
    "Here k1 and b are not looked at: the values given in the call count, not the usual ones.": (
        lambda tf, d, c, k1, b: _gain(tf, d, c, 0.9, 0.4)
    ),
    "Your tf counts twice: the sum goes over the query's terms, not over those of the document.": (
        lambda tf, d, c, k1, b: tf * _gain(tf, d, c, k1, b)
    ),
    "The length is measured against the longest document, not against the average.": (
        lambda tf, d, c, k1, b: tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(d) / max(map(len, c))))
    ),
}
_GAIN_CASES = (
    Case("gain", "For the second of the lesson's three documents", (["plug", "err_4471"], _THREE[1], _THREE)),
    Case("gain", "For the first of the lesson's three documents", (["plug", "err_4471"], _THREE[0], _THREE)),
    Case("gain", "For a short document among longer ones", (["mat"], _UNEVEN[0], _UNEVEN)),
    Case("gain", "For a long document with the word four times", (["mat"], _UNEVEN[1], _UNEVEN)),
    Case("gain", "With k1=1.5 and b=0.75", (["mat", "rug"], _UNEVEN[2], _UNEVEN), {"k1": 1.5, "b": 0.75}),
    Case("gain", "With k1=0.2 and b=1", (["mat", "hall"], _UNEVEN[1], _UNEVEN), {"k1": 0.2, "b": 1}),
)
_HUB = _THREE[2]
_BASE = Case("edges", "For one term that the document has", (["err_4472"], _HUB, _THREE))
# How many times the learner's own score of _BASE it should be, so that nobody pays twice for idf or gain.
_EDGES: dict[str, tuple[float, str, tuple]] = {
    "For a query with the same term twice": (
        2.0,
        "a repeated term of the query counts each time.",
        (["err_4472", "err_4472"], _HUB, _THREE),
    ),
    "For a term that is nowhere": (
        0.0,
        "a term that no document has adds 0.",
        (["zebra"], _HUB, _THREE),
    ),
    "For a term that is nowhere, and one that is there": (
        1.0,
        "a term that no document has adds 0, and the other one counts.",
        (["zebra", "err_4472"], _HUB, _THREE),
    ),
    "For a term that only other documents have": (
        0.0,
        "a term that this document does not have adds 0.",
        (["plug"], _HUB, _THREE),
    ),
    "For a query without terms": (0.0, "a sum of nothing is 0.", ([], _HUB, _THREE)),
    "For a document without terms": (0.0, "it should score 0.", (["plug"], [], [*_THREE, []])),
    "For a document without terms, alone in the corpus": (
        0.0,
        "the average is 0, and nothing can be divided by it.",
        (["plug"], [], [[]]),
    ),
}
_EDGE_CASES = [Case("edges", says, args) for says, (_, _, args) in _EDGES.items()]
_CASES = (
    Case("idf", "For a term that one of six documents has", (["keypad"], _SIX[5], _SIX), _FLAT),
    Case("idf", "For a term that four of six documents have", (["lamp"], _SIX[0], _SIX), _FLAT),
    Case("idf", "For a term that two of six documents have", (["lock"], _SIX[4], _SIX), _FLAT),
    Case("idf", "For two terms", (["keypad", "door"], _SIX[5], _SIX), _FLAT),
    *_GAIN_CASES,
    _BASE,
    *_EDGE_CASES,
)
_RIGHT = {
    "idf": "idf counts as it should",
    "gain": "gain counts as it should",
    "edges": "the edges hold",
}


def _shape(call: Mapping[str, Any]) -> str:
    got = call["returned"]
    if got is None:
        return forgot_return("score")
    if isinstance(got, list):
        return "a list comes back: the score is one number, the sum over the query's terms."
    if not is_number(got):
        return f"a value of type {call['type']} comes back, not a number."
    return ""


def _other(got: float, want: float, case: Case) -> str:
    if any(got == round(want, digits) for digits in (1, 2, 3, 4, 5)):
        return "the score is rounded. Leave that to whoever shows it: two documents might tie that do not."
    return f"the score is too {'high' if got > want else 'low'}."


class Bm25Score:
    """score(query_terms, document_terms, corpus, k1, b): a point each for idf, gain and the edges."""

    def inputs(self) -> dict[str, Any]:
        """Return the queries, documents and corpora."""
        return {"cases": [case.sent() for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare idf where gain is 1, then gain, each beside known mistakes in the other, and the edges."""
        calls: Calls = list(zip(_CASES, report["calls"], strict=True))
        troubles = {
            "idf": _trouble(of_part(calls, "idf"), "idf", _IDF, "gain", _GAIN),
            "gain": _trouble(of_part(calls, "gain"), "gain", _GAIN, "idf", _IDF),
            "edges": _edge_trouble(of_part(calls, "edges")) or changed("score", calls),
        }
        passed = "Rare terms tell more, repeated ones ever less, and a long document has to earn it."
        return verdict(troubles, _RIGHT, passed, {"idf": 2, "gain": 3, "edges": 3})


def _trouble(calls: Calls, part: str, wrong: Wrong, beside: str, known: Wrong) -> str:
    """Return the trouble with one part, unless a known mistake in the part `beside` it explains it all."""
    mistakes = {says: partial(_score, **{part: each}) for says, each in wrong.items()}
    asked = Asked("score", _score, mistakes, _shape, near, _other)
    if any("raised" in call or _shape(call) for _, call in calls):
        return asked.trouble(calls)
    if any(asked.gives(partial(_score, **{beside: each}), calls) for each in known.values()):
        return ""
    return asked.trouble(calls)


def _edge_trouble(calls: Calls) -> str:
    for case, call in calls:
        _, why, _ = _EDGES.get(case.says, (0, "", ()))
        if "raised" in call:
            return f"{case.says}, `score` stops {explain_error(call['raised'])} {capital(why)}"
        if shape := _shape(call):
            return f"{case.says}: {shape}"
    (_, base), *rest = calls
    if near(base["returned"], 0):
        return f"{_BASE.says}: the score is 0."
    for case, call in rest:
        times, why, _ = _EDGES[case.says]
        if not near(call["returned"], times * base["returned"]):
            return f"{case.says}: {why}"
    return ""
