"""Conditions on metadata, decided before ranking: one `Filter` for FAISS, for LangChain's stores and for SQL.

Equality, membership and ranges, on text, numbers and dates. A value of another type never matches and never
raises: the text "N/A" is neither below 50 nor above it, and the number 1 is not True.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .values import Plain, day, plain

# The words that SQLite takes for no name unless they are quoted.
_WORDS = """
cast current_date current_time current_timestamp false raise true
add all alter and as autoincrement between case check collate commit constraint create default deferrable
delete distinct drop else escape except exists foreign from group having in index insert intersect into is
isnull join limit not nothing notnull null on or order primary references returning select set table then to
transaction union unique update using values when where
"""
_RESERVED = frozenset(_WORDS.split())
_ROWIDS = ("rowid", "oid", "_rowid_")  # they name the row's number where no column is called so
_BOUNDS = {"at_least": ">=", "above": ">", "at_most": "<=", "below": "<"}


@dataclass(frozen=True)
class Range:
    """From a bound to a bound, of numbers or of dates ("2026-03-31" or datetime.date); one bound is enough.

    >>> Filter(price=Range(at_least=500, below=1000))
    >>> Filter(created_on=Range("2026-01-01", "2026-03-31"))  # both days included
    """

    at_least: Any = None
    at_most: Any = None
    above: Any = None
    below: Any = None

    def __post_init__(self) -> None:
        for name in _BOUNDS:
            bound = getattr(self, name)
            found = plain(bound)
            if bound is not None and not (found and found.kind == "number") and day(bound) is None:
                raise ValueError(f"{name} must be a number or a date such as 2026-03-31, not {bound!r}.")
            object.__setattr__(self, name, found.value)  # equal bounds are one, however they were written
        if not (given := self.bounds()):
            raise ValueError("A Range needs a bound: at_least, at_most, above or below.")
        if len({self._kind(bound) for _, bound in given}) > 1:
            raise ValueError(f"The bounds of a Range must be all numbers or all dates: {self}.")

    def _kind(self, bound: Any) -> str:
        return "number" if day(bound) is None else "day"

    @property
    def kind(self) -> str:
        """What it compares: "number" or "day"."""
        return self._kind(self.bounds()[0][1])

    def bounds(self) -> list[tuple[str, Any]]:
        """Return the bounds that were given, by name: dates as text, numbers as Python's own."""
        return [(name, it) for name in _BOUNDS if (it := getattr(self, name)) is not None]

    def holds(self, value: Any) -> bool:
        """Return whether a value lies in the range; a value of another type does not."""
        found = plain(value)
        if self.kind == "day":
            compared = day(value)
        else:
            compared = found.value if found and found.kind == "number" else None
        if compared is None:
            return False
        return all(compare(name, compared, bound) for name, bound in self.bounds())


def compare(name: str, value: Any, bound: Any) -> Any:
    """Return value >= bound for "at_least" and so on; of an array, element by element."""
    if name == "at_least":
        return value >= bound
    if name == "at_most":
        return value <= bound
    return value > bound if name == "above" else value < bound


class Where(NamedTuple):
    """A filter as SQL: the text after WHERE, and the values of its parameters."""

    sql: str
    params: dict[str, Any]


