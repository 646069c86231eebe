"""What a query that runs may still get wrong: sums repeated by a join, cut fractions, sorting by a text.

Each finding is a warning and never a refusal: the query is allowed, its number deserves a second look.
Import this module where it is used: it brings sqlglot along.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from course_utils.retrieval.sql_schema import Table

if TYPE_CHECKING:
    from course_utils.retrieval.sql_guard import SafeDatabase

WHOLE_TYPES = ("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT")


class _Query:
    """A parsed query over known tables; a text that cannot be parsed has no scopes, so no findings."""

    def __init__(self, sql: str, tables: Iterable[Table]) -> None:
        self.tables = {table.name.casefold(): table for table in tables}
        try:
            self.scopes = list(traverse_scope(sqlglot.parse_one(sql, read="sqlite")))
        except (SqlglotError, RecursionError):
            self.scopes = []

    def source(self, column: exp.Column, scope: Scope) -> tuple[str, Table | Scope] | None:
        """Return (alias, table or subquery) that a column comes from, if that is beyond doubt."""
        here: Scope | None = scope
        while here is not None:
            found = []
            for alias, source in here.sources.items():
                if column.table and alias.casefold() != column.table.casefold():
                    continue
                if isinstance(source, Scope):
                    if self.projection(source, column.name) is not None:
                        found.append((alias, source))
                elif (table := self.tables.get(source.name.casefold())) and _has(table, column.name):
                    found.append((alias, table))
            if found or column.table in here.sources:
                return found[0] if len(found) == 1 else None
            here = here.parent
        return None

    @staticmethod
    def projection(scope: Scope, name: str) -> exp.Expression | None:
        """Return the expression that a subquery gives out under this name."""
        if not isinstance(scope.expression, exp.Select):
            return None
        for one in scope.expression.selects:
            if one.alias_or_name.casefold() == name.casefold():
                return one.unalias()
        return None


def _has(table: Table, column: str) -> bool:
    return any(c.name.casefold() == column.casefold() for c in table.columns)


def _same(a: str, b: str) -> bool:
    return a.casefold() == b.casefold()


def warnings_for(sql: str, tables: Iterable[Table]) -> tuple[str, ...]:
    """Return what may be wrong with a query that runs: fan-out, integer division, sorting by a text.

    `tables` are the declarations from `read_tables`. The same finding is told once.
    """
    query = _Query(sql, tables)
    found: dict[str, None] = {}
    for scope in query.scopes:
        for text in (*_fan_out(query, scope), *_cut_fractions(query, scope), *_constant_order(scope)):
            found[text] = None
    return tuple(found)


def _fan_out(query: _Query, scope: Scope) -> Iterator[str]:
    """Find SUM(o.amount) over orders o that are joined with their order_items."""
    pairs = list(_joined(query, scope))
    for total in scope.find_all(exp.Sum, exp.Avg):
        if isinstance(total.this, exp.Distinct):
            continue
        origins = {query.source(column, scope) for column in total.find_all(exp.Column)}
        if len(origins) != 1 or None in origins:
            continue
        (alias, table), *_ = origins
        if not isinstance(table, Table):
            continue
        for (one, one_column), (other, other_column) in pairs:
            many = scope.sources[other]
            many = None if isinstance(many, Scope) else query.tables.get(many.name.casefold())
            if one != alias or many is None or len(table.keys) != 1 or not _same(table.keys[0], one_column):
                continue
            fixed = {other_column.casefold(), *_fixed(query, scope, other)}
            if not {key.casefold() for key in many.keys} <= fixed or not many.keys:
                yield (
                    f"{total.sql('sqlite')} may count a row of {table.name} several times: the join repeats "
                    f"it for each match in {many.name} (fan-out). Add up before the join, or use EXISTS."
                )


def _joined(query: _Query, scope: Scope) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield ((alias, column), (alias, column)) for each equality that joins two sources, both ways round."""
    for equal in scope.find_all(exp.EQ):
        sides = [s.unnest() for s in (equal.left, equal.right)]
        if all(isinstance(side, exp.Column) for side in sides):
            ends = [query.source(side, scope) for side in sides]
            if all(ends) and all(end[0] in scope.sources for end in ends) and ends[0][0] != ends[1][0]:
                a, b = ((end[0], side.name) for end, side in zip(ends, sides, strict=True))
                yield from ((a, b), (b, a))
    for join in scope.find_all(exp.Join):
        mine = join.this.alias_or_name
        for name in join.args.get("using") or ():
            for alias, source in scope.sources.items():
                table = None if isinstance(source, Scope) else query.tables.get(source.name.casefold())
                if alias != mine and mine in scope.sources and table and _has(table, name.name):
                    a, b = (alias, name.name), (mine, name.name)
                    yield from ((a, b), (b, a))


