"""SQLite's lexical rules, and what a statement's words alone tell: is it one short statement that reads?

Nothing here decides what may be read; the database does that. These checks bound what SQLite has to compile,
because nothing can stop it while it compiles.
"""

import re
from typing import NamedTuple

from .sql_errors import UnsafeSQL, start_hint

MAX_CHARS = 20_000
MAX_DEPTH = 30  # parentheses and CASE within each other

_WORD = r"A-Za-z0-9_$\x80-\U0010ffff"
_TOKEN = re.compile(
    rf"""(?P<blank>[ \t\n\f\r\ufeff]+ | --[^\n]* | /\*.*?(?:\*/|\Z))
       | (?P<string>'[^']*(?:''[^']*)*(?:'|\Z))
       | (?P<blob>[xX]'[^']*')
       | (?P<quoted>"[^"]*(?:""[^"]*)*(?:"|\Z) | `[^`]*(?:``[^`]*)*(?:`|\Z) | \[[^\]]*(?:\]|\Z))
       | (?P<number>0[xX][0-9a-fA-F]+ | (?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)
       | (?P<param>\?[0-9]* | [:@\#$][{_WORD}]+(?:::[{_WORD}]*)*(?:\([^\s)]*\)?)?)
       | (?P<word>[A-Za-z_\x80-\U0010ffff][{_WORD}]*)
       | (?P<op>->>|->|\|\||<<|>>|<=|>=|<>|!=|==|.)""",
    re.X | re.S,
)
_WRITES = ("insert", "update", "delete", "replace", "merge", "create", "drop", "alter", "truncate")


class Token(NamedTuple):
    """A word, name, text, number, parameter or sign, with its folded `name` and where it starts."""

    kind: str
    text: str
    name: str
    start: int


def tokenize(sql: object) -> list[Token]:
    """Return the tokens of `sql` as SQLite sees them, without comments and blanks.

    Raises UnsafeSQL for what is not text, is too long or cannot be part of a statement.
    """
    if not isinstance(sql, str):
        raise UnsafeSQL("not text", f"Give the statement as a str, not {type(sql).__name__}.")
    if len(sql) > MAX_CHARS:
        hint = f"{len(sql):,} characters; at most {MAX_CHARS:,}. Filter with a join instead of a long list."
        raise UnsafeSQL("too long", hint)
    if "\0" in sql:
        raise UnsafeSQL("NUL character", "Remove the character U+0000; SQLite would stop reading there.")
    if re.search("[\ud800-\udfff]", sql):
        raise UnsafeSQL("not text", "The statement holds half of a surrogate pair, which is no character.")
    tokens = []
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup, match.group()
        if kind == "word" or kind == "op":
            tokens.append(Token(kind, text, text.lower(), match.start()))
        elif kind == "quoted" or kind == "string":
            end = text[-1]
            tokens.append(Token(kind, text, text[1:-1].replace(end * 2, end).lower(), match.start()))
        elif kind != "blank":
            tokens.append(Token(kind, text, "", match.start()))
    return tokens


def is_word(token: Token, *names: str) -> bool:
    """Return whether the token is one of these keywords, unquoted."""
    return token.kind == "word" and token.name in names


def one_read(sql: str) -> tuple[list[Token], int]:
    """Return the tokens of the one query in `sql`, less EXPLAIN and semicolons, and where its text ends.

    The text ends before a semicolon after which nothing more is to be run.
    Raises UnsafeSQL: "multiple statements", "only SELECT", "too deeply nested" and what `tokenize` raises.
    """
    tokens = tokenize(sql)
    end, last = len(sql), len(tokens)
    while last and tokens[last - 1].text == ";":
        last -= 1
    if len(tokens) > last:
        end = tokens[last].start
    tokens = tokens[:last]
    if not tokens:
        raise UnsafeSQL("no statement", "Write one SELECT statement.")
    if any(token.text == ";" for token in tokens):
        raise UnsafeSQL("multiple statements", "Only one statement runs at a time: leave out all but one.")
    if is_word(tokens[0], "explain"):
        plan = [token.name for token in tokens[1:3]] == ["query", "plan"]
        tokens = tokens[3 if plan else 1 :]
    first = next((token for token in tokens if token.text != "("), None)
    if first is None or not is_word(first, "select", "with", "values"):
        name = first.name if first else ""
        writes = (
            f"{name.upper()} writes; queries may only read." if name in _WRITES else start_hint(sql, name)
        )
        raise UnsafeSQL("only SELECT", writes)
    _check_inside(tokens)
    return tokens, end


def _check_inside(tokens: list[Token]) -> None:
    depth = 0
    for i, token in enumerate(tokens):
        if token.text == "(" or is_word(token, "case"):
            depth += 1
            if depth > MAX_DEPTH:
                hint = f"At most {MAX_DEPTH} levels. Split the query into steps with WITH."
                raise UnsafeSQL("too deeply nested", hint)
        elif token.text == ")" or is_word(token, "end"):
            depth -= 1
        elif (
            is_word(token, *_WRITES)
            and tokens[i - 1].text in ("(", ")")
            and i + 1 < len(tokens)
            and tokens[i + 1].kind != "op"
        ):  # WITH … DELETE, or WITH x AS (DELETE …): a write where only a query may stand
            raise UnsafeSQL("only SELECT", f"{token.text.upper()} writes; queries may only read.")


def explained(sql: str) -> str:
    """Return a statement that makes SQLite compile `sql` and show its program instead of running it."""
    first = next(match.group() for match in _TOKEN.finditer(sql) if match.lastgroup != "blank")
    return sql if first.lower() == "explain" else f"EXPLAIN {sql}"
