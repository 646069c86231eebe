"""What comes back from a question put to a database: the rows, the query, and how it came about."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from course_utils.retrieval.sql_guard import Rows


@dataclass(frozen=True)
class Attempt:
    """One reply of the model: its query ("" if none was found), and why it failed (None if it ran)."""

    query: str
    error: str | None = None
    hint: str | None = None
    reply: str = ""

    @property
    def sql(self) -> str:
        """The query, where it is SQL."""
        return self.query


@dataclass(frozen=True, repr=False)
class QueryResult:
    """The answer to a question as rows. Prints as a table; without rows it says why, and invents none.

    `query` is the last statement written, also where it was refused. `rows` is empty after a failure, and
    `error` then holds the reason. `attempts` counts the model's replies and `trail` holds each of them.
    `warnings` name what makes the number doubtful; `near`, after an empty result, what is stored that is
    like the text asked for. `milliseconds` is the whole time, the model's included.
    """

    language: ClassVar[str] = "query"

    question: str
    query: str
    rows: "Rows"
    attempts: int
    milliseconds: float
    error: str | None = None
    trail: tuple[Attempt, ...] = ()
    warnings: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether a query ran; it may still have found no rows."""
        return self.error is None

    @property
    def empty(self) -> bool:
        """Whether a query ran and found nothing: no rows, or one row of nothing but NULL and 0."""
        return self.ok and nothing_in(self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know beside the table, one sentence each."""
        warnings = (f"Warning: {text}" for text in self.warnings)
        return (*warnings, *(f"Nothing found: {text}." for text in self.near))

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict; a column name that comes twice gets a number."""
        names = unique(self.rows.columns)
        for row in self.rows:
            yield dict(zip(names, row, strict=True))

    def _table(self) -> str:
        if not self.ok:
            return f"No answer: {self.error} (after {_times(self.attempts)})"
        return self.rows.to_markdown() if len(self.rows) else "no rows"

    def to_markdown(self) -> str:
        """Return the rows as a Markdown table, with the notes below it."""
        return "\n\n".join([self._table(), *self.notes])

    def __repr__(self) -> str:
        return "\n".join([self._table(), *self.notes])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = self.ok and len(self.rows)
        table = self.rows._repr_html_() if rows else f"<p>{html.escape(self._table())}</p>"
        none = f"<p>The reply held no {self.language}.</p>"
        query = f"<pre>{html.escape(self.query)}</pre>" if self.query else none
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        about = f"{self.language}, {_times(self.attempts)}"
        return f"{table}{notes}<details><summary>{about}</summary>{query}</details>"


@dataclass(frozen=True, repr=False)
class SQLResult(QueryResult):
    """A QueryResult whose query is SQL."""

    language: ClassVar[str] = "SQL"

    @property
    def sql(self) -> str:
        """The last statement written, also where it was refused; "" where there was none."""
        return self.query


def _times(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


def nothing_in(rows: "Rows") -> bool:
    """Return whether there are no rows, or just one that is all NULL and 0."""
    return not len(rows) or (len(rows) == 1 and all(not value for row in rows for value in row))


def unique(names: tuple[str, ...]) -> list[str]:
    """Return column names that differ: the second "name" becomes "name_2".

    >>> unique(("name", "city", "name"))
    ['name', 'city', 'name_2']
    """
    taken: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        taken[name] = taken.get(name, 0) + 1
        result.append(name if taken[name] == 1 else f"{name}_{taken[name]}")
    return result
