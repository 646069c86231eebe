"""Say whether two results hold the same rows, and if not, in which way they differ."""

import bisect
import datetime
import itertools
import math
import numbers
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]
MOST_ARRANGEMENTS = 1000


@dataclass(frozen=True)
class Comparison:
    """The verdict, which is also its truth value, and in words what differs ("" if nothing does)."""

    equal: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.equal


def same_rows(
    got: Any,
    expected: Any,
    ordered: bool = False,
    tolerance: float = 1e-6,
    *,
    names: bool = False,
    column_order: bool = False,
) -> Comparison:
    """Compare two results as multisets of rows: [(1, "a"), (2, "b")] is [("b", 2.0), ("a", 1)].

    Takes Rows, SQLResult, data frames, and lists of tuples or dicts. Duplicates count. The order of rows
    counts only if `ordered`, that of columns only if `column_order`, their names only if `names`; but where
    both have the same names, a column is compared with its namesake. Numbers may differ by `tolerance`;
    1 is 1.0, NaN is None, a date is its text (2026-03-31), and texts compare letter by letter.

    `why` speaks of got alone and gives away no value of expected.
    """
    (mine, rows), (theirs, wanted) = _table(got), _table(expected)
    if getattr(getattr(got, "rows", None), "truncated", False) or getattr(got, "truncated", False):
        return Comparison(False, f"cut off: only the first {len(rows)} rows were read, so they prove nothing")
    width, asked = _width(mine, rows), _width(theirs, wanted)
    if width is not None and asked is not None and width != asked:
        word = "extra column" if width > asked else "missing column"
        return Comparison(False, f"{word}: the result has {width}, which is not the number asked for")
    if names and mine and theirs and sorted(map(_fold, mine)) != sorted(map(_fold, theirs)):
        return Comparison(False, f"wrong names: the columns are called {', '.join(mine)}")
    nearest, least = rows, math.inf
    for order in _arrangements(mine, rows, theirs, wanted, tolerance, column_order):
        arranged = [tuple(row[i] for i in order) for row in rows]
        left = sum(map(len, _unmatched(arranged, wanted, tolerance)))
        if not left and (not ordered or _in_step(arranged, wanted, tolerance)):
            return Comparison(True)
        if left < least:
            nearest, least = arranged, left
    return Comparison(False, _why(nearest, wanted, tolerance))


def _why(rows: list[Row], wanted: list[Row], tolerance: float) -> str:
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    extra, missing = _unmatched(rows, wanted, tolerance)
    if not extra and not missing:
        return "wrong order: these are the rows, but not in the order asked for"
    if not rows:
        return "missing rows: the result is empty"
    if not wanted:
        return f"extra rows: the result has {count} where nothing should be found"
    if not missing:
        again = all(any(_close_rows(row, one, tolerance) for one in wanted) for row in extra)
        return f"repeated rows: {count}, some too often" if again else f"extra rows: {count} are too many"
    if not extra:
        again = all(any(_close_rows(row, one, tolerance) for one in rows) for row in missing)
        if again:
            return f"missing rows: {count}; a row that should come several times comes less often"
        return f"missing rows: {count} are too few, and those are right"
    if len(rows) != len(wanted):
        word = "extra rows" if len(rows) > len(wanted) else "missing rows"
        return f"{word}: {count} are not the number of rows asked for, and {len(extra)} of them are wrong"
    return f"wrong values: {len(extra)} of {count} should not be there"


def _arrangements(
    mine: Sequence[str] | None,
    rows: list[Row],
    theirs: Sequence[str] | None,
    wanted: list[Row],
    tolerance: float,
    column_order: bool,
) -> Iterable[tuple[int, ...]]:
    """Return the orders of got's columns in which they may stand for expected's, the likeliest first."""
    width = _width(mine, rows) or 0
    ours, yours = [_fold(n) for n in mine or ()], [_fold(n) for n in theirs or ()]
    if column_order or width < 2:
        return [tuple(range(width))]
    if len(set(ours)) == width and sorted(ours) == sorted(yours):
        return [tuple(ours.index(name) for name in yours)]
    mine_by, wanted_by = ([[(r[i],) for r in those] for i in range(width)] for those in (rows, wanted))
    same = [
        [i for i in range(width) if not any(_unmatched(mine_by[i], wanted_by[j], tolerance))]
        for j in range(width)
    ]
    # No order fits: for the reason, the ones that put texts under texts and numbers under numbers.
    alike = [[i for i in range(width) if _kinds(mine_by[i]) == _kinds(column)] for column in wanted_by]
    few = itertools.islice(_choices(alike), 24)
    return itertools.chain(itertools.islice(_choices(same), MOST_ARRANGEMENTS), few, [tuple(range(width))])


