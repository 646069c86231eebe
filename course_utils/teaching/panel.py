"""Panels: what a check, a hint or a table says, as accessible HTML and as plain text."""

import html
import re
from collections.abc import Iterable, Sequence

# Okabe-Ito colours; the line style says the same without colour.
_BORDERS = {
    "passed": "6px solid #009E73",
    "not yet": "6px double #E69F00",
    "not attempted": "6px dotted #8C8C8C",
    "note": "6px solid #0072B2",
}
_BOX = "border-left:{border};padding:0.5em 0.9em;margin:0.3em 0;max-width:56em;line-height:1.45"
_CODE = "display:block;padding:0.6em 0.8em;margin:0.4em 0;overflow-x:auto;border:1px solid #8C8C8C"
_CELL = "text-align:left;padding:0.2em 1em 0.2em 0;border-bottom:1px solid #8C8C8C"


class Panel:
    """Something to look at: HTML in a notebook, text everywhere else."""

    def __init__(self, markup: str, text: str) -> None:
        self._markup = markup
        self._text = text

    def _repr_html_(self) -> str:
        return self._markup

    def __repr__(self) -> str:
        return self._text


def prose(text: str) -> str:
    """Return escaped HTML of a text: `code` between backticks, line breaks kept."""
    parts = re.split(r"`([^`\n]+)`", text)
    shown = [
        f"<code>{html.escape(part)}</code>" if index % 2 else html.escape(part).replace("\n", "<br>")
        for index, part in enumerate(parts)
    ]
    return "".join(shown)


def box(kind: str, heading: str, blocks: Iterable[str]) -> str:
    """Return the HTML of one panel. `kind` is a state or "note"; `blocks` are HTML, the heading is text."""
    inside = "".join(f'<div style="margin-top:0.3em">{block}</div>' for block in blocks if block)
    return (
        f'<div role="group" aria-label="{html.escape(heading)}" '
        f'style="{_BOX.format(border=_BORDERS[kind])}">'
        f"<strong>{html.escape(heading)}</strong>{inside}</div>"
    )


def code_block(source: str) -> str:
    """Return the HTML of a block of code."""
    return f'<pre style="{_CODE}"><code>{html.escape(source)}</code></pre>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the HTML of a small table of texts."""
    head = "".join(f'<th scope="col" style="{_CELL}">{html.escape(column)}</th>' for column in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{html.escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the same table as text with aligned columns."""
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def note(heading: str, text: str, *, code: str = "") -> Panel:
    """Return a panel with a heading, a text and perhaps a block of code below it."""
    blocks = [prose(text), code_block(code) if code else ""]
    return Panel(box("note", heading, blocks), "\n".join(part for part in (heading, text, code) if part))


def number(points: float) -> str:
    """Return points without a needless ".0"."""
    return f"{points:.2f}".rstrip("0").rstrip(".")
