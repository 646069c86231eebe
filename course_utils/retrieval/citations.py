"""Citations: sources as Anthropic `search_result` blocks, a reply read back into pieces, each quote checked.

A citation stands only if it names a source that was given and its words stand in that source. The offline
model replies with the same blocks, written as JSON.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.documents import Document

LONGEST = 8_000  # characters of one source that the model is shown; a cut is announced
ALL = 60_000  # characters of all sources together
# What a reader must know of a document beside its text. A row or a JSON value says it in its text.
_TOLD = ("updated_on", "created_on", "superseded_by", "audience", "status", "price", "launched_on", "stars")
_TABLES = ("product", "article", "review", "ticket")
_CUT = re.compile(r"\n\s*|(?<=[.!?])(?<!\d\.)[ \t]+(?=[^\sa-z])")
# A sentence for a model instead of a reader: it stays in the source, and it backs nothing. No list of such
# words is complete: this one is the last of several fences, behind the blocks and the instructions.
_ORDERS = re.compile(
    r"\bAI (?:assistant|model)\b|\blanguage model\b|\bsystem prompt\b"
    r"|\b(?:ignore|disregard|forget)\b[^.!?]{0,40}\b(?:rules?|instructions?|told|prompt)\b",
    re.I,
)


@dataclass(frozen=True)
class Citation:
    """Words of a source: the document's id, and what is quoted from it."""

    id: str
    quote: str


@dataclass(frozen=True)
class Piece:
    """A part of an answer with the citations that stood. `unfounded`: it states something and has none."""

    text: str
    citations: tuple[Citation, ...] = ()
    unfounded: bool = False


@dataclass(frozen=True, eq=False)
class Given:
    """A document as the model is given it: `of` is what found it, `blocks` are its citable parts in order.

    Joined, the blocks are the text of the source. The API quotes whole blocks, so each is a sentence, a line
    or a row of a table; the first tells what only the metadata know, such as the date.
    """

    id: str
    of: str
    document: "Document"
    blocks: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """The text that was given, on one line."""
        return " ".join("".join(self.blocks).split())

    def orders(self, words: str) -> bool:
        """Return whether words of the text overlap a sentence that is written for a model."""
        start = self.text.find(words)
        end, at = start + len(words), 0
        for block in self.blocks:
            size = len(" ".join(block.split()))
            if at < end and start < at + size and _ORDERS.search(block):
                return True
            at += size + 1
        return False

    @property
    def origin(self) -> str:
        """The query or the place in an API's reply that it comes from, "" for a document of the shop."""
        metadata = self.document.metadata
        if metadata.get("sql"):
            return str(metadata["sql"])
        asked = metadata.get("query") or metadata.get("endpoint")
        return " ".join(str(one) for one in (asked, metadata.get("file"), metadata.get("pointer")) if one)

    @property
    def title(self) -> str:
        """What the document is called."""
        metadata = self.document.metadata
        names = (metadata.get(key) for key in ("title", "name", "subject"))
        return str(next(filter(None, names), self.id))

    def search_result(self) -> dict[str, Any]:
        """Return the content block of the Messages API in which a source may be cited."""
        return {
            "type": "search_result",
            "source": self.id,
            "title": self.title,
            "content": [{"type": "text", "text": block} for block in self.blocks],
            "citations": {"enabled": True},
        }


def give(documents: Iterable[tuple[str, "Document"]]) -> tuple[list[Given], int]:
    """Return the sources to give, and how many were left out for want of room; (name, document) go in.

    A document without text, a row of nothing but NULL, and a document that came before are not given.
    """
    given: list[Given] = []
    seen: set[tuple[str, str]] = set()
    room, left_out = ALL, 0
    for of, document in documents:
        row = document.metadata.get("row")
        row = row if isinstance(row, dict) else {}
        text = document.page_content.strip()
        key = (document.id or "", text)
        if not text or key in seen or (row and all(v is None for v in row.values())):
            continue
        seen.add(key)
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}\n… (cut, {len(text):,} characters)"
        if len(text) > room:
            left_out += 1
            continue
        room -= len(text)
        id = document.id or f"{of}#{len(given) + 1}"
        if any(one.id == id for one in given):  # two queries, each with a row sql:1
            id = f"{id} of {of} ({len(given) + 1})"
        given.append(Given(id, of, document, (*_about(id, document), *_blocks(text))))
    return given, left_out


