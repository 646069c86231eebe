"""How large a statement gets once SQLite has written it out, which it does before any deadline can stop it.

SQLite copies a common table expression to each place that names it, and copies the expression behind a column
to each place that uses the column. So each step of this doubles the one before:

    WITH a AS (SELECT id AS x FROM t),        x costs 1
         b AS (SELECT x + x AS x FROM a),     x costs 2
         c AS (SELECT x + x AS x FROM b) …    x costs 4

Twenty such steps are 740 characters, and took SQLite 3.40 7.7 seconds and 930 MB to prepare. `written_out`
adds up the copies without making them: a column costs what the expression behind it costs. A function costs
10, LIKE twice and GLOB four times the length of its pattern, since the calls for one row run without a look
at the clock too. Where the words leave two readings open, the dearer one counts.
"""

from bisect import bisect_left
from collections.abc import Mapping

from .sql_errors import UnsafeSQL
from .sql_shape import RESERVED, Shape
from .sql_tokens import Token

MAX_SIZE = 6_000
MAX_COLUMNS = 2_000
PATTERN = 80  # bytes in a LIKE or GLOB pattern, a limit of the connection too

# Functions that cost next to nothing whatever they are given.
_CHEAP_NAMES = """
    abs avg cast coalesce count dense_rank first_value ifnull iif lag last_value lead likely max min nth_value
    ntile nullif rank round row_number sign sum total typeof"""
_CHEAP = frozenset(_CHEAP_NAMES.split())
_PATTERNS = {"like": 2, "glob": 4}  # for each character of the pattern
_DEAR = {"json_patch": 2_000}  # looks through one object for each key of the other

Columns = list[tuple[str | None, int]]  # name and cost of each output column
Known = Mapping[str | None, int]  # cost of each name; under None, that of a column without one


class _Step:
    """A common table expression: where its query stands, what it sees, and its cost once it is known."""

    def __init__(self, start: int, end: int, names: list[str]) -> None:
        self.start, self.end, self.names = start, end, names
        self.sees: Mapping[str, _Step] = {}
        self.cost: tuple[Columns, int] | None = None


def written_out(tokens: list[Token]) -> int:
    """Return the size of the statement written out. Raises UnsafeSQL("too complex") above MAX_SIZE."""
    try:
        size = _Measure(tokens, pushed=False).query(0, len(tokens), {})[1]
        if sum(token.text.lower() == "select" for token in tokens) > 1:
            size += _Measure(tokens, pushed=True).query(0, len(tokens), {})[1]
    except RecursionError:
        raise UnsafeSQL("too deeply nested", "Use fewer steps that build on each other.") from None
    if size > MAX_SIZE:
        hint = "Written out, the query repeats its parts too often. Use a step, a column or LIKE fewer times."
        raise UnsafeSQL("too complex", hint)
    return size


