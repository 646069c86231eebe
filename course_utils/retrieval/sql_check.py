"""The verdict on a statement before it runs: the words first, then SQLite's own compiler as the parser."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..shop.publish import quoted
from .sql_errors import Tables, UnsafeSQL, explain, forbidden_table, nearest
from .sql_lock import Locked, full_text
from .sql_size import written_out
from .sql_tokens import Token, explained, is_word, one_read, tokenize

MAX_SEARCH = 500  # characters in a full-text query
MAX_TEXTS = 50  # texts in double quotes
MAX_PREFIXES = 6  # words with a star in one: each reads through the whole index
_COMPARE = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "like", "glob", "between", "and", "then", "else"]
_CLAUSES = "where group having order limit union except intersect window"
_AFTER_TABLE = f"cross full inner join left natural outer right on using indexed not {_CLAUSES}".split()
_SEARCH_FUNCTIONS = ("bm25", "highlight", "snippet", "count")
_END = Token("op", "", "", 0)


class Checked(NamedTuple):
    """A statement whose form is right: its text, its size written out, and a test of its "names".

    SQLite takes a name in double quotes that is no column for a text: SELECT "nmae" gives nmae in every row.
    `probe`, where there are such names, has SQLite compile the statement with each of them as `name`.
    """

    sql: str
    tokens: list[Token]
    size: int
    probe: str | None


def check_sql(sql: str, tables: Tables | None = None) -> str:
    """Return the statement to run, which is `sql` itself, or raise UnsafeSQL or QueryFailed.

    Without `tables` only the statement's form is checked: one statement, only SELECT, bounded. With `tables`
    (what may be read, as `SafeDatabase.tables` gives it) SQLite compiles the statement against an empty
    database with just these tables, so its syntax and every name are checked too; nothing is run.

    >>> check_sql("SELECT name FROM customers", {"customers": ("id", "name")})
    'SELECT name FROM customers'
    """
    checked = check(sql, tables or {})
    if tables is not None:
        locked = Locked(_empty(tables), tables)
        try:
            for text in filter(None, (checked.probe, explained(checked.sql))):
                locked.execute(_without_parameters(text), (), 5, 1_000).close()
        except (sqlite3.Error, MemoryError) as error:
            if "no such index" in str(error):  # the empty tables have none; the file may
                return checked.sql
            raise explain(locked.said(error), sql, tables, tables_used(checked.tokens, tables)) from error
        finally:
            locked.close()
    return checked.sql


def _without_parameters(sql: str) -> str:
    parts, at = [], 0
    for token in tokenize(sql):
        if token.kind == "param":
            parts += [sql[at : token.start], "NULL"]
            at = token.start + len(token.text)
    return "".join([*parts, sql[at:]])


def _empty(tables: Tables) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    searched = full_text(tables)
    for name, columns in tables.items():
        hidden = (name.lower(), "rank") if name in searched else ()
        terms = ", ".join(quoted(column) for column in columns if column.lower() not in hidden)
        kind = ("VIRTUAL TABLE", "USING fts5") if name in searched else ("TABLE", "")
        db.execute(f"CREATE {kind[0]} {quoted(name)} {kind[1]} ({terms})")
    return db


def check(sql: str, tables: Tables) -> Checked:
    """Check the form of a statement over these tables. Raises UnsafeSQL."""
    tokens, end = one_read(sql)
    sql = sql[:end]
    size = written_out(tokens)
    if searched := {name.lower() for name in full_text(tables)}:
        _search(tokens, searched)
    probe = None
    if any(token.text.startswith('"') for token in tokens):
        columns = {column.lower() for columns in tables.values() for column in columns}
        probe = explained(_probe(sql, tokens, columns))
    return Checked(sql, tokens, size, probe)


def refuse_hidden(tokens: list[Token], hidden: Collection[str], tables: Tables) -> None:
    """Refuse a statement that names one of SQLite's own tables where a table stands. Raises UnsafeSQL."""
    for before, token in pairwise(tokens):
        places = ("from", "join", ".") if token.kind == "string" else ("from", "join", ".", ",", "(", "in")
        if token.name in hidden and token.kind != "op" and before.name in places:
            raise forbidden_table(token.name, tables)


