"""The figures of a text, to hold an answer against its sources: numbers, codes, times and dates.

Rounding, thousand separators (1,500 and 2,50,000), rupees, per cent, lakh and crore are read as `sql_answer`
reads them; prose adds numbers written as words, versions and times of day.
"""

import calendar
import datetime
import math
import re
from collections.abc import Iterable, Iterator

from .sql_answer import CODE, CURRENCY, DOUBT, NUMBER, SCALES, is_near

_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, start=2)}
_TIMES = {"hundred": 1e2, "thousand": 1e3, "lakh": 1e5, "million": 1e6, "crore": 1e7, "billion": 1e9}
_WORD = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[-\s](?P<ones>{'|'.join(_SMALL[1:10])}))?"
    rf"|(?P<small>{'|'.join(_SMALL)}))"
    rf"(?:[-\s](?P<times>{'|'.join(_TIMES)})s?)?\b",
    re.I,
)
_VERSION = re.compile(r"\b\d+(?:\.\d+){2,}\b")
_ISO = re.compile(r"\b(\d{4})-\d\d(?!\d)(?:-\d\d(?!\d)T?)?")
_DATE = re.compile(rf"\b(\d{{1,2}})\s+({'|'.join(calendar.month_name[1:])})(?:\s+(\d{{4}}))?\b")
_INDEX = re.compile(r"(?<=\w/)\d+(?=[/:])")  # events/3/place: the place in a list is no figure
_OCLOCK = re.compile(r"\b(\d{1,2})[:.]00\b")
_SPACED = re.compile(r"\b([A-Z]{2,5})\s(\d{3,6})\b")
_DOZENS = re.compile(r"\b(?:dozens?|hundreds?|thousands?|lakhs?|(?:m|b)illions?|crores?)\b", re.I)


class Figures:
    """What stands in some texts, so that another text can be asked which of its figures do not.

    texts: the sources as a reader sees them, and whatever may be repeated, such as the question. rows: texts
    whose numbers may be told rounded, since a computer wrote them: 3.8 for 3.8333. counts: numbers that are
    true of them and stand nowhere, such as how many rows there are.
    """

    def __init__(self, texts: Iterable[str], rows: Iterable[str] = (), counts: Iterable[int] = ()) -> None:
        told, long = list(texts), list(rows)
        self.text = " ".join(" ".join([*told, *long]).casefold().split())
        self._long = [value for text in long for value in _numbers(text)]
        self.numbers = [*map(float, counts), *self._long, *(n for text in told for n in _numbers(text))]

    def missing(self, text: str) -> list[str]:
        """Return the figures of a text that do not stand here, as written there and in no special order.

        >>> Figures(["Free from ₹2,50,000 on, in nine hours."]).missing("250000 rupees, 9 h, 5 per cent")
        ['5 per cent']
        """
        found: list[str] = []
        rest = re.sub(r"(?<=-\d\d)T(?=\d\d:)", " ", CURRENCY.sub(" ", text))
        rest = _DATE.sub(lambda day: " " if self._has_day(day) else day[0], rest)
        for pattern in (_VERSION, _SPACED, CODE):
            for code in dict.fromkeys(one[0] for one in pattern.finditer(rest)):
                if self._has(code):
                    rest = rest.replace(code, " ")
                elif pattern is not _SPACED:  # OTP 4471 may be a word and a number
                    found.append(code)
                    rest = rest.replace(code, " ")
        rest = _OCLOCK.sub(r"\1", rest)
        for word, value in _in_words(rest):
            if value != 1 and value not in self.numbers:  # "one of them" counts nothing
                found.append(word)
        found += [number[0].strip(" ,") for number in NUMBER.finditer(rest) if not self._has_number(number)]
        vague = _DOZENS.findall(NUMBER.sub(" ", _WORD.sub(" ", rest)))
        found += [word for word in vague if word.casefold() not in self.text]
        return list(dict.fromkeys(found))

    def _has_number(self, number: re.Match[str]) -> bool:
        """Return whether a number stands here; rounded only after "about", or if it comes of rows."""
        about = DOUBT.search(number.string[: number.start()])
        if is_near(number, self.numbers if about else self._long):
            return True
        value, scale = _value(number), _scale(number)
        scales = (0.01, 1.0) if scale == 0.01 else (scale,)
        return is_near(
            number, [n for n in self.numbers if any(math.isclose(abs(n), value * s) for s in scales)]
        )

    def _has(self, code: str) -> bool:
        """Return whether a code, version or date stands here whole; ERR-4471 and ERR 4471 are ERR_4471."""
        if re.fullmatch(r"\d{4}-\d\d", code) and code in self.text:
            return True  # the month of a day
        parts = r"[-_ ]?".join(map(re.escape, re.split(r"[-_\s]", code.casefold())))
        if re.search(rf"(?<!\w){parts}(?!\w|[-.]\w)", self.text):
            return True
        try:
            day = datetime.date.fromisoformat(code)
        except ValueError:
            return False
        return f"{day.day} {calendar.month_name[day.month]} {day.year}".casefold() in self.text

    def _has_day(self, day: re.Match[str]) -> bool:
        """Return whether 31 March 2026, or 31 March, stands here as 2026-03-31."""
        month = list(calendar.month_name).index(day[2])
        return re.search(rf"\b{day[3] or '[0-9]{4}'}-{month:02}-{int(day[1]):02}", self.text) is not None


def _numbers(text: str) -> list[float]:
    """Return the numbers of a text, those in words and with a unit of scale too; a sign is kept.

    Of 2026-02-15 only the year is one: no text is about 15 days for having been written on that day.
    """
    text = _ISO.sub(r"\1 ", _INDEX.sub("", _VERSION.sub(" ", text)))
    text = _OCLOCK.sub(r"\1", CURRENCY.sub(" ", text))
    found = [value for _, value in _in_words(text)]
    for number in NUMBER.finditer(text):
        value = _value(number) * (-1 if number["sign"] else 1)
        found += {value, value * max(_scale(number), 1.0)}
    return found


def _value(number: re.Match[str]) -> float:
    return float(number["digits"].replace(",", ""))


def _scale(number: re.Match[str]) -> float:
    unit = (number["unit"] or "").lower()
    return SCALES.get(unit if unit in SCALES else unit[:2], 1.0)


def _in_words(text: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers that are written as words: ("twenty-five", 25.0), ("two lakh", 200000.0)."""
    for found in _WORD.finditer(text):
        value = sum(_WORDS[part.lower()] for part in found.group("tens", "ones", "small") if part)
        yield found[0], float(value * _TIMES.get((found["times"] or "").lower(), 1))


def without_list_numbers(text: str) -> str:
    """Return a text of the same length in which the numbers of a list, 1. 2. 3., are blank."""
    listed = 0
    for mark in re.finditer(r"^[ \t]*(?:[-*•][ \t]+)?(\d{1,2})[.)](?=\s)", text, re.M):
        if int(mark[1]) in {1, listed + 1}:
            listed = int(mark[1])
            text = text[: mark.start()] + " " * len(mark[0]) + text[mark.end() :]
    return text
