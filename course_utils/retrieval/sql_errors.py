"""What the guard says when it refuses or fails: a reason, and a hint that says what to write instead."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from .sql_dialect import DIALECT, ODD, SYNTAX, hints

Tables = Mapping[str, Sequence[str]]


class UnsafeQuery(ValueError):
    """The statement was refused: it is not one read of published data within the limits.

    `reason` says what was refused ("multiple statements", "forbidden table: x"), `hint` what to do next.
    `str(error)` is the reason; a traceback shows the hint below it.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint
        if hint:
            self.add_note(hint)


class UnsafeSQL(UnsafeQuery):
    """An SQL statement was refused."""


class NoQuery(UnsafeSQL):
    """The model said that no query on these tables can answer: nothing failed, and nothing was refused."""


class QueryFailed(RuntimeError):
    """The statement is a read, but it could not be answered: a syntax error, too slow, too large.

    Has the same `reason` and `hint` as `UnsafeQuery`.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint
        if hint:
            self.add_note(hint)


# What SQLite says of a statement that is too large for the limits of the connection.
_TOO_LARGE = (
    (r"maximum depth|parser stack overflow|too deep", "too deeply nested"),
    (r"tables in a join|too many references|too many FROM", "too many tables"),
    (r"too many terms|too many columns|too many arguments", "too many terms"),
)
_LOOKED_AT = 2_000  # characters of a statement that a hint is taken from
_SEARCH = "A full-text search looks like: table MATCH 'word1 word2' or table MATCH '\"a phrase\"'."
# What SQLite says of a mistake, with what to do about it.
_MISTAKES = {
    "LIKE or GLOB pattern too complex": "A LIKE or GLOB pattern may have 80 bytes; search for fewer words.",
    "fts5:": _SEARCH,
    "unterminated string": _SEARCH,
    "ambiguous column": "Write the table's name or alias before the column.",
    "misuse of aggregate": "An aggregate belongs in SELECT, HAVING or ORDER BY; filter it with HAVING.",
    "misuse of window": "Compute the window in a subquery or a CTE, and filter its result outside.",
    "wrong number of arguments": "Look up how many arguments SQLite's own function takes.",
    "malformed JSON": "Filter with json_valid(column) first.",
    "number of result columns": "Every SELECT of a UNION must give the same number of columns.",
    "values for": "The list of names after a CTE must have one name for each of its columns.",
    "circular reference": "A CTE that refers to itself needs a first SELECT that does not, then UNION ALL.",
    "number of bindings": "Give a value for every ? or :name, or write it out. In Python one is (value,).",
    "did not supply a value": "Give a value for every :name, or write it out in the query.",
    "DISTINCT aggregates": "With DISTINCT an aggregate takes one value: group_concat(DISTINCT x).",
    "sub-select returns": "A subquery after IN or = must give as many columns as stand before it.",
    "integer overflow": "The sum is too large for a whole number: use total(x).",
    "Could not decode": "A text in the file is not UTF-8; read hex(column) instead.",
}


def nearest(name: str, known: Iterable[str], n: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return up to `n` of the names most like `name`, case and underscores aside, best first."""
    folded: dict[str, str] = {}
    for other in known:
        folded.setdefault(other.lower().replace("_", ""), other)
    return [folded[k] for k in difflib.get_close_matches(name.lower().replace("_", ""), folded, n, cutoff)]


def start_hint(text: str, first: str) -> str:
    """Return a hint for a text whose first word, `first`, starts no query."""
    text = text[:_LOOKED_AT]
    if first in ("show", "describe", "desc"):
        return "The tables and columns are listed in the schema that you were given."
    if "```" in text:
        return "Remove the Markdown fence (```): only the statement itself can run."
    if odd := ODD.search(text):
        return f"The text holds U+{ord(odd[0]):04X}, which only looks like SQL. Use plain letters and blanks."
    changes = r"(?:INTO|FROM|TABLE|VIEW|INDEX|TRIGGER|TEMP|TEMPORARY|UNIQUE|VIRTUAL|OR|DATABASE)"
    change = re.match(rf"\W*\w+\s+(?:{changes}\b|\S+\s+SET\b)", text, re.I)
    if not change and re.search(r"\bSELECT\b.*\bFROM\b", text, re.I | re.S):
        return "Remove what stands before the statement: it must start with SELECT, WITH or VALUES."
    return "Queries may only read: start with SELECT, WITH or VALUES."


def explain(error: Exception, text: str, tables: Tables, used: Mapping[str, str]) -> UnsafeSQL | QueryFailed:
    """Return SQLite's `error` about the statement `text` as a reason and a hint.

    `tables` is what may be read; `used` maps each alias in the statement to its table.
    """
    text = text[:_LOOKED_AT]
    found = _explain(error, text, tables, used)
    if odd := ODD.search(re.sub(r"'[^']*'", "''", text)):
        hint = f"The text holds U+{ord(odd[0]):04X}, which only looks like SQL. Use plain letters and blanks."
        return type(found)(found.reason, hint)
    return found


