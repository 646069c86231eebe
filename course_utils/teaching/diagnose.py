"""Tell a learner why the rows of a query are not the ones asked for, by the mistakes that people make."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_utils.retrieval.compare import same_rows

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Table:
    """The result of a query: column names, rows, and the query it came from ("" if unknown)."""

    columns: tuple[str, ...]
    rows: Rows
    query: str = ""

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[Any]], query: str = "") -> "Table":
        """Return a table of any sequences."""
        return cls(tuple(columns), tuple(tuple(row) for row in rows), query)


def difference(got: Table, want: Table, *, ordered: bool = False) -> str | None:
    """Return in words why `got` is not `want`, naming the likely misconception, or None if it is.

    Looks at `got.query` for the reason, never for the verdict, and tells no value of `want`.
    """
    if same_rows(got, want, ordered=ordered):
        return None
    sql = _Facts(got.query)
    extra = len(got.columns) - len(want.columns)
    if extra > 0:
        how = "SELECT * brings every column along" if sql.star else f"your query has {len(got.columns)}"
        return f"The question asks for {len(want.columns)} columns: {how}. Name the ones asked for, no more."
    if extra < 0:
        return f"The question asks for {len(want.columns)} columns and your query has {len(got.columns)}."
    if sql.orders_by_text:
        return (
            "ORDER BY sorts by a text in single quotes, which is the same for each row, so it sorts nothing. "
            'A column\'s name is written bare or in double quotes: ORDER BY "Total Sales".'
        )
    if ordered and same_rows(got, want):
        return "The rows are right and their order is not."
    return _wrong_numbers(got, want, sql) or _wrong_rows(got, want, sql)


def _wrong_numbers(got: Table, want: Table, sql: "_Facts") -> str | None:
    """Speak where the groups are right and a number in them is not."""
    pairs = _paired_numbers(got, want)
    wrong = [(g, w) for g, w in pairs if not math.isclose(g, w, rel_tol=1e-9, abs_tol=1e-6)]
    if not wrong:
        return None
    ratios = any(0 < abs(w) < 1 for _, w in wrong)
    if ratios and all(g == math.trunc(w) for g, w in pairs):
        return (
            "The ratio is cut to a whole number: SQLite divides two integers as integers. Make one side "
            "a real number, for example 1.0 * a / b."
        )
    if sql.joins and all(g > w > 0 for g, w in wrong):
        return (
            "The numbers are too large: a join repeats a row for each of its matches (fan-out), so its value "
            "is added several times. Add up before the join, or leave out the table you do not need."
        )
    if sql.counts_column and all(g < w for g, w in wrong):
        return (
            "The groups are right and numbers are too small. What does COUNT(column) leave out, and what "
            "does COUNT(DISTINCT column) count only once?"
        )
    if sql.filters and all(g < w for g, w in wrong):
        return "The numbers are too small: the WHERE in your query leaves rows out that should count."
    return None


def _wrong_rows(got: Table, want: Table, sql: "_Facts") -> str:
    missing = len(want.rows) - len(got.rows)
    if missing > 0 and len(got.rows) == 1 and sql.aggregates and not sql.groups:
        return "One row for everything: without GROUP BY there is a single group."
    if missing > 0:
        if sql.limit:
            return "Rows are missing: the LIMIT in your query cuts them off."
        if sql.joins:
            return (
                "Rows are missing: an inner JOIN drops what has no match, and grouping by a name that occurs "
                "twice melts two groups into one. Group by the key, and LEFT JOIN to keep the empty groups."
            )
        return (
            "Rows are missing: the WHERE in your query leaves them out."
            if sql.filters
            else "Rows are missing."
        )
    if missing < 0:
        return "There are more rows than asked for: is something listed twice, or a filter left out?"
    return "The rows are not the ones asked for."


def _paired_numbers(got: Table, want: Table) -> list[tuple[float, float]]:
    """Pair the numbers of rows whose texts are the same; [] where rows cannot be paired."""
    mine, theirs = _by_texts(got.rows), _by_texts(want.rows)
    if not mine or mine.keys() != theirs.keys():
        return []
    return [pair for key in mine for pair in zip(mine[key], theirs[key], strict=False)]


def _by_texts(rows: Rows) -> dict[tuple, list[float]]:
    found: dict[tuple, list[float]] = {}
    for row in rows:
        key = tuple(cell for cell in row if not _is_number(cell))
        if key in found:
            return {}
        found[key] = [cell for cell in row if _is_number(cell)]
    return found


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float))


class _Facts:
    """What a query's text says about itself; all False where it cannot be parsed."""

    def __init__(self, sql: str) -> None:
        import sqlglot
        from sqlglot import exp

        try:
            tree = sqlglot.parse_one(sql, read="sqlite") if sql.strip() else None
        except (sqlglot.errors.SqlglotError, RecursionError):
            tree = None
        self.filters = self.star = self.joins = self.groups = self.limit = self.aggregates = (
            self.orders_by_text
        ) = self.counts_column = False
        if tree is None:
            return
        self.star = any(not isinstance(star.parent, exp.Func) for star in tree.find_all(exp.Star))
        self.joins = tree.find(exp.Join) is not None
        self.groups = tree.find(exp.Group) is not None
        self.filters = tree.find(exp.Where) is not None
        self.limit = tree.find(exp.Limit) is not None
        self.aggregates = tree.find(exp.AggFunc) is not None
        self.counts_column = any(not isinstance(count.this, exp.Star) for count in tree.find_all(exp.Count))
        self.orders_by_text = any(
            isinstance(one.this, exp.Literal) and one.this.is_string for one in tree.find_all(exp.Ordered)
        )
