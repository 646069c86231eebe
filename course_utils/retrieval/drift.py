"""What a text names, what it left of that on the way to another text, and whether it stands alone.

A name, code or number that a model loses or makes up sends a search astray, however good the rest sounds.
"""

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from .analyse import codes, terms
from .sql_answer import WORDS

NUMBERS = WORDS | {"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SAYS_LITTLE = """
also am ani as can could did do doe has have he her him his how i it its may me must my one our same she
should so still than them these those too us we well what when where which whi who will would you your
"""
_FILLERS = frozenset(_SAYS_LITTLE.split())
_OPENERS = re.compile(
    r"\W*(?:and|or|but|so|then|also|else|instead|same|even|ditto|what about|how about|what if|why not)\b",
    re.I,
)
_POINTERS = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|ones?|there)\b",
    re.I,
)
_THERE_IS = re.compile(r"\b(?:(?:is|are|was|were) there|there(?: is| are| was| were|['’]s))\b", re.I)
_NOUN = re.compile(
    r"\b(?:an?|the|my|our|your|any|no|each|every|which|what|some)\s+(?!one\b|ones\b|is\b|are\b|do\b|does\b)"
    r"[^\W\d_]{3,}",
    re.I,
)
_WORD = re.compile(r"[^\W_](?:[\w'’-]*\w)?")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)['‘]([^'’\n]+)['’](?!\w)|`([^`\n]+)`")
_PLAIN = re.compile(r"[0-9]+(?:[.:][0-9]+)*")


def leans(question: str) -> bool:
    """Return whether a question seems to need the turn before it.

    >>> leans("and for returns?"), leans("How much does it cost?"), leans("What does a Tara bulb cost?")
    (True, True, False)

    It does if it opens like a continuation, points at something before it has named anything, or has fewer
    than four words that say something and no name. In doubt it leans: then a model decides.
    """
    return points_back(question) or (not names_in(question) and len(said(question)) < 4)


@dataclass(frozen=True)
class Entity:
    """A name, code, number or quoted text as it was written, and its terms."""

    text: str
    terms: tuple[str, ...]


def entities(text: str, names: Collection[str] = ()) -> list[Entity]:
    """Return what a text names: codes and numbers, quoted words, words with a capital, and known names.

    A capital at the start of a sentence says nothing, unless it belongs to one of `names`.
    """
    found = list(_numbers(text))
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    known = [match[0] for match in _pattern(frozenset(names)).finditer(text)] if names else []
    capitals = [] if text.isupper() else _capitals(text)
    for name in (*quoted, *known, *capitals):
        if key := tuple(terms(name)):
            found.append(Entity(name, key))
    return list(dict.fromkeys(found))


def drift(question: str, told: str, known: str = "", names: Collection[str] = ()) -> str:
    """Return what went wrong on the way from a question to `told`, "" if nothing did.

    Every entity of the question must be in `told`, and every one of `told` in the question or in `known`.
    """
    have, may = terms_in(told), terms_in(f"{question}\n{known}")
    if lost := [one.text for one in entities(question, names) if not have.issuperset(one.terms)]:
        return f"lost {', '.join(lost)}"
    if new := [one.text for one in entities(told, names) if not may.issuperset(one.terms)]:
        return f"nobody mentioned {', '.join(new)}"
    return ""


@functools.cache
def shop_names() -> frozenset[str]:
    """Return the names of the shop's cities, products and suppliers."""
    from contextlib import closing

    from course_utils import shop

    sql = "SELECT city FROM customers UNION SELECT name FROM products UNION SELECT name FROM suppliers"
    with closing(shop.read_only(shop.path())) as connection:
        return frozenset(name for (name,) in connection.execute(sql))


def continues(text: str) -> bool:
    """Return whether a text opens like a continuation, as "and for returns?" does."""
    return bool(_OPENERS.match(text))


def points_back(text: str) -> bool:
    """Return whether a text opens like a continuation, or points at something it has not named."""
    if continues(text):
        return True
    text = _THERE_IS.sub(" ", text)
    pointer = _POINTERS.search(text)
    before = text[: pointer.start()] if pointer else ""
    return bool(pointer) and not (names_in(before) or _NOUN.search(before))


def names_in(text: str, names: Collection[str] = ()) -> list[Entity]:
    """Return the entities of a text that are no plain numbers."""
    return [one for one in entities(text, names) if not _PLAIN.fullmatch(one.terms[0])]


def terms_in(text: str) -> set[str]:
    """Return the terms of a text, with the number beside each word for one."""
    return {*terms(text), *(term for one in _numbers(text) for term in one.terms)}


def said(text: str) -> set[str]:
    """Return the terms of a text that say something by themselves."""
    return {term for term in terms_in(text) if term not in _FILLERS}


def _numbers(text: str) -> Iterator[Entity]:
    """Yield the codes and numbers of a text; sixty is 60."""
    long = set(codes(text))
    for word in _WORD.findall(text):
        if word.casefold() in NUMBERS:
            yield Entity(word, (str(NUMBERS[word.casefold()]),))
    for piece in text.split():
        if kept := [term for term in terms(piece) if term in long or _PLAIN.fullmatch(term)]:
            yield Entity(piece.strip(".,;:!?()"), tuple(dict.fromkeys(kept)))


def _capitals(text: str) -> Iterator[str]:
    """Yield the words with a capital that no sentence begins with."""
    for match in _WORD.finditer(text):
        begins = re.search(r"(?:^|[.?!:;\n])[\s\W]*$", text[: match.start()])
        if match[0][0].isupper() and not begins and not re.match(r"I(?:['’]|$)", match[0]):
            yield match[0]


@functools.lru_cache(maxsize=8)
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    longest = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.I)