def tables_used(tokens: list[Token], tables: Tables) -> dict[str, str]:
    """Return alias -> table for the tables that the statement names after FROM, JOIN or a comma."""
    by_name = {name.lower(): name for name in tables}
    used = {}
    tokens = [*tokens, _END, _END]
    for i, token in enumerate(tokens[:-2]):
        before, after = tokens[i - 1], tokens[i + 1]
        if token.name in by_name and before.name in ("from", "join", ",", ".") and after.text != ".":
            used[token.name] = table = by_name[token.name]
            alias = tokens[i + 2] if after.name == "as" else after
            if alias.kind in ("word", "quoted") and alias.name not in _AFTER_TABLE:
                used.setdefault(alias.name, table)
    return used


def _probe(sql: str, tokens: list[Token], columns: set[str]) -> str:
    """Return `sql` with its "names" as `names`, except a text: WHERE city = "Pune" near no column's name."""
    parts, at, listed, texts = [], 0, 0, 0
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else token
        if token.text == "(" and before.name == "in":
            listed = 1
        elif listed and token.text in ("(", ")"):
            listed += 1 if token.text == "(" else -1
        if not token.text.startswith('"'):
            continue
        inner = token.text[1:-1].replace('""', '"')
        named = inner[:1].isalpha() or inner[:1] == "_"  # "$.color", ", " and "2026-01-31" are no names
        prefix = tokens[i + 1 : i + 2] and tokens[i + 1].text == "."
        value = before.name in _COMPARE or listed == 1 or "%" in inner or not (named or prefix)
        texts += value
        plain = value and texts <= MAX_TEXTS and token.name not in columns
        if plain and not nearest(token.name[:100], columns, cutoff=0.75):
            new = "'" + inner.replace("'", "''") + "'"
        else:
            new = "`" + inner.replace("`", "``") + "`"
        parts += [sql[at : token.start], new]
        at = token.start + len(token.text)
    return "".join([*parts, sql[at:]])


def _search(tokens: list[Token], searched: set[str]) -> None:
    """Refuse a full-text query that is not a short text in the statement itself, or a parameter.

    Each word with a star reads through the whole index in one step that no deadline can stop: 1,000 of them
    took 6.5 s over 5,000 texts. So the query must be there to be read, not built, and the table's own name,
    which is also a column that searches when compared, may stand only where it cannot be compared.
    """
    if not any(token.name in searched for token in tokens):
        return
    called = [""]  # for each level of parentheses: the name before it,
    clause = [""]  # and the last clause that began in it
    tokens = [*tokens, _END, _END, _END]
    for i, token in enumerate(tokens[:-3]):
        before, after = tokens[i - 1], tokens[i + 1]
        if token.text == "(":
            called.append(before.name if before.kind in ("word", "quoted") else "")
            clause.append("from" if clause[-1] == "from" else "")
        elif token.text == ")" and len(clause) > 1:
            called.pop()
            clause.pop()
        elif is_word(token, "select", "from", "join", "where", "on", "using", "group", "order"):
            clause[-1] = "from" if token.name == "join" else token.name
        if is_word(token, "natural") or (token.name == "match" and after.text == "("):
            hint = "Write: FROM table WHERE table MATCH 'words'; join with ON."
            raise UnsafeSQL("search not understood", hint)
        if is_word(token, "match"):
            _short_search(after, tokens[i + 2])
        if token.name not in searched or after.text == "." or (token.kind == "string" and after.text != "("):
            continue
        if after.text == "(" and clause[-1] == "from":
            _short_search(tokens[i + 2], tokens[i + 3])
        elif after.name != "match" and clause[-1] != "from" and called[-1] not in _SEARCH_FUNCTIONS:
            raise UnsafeSQL("search not understood", f"Search with: {token.text} MATCH 'words'.")


def check_searched_for(tokens: list[Token], params: Any) -> None:
    """Refuse a long full-text query among the parameters, as in the statement. Raises UnsafeSQL."""
    if not any(is_word(token, "match") for token in tokens):
        return
    values = params.values() if isinstance(params, Mapping) else params
    for value in values if isinstance(values, Iterable) else ():
        _short(value if isinstance(value, str) else "")


def _short(text: str) -> None:
    if len(text) > MAX_SEARCH or text.count("*") > MAX_PREFIXES:
        hint = f"At most {MAX_SEARCH} characters, and {MAX_PREFIXES} words with a *."
        raise UnsafeSQL("search too long", hint)


def _short_search(query: Token, after: Token) -> None:
    goes_on = after.kind == "op" and after.text not in ("", ")", ",")
    if query.kind not in ("param", "string") or goes_on or after.name == "collate":
        hint = "Write the words to search for as one text: MATCH 'red lamp'."
        raise UnsafeSQL("search not understood", hint)
    _short(query.text)
