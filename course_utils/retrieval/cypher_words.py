"""What a Cypher statement says, word by word: one statement, that reads, with walks of a bounded length.

This layer explains; the engine's plan and the process that can be killed (`graph_child`) enforce.
"""

import re
from collections.abc import Iterator

from .sql_errors import UnsafeQuery

MAX_LENGTH = 5_000  # characters of a statement
MAX_STEPS = 10  # the longest walk that *1..n may ask for
MAX_DEPTH = 40  # brackets inside brackets
FIRST = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN")
WRITES = {
    "CREATE",
    "MERGE",
    "SET",
    "DELETE",
    "DETACH",
    "REMOVE",
    "DROP",
    "ALTER",
    "FOREACH",
    "COMMENT",
    "INSERT",
}
OUTSIDE = {
    "LOAD", "COPY", "EXPORT", "IMPORT", "INSTALL", "UNINSTALL", "ATTACH", "USE", "CALL", "UPDATE", "PROJECT",
}  # fmt: skip
CONTROL = {"BEGIN", "COMMIT", "ROLLBACK", "CHECKPOINT", "EXPLAIN", "PROFILE", "ANALYZE", "TERMINATE", "SHOW"}
_TOKEN = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<name>`[^`]*`)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<number>\d+(?!\w)|\d[\w.]*)
      | (?P<word>[^\W\d]\w*)
      | (?P<dots>\.\.)
      | (?P<mark>\S)""",
    re.X | re.S,
)


class UnsafeCypher(UnsafeQuery):
    """A Cypher statement was refused: it is not one read of the published graph within the limits."""


def tokens(cypher: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each word, number, mark, quoted text and quoted name; comments are left out.

    A quote or comment that never ends comes as a mark.
    """
    for found in _TOKEN.finditer(cypher):
        if found.lastgroup != "comment":
            yield found.lastgroup, found[0]


def check_words(cypher: str) -> str:
    """Return a statement without blanks and semicolons around it; UnsafeCypher says what is wrong with it."""
    if not isinstance(cypher, str):
        raise TypeError(f"A Cypher statement is a text, not {type(cypher).__name__}.")
    if len(cypher) > MAX_LENGTH:
        raise UnsafeCypher(f"too long: {len(cypher):,} characters, at most {MAX_LENGTH:,}", "Ask for less.")
    text = re.sub(r"(?:\s|;)+\Z", "", cypher).strip()
    found = list(tokens(text))
    if not found:
        raise UnsafeCypher("no statement: the text is empty", "Write MATCH … RETURN ….")
    _plain(found)
    _one_that_reads(found)
    _bounded(found)
    return text


def _plain(found: list[tuple[str, str]]) -> None:
    depth = 0
    for kind, text in found:
        odd = next((c for c in text if not (c.isascii() and (c.isprintable() or c.isspace()))), None)
        if odd and kind not in ("text", "name"):
            hint = "Use plain letters and blanks; other letters belong in quotes."
            raise UnsafeCypher(f"odd character: U+{ord(odd):04X} outside of quotes", hint)
        if "\0" in text:
            raise UnsafeCypher("odd character: U+0000", "Remove it.")
        if kind == "mark" and text in "'\"`":
            raise UnsafeCypher(
                f"a quote that never ends: {text}", "Close it, or write \\ before a quote inside."
            )
        depth += (text in "([{") - (text in ")]}") if kind == "mark" else 0
        if depth > MAX_DEPTH:
            raise UnsafeCypher("too deeply nested", "Write it with fewer brackets inside brackets.")


def _one_that_reads(found: list[tuple[str, str]]) -> None:
    if ("mark", ";") in found:
        raise UnsafeCypher("multiple statements", "Send one statement; join its parts with WITH.")
    first = found[0][1].upper()
    for at, (kind, text) in enumerate(found):
        word = text.upper()
        before = found[at - 1][1] if at else ""
        after = found[at + 1][1] if at + 1 < len(found) else ""
        # p.set, :Set and {set: 1} are names; so is whatever stands in backticks.
        if kind != "word" or before in (".", ":", "|") or (after == ":" and before in ("{", ",")):
            continue
        if word in WRITES:
            raise UnsafeCypher(f"not a read: {word}", "Queries may only read: MATCH … RETURN ….")
        if word in OUTSIDE:
            raise UnsafeCypher(
                f"outside of the graph: {word}", "Only the graph's own nodes and edges can be read."
            )
        if word in CONTROL:
            raise UnsafeCypher(
                f"not a query: {word}", "Start with MATCH; the schema that you were given lists all."
            )
    if first not in FIRST:
        hint = "This is SQL; write MATCH (p:Product) RETURN p.name." if first == "SELECT" else ""
        raise UnsafeCypher(f"no query: it starts with {found[0][1][:20]}", hint or "Start with MATCH.")


def _bounded(found: list[tuple[str, str]]) -> None:
    """Refuse a walk of any length, `-[:X*]-`, and one longer than MAX_STEPS."""
    inside: list[str] = []  # the brackets that are open; "edge" for one that begins an edge
    for at, (kind, text) in enumerate(found):
        if kind == "mark" and text in "([{":
            edge = text == "[" and at and found[at - 1][1] == "-"
            inside.append("edge" if edge else text)
        elif kind == "mark" and text in ")]}" and inside:
            inside.pop()
        elif text == "*" and inside and inside[-1] == "edge":
            _check_length(found[at + 1 :])


def _check_length(rest: list[tuple[str, str]]) -> None:
    bounds = []
    for kind, text in rest:
        if kind in ("number", "dots"):
            bounds.append(text)
        elif kind != "word" or bounds:  # SHORTEST, ALL, TRAIL, ACYCLIC may stand before the numbers
            break
    written = "".join(bounds)
    most = re.fullmatch(r"\d*\.\.(\d+)|(\d+)", written)
    hint = f"Give the most steps, at most {MAX_STEPS}: -[:REFERRED*1..{MAX_STEPS}]->."
    if not most:
        raise UnsafeCypher(f"a walk of any length: *{written}", hint)
    if int(most[1] or most[2]) > MAX_STEPS:
        raise UnsafeCypher(f"too long a walk: *{written}", hint)