class Filter:
    """What a document's metadata must be: all conditions together.

    >>> Filter(city="Pune", tier={"gold", "silver"}, price=Range(below=1000))

    A value means equal to it, a set, list or tuple means one of them, a Range lies between bounds, None means
    that there is no value. `a & b` holds where both hold. Called with a document it says whether it matches,
    as InMemoryVectorStore's `filter=` wants it; LangChain's FAISS takes `matches`, of the metadata alone.
    A key that no document has is an error in a `DenseIndex`; called on one document, it does not match.
    """

    def __init__(self, conditions: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        for key in conditions or {}:
            if not isinstance(key, str):
                raise ValueError(f"A key of the metadata is a text, not {key!r}.")
        self.conditions = tuple(
            (key, _condition(key, it)) for key, it in ({**(conditions or {})} | more).items()
        )

    @classmethod
    def from_json(cls, conditions: Mapping[str, Any]) -> "Filter":
        """Return the filter that JSON describes: a value, a list of values, or bounds of a Range by name.

        >>> Filter.from_json({"category": "Kitchen", "price": {"below": 1000}})
        """
        if not isinstance(conditions, Mapping):
            raise ValueError(f"A filter is an object of conditions by key, not {conditions!r}.")
        for key, it in conditions.items():
            if isinstance(it, Mapping) and not it.keys() <= _BOUNDS.keys():
                raise ValueError(f"{key}: a range has the bounds {', '.join(_BOUNDS)}, not {', '.join(it)}.")
        return cls({key: Range(**it) if isinstance(it, Mapping) else it for key, it in conditions.items()})

    def __and__(self, other: "Filter") -> "Filter":
        if not isinstance(other, Filter):
            return NotImplemented
        both = Filter()
        both.conditions = self.conditions + other.conditions
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and set(self.conditions) == set(other.conditions)

    def __hash__(self) -> int:
        return hash(frozenset(self.conditions))

    def __repr__(self) -> str:
        return f"Filter({', '.join(f'{key}: {_said(it)}' for key, it in self.conditions)})"

    @property
    def keys(self) -> frozenset[str]:
        """The metadata keys that it asks about."""
        return frozenset(key for key, _ in self.conditions)

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether all conditions hold for these metadata; a missing key does not match."""
        return all(key in metadata and _holds(condition, metadata[key]) for key, condition in self.conditions)

    def __call__(self, document: Any) -> bool:
        return self.matches(document.metadata)

    def sql(self) -> Where:
        """Return it as an SQLite predicate over columns of the same names, with named parameters.

        `typeof` and `date` keep values of another type out, as `matches` does. True and False are 1 and 0,
        and a column declared with a collation, such as NOCASE, compares texts by it.
        """
        params: dict[str, Any] = {}

        def put(value: Any) -> str:
            name = f"p{len(params) + 1}"
            params[name] = value
            return f":{name}"

        told = [_sql(_quoted(key), condition, put) for key, condition in self.conditions]
        return Where(" AND ".join(told) or "TRUE", params)


def _condition(key: str, value: Any) -> Range | frozenset[Plain]:
    """Return a condition as a Range, or as the set of values that fulfil it."""
    if isinstance(value, Range):
        return value
    many = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    found = [plain(one) for one in (value if many else [value])]
    if None in found:
        raise ValueError(
            f"{key} must be text, a number, a date, True, False, None, a set of these, or a Range; "
            f"not {value!r}."
        )
    return frozenset(found)


def _holds(condition: Range | frozenset[Plain], value: Any) -> bool:
    return condition.holds(value) if isinstance(condition, Range) else plain(value) in condition


def _said(condition: Range | frozenset[Plain]) -> str:
    if isinstance(condition, Range):
        return " and ".join(f"{_BOUNDS[name]} {bound!r}" for name, bound in condition.bounds())
    told = sorted(repr(one.value) for one in condition)
    return told[0] if len(told) == 1 else f"one of {', '.join(told)}" if told else "none at all"


def _quoted(key: str) -> str:
    """Return a column's name for SQL; in brackets if odd, since an unknown name in quotes would be a text."""
    if "]" in key or "\0" in key or key.lower() in _ROWIDS:
        raise ValueError(f"No column of SQLite can be called {key!r} in a query.")
    if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) and key.lower() not in _RESERVED:
        return key
    return f"[{key}]"


def _sql(column: str, condition: Range | frozenset[Plain], put: Any) -> str:
    if isinstance(condition, Range):
        number = condition.kind == "number"
        typed = f"typeof({column}) IN ('integer', 'real')" if number else f"date({column}) = {column}"
        return " AND ".join([
            typed,
            *(f"{column} {_BOUNDS[name]} {put(it)}" for name, it in condition.bounds()),
        ])
    told = []
    for kinds, types in ((("text",), "= 'text'"), (("number", "flag"), "IN ('integer', 'real')")):
        values = sorted({one.value for one in condition if one.kind in kinds})
        if values:
            asked = f"= {put(values[0])}" if len(values) == 1 else f"IN ({', '.join(map(put, values))})"
            told.append(f"typeof({column}) {types} AND {column} {asked}")
    if Plain("none", None) in condition:
        told.append(f"{column} IS NULL")
    return told[0] if len(told) == 1 else f"({' OR '.join(told)})" if told else "FALSE"
