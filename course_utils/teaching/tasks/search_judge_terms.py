"""Judge of the terms of exercise 03: the words with their codes whole, and the numbers in codes."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import forgot_return
from course_utils.teaching.tasks.search_judge_shared import verdict
from course_utils.teaching.verdict import NOT_YET, Verdict

_TEXTS = (
    "Wi-Fi: ERR_4414, or err4414?",
    "The keypad shows ERR_4414 and beeps.",
    "err-4414 again",
    "Err4414",
    "Is 4414 the code?",
    "A hub, a HUB (the old hub) and a plug.",
    "KB-2040-B says so; kb2040b too.",
    "SKU-77717-12",
    "Version B-12 of 2 keypads",
    "ERR_4414,ERR_4417 - and nothing else!",
    "Hub/bridge: plug-in door-pads_only",
    "FW-312-4415",
    "A café has KB__20",
    "Batch 2024-0412",
    "",
    "...",
)
_WORD = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_RIGHT = {
    "words": "all words are there, and each code is whole",
    "numbers": "the numbers in codes are there",
}


class KeepCodes:
    """terms(text): a point for the words, a point for the numbers in them."""

    def inputs(self) -> dict[str, Any]:
        """Return the texts."""
        return {"cases": list(_TEXTS)}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the terms of each text, first the words, then the numbers."""
        troubles: dict[str, str] = {}
        for text, call in zip(_TEXTS, report["calls"], strict=True):
            says = f"For {text!r}"
            if "raised" in call:
                stops = f"{says}, `terms` stops {explain_error(call['raised'])}"
                return Verdict(0, NOT_YET, stops, 1)
            if strange := _shape(call):
                return Verdict(0, NOT_YET, f"{says}, {strange}", 1)
            got, words = Counter(call["returned"]), _WORD.findall(text.lower())
            for part, trouble in (("words", _word_trouble), ("numbers", _number_trouble)):
                if found := trouble(got, words):
                    troubles.setdefault(part, f"{says}, {found}")
        passed = "Every spelling of a code meets the others and its bare number, and no other code."
        return verdict(troubles, _RIGHT, passed, {"words": 2, "numbers": 3})


def _shape(call: Mapping[str, Any]) -> str:
    got = call["returned"]
    if got is None:
        return forgot_return("terms")
    if isinstance(got, dict) and got.get("not_json") in {"set", "frozenset", "dict_keys"}:
        return "a set comes back, in which a repeated word counts once: return a list."
    if not isinstance(got, list):
        return f"a value of type {call['type']} comes back, not a list of terms."
    if any(isinstance(one, list) for one in got):
        return (
            "the list holds lists or tuples, not terms. `re.findall` returns groups if there are two in the "
            "pattern, and `.append` adds a list as one item where `.extend` adds what is in it."
        )
    if any(not isinstance(one, str) for one in got):
        return "the list holds something else than texts: a number is a term too, written as a text."
    return ""


def _whole(word: str) -> str:
    return re.sub("[_-]", "", word)


def _numbers(word: str) -> list[str]:
    return [number for number in re.findall("[0-9]{3,}", word) if number != _whole(word)]


def _word_trouble(got: Counter[str], words: list[str]) -> str:
    """Return what is wrong with the words, numbers in codes aside."""
    want = Counter(map(_whole, words))
    if trouble := _spelling(got):
        return trouble
    missing = sorted(want - got)
    extra = sorted(term for term in got - want if not term.isdigit())
    if missing:
        return _missing(missing[0], words, got, want)
    if extra and extra[0] in want:
        return f"{extra[0]!r} comes back more often than it occurs."
    if extra:
        return _extra(extra[0], words)
    return ""


def _spelling(got: Counter[str]) -> str:
    if any(term != term.lower() for term in got):
        return "a term has capital letters: ERR_4414 and err_4414 would never meet."
    if any(not _whole(term) for term in got):
        return "an empty term comes back, or a joiner alone: a `-` between spaces joins nothing."
    if any(re.fullmatch(r"[a-z0-9]+([_-][a-z0-9]+)+", term) for term in got):
        return "a term still has its joiner: with `_` here and `-` there, two spellings of a code differ."
    if any(char.isalpha() and not char.isascii() for term in got for char in term):
        return (
            "a term has a letter in it that is not from a to z. Here such a letter separates words, and "
            "`isalnum` and `\\w` take it for one of them."
        )
    if any(re.search("[^a-z0-9]", term) for term in got):
        return (
            "a term has a character in it that is no letter and no digit: whatever does not join two "
            "runs separates them."
        )
    return ""


