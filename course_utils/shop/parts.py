"""Cutting a long text into parts that an embedding model reads whole, each below its heading."""

import re
from typing import NamedTuple

# The model reads 256 tokens. A word or a mark is 1.2 to 1.4 of them in this shop's texts, codes more.
MOST_PIECES = 205
_PIECE = re.compile(r"\w+|[^\w\s]")
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)


class Part(NamedTuple):
    """A part of a text: the heading it stands under (None above the first), and all that is searched."""

    heading: str | None
    text: str


def parts(head: str, body: str) -> list[Part]:
    """Return the text below its `head` as one part or, where it is too long, as one for each `## ` heading.

    A section that is still too long is cut between paragraphs, else sentences, else words, by LangChain's
    RecursiveCharacterTextSplitter. Each part begins with the head and its heading.
    """
    whole = f"{head}\n\n{body.strip()}"
    if count(whole) <= MOST_PIECES:
        return [Part(None, whole)]
    found = []
    for heading, section in _sections(body):
        title = head if heading is None else f"{head}\n{heading}"
        found += [Part(heading, f"{title}\n\n{text}") for text in _fit(section, MOST_PIECES - count(title))]
    return found


def count(text: str) -> int:
    """Return the number of words, numbers and marks in a text: "SKU-77821, blue" -> 5."""
    return len(_PIECE.findall(text))


def _sections(body: str) -> list[tuple[str | None, str]]:
    first, *rest = _HEADING.split(body)
    pairs = [(None, first), *zip(rest[::2], rest[1::2], strict=True)]
    return [(heading, text.strip()) for heading, text in pairs if text.strip()]


def _fit(section: str, room: int) -> list[str]:
    if count(section) <= room:
        return [section]
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", r"(?<=[.?;:]) ", " "],
        is_separator_regex=True,
        keep_separator=False,
        chunk_size=room,
        chunk_overlap=0,
        length_function=count,
    )
    return splitter.split_text(section)
