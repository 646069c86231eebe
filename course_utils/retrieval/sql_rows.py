"""The rows that a query gave, and the ways to show them."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Rows:
    """The rows of one query: iterable, with a length, shown as a table.

    `truncated` says that more rows existed; `milliseconds` is the time from the call to the last row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False
    milliseconds: float = 0.0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        return self.rows[i]

    def __repr__(self) -> str:
        return self.to_markdown()

    def to_markdown(self) -> str:
        """Return a Markdown table with whole values, then a line that says how many rows and whether cut."""
        if not self.columns:
            return self._count()
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join([*("| " + " | ".join(map(_cell, line)) + " |" for line in lines), "", self._count()])

    def frame(self) -> "pandas.DataFrame":
        """Return the rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(value))}</td>" for value in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{self._count()}</p>"

    def _count(self) -> str:
        if not self.rows:
            return "no rows"
        if self.truncated:
            return f"the first {len(self.rows)} rows; there are more"
        return f"{len(self.rows)} row{'s' * (len(self.rows) != 1)}"


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    return "NULL" if value is None else str(value)


def _cell(value: Any) -> str:
    """Return a value for one cell: a bar or a line break in a text must not end the cell."""
    text = _shown(value).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("\r\n", "<br>").replace("\n", "<br>").replace("\r", "<br>")
