"""The one analyser of keyword search: text in, terms out, the same for a document and for a question.

Why codes need care: a search for ERR_4471 must find "err 4471" and a bare 4471, and must not be fooled by
ERR_4472, with which it shares its letters. So a code gives its whole and every piece that has its number,
never its letters alone: all spellings of a code meet in a term, and codes with another number in none.
"""

import re
import unicodedata
from collections.abc import Container
from functools import lru_cache

# Lucene's EnglishAnalyzer (Apache 2.0), which took them from its StopAnalyzer of 2001. Question words stay:
# BM25 gives them little weight as it is, and "off", "out" and "over" mean something in a shop.
_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they
this to was will with
"""
STOP_WORDS = frozenset(_WORDS.split())
LONGEST = 100  # characters of a token that is still taken apart; beyond it stands no word and no code

# Letters with their combining marks, without which \w+ cuts a Hindi word at every vowel sign.
_MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c) in {"Mn", "Mc"})
_LETTERS = rf"[^\W\d_]+(?:[{_MARKS}]+[^\W\d_]*)*"
_NUMBER = r"[0-9]+(?:[.:][0-9]+)*"  # 1.5, 4.2.3 and 22:00 are one
_RUN = rf"(?:{_NUMBER}|{_LETTERS})"
_TOKEN = re.compile(rf"{_RUN}(?:['_-]?{_RUN})*")
_RUNS = re.compile(_RUN)
_CODE = re.compile(r"([a-z]{1,4})[_-]?([0-9]{3,})(?:[_-]?([a-z]{1,2}))?(?:[_-](.+))?")
_SPACED = re.compile(
    r"(?<![\w'-])(?:([a-z]{1,4})[\s.:#]{1,2})?([0-9]{3,})(?:\s([a-z]))?(?![_-]?\w|[.:][0-9])"
)
_SEPARATOR = re.compile(r"(?<![0-9])[_-]|[_-](?![0-9])")
_THOUSANDS = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:,[0-9]{2,3})*,[0-9]{3}(?![0-9])")  # 10,000 and 1,00,000
_RAISED = re.compile(r"(?<=[0-9])(?=[²³¹⁰⁴-⁹¼-¾⅐-⅞])")
_SIGNS = str.maketrans({"\u2010": "-", "\u2013": "-", "\u2212": "-", "\u2018": "'", "\u2019": "'"})


def terms(text: str) -> list[str]:
    """Return the terms of a text, in order and with repetitions; [] where there is no word in it.

    >>> terms("Err4471: the kettles of 1.5 litres")
    ['err4471', '4471', 'kettl', '1.5', 'litr']
    >>> terms("KB-2040-B"), terms("Wi-Fi")
    (['kb2040b', 'kb2040', '2040b', '2040'], ['wifi', 'wi', 'fi'])

    Lower case (case-folded) and NFKC; `STOP_WORDS` left out; English words stemmed by Snowball (Porter2).
    Numbers keep their decimals, and lose the commas of thousands. With a unit: 12V gives 12v, 12 and v.
    """
    return _found(_normal(text))


def question_terms(question: str, known: Container[str]) -> list[str]:
    """Return the terms of a question, in which a code may have spaces if the documents have it without.

    >>> question_terms("err 4471", known={"err4471"}), question_terms("mats 4471", known={"err4471"})
    (['err4471', '4471'], ['mat', '4471'])

    known: the terms of the documents. Without them nobody can tell a code from a word before a number.
    """

    def glued(match: re.Match[str]) -> str:
        letters, number, tail = match.groups(default="")
        for code, rest in ((letters + number + tail, ""), (letters + number, tail)):
            if code != number and code in known:
                return f"{code} {rest}"
        return f"{letters} {number}{tail}" if number + tail in known else match[0]

    return _found(_SPACED.sub(glued, _normal(question)))


def codes(text: str) -> list[str]:
    """Return the terms of a text that hold a number of three digits or more: its codes, and their numbers.

    >>> codes("ERR_4414 again, within 5 minutes")
    ['err4414', '4414']

    For an index of codes alone, `BM25Index(documents, analyse=codes, k1=0.1, b=0)`: beside words and vectors
    it lets an exact code count for itself, and finds nothing for a question that has none.
    """
    return [term for term in terms(text) if sum(letter.isdigit() for letter in term) >= 3]


def _normal(text: str) -> str:
    """Return a text in lower case and NFKC, with one kind of hyphen, apostrophe and digit."""
    if not isinstance(text, str):
        raise TypeError(f"A text is needed, not {type(text).__name__}.")
    if not text.isascii():
        # NFKC alone would make 11 of 1½ and 102 of 10².
        text = unicodedata.normalize("NFKC", _RAISED.sub(" ", text))
        text = unicodedata.normalize("NFKC", text.casefold()).translate(_SIGNS)
        text = re.sub(r"[^\D0-9]", lambda digit: str(unicodedata.decimal(digit[0])), text)
    return _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text.casefold())


def _found(text: str) -> list[str]:
    found: list[str] = []
    for piece in text.split():
        found += _remembered(piece) if len(piece) <= LONGEST else _tokens(piece)
    return found


@lru_cache(maxsize=1 << 17)  # texts repeat their words: ten times faster than looking at each again
def _remembered(piece: str) -> tuple[str, ...]:
    return tuple(_tokens(piece))


def _tokens(piece: str) -> list[str]:
    tokens = _TOKEN.findall(piece)
    return [term for token in tokens for term in (_split(token) if len(token) <= LONGEST else [token])]


def _split(token: str) -> tuple[str, ...]:
    """Return the terms of one token: a word, a number, a code, or words and numbers joined by - or _."""
    if token in STOP_WORDS or not token:
        return ()
    if "'" in token:
        digit = re.search("[0-9]", token)
        return _split(token.replace("'", "-") if digit else token.removesuffix("'s").replace("'", ""))
    if code := _CODE.fullmatch(token):
        letters, number, tail, rest = code.groups(default="")
        return _code(letters, number, tail) + _split(rest)
    runs = _RUNS.findall(token)
    if len(runs) == 1:
        return (_stem(token),)
    # 2026-04-07 keeps its hyphens: 20260407 would be a number.
    whole = _SEPARATOR.sub("", token).replace("_", "-")
    parts = [part for part in re.split("[_-]", token) + runs if part not in STOP_WORDS]
    return tuple(dict.fromkeys(map(_stem, [whole, *parts])))


def _code(letters: str, number: str, tail: str) -> tuple[str, ...]:
    """Return a code's whole and each piece that has the number, the number last."""
    pieces = (letters + number + tail, letters + number, number + tail, number)
    return tuple(dict.fromkeys(pieces))


@lru_cache(maxsize=1 << 17)  # one costs 70 µs
def _stem(word: str) -> str:
    """Return the stem of a word; what is no word of letters comes back as it is."""
    if not word.isalpha():
        return word
    from snowballstemmer.english_stemmer import EnglishStemmer

    # A new one each time: it is no work, and one that threads share would mix up their words.
    return EnglishStemmer().stemWord(word)