def _fixed(query: _Query, scope: Scope, alias: str) -> set[str]:
    """Return the columns of one source that the query pins to a single value."""
    pinned = set()
    for equal in scope.find_all(exp.EQ):
        for column, value in ((equal.left, equal.right), (equal.right, equal.left)):
            if isinstance(column, exp.Column) and isinstance(value, exp.Literal):
                source = query.source(column, scope)
                if source and source[0] == alias:
                    pinned.add(column.name.casefold())
    return pinned


def _cut_fractions(query: _Query, scope: Scope) -> Iterator[str]:
    """Find COUNT(...) / COUNT(*): SQLite cuts the quotient of two whole numbers to a whole number.

    A CAST in it shows that its author thought of types, so that is left alone.
    """
    for ratio in scope.find_all(exp.Div):
        if _whole(query, scope, ratio.left) and _whole(query, scope, ratio.right):
            yield (
                f"{ratio.sql('sqlite')} divides two whole numbers, so the fraction is cut off (1 / 2 is 0): "
                "write 1.0 * a / b."
            )


def _whole(query: _Query, scope: Scope, node: Any) -> bool:
    """Return whether an expression is certainly a whole number (or NULL)."""
    match node:
        case exp.Literal():
            return node.is_int
        case exp.Null() | exp.Count() | exp.Length() | exp.RowNumber() | exp.Rank() | exp.DenseRank():
            return True
        case exp.Paren() | exp.Neg() | exp.Sum() | exp.Max() | exp.Min() | exp.Abs() | exp.Distinct():
            inner = node.expressions if isinstance(node, exp.Distinct) else [node.this]
            return all(_whole(query, scope, part) for part in inner)
        case exp.Window() | exp.Filter():
            return _whole(query, scope, node.this)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return _whole(query, scope, node.left) and _whole(query, scope, node.right)
        case exp.Case():
            results = [branch.args["true"] for branch in node.args["ifs"]]
            results += [node.args["default"]] if node.args.get("default") else []
            return all(_whole(query, scope, result) for result in results)
        case exp.If():
            results = [node.args.get("true"), node.args.get("false")]
            return all(_whole(query, scope, result) for result in results if result is not None)
        case exp.Coalesce():
            return all(_whole(query, scope, part) for part in (node.this, *node.expressions))
        case exp.Predicate():
            return True  # a comparison is 0 or 1
        case exp.Subquery() if isinstance(node.this, exp.Select) and len(node.this.selects) == 1:
            inner_scope = next((s for s in query.scopes if s.expression is node.this), None)
            return inner_scope is not None and _whole(query, inner_scope, node.this.selects[0].unalias())
        case exp.Column():
            found = query.source(node, scope)
            if found is None:
                return False
            if isinstance(found[1], Table):
                return any(_same(c.name, node.name) and c.type in WHOLE_TYPES for c in found[1].columns)
            return _whole(query, found[1], query.projection(found[1], node.name))
    return False


def _constant_order(scope: Scope) -> Iterator[str]:
    """Find ORDER BY 'Total Sales': a text in single quotes is the same for every row."""
    for one in scope.find_all(exp.Ordered):
        key = one.this.unnest()
        if isinstance(key, exp.Literal) and key.is_string:
            yield (
                f"ORDER BY {key.sql('sqlite')} sorts by a text that is the same for every row, so it sorts "
                f'nothing: write the name bare or in double quotes, ORDER BY "{key.this}".'
            )


def compared_texts(sql: str, tables: Iterable[Table]) -> list[tuple[str, str, str]]:
    """Return (table, column, text) for each stored column that the query compares with a fixed text.

    `city = 'pune'` and `city IN ('pune')` count; dates do not, since a near date answers another question.
    """
    query = _Query(sql, tables)
    found: dict[tuple[str, str, str], None] = {}
    for scope in query.scopes:
        for test in scope.find_all(exp.EQ, exp.In, exp.Is):
            values = test.expressions if isinstance(test, exp.In) else [test.expression]
            sides = [(test.this, value) for value in values] + [(v, test.this) for v in values]
            for column, value in sides:
                text = value.this if isinstance(value, exp.Literal) and value.is_string else None
                if not isinstance(column, exp.Column) or text is None or re.match(r"\d{4}-\d\d", text):
                    continue
                source = query.source(column, scope)
                if source and isinstance(source[1], Table):
                    found[source[1].name, column.name, text] = None
    return list(found)


def near_values(db: "SafeDatabase", sql: str, tables: Iterable[Table]) -> tuple[str, ...]:
    """Say which texts of the query are stored nowhere, and what is stored that is near them.

    For a query that found nothing: "customers.city has no 'pune'; it has 'Pune'".
    """
    found = []
    for table, column, text in compared_texts(sql, tables)[:5]:
        near = [str(value) for value in db.nearest_values(table, column, text)]
        if text in near or not near:
            continue
        shown = ", ".join(f"'{value}'" for value in near[:3])
        found.append(f"{table}.{column} has no '{text}'; near it stands {shown}")
    return tuple(found)