def _missing(term: str, words: list[str], got: Counter[str], want: Counter[str]) -> str:
    word = max((word for word in words if _whole(word) == term), key=len)
    runs = re.split("[_-]", word)
    if len(runs) > 1 and term.isdigit() and all(run in got for run in runs):
        return f"{word!r} comes back in pieces and not whole: a joiner makes one word of two runs."
    if len(runs) > 1 and not term.isdigit() and all(run in got for run in runs if not run.isdigit()):
        if not any(run.isdigit() for run in runs):
            return f"{word!r} comes back in pieces: a joiner makes one word of two runs."
        return (
            f"{word!r} comes back in pieces and not whole. Its letters alone stand in every code of its "
            "kind, so another code would match as well."
        )
    if term in got:
        return f"{term!r} comes back less often than it occurs: BM25 counts repetitions."
    if any(char.isdigit() for char in term) and not term.isdigit():
        if re.sub("[0-9]", "", term) in got:
            return f"{word!r} comes back in pieces: letters and digits that touch are one run."
        return f"the code {word!r} does not come back as one term: lower case, joiners removed."
    if any(term in other for other in got if other not in want):
        return f"the word {term!r} is glued to another one: what does not join two runs separates them."
    if term.isdigit():
        return f"the number {term!r}, a word of its own, does not come back."
    return f"the word {term!r} does not come back. Here nothing is left out and nothing is stemmed."


def _extra(term: str, words: list[str]) -> str:
    if any(term in re.split("[_-]", word) for word in words):
        return (
            f"{term!r} comes back, a piece of a longer word. Of the pieces only numbers of three or more "
            "digits are terms: letters alone would match every code of the kind."
        )
    if any(term in _whole(word) for word in words):
        return f"{term!r} comes back, which is a part of a word. Of the parts only numbers are terms."
    return f"{term!r} comes back, which is no word of the text."


def _number_trouble(got: Counter[str], words: list[str]) -> str:
    """Return what is wrong with the terms that are numbers."""
    alone = Counter(word for word in words if word.isdigit())
    whole = Counter(_whole(word) for word in words if not word.isdigit() and _whole(word).isdigit())
    want = alone + Counter(number for word in words for number in _numbers(word))
    mine = Counter({term: count for term, count in got.items() if term.isdigit()}) - whole
    if extra := sorted(mine - want):
        return _too_many(extra[0], words, want)
    if missing := sorted(want - mine):
        return _too_few(missing[0], words, some=missing[0] in mine)
    return ""


def _too_many(number: str, words: list[str], want: Counter[str]) -> str:
    if number in want and number in words:
        return f"{number!r} stands alone and comes back twice: the word itself is the number already."
    if number in want:
        return f"{number!r} comes back more often than codes with it occur."
    if any(number in re.findall("[0-9]+", word) for word in words):
        return (
            f"{number!r} comes back as a term of its own. It has fewer than three digits, and is in too much."
        )
    return f"{number!r} comes back, which nobody wrote: look for numbers before the joiners are removed."


def _too_few(number: str, words: list[str], *, some: bool) -> str:
    """Return why a number is missing. some: it comes back, and less often than it should."""
    if number in words and not some:
        return f"the number {number!r}, a word of its own, does not come back."
    having = [word for word in words if number in _numbers(word)]
    if some and len(set(having)) == 1:
        return f"{number!r} comes back less often than codes with it occur."
    word = min(having, key=len) if some else having[0]
    if word == _whole(word):
        return f"{word!r} has no joiner, and its number is missing: the same code in another spelling has it."
    if _whole(word).isdigit():
        return f"{word!r} is more than one run of digits: each run of three or more is a further term."
    if len(_numbers(word)) > 1:
        return f"{word!r} has more than one number of three or more digits, and not all of them come back."
    return f"the number of {word!r} is not a term of its own, so a bare number would never meet the code."
