"""Sources that contradict each other: found by their metadata or told by the model, and which of them counts.

Precedence, the first rule that tells two sources apart:

1. A current article, a product page, a row of the database or a value of an API stands above a superseded
   article, and that above a ticket or a review, which tell of one case.
2. Of two articles of equal standing, the one for the narrower audience counts: staff before partner before
   public. Whoever asks may see it, and it was written for them.
3. The newer one counts, by updated_on or created_on.

Where no rule tells them apart the conflict is named and left open.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .citations import Citation, Given, Piece
from .figures import Figures

FORM = "CONFLICT: <what one source says> VERSUS <what the other says>"
_LINE = re.compile(r"^[ \t]*(?:[-*•][ \t]*)?\**CONFLICT:\**[ \t]*(?P<told>.*)$", re.M)
_AUDIENCES = ("staff", "partner", "public")


@dataclass(frozen=True)
class Side:
    """One side of a conflict: a document, the words that it is cited with, and what the model says of it."""

    id: str
    quote: str = ""
    claim: str = ""

    def __str__(self) -> str:
        return f"{self.claim or self.quote} ({self.id})"


@dataclass(frozen=True)
class Conflict:
    """Two sources that do not agree. `counts` is the id of the one to go by, "" if no rule says; `why`."""

    sides: tuple[Side, Side]
    counts: str
    why: str

    def __str__(self) -> str:
        a, b = self.sides
        verdict = f"What counts is {self.counts}, since {self.why}." if self.counts else f"Open: {self.why}."
        if not (a.claim or b.claim):
            return f"Two versions, {a.id} and {b.id}. {verdict}"
        return f"{a}, but {b}. {verdict}"


def between(a: Given, b: Given) -> tuple[str, str]:
    """Return (the id of the source that counts, why) by the rules above; ("", why) where none decides."""
    ranks = [_standing(one) for one in (a, b)]
    if ranks[0] != ranks[1]:
        winner, loser = (a, b) if ranks[0] < ranks[1] else (b, a)
        if max(ranks) == 1:
            return winner.id, f"{loser.id} is superseded by {loser.document.metadata['superseded_by']}"
        return winner.id, f"a {_kind(loser)} tells of one case"
    people = [one.document.metadata.get("audience") for one in (a, b)]
    if ranks[0] < 2 and people[0] != people[1] and all(one in _AUDIENCES for one in people):
        winner = a if _AUDIENCES.index(people[0]) < _AUDIENCES.index(people[1]) else b
        return winner.id, f"it is written for {winner.document.metadata['audience']}"
    days = [_day(one) for one in (a, b)]
    if all(days) and days[0] != days[1]:
        winner = a if days[0] > days[1] else b
        return winner.id, f"it is the newer one, {max(days)} against {min(days)}"
    return "", "no rule says which of them counts"


def superseded(given: Sequence[Given], cited: Sequence[str]) -> list[Conflict]:
    """Return the pairs of articles among the sources of which one replaces the other and one is cited.

    Once for each pair of articles, with the parts that are cited where several were found.
    """
    found: dict[tuple[str, str], Conflict] = {}
    ordered = sorted(given, key=lambda one: one.id not in cited)
    for old, new in itertools.permutations(ordered, 2):
        slug, by = (one.document.metadata.get(k) for one, k in ((new, "slug"), (old, "superseded_by")))
        if not by or by != slug or not {old.id, new.id} & set(cited):
            continue
        counts, why = between(old, new)
        pair = (article(old.id), article(new.id))
        found.setdefault(pair, Conflict((Side(new.id), Side(old.id)), counts, why))
    return list(found.values())


def told(pieces: Sequence[Piece], given: Sequence[Given]) -> tuple[list[Piece], list[Conflict], list[str]]:
    """Return the pieces without the lines that name conflicts, those conflicts, and why some were dropped.

    A line has the form of `FORM`, alone on its line. Each side must be cited, with a source of its own, and
    its figures must stand in that source.
    """
    whole = "".join(piece.text for piece in pieces)
    by_id = {one.id: one for one in given}
    conflicts: list[Conflict] = []
    dropped: list[str] = []
    lines = list(_LINE.finditer(whole))
    for line in lines:
        parts = re.split(r"\s+VERSUS\s+", line["told"])
        if len(parts) != 2:
            dropped.append(f"a conflict was not in the form asked for: {line['told'].strip()[:80]!r}")
            continue
        middle = line.start("told") + len(parts[0])
        sides = [
            _side(pieces, by_id, line.start("told"), middle, parts[0]),
            _side(pieces, by_id, line.end() - len(parts[1]), line.end(), parts[1]),
        ]
        if not all(sides) or sides[0].id == sides[1].id:
            dropped.append(f"a conflict was not cited on both sides: {line['told'].strip()[:80]!r}")
            continue
        counts, why = between(by_id[sides[0].id], by_id[sides[1].id])
        if counts == sides[1].id:
            sides.reverse()
        conflicts.append(Conflict((sides[0], sides[1]), counts, why))
    return without(pieces, [line.span() for line in lines]), conflicts, dropped


def _side(pieces: Sequence[Piece], by_id: dict[str, Given], start: int, end: int, claim: str) -> Side | None:
    cited: list[Citation] = []
    at = 0
    for piece in pieces:
        if piece.text[max(start - at, 0) : max(end - at, 0)].strip():
            cited += piece.citations
        at += len(piece.text)
    claim = claim.strip().rstrip(".")
    if not claim or not cited or Figures(by_id[one.id].text for one in cited).missing(claim):
        return None
    return Side(cited[0].id, cited[0].quote, claim)


def without(pieces: Sequence[Piece], spans: Sequence[tuple[int, int]]) -> list[Piece]:
    """Return the pieces less what lies in the spans."""
    left: list[Piece] = []
    at = 0
    for piece in pieces:
        kept = "".join(
            letter
            for place, letter in enumerate(piece.text, start=at)
            if not any(start <= place < end for start, end in spans)
        )
        at += len(piece.text)
        if kept == piece.text:
            left.append(piece)
        elif kept.strip():
            left.append(Piece(kept, piece.citations, piece.unfounded))
    return left


def _standing(one: Given) -> int:
    if _kind(one) in {"ticket", "review"}:
        return 2
    return 1 if one.document.metadata.get("superseded_by") else 0


def _kind(one: Given) -> str:
    return one.id.partition(":")[0]


def article(id: str) -> str:
    """Return the id without its part: article:returns-policy#2 is article:returns-policy."""
    return id.partition("#")[0]


def _day(one: Given) -> str:
    metadata = one.document.metadata
    return str(metadata.get("updated_on") or metadata.get("created_on") or "")
