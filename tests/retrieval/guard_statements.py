"""Statements of our own against the case shop, in no case file: reads that must work, attacks that must not.

The short ones are in cases/sql_guard_own.json; here are those that are easier made than written.
"""

import json
from pathlib import Path

CASES = Path(__file__).resolve().parent.parent / "cases"
OWN = json.loads((CASES / "sql_guard_own.json").read_text(encoding="utf-8"))
BIG = "hex(zeroblob(24000))"


def nested(before: str, inner: str, after: str, n: int) -> str:
    """Return `inner` in n pairs of before and after."""
    return before * n + inner + after * n


def chain(
    n: int, step: str, last: str = "SELECT x FROM {0}", first: str = "SELECT id AS x FROM orders"
) -> str:
    """Return WITH s0 AS (first), s1 AS (step over s0), … and `last` over the final step."""
    steps = [f"s0 AS ({first})"] + [f"s{i} AS ({step.format(f's{i - 1}')})" for i in range(1, n + 1)]
    return f"WITH {', '.join(steps)} {last.format(f's{n}')}"


def balanced(sign: str, terms: list[str]) -> str:
    """Return the terms joined by `sign` in a tree of little depth."""
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [f"({pair[0]} {sign} {pair[1]})" if len(pair) == 2 else pair[0] for pair in pairs]
    return terms[0]


READS = [
    *OWN["reads"],
    f"SELECT name FROM products WHERE id IN ({', '.join(str(i) for i in range(1, 1001))}) ORDER BY id",
    "SELECT "
    + ", ".join(f"SUM(CASE WHEN customer_id = {i} THEN 1 ELSE 0 END) AS c{i}" for i in range(1, 31))
    + " FROM orders",
    " UNION ALL ".join(f"SELECT {i} AS n, 'row {i}' AS t" for i in range(1, 41)),
]

_ROWS = f"FROM (SELECT DISTINCT {BIG} AS z, '%' || substr({BIG}, 1, 75) || '1' AS p FROM orders)"
_LISTS = f"FROM (SELECT '[' || replace(substr({BIG}, 1, 20000), '0', '0,') || '0]' AS z FROM orders)"
_NUMBERS = "WITH RECURSIVE b(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM b)"

_STARS = "WITH a AS (SELECT {}), b AS (SELECT {} FROM a) SELECT {} FROM b".format(
    ", ".join(f"1 AS c{i}" for i in range(44)), ",".join("*" * 45), ",".join("*" * 9_000)
)
_COPIES = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300), "
_NAMES = f'WITH a AS (SELECT 1 AS "{"x" * 9_000}") SELECT {",".join("*" * 95)} FROM a'