def _choices(fits: list[list[int]], chosen: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(fits):
        yield chosen
        return
    for i in fits[len(chosen)]:
        if i not in chosen:
            yield from _choices(fits, (*chosen, i))


def _kinds(column: list[Row]) -> set[str]:
    """Return what is in a column, as far as it parts columns: numbers, texts, NULL."""
    return {"number" if _is_number(value) else type(value).__name__ for (value,) in column}


def _unmatched(rows: list[Row], wanted: list[Row], tolerance: float) -> tuple[list[Row], list[Row]]:
    """Return what is left of both when equal rows are taken away in pairs.

    Rows are first parted by all that is not a number, and within a part sorted by their numbers, so that
    only those within the tolerance of the first number need be tried.
    """
    parts: dict[tuple, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, those in enumerate((rows, wanted)):
        for row in those:
            parts[tuple(None if _is_number(v) else (type(v).__name__, v) for v in row)][side].append(row)
    extra, missing = [], []
    for mine, theirs in parts.values():
        mine, theirs = sorted(mine, key=_numbers), sorted(theirs, key=_numbers)
        if len(mine) == len(theirs) and _in_step(mine, theirs, tolerance):
            continue
        hopeless: set[Row] = set()
        for row in mine:
            if row in hopeless:
                extra.append(row)
                continue
            first = _numbers(row)[:1]
            slack = tolerance + 1e-9 * abs(first[0]) if first else 0
            low = bisect.bisect_left(theirs, tuple(n - slack for n in first), key=_numbers)
            for at in range(low, len(theirs)):
                if _close_rows(row, theirs[at], tolerance):
                    theirs.pop(at)
                    break
                if first and _numbers(theirs[at])[0] > first[0] + slack:
                    hopeless.add(row)
                    extra.append(row)
                    break
            else:
                hopeless.add(row)
                extra.append(row)
        missing += theirs
    return extra, missing


def _in_step(rows: list[Row], others: list[Row], tolerance: float) -> bool:
    return all(_close_rows(a, b, tolerance) for a, b in zip(rows, others, strict=True))


def _numbers(row: Row) -> tuple[float, ...]:
    return tuple(value for value in row if _is_number(value))


def _close_rows(a: Row, b: Row, tolerance: float) -> bool:
    return len(a) == len(b) and all(_close(x, y, tolerance) for x, y in zip(a, b, strict=True))


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if _is_number(a) and _is_number(b):
        # Relative only for the noise of adding up in another order.
        return a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=tolerance)
    return type(a) is type(b) and a == b


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _fold(name: str) -> str:
    return str(name).strip().casefold()


def _width(names: Sequence[str] | None, rows: list[Row]) -> int | None:
    return len(names) if names else len(rows[0]) if rows else None


def _table(result: Any) -> tuple[tuple[str, ...] | None, list[Row]]:
    """Return (column names or None, rows of plain values) of anything that holds rows."""
    if hasattr(result, "sql") and hasattr(result, "rows"):  # an SQLResult
        result = result.rows
    if hasattr(result, "itertuples"):  # a data frame
        columns, rows = tuple(map(str, result.columns)), result.itertuples(index=False, name=None)
    elif hasattr(result, "columns") and hasattr(result, "rows"):
        columns, rows = tuple(result.columns), result.rows
    else:
        columns, rows = None, list(_listed(result))
        if rows and all(isinstance(row, Mapping) for row in rows):
            columns = tuple(rows[0])
            rows = [tuple(row.get(name) for name in columns) for row in rows]
    return columns, [tuple(_plain(value) for value in _cells(row)) for row in rows]


def _listed(result: Any) -> Iterable[Any]:
    if isinstance(result, (str, bytes)) or not isinstance(result, Iterable):
        raise TypeError(f"same_rows compares rows (Rows, a data frame, a list), not {type(result).__name__}")
    return result


def _cells(row: Any) -> Iterable[Any]:
    return [row] if isinstance(row, (str, bytes)) or not isinstance(row, Iterable) else row


def _plain(value: Any) -> Any:
    """Return a value as SQLite would give it: numbers, texts, bytes or None; dates as text."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()  # numpy
    if isinstance(value, datetime.datetime):
        value = None if str(value) == "NaT" else value.isoformat(" ")
    elif isinstance(value, datetime.date):
        value = value.isoformat()
    elif isinstance(value, numbers.Number) and not isinstance(value, (int, float)):
        value = float(value)  # Decimal, Fraction
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str):
        return re.sub(r"^(\d{4}-\d\d-\d\d)[ T]00:00(?::00(?:\.0+)?)?$", r"\1", value)
    return None if type(value).__name__ in {"NaTType", "NAType"} else value