def _about(id: str, document: "Document") -> list[str]:
    if id.partition(":")[0] not in _TABLES:
        return []
    metadata = document.metadata
    told = [f"{key}: {metadata[key]}" for key in _TOLD if metadata.get(key) not in (None, "")]
    return ["; ".join(told) + "\n"] if told else []


def _blocks(text: str) -> list[str]:
    places = [0, *(found.end() for found in _CUT.finditer(text)), len(text)]
    return [text[a:b] for a, b in zip(places, places[1:], strict=False) if text[a:b].strip()]


def read(reply: Any, given: Sequence[Given]) -> tuple[list[Piece], list[str]]:
    """Return the pieces of a reply with the citations that stand, and why others were dropped."""
    pieces: list[Piece] = []
    dropped: list[str] = []
    for block in _content(reply):
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if not isinstance(block, dict) or block.get("type", "text") != "text":
            continue  # thinking, for instance
        text, told = block.get("text"), block.get("citations") or ()
        if not isinstance(text, str) or not text:
            continue
        stand: list[Citation] = []
        for citation in told if isinstance(told, (list, tuple)) else [told]:
            found = _checked(citation, given)
            if isinstance(found, str):
                dropped.append(found)
            elif found not in stand:
                stand.append(found)
        pieces.append(Piece(text, tuple(stand), bool(told) and not stand))
    return pieces, dropped


def marked(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces, those marked as unfounded of which a sentence has no citation in any of its parts.

    A heading, and a few words such as "Yes, it does.", state nothing that is not in the sentences around.
    """
    whole = "".join(piece.text for piece in pieces)
    bounds, at = [], 0
    for piece in pieces:
        bounds.append((at, at := at + len(piece.text)))
    bare: list[tuple[int, int]] = []
    places = [0, *(found.end() for found in _CUT.finditer(whole)), len(whole)]
    for start, end in zip(places, places[1:], strict=False):
        parts = [piece for piece, (a, b) in zip(pieces, bounds, strict=True) if a < end and start < b]
        sentence = whole[start:end].strip()
        if len(sentence.split()) > 4 and not sentence.endswith(":") and not any(p.citations for p in parts):
            bare.append((start, end))
    return [
        replace(piece, unfounded=piece.unfounded or any(a < end and start < b for start, end in bare))
        for piece, (a, b) in zip(pieces, bounds, strict=True)
    ]


def _content(reply: Any) -> list[Any]:
    """Return the blocks of a reply: the message's own, or those that its text is the JSON of."""
    content = getattr(reply, "content", reply)
    if isinstance(content, list):
        return content
    text = str(content or "")
    body = re.sub(r"^\s*```\w*\s*\n|\n\s*```\s*$", "", text).strip()
    if body.startswith("["):
        try:
            blocks = json.loads(body)
        except ValueError:
            return [text]
        if isinstance(blocks, list) and blocks and all(isinstance(b, dict) and "text" in b for b in blocks):
            return blocks
    return [text]


def _checked(citation: Any, given: Sequence[Given]) -> Citation | str:
    """Return the citation, or what is wrong with it."""
    if not isinstance(citation, dict):
        return "a citation was not in the form asked for"
    number, source = citation.get("search_result_index"), citation.get("source")
    quote = citation.get("cited_text")
    words = " ".join(quote.split()) if isinstance(quote, str) else ""
    if number is not None:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(given):
            return f"a citation named source {number!r:.20} of {len(given)}"
        among = [given[number]]
        if source is not None and source != among[0].id:
            return f"a citation named source {number} and {source!r:.60}, which is another"
    else:
        among = [one for one in given if source is None or source == one.id]
        if not among:
            return f"a citation named {source!r:.60}, which was not given"
    if len(words) < 2:
        return f"a citation of {among[0].id if source or number is not None else 'no source'} quoted nothing"
    found = next((one for one in among if words in one.text), None)
    if found is None:
        where = among[0].id if len(among) == 1 else "the sources"
        return f'a quote does not stand in {where}: "{words[:80]}{"…" * (len(words) > 80)}"'
    if found.orders(words):
        return f"a quote from {found.id} is an instruction to a model and says nothing to a reader"
    return Citation(found.id, words)