class _Measure(Shape):
    """Adds up one kind of copies.

    Without `pushed`: what every clause holds when a subquery is merged into the query around it, which does
    not happen where the subquery groups, is DISTINCT or has a window: its columns then cost 1. With `pushed`:
    only what WHERE and the clauses after it hold when they are moved down into such subqueries.
    """

    def __init__(self, tokens: list[Token], *, pushed: bool) -> None:
        self.pushed = pushed
        super().__init__(tokens)

    def query(self, start: int, end: int, steps: Mapping[str, _Step]) -> tuple[Columns, int]:
        """Return the output columns and the size of the query in tokens[start:end]."""
        if self.words[start] == "with":
            start, steps = self.with_clause(start + 1, end, steps)
        cuts = [i for i in self.level(start, end) if self.words[i] in ("union", "except", "intersect")]
        columns, size = self.core(start, min([*cuts, end]), steps)
        for cut, stop in zip(cuts, [*cuts, end][1:], strict=True):
            more, cost = self.core(cut + 1 + (self.words[cut + 1] == "all"), stop, steps)
            most = max((c for _, c in more), default=1)
            columns, size = [(name, max(c, most)) for name, c in columns], size + cost
        return columns, size

    def with_clause(self, i: int, end: int, steps: Mapping[str, _Step]) -> tuple[int, Mapping[str, _Step]]:
        """Read `name (columns) AS (query), …`; return where the query after it starts, and all the steps."""
        made: dict[str, _Step] = {}
        i += self.words[i] == "recursive" and self.words[i + 1] != "as" and self.texts[i + 1] != "("
        while i < end:
            name, names = self.names[i], []
            while i < end and self.words[i] != "as":
                if i in self.closing:
                    names = [self.names[k] for k in range(i + 1, self.closing[i], 2)]
                i = self.closing.get(i, i) + 1
            while i < end and i not in self.closing:
                i += 1
            close = min(self.closing.get(i, end), end)
            made[name] = _Step(min(i + 1, end), close, names)
            i = close + 2
            if i > end or self.texts[i - 1] != ",":
                break
        steps = {**steps, **made}
        for step in made.values():
            step.sees = steps
        return min(i - 1, end), steps

    def step(self, step: _Step) -> tuple[Columns, int]:
        """Return the cost of a CTE, worked out once; inside itself it costs 1."""
        if step.cost is None:
            step.cost = [], 1
            columns, size = self.query(step.start, step.end, step.sees)
            if step.names:
                most = max((cost for _, cost in columns), default=1)
                costs = [cost for _, cost in columns] + [most] * len(step.names)
                columns = list(zip(step.names, costs, strict=False))
            step.cost = columns, size + 1
        return step.cost

    def core(self, start: int, end: int, steps: Mapping[str, _Step]) -> tuple[Columns, int]:
        """Return the output columns and the size of one SELECT or VALUES."""
        clauses = [i for i in self.level(start, end) if self.starts_clause(i)]
        rest = min([*clauses, end])
        after_from = min([i for i in clauses if self.words[i] != "from"] + [end])
        size, sources = 0, list[Columns]()
        own, inner, nested = list[int](), list[int](), dict[int, int]()
        i, after_on = start, False
        while i < end:
            before, close = i - 1, min(self.closing.get(i, i), end)
            in_from = rest < i < after_from and (
                self.texts[before] in (",", "(") or self.words[before] in ("from", "join")
            )
            after_on = after_on or (self.words[i] == "on" and rest < i)
            if close > i and self.words[i + 1] in ("select", "with", "values"):
                columns, cost = self.query(i + 1, close, steps)
                if in_from:
                    sources.append(columns)
                    size += cost
                else:
                    nested[i] = cost
                if not in_from or self.texts[before] == "(" or (self.texts[before] == "," and after_on):
                    inner += range(i + 1, close)  # may be an expression: it sees the columns of this SELECT
                i = close
            elif (
                self.names[i] in steps
                and self.kinds[i] != "op"
                and self.texts[i + 1] not in (".", "(")
                and (in_from or self.words[before] == "in")
            ):
                columns, cost = self.step(steps[self.names[i]])
                sources.append(columns)
                size += cost
            else:
                own.append(i)
            i += 1
        if len(sources) and sum(map(len, sources)) > MAX_COLUMNS:
            raise UnsafeSQL("too many columns", "Name the columns that you need instead of *.")

        def cost(a: int, b: int, known: Known, alias: int | None = None) -> int:
            once = sum(self.cost(i, known) for i in _between(own, a, b) if i != alias)
            copied = sum(self.copies(i, known) for i in _between(inner, a, b))
            return once + copied + sum(nested[i] for i in _between([*nested], a, b))

        known = self.lookup(sources)
        if self.words[start] == "values":
            size += cost(start, end, known)
            return [(None, max(size, 1))], size
        outputs: Columns = []
        items = 0
        for a, b in self.items(start, rest):
            if self.texts[b - 1] == "*" and b - a in (1, 3):
                starred = [column for source in sources for column in source]
                if len(outputs) + len(starred) > MAX_COLUMNS:
                    raise UnsafeSQL("too many columns", "Name the columns that you need instead of *.")
                outputs += starred
                items += 1 + sum(c for _, c in starred)
            else:
                alias = self.alias(a, b)
                outputs.append((self.output_name(a, b, alias), max(1, cost(a, b, known, alias))))
                items += outputs[-1][1]
        # WHERE, ORDER BY and the rest may use an output column by its alias, which copies it once more.
        known = self.lookup([*sources, [(name, c) for name, c in outputs if name]])
        size += cost(rest, end, known)
        if self.pushed:
            return outputs, size
        if (
            self.words[start + 1] == "distinct"
            or any(self.words[i] == "group" for i in clauses)
            or any(map(self.starts_window, own))
        ):
            outputs = [(name, 1) for name, _ in outputs]
        return outputs, size + items

    def cost(self, i: int, known: Known) -> int:
        """Return the cost of one token, a column's being what `known` says of its name."""
        kind, name, after = self.kinds[i], self.names[i], self.texts[i + 1]
        if kind == "op":
            return 10 if name in ("->", "->>") else int(name == "||")
        if kind not in ("word", "quoted"):
            return 0
        if name in _PATTERNS and (kind == "word" or after == "("):
            # only a text that stands there is known to be short
            short = self.kinds[i + 1] == "string" and self.texts[i + 2] not in ("||", "->", "->>")
            return _PATTERNS[name] * (min(PATTERN, len(after)) if short else PATTERN)
        if name == "strftime" and after == "(" and self.kinds[i + 2] != "string":
            return 50  # a format that is not written out may be long
        if after == "(":
            return 0 if self.words[i] in RESERVED else 1 if name in _CHEAP else _DEAR.get(name, 10)
        return 1 + self.copies(i, known) if self.words[i] not in RESERVED else 0

    def copies(self, i: int, known: Known) -> int:
        """Return what a column's name costs beyond itself."""
        column = self.kinds[i] in ("word", "quoted") and self.words[i] not in RESERVED
        if not column or self.texts[i + 1] in (".", "("):
            return 0
        return known.get(self.names[i], known[None]) - 1

    def lookup(self, sources: list[Columns]) -> Known:
        known: dict[str | None, int] = {None: 1}
        for source in sources:
            for name, cost in source:
                known[name] = max(cost, known.get(name, 1))
        return known


def _between(places: list[int], a: int, b: int) -> list[int]:
    return places[bisect_left(places, a) : bisect_left(places, b)]
