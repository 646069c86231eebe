"""An answer with its sources: what it says, what backs each part, what contradicts, what is missing."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .citations import Piece
from .conflicts import Conflict

if TYPE_CHECKING:
    import pandas

Outcome = Literal["answered", "unknown", "unsupported"]


@dataclass(frozen=True)
class Missing:
    """A source that gave nothing because it failed."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"the {self.name} did not answer ({self.reason.rstrip('.')})"


@dataclass(frozen=True)
class Used:
    """A source of an answer: its number there, the document, what found it, the words it is cited with.

    origin: the SQL, or the endpoint and the JSON pointer, that it comes from; "" for a document of the shop.
    """

    number: int
    id: str
    title: str
    of: str
    origin: str = ""
    quotes: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the row of the shop behind it, fresh from the database.

        Raises KeyError where there is none: a row of a query and a value of an API are their own source, and
        `origin` says how to read them again.
        """
        from course_utils.shop import documents

        return documents.row(self.id)

    def __str__(self) -> str:
        return "; ".join([f"[{self.number}] {self.id}", *(f'"{_short(quote)}"' for quote in self.quotes)])


@dataclass(frozen=True)
class Step:
    """One line of the trace: who was asked what, for how long, and what came of it."""

    who: str
    query: str
    documents: int
    milliseconds: float
    error: str = ""


@dataclass(frozen=True, repr=False)
class Trace:
    """How an answer came about: the route and why, each query, milliseconds, and tokens where they are known.

    `tokens` is (read, written) of the model that put the answer into words, None where nobody counted.
    """

    route: str
    why: str
    steps: tuple[Step, ...]
    tokens: tuple[int, int] | None = None

    @property
    def milliseconds(self) -> float:
        """The time of all steps, added up; those that ran side by side took less together."""
        return sum(step.milliseconds for step in self.steps)

    def frame(self) -> "pandas.DataFrame":
        """Return a data frame with one row a step: who, query, documents, ms, error."""
        import pandas

        columns = ["who", "query", "documents", "ms", "error"]
        rows = [(s.who, s.query, s.documents, round(s.milliseconds, 1), s.error) for s in self.steps]
        return pandas.DataFrame(rows, columns=columns)

    @property
    def heading(self) -> str:
        """The route, why it was taken, and the tokens."""
        told = f"Route: {self.route}" + (f" ({self.why})" if self.why else "")
        if self.tokens is None:
            return told
        return f"{told}; {self.tokens[0]:,} tokens read, {self.tokens[1]:,} written"

    def __repr__(self) -> str:
        lines = [
            f"{s.milliseconds:8.1f} ms  {s.who}: {_short(s.query, 100)} -> "
            + (f"failed: {s.error}" if s.error else f"{s.documents} documents")
            for s in self.steps
        ]
        return "\n".join([self.heading, *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("who", "query", "documents", "ms", "error"))
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(str(cell))}</td>"
                for cell in (s.who, s.query, s.documents, f"{s.milliseconds:.1f}", s.error)
            )
            + "</tr>"
            for s in self.steps
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{html.escape(self.heading)}</p>{table}"


@dataclass(frozen=True, repr=False)
class Answer:
    """An answer to a question, with what it rests on. Prints with numbered sources.

    outcome: "answered"; "unknown" where the sources do not say it, or there were none; "unsupported" where
    the model's answer did not stand up and is withheld. text: what a reader is told. pieces: the answer in
    parts, each with its citations. sources: those that are cited, in the order of first citation; of a
    withheld answer, those that were given. conflicts, missing: sources that contradict each other, and those
    that failed. note: what else a reader should know. dropped: what was not used of the reply, and why.
    trace: how it came about; it does not count when two answers are compared, and stands in no repr.
    """

    question: str
    outcome: Outcome
    text: str
    pieces: tuple[Piece, ...] = ()
    sources: tuple[Used, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    missing: tuple[Missing, ...] = ()
    note: str = ""
    dropped: tuple[str, ...] = ()
    trace: Trace | None = field(default=None, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the question was answered."""
        return self.outcome == "answered"

    @property
    def ids(self) -> list[str]:
        """The ids of the sources, in their order."""
        return [source.id for source in self.sources]

    def row(self, number: int) -> dict[str, Any]:
        """Return the row behind source [number]; IndexError if no source has it, KeyError as `Used.row`."""
        for source in self.sources:
            if source.number == number:
                return source.row()
        raise IndexError(f"There is no source [{number}]; the answer has {len(self.sources)}.")

    def _marked(self) -> list[tuple[str, str]]:
        """Return the parts of the text, each with its marks: ("It lasts nine hours.", "[1][2]")."""
        if not self.pieces:
            return [(self.text, "")]
        numbers = {source.id: source.number for source in self.sources}
        parts = []
        for piece in self.pieces:
            cited = dict.fromkeys(f"[{numbers[c.id]}]" for c in piece.citations if c.id in numbers)
            parts.append((piece.text, "".join(cited) or ("[?]" if piece.unfounded else "")))
        return parts

    def _notes(self) -> list[tuple[str, str]]:
        """Return (heading, text) of what stands below the sources."""
        notes = [("Conflict", str(conflict)) for conflict in self.conflicts]
        notes += [("Missing", f"{one}.") for one in self.missing]
        return [*notes, ("Note", self.note)] if self.note else notes

    def __str__(self) -> str:
        lines = ["".join(map(_join, self._marked())).strip()]
        if self.sources:
            lines += ["", "Sources" if self.pieces else "Sources that were asked"]
            lines += map(str, self.sources)
        notes = self._notes()
        return "\n".join([*lines, *([""] if notes else []), *(f"{head}: {text}" for head, text in notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        text = "".join(
            _join((html.escape(text), f"<sup>{mark}</sup>" if mark else "")) for text, mark in self._marked()
        )
        text = text.strip().replace("\n", "<br>")
        listed = "".join(
            f'<li value="{one.number}"><code>{html.escape(one.id)}</code> {html.escape(one.title)}'
            + (f"<br><code>{html.escape(one.origin)}</code>" if one.origin else "")
            + "".join(f"<br><q>{html.escape(_short(quote, 300))}</q>" for quote in one.quotes)
            + "</li>"
            for one in self.sources
        )
        head = "Sources" if self.pieces else "Sources that were asked"
        sources = f"<p><b>{head}</b></p><ol>{listed}</ol>" if listed else ""
        notes = "".join(f"<p><b>{h}:</b> {html.escape(text)}</p>" for h, text in self._notes())
        return f"<p>{text}</p>{sources}{notes}"


def used(ids: Sequence[tuple[str, str]], about: dict[str, tuple[str, str, str]]) -> tuple[Used, ...]:
    """Return the sources of (id, quote) pairs, numbered from 1; about: id -> (title, of, origin)."""
    quotes: dict[str, dict[str, None]] = {}
    for id, quote in ids:
        quotes.setdefault(id, {}).update({quote: None} if quote else {})
    return tuple(Used(number, id, *about[id], tuple(quotes[id])) for number, id in enumerate(quotes, start=1))


def _join(part: tuple[str, str]) -> str:
    """Return a text with its marks before the space at its end."""
    text, mark = part
    end = re.search(r"\s*\Z", text).start()
    return f"{text[:end]}{f' {mark}' if mark and end else mark}{text[end:]}"


def _short(text: str, most: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