def _explain(error: Exception, text: str, tables: Tables, used: Mapping[str, str]) -> UnsafeSQL | QueryFailed:
    said = str(error)[:300]
    if match := re.match(
        r"no such table: (?:main\.)?(.+)|access to (?:main\.)?(.+)\.[^.]* is prohibited"
        r"|vtable constructor failed: (.+)|table-valued function: (.+)",
        said,
    ):
        return forbidden_table(next(filter(None, match.groups())), tables)
    if match := re.match(r"no such column: (.+?)(?: - should this.*)?$", said):
        return forbidden_column(match[1].strip('"'), text, tables, used)
    if match := re.match(r"cannot join using column (\S+) ", said):
        hint = "USING needs a column that both sides have. Name the two columns: JOIN … ON a.x = b.y."
        return UnsafeSQL(f"forbidden column: {match[1]}", hint)
    if match := re.search(r"(?:no such|use) function: (.+)|^'(.+)' is not a function", said):
        return forbidden_function(match[1] or match[2], text)
    if "not authorized" in said:
        return UnsafeSQL("only SELECT", "Queries may only read published tables.")
    if isinstance(error, MemoryError):
        hint = "The query needs too much memory. Filter earlier, gather fewer or shorter texts, or split it."
        return UnsafeSQL("too complex", hint)
    for pattern, reason in _TOO_LARGE:
        if re.search(pattern, said):
            return UnsafeSQL(reason, "Ask for less in one query, or build it up in a few steps with WITH.")
    if "string or blob too big" in said:
        hint = (
            "A text that the query reads or builds is too long. Read fewer columns, or aggregate less text."
        )
        return QueryFailed("value too large", hint)
    for part, hint in _MISTAKES.items():
        if part in said:
            return QueryFailed(said, hint)
    if re.search("syntax error|unrecognized token|incomplete input", said):
        found = dict.fromkeys([hint for pattern, hint in SYNTAX if pattern.search(text)] + list(hints(text)))
        return QueryFailed(said, " ".join(found) or "Write one statement in SQLite's own dialect.")
    return QueryFailed(said, " ".join(dict.fromkeys(hints(text))))


def forbidden_table(name: str, tables: Tables) -> UnsafeSQL:
    """Return the refusal of a table: the same words whether it is unknown or not published."""
    near = nearest(name, tables)
    there = f"Did you mean {near[0]}? " if near else ""
    own = f"{DIALECT[name.lower()]} " if name.lower() in DIALECT else ""
    return UnsafeSQL(
        f"forbidden table: {name}", f"{own or there}Tables that can be read: {_some(sorted(tables))}."
    )


def forbidden_function(name: str, text: str = "") -> UnsafeSQL:
    """Return the refusal of a function that SQLite lacks or that may not be called."""
    syntax = next((hint for pattern, hint in SYNTAX if pattern.search(text)), "")
    own = DIALECT.get(name.lower()) or syntax
    own = own or "Use SQLite's own text, number, date, JSON and aggregate functions."
    return UnsafeSQL(f"forbidden function: {name}", " ".join(dict.fromkeys([own, *hints(text)])))


def forbidden_column(name: str, text: str, tables: Tables, used: Mapping[str, str]) -> UnsafeSQL:
    """Return the refusal of a column: the same words whether it is unknown or not published."""
    prefix, _, column = name.rpartition(".")
    table = used.get(prefix.lower())
    if not prefix and len(set(used.values())) == 1:
        table = next(iter(used.values()))
    places = [table] if table else list(dict.fromkeys(used.values())) or list(tables)
    near = nearest(column, dict.fromkeys(c for place in places for c in tables.get(place, ())))
    hint = [f"Did you mean {near[0]}?"] if near else []
    if near and near[0].lower() == column.lower():  # the name is right, and not to be seen from there
        names = f" ({_some(list(used))})" if prefix and prefix.lower() not in used else ""
        hint = [f"It is not visible there: use the table's alias{names}, or the name that a subquery gives."]
    elif in_quotes := [one for one in (name, column) if f'"{one}"' in text]:
        hint.append(f"A text value takes single quotes: '{in_quotes[0]}'.")
    elif not prefix and not near and re.search(rf"(?:[=<>(,]|\bLIKE)\s*{re.escape(name)}\b", text, re.I):
        hint.append(f"If it is a text, write it in single quotes: '{name}'.")
    if table:
        hint.append(f"Columns of {table}: {_some(tables.get(table, ()))}.")
    elsewhere = [t for t in tables if t not in places and column.lower() in (c.lower() for c in tables[t])]
    if elsewhere and not near:
        hint.append(f"{column} is a column of {_some(elsewhere)}.")
    hint += dict.fromkeys(hints(text))
    full = ".".join(filter(None, (table or prefix, column)))
    return UnsafeSQL(f"forbidden column: {full}", " ".join(hint) or "Use a column that the schema lists.")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(names[:20]) + more
