"""Golden questions for text-to-SQL: ask a retriever and compare its rows with those of the gold SQL."""

import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_utils.retrieval.compare import same_rows

if TYPE_CHECKING:
    import pandas

    from course_utils.retrieval.query_result import SQLResult
    from course_utils.retrieval.sql_guard import SafeDatabase
    from course_utils.retrieval.text_to_sql import SQLRetriever


@dataclass(frozen=True)
class Golden:
    """A question with SQL that answers it. Its rows are computed anew each time, never stored."""

    id: str
    question: str
    sql: str
    ordered: bool
    difficulty: str
    note: str


@dataclass(frozen=True)
class Marked:
    """What a retriever made of one golden question: right at once, right in the end, and if not, why."""

    golden: Golden
    result: "SQLResult"
    first: bool
    final: bool
    why: str


@dataclass(frozen=True, repr=False)
class Score:
    """The marks of a whole set; prints as a table with the two totals below."""

    marks: tuple[Marked, ...]

    @property
    def first(self) -> int:
        """How many were right with the model's first reply."""
        return sum(mark.first for mark in self.marks)

    @property
    def final(self) -> int:
        """How many were right after repairs."""
        return sum(mark.final for mark in self.marks)

    def wrong(self) -> tuple[Marked, ...]:
        """Return the questions that were not answered rightly in the end."""
        return tuple(mark for mark in self.marks if not mark.final)

    def _lines(self) -> Iterator[tuple[str, ...]]:
        for mark in self.marks:
            note = mark.why or (f"repaired: {mark.result.trail[0].error}" if not mark.first else "")
            seen = "yes" if mark.result.warnings or mark.result.near else ""
            says = ("right" if right else "wrong" for right in (mark.first, mark.final))
            yield (mark.golden.id, mark.golden.difficulty, *says, seen, note)

    def frame(self) -> "pandas.DataFrame":
        """Return one row for each question, as a data frame."""
        import pandas

        return pandas.DataFrame(list(self._lines()), columns=list(HEAD)).set_index("id")

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [HEAD, ("---",) * len(HEAD), *self._lines()]
        bars = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
        table = "\n".join(f"| {bar} |" for bar in bars)
        return f"{table}\n\n{self._total()}"

    def _total(self) -> str:
        count = len(self.marks)
        return f"right at the first attempt: {self.first} of {count}; after repair: {self.final} of {count}"

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(line, "td") for line in self._lines())
        return f"<table>{row(HEAD, 'th')}{body}</table><p>{self._total()}</p>"


HEAD = ("id", "difficulty", "first attempt", "after repair", "warned", "why")


def load_golden(path: str | Path | None = None) -> tuple[Golden, ...]:
    """Return the questions of a JSON-lines file, by default data/golden/sql_lesson.jsonl.

    Raises ValueError with the line's number for a line that lacks a field, and for an id that comes twice.
    """
    if path is None:
        from course_utils import places

        path = places.data() / "golden" / "sql_lesson.jsonl"
    found: dict[str, Golden] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            one = Golden(**json.loads(line))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if one.id in found:
            raise ValueError(f"{path}, line {number}: the id {one.id} is already taken")
        found[one.id] = one
    return tuple(found.values())


def score(
    retriever: "SQLRetriever",
    questions: Iterable[Golden] | None = None,
    db: "SafeDatabase | None" = None,
    tolerance: float = 1e-6,
) -> Score:
    """Put each question to the retriever and compare its rows with those of the gold SQL.

    The gold SQL runs on `db`, by default the retriever's own. Rows compare as a multiset unless the
    question asks for an order. A reply is right at first if no repair was needed and its rows are right.
    """
    db = db if db is not None else retriever.db
    marks = []
    for golden in questions if questions is not None else load_golden():
        result = retriever.ask(golden.question)
        marks.append(mark(golden, result, db.run(golden.sql), tolerance))
    return Score(tuple(marks))


def mark(golden: Golden, result: "SQLResult", expected: Any, tolerance: float = 1e-6) -> Marked:
    """Return the mark of one result; a failed query is wrong, and so is a gold result that was cut off."""
    if expected.truncated:
        raise ValueError(f"{golden.id}: the gold SQL gives more rows than are read; ask for fewer")
    if not result.ok:
        return Marked(golden, result, False, False, f"no answer: {result.error}")
    same = same_rows(result, expected, ordered=golden.ordered, tolerance=tolerance)
    return Marked(golden, result, same.equal and result.attempts == 1, same.equal, same.why)