ATTACKS = {
    **OWN["attacks"],
    "stars of stars": _STARS,
    "long names of columns": _NAMES,
    "long names and no rows": _NAMES + " LIMIT 0",
    "many sets of long texts": _COPIES
    + "x AS MATERIALIZED (SELECT i || hex(zeroblob(20000)) AS x FROM n) SELECT "
    + ", ".join(f"count(DISTINCT {i} || x)" for i in range(99))
    + " FROM x",
    "long formats of dates": _COPIES
    + "f AS MATERIALIZED (SELECT i, replace(hex(zeroblob(12400)), '00', '%W%W') AS f FROM n LIMIT 40) "
    + "SELECT "
    + ", ".join("max(" + ", ".join(["strftime(f, 'now')"] * 77) + ")" for _ in range(7))
    + " FROM f",
    # not text
    "none": None,
    "bytes": b"SELECT 1",
    "number": 7,
    "list": ["SELECT 1"],
    # calls that run long, many of them for one row
    "many concats": _NUMBERS
    + " SELECT "
    + ", ".join(f"group_concat(n || '{i}')" for i in range(90))
    + " FROM b",
    "many likes": f"SELECT {balanced('+', ['(z LIKE p)'] * 300)} {_ROWS}",
    "few likes": f"SELECT {balanced('+', ['(z LIKE p)'] * 8)} {_ROWS}",
    "copied likes": f"SELECT {balanced('+', ['q'] * 1500)} FROM (SELECT z LIKE p AS q {_ROWS})",
    "copied short likes": f"SELECT {'+'.join(['q'] * 1500)} FROM (SELECT z LIKE '%00000001' AS q {_ROWS})",
    "many instr": f"SELECT {balanced('+', ['instr(z, z || 1)'] * 800)} {_ROWS}",
    "many json": f"SELECT {balanced('+', ['json_valid(z)'] * 900)} {_LISTS}",
    "search prefixes": f"SELECT count(*) FROM articles_fts WHERE articles_fts MATCH '{'a* OR ' * 2_000}a*'",
    # long to read or to compile
    "in list": f"SELECT id FROM orders WHERE id IN ({','.join(map(str, range(60_000)))})",
    "compound": " UNION ALL ".join(["SELECT 1"] * 600),
    "compound union": " UNION ".join(f"SELECT {i}" for i in range(600)),
    "compound values": "VALUES " + ", ".join(f"((SELECT {i}))" for i in range(1_200)),
    "parentheses": f"SELECT {nested('(', '1', ')', 1_000)}",
    "cases": f"SELECT {nested('CASE WHEN 1 THEN ', '1', ' END', 1_000)}",
    "short cases": f"SELECT {nested('CASE 1 WHEN ', '1', ' THEN 1 END', 700)}",
    "functions": f"SELECT {nested('abs(', '1', ')', 1_000)}",
    "subqueries": nested("SELECT * FROM (", "SELECT 1", ")", 1_000),
    "scalars": f"SELECT {nested('(SELECT ', '1', ')', 1_000)}",
    "nots": f"SELECT {'NOT ' * 3_000}1",
    "minuses": f"SELECT {'- ' * 5_000}1",
    "tildes": f"SELECT {'~' * 15_000}1",
    "ors": f"SELECT 1 WHERE {' OR '.join(['1'] * 3_000)}",
    "concats": f"SELECT {'||'.join(['1'] * 5_000)}",
    "plus": f"SELECT {'+'.join(['1'] * 9_000)}",
    "in chain": f"SELECT 1{' IN (1)' * 2_000}",
    "ctes in ctes": nested("WITH a AS (", "SELECT 1", ") SELECT * FROM a", 200),
    "cte doubling": chain(20, "SELECT p.x FROM {0} p JOIN {0} q"),
    "cte union doubling": chain(20, "SELECT x FROM {0} UNION ALL SELECT x FROM {0}"),
    "cte scalars": chain(18, "SELECT (SELECT x FROM {0}) + (SELECT x FROM {0}) AS x"),
    "cte in": chain(18, "SELECT 1 AS x WHERE 1 IN {0} OR 2 IN {0}"),
    "cte quoted": chain(18, 'SELECT p.x FROM "{0}" p, [{0}] q', "SELECT x FROM `{0}`"),
    "column doubling": chain(22, "SELECT x + x AS x FROM {0}"),
    "column doubling quoted": chain(22, "SELECT \"x\" + [x] AS 'x' FROM {0}"),
    "column doubling nameless": chain(18, 'SELECT x + x AS x FROM (SELECT "x" COLLATE NOCASE FROM {0})'),
    "column doubling made-up name": chain(
        18, 'SELECT "a+0"+"a+0" AS x FROM (SELECT a+0 FROM (SELECT x AS a FROM {0}))'
    ),
    "column doubling where": chain(
        20, "SELECT DISTINCT x + x AS x FROM {0}", "SELECT x FROM {0} WHERE x > 0"
    ),
    "column doubling group": chain(
        20, "SELECT x + x AS x FROM {0} GROUP BY x", "SELECT 1 FROM {0} WHERE x > 0"
    ),
    "column doubling case": chain(14, "SELECT CASE WHEN x THEN x ELSE x END AS x FROM {0}"),
    "column doubling window word": chain(20, "SELECT x + x AS x FROM orders window JOIN {0}"),
    "column doubling parentheses": chain(20, "SELECT x + x AS x FROM ((SELECT (x) FROM {0}) a)"),
    "column doubling exists": chain(
        12, "SELECT x FROM (SELECT x+x+x+x+x+x AS x FROM {0}) WHERE EXISTS (SELECT x + x + x)"
    ),
    "column doubling order": chain(
        20, "SELECT x + x AS x FROM {0} ORDER BY x", "SELECT x FROM {0} ORDER BY x"
    ),
    "star doubling": chain(20, "SELECT *, * FROM {0}", "SELECT COUNT(*) FROM {0}"),
    "alias expansion": f"SELECT {balanced('+', ['id'] * 300)} AS s FROM orders WHERE "
    f"{balanced('+', ['s'] * 300)} > 0",
    "sixty natural": f"SELECT COUNT(*) FROM {' NATURAL JOIN '.join(f'products p{i}' for i in range(60))}",
    "sixty full": "SELECT id FROM products p0"
    + "".join(f" FULL JOIN products p{i} USING (id)" for i in range(1, 60)),
    "joins with or": f"SELECT COUNT(*) FROM {', '.join(f'products p{i}' for i in range(40))} WHERE "
    + " OR ".join(f"p{i}.id = {i} AND p{i}.sku = 'x'" for i in range(40)),
    "many columns": f"SELECT {', '.join(['1'] * 5_000)}",
    "many terms": f"SELECT 1 FROM orders ORDER BY {', '.join(f'id + {i}' for i in range(1_500))}",
    "many equalities": f"SELECT 1 FROM orders a, orders b WHERE {balanced('AND', ['a.id=b.id'] * 1_000)}",
    "many windows": "SELECT "
    + balanced("+", [f"sum(id) OVER (ORDER BY {i})" for i in range(500)])
    + " FROM orders",
    "many aggregates": f"SELECT {balanced('+', [f'sum(id + {i})' for i in range(1_000)])} FROM orders",
    "many subqueries": f"SELECT {balanced('+', ['(SELECT id FROM orders)'] * 600)}",
    "blanks": f"SELECT 1{' ' * 400_000}",
    "comments": f"SELECT 1 {'/**/' * 100_000}",
    "long name": f"SELECT 1 AS {'a' * 300_000}",
    "long text": f"SELECT '{'a' * 400_000}'",
}
