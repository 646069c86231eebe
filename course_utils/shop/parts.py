"""Cutting a long text into parts, each below its heading, that fit into what an embedding model reads."""

import re
from typing import NamedTuple

# The model reads 256 tokens. A piece is about one of them: a test counts the real ones of this shop's texts;
# texts full of rare words may need fewer pieces a part.
MOST_PIECES, MOST_TITLE = 205, 60
_PIECE = re.compile(r"\w+|[^\w\s]")
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_CODE, _WORD = 8, 16  # characters: up to here a code, or a word, is one to three tokens


class Part(NamedTuple):
    """A part of a text: the heading it stands under (None above the first), and all that is searched."""

    heading: str | None
    text: str


def parts(head: str, body: str) -> list[Part]:
    """Return the text below its `head` as one part or, where it is too long, as one for each `## ` heading.

    A section that is still too long is cut between paragraphs, else sentences, else words, by LangChain's
    RecursiveCharacterTextSplitter. Each part begins with the head and its heading, a long one shortened.
    """
    whole = f"{head}\n\n{body.strip()}"
    if count(whole) <= MOST_PIECES:
        return [Part(None, whole)]
    head, found = _short(head), []
    for heading, section in _sections(body):
        title = head if heading is None else f"{head}\n{_short(heading)}"
        found += [Part(heading, f"{title}\n\n{text}") for text in _fit(section, MOST_PIECES - count(title))]
    return found


def count(text: str) -> int:
    """Return how many pieces a text has: words, numbers and marks, long words for several.

    "SKU-77821, blue" has 5.
    """
    return sum(_weight(piece) for piece in _PIECE.findall(text))


def _weight(piece: str) -> int:
    """Return about how many tokens a piece is: several for long words and codes, and for Chinese."""
    wide = sum(character > "\u2e7f" for character in piece)
    long = len(piece) > (_CODE if any(map(str.isdigit, piece)) else _WORD)
    return max(wide, 1) + (len(piece) - wide) // 2 * long


def _short(title: str) -> str:
    """Return a title of at most MOST_TITLE pieces, cut between words."""
    words = title.split()
    while count(" ".join(words)) > MOST_TITLE and len(words) > 1:
        words.pop()
    cut = " ".join(words)
    return title if cut == " ".join(title.split()) else f"{cut[: 8 * MOST_TITLE]}…"


def _sections(body: str) -> list[tuple[str | None, str]]:
    """Return (heading, text) of each section; a heading without a text of its own goes to the next one."""
    first, *rest = _HEADING.split(body)
    found: list[tuple[str | None, str]] = []
    waiting = ""
    for heading, text in [(None, first), *zip(rest[::2], rest[1::2], strict=True)]:
        if text.strip():
            found.append((heading, f"{waiting}{text.strip()}"))
            waiting = ""
        elif heading is not None:
            waiting += f"{heading}\n\n"
    return [*found, (None, waiting.strip())] if waiting else found


def _fit(section: str, room: int) -> list[str]:
    if count(section) <= room:
        return [section]
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", ". ", "? ", "; ", ": ", " ", ""],
        keep_separator="end",
        chunk_size=room,
        chunk_overlap=0,
        length_function=count,
    )
    return [text.strip() for text in splitter.split_text(section)]
