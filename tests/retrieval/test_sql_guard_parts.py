"""The parts of the guard: words as SQLite reads them, the size written out, the locked connection."""

import random
import sqlite3
import time

import guard_shop
import guard_statements
import pytest

from course_utils.retrieval.sql_check import check
from course_utils.retrieval.sql_errors import UnsafeSQL, nearest
from course_utils.retrieval.sql_guard import SafeDatabase
from course_utils.retrieval.sql_open import Sessions
from course_utils.retrieval.sql_size import MAX_SIZE, written_out
from course_utils.retrieval.sql_tokens import explained, one_read, tokenize


def texts(sql):
    return [token.text for token in tokenize(sql)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a--b\n,c", ["SELECT", "a", ",", "c"]),
        ("a/*/b*/c", ["a", "c"]),
        ("a/* /* */b", ["a", "b"]),
        ("a/* open", ["a"]),
        ("'it''s'';' x", ["'it''s'';'", "x"]),
        ('"a""b"[c d]`e``f`', ['"a""b"', "[c d]", "`e``f`"]),
        ("x'41' X'42' x", ["x'41'", "X'42'", "x"]),
        ("1.5e-3 .5 0xFF 1.e", ["1.5e-3", ".5", "0xFF", "1.", "e"]),
        ("a->>'b'->c||d<>e", ["a", "->>", "'b'", "->", "c", "||", "d", "<>", "e"]),
        ("?1 :name @x $a::b(c) ?", ["?1", ":name", "@x", "$a::b(c)", "?"]),
        ("\ufeffSELECT é$1", ["SELECT", "é$1"]),
        ("'open; b", ["'open; b"]),
        ("[open; b", ["[open; b"]),
    ],
)
def test_tokens_are_those_of_sqlite(sql, expected):
    assert texts(sql) == expected


def test_names_are_folded():
    assert [token.name for token in tokenize('Ab "C""D" [E] \'F\'')] == ["ab", 'c"d', "e", "f"]


def test_what_follows_the_last_statement_is_cut_off_with_its_semicolon():
    tokens, end = one_read("SELECT 1 ; ; -- x")
    assert [token.text for token in tokens] == ["SELECT", "1"] and "SELECT 1 ; ; -- x"[:end] == "SELECT 1 "
    assert one_read("SELECT 1; -- x")[1] == len("SELECT 1")
    assert one_read("SELECT 1 -- x;")[1] == len("SELECT 1 -- x;")


def test_explained_does_not_explain_twice():
    assert explained("/* a */ select 1") == "EXPLAIN /* a */ select 1"
    assert explained("-- a\nExplain query plan select 1") == "-- a\nExplain query plan select 1"


def size(sql):
    return written_out(one_read(sql)[0])


def test_each_doubling_doubles_the_size():
    step = "SELECT x + x AS x FROM {0}"
    sizes = [size(guard_statements.chain(n, step)) for n in range(3, 10)]
    assert all(1.7 < after / before < 2.3 for before, after in zip(sizes[2:], sizes[3:], strict=False))
    with pytest.raises(UnsafeSQL, match="too complex"):
        size(guard_statements.chain(14, step))


def test_columns_passed_through_cost_no_more_with_each_step():
    sql = guard_statements.chain(40, "SELECT x FROM {0}")
    assert size(sql) < 1_000


def test_grouping_ends_the_copies_unless_where_looks_through():
    grouped = "SELECT x, sum(x + x) AS x2 FROM {0} GROUP BY x"
    assert size(guard_statements.chain(20, grouped)) < MAX_SIZE
    looks = "SELECT x + x AS x FROM {0} GROUP BY x"
    with pytest.raises(UnsafeSQL, match="too complex"):
        size(guard_statements.chain(20, looks, "SELECT 1 FROM {0} WHERE x > 0"))


def test_likes_cost_by_their_pattern():
    assert size("SELECT a LIKE '%lamp%' FROM t") < size("SELECT a LIKE '%' || b FROM t")
    assert size("SELECT a LIKE '%' || b FROM t") > 2 * 80


def made_up(rng):
    """Return a chain of steps in which each uses the columns of the one before, in some odd way."""

    def name(column):
        return rng.choice([column, f'"{column}"', f"[{column}]", f"`{column}`", column.upper()])

    def term(depth=0):
        x = name(rng.choice("xy"))
        forms = ["{x}", "{x} + {x}", "({x})", "abs({x})", "{x} COLLATE NOCASE", "{x} NOTNULL", "likely({x})"]
        forms += [
            "({x}, {x}) = ({x}, {x})",
            "{x} IS NOT DISTINCT FROM {x}",
            "{x} IN (SELECT {x})",
            "max({x}, {x})",
        ]
        if depth < 3:
            forms += ["{t} + {u}", "CASE WHEN {x} THEN {t} ELSE {u} END", "(SELECT {t})", "({t}) || {u}"]
        form = rng.choice(forms)
        return form.format(
            x=x, t=term(depth + 1) if "{t}" in form else "", u=term(depth + 1) if "{u}" in form else ""
        )

    def step(i):
        before = rng.choice([f"s{i - 1}", f'"s{i - 1}"', f"[s{i - 1}]", f"'s{i - 1}'"])
        alias = rng.choice(["", " a", " AS a", " window", " over"])
        sources = [
            "{b}{a}",
            "({b}{a})",
            "(SELECT * FROM {b}){a}",
            "orders o, {b}{a}",
            "orders o LEFT JOIN {b}{a} ON 1",
        ]
        items = ", ".join(term() + rng.choice([f" AS {c}", f" {c}", f" AS '{c}'", f" [{c}]"]) for c in "xy")
        rest = rng.choice([
            "",
            "",
            "",
            f" WHERE {term()}",
            f" GROUP BY {name('x')}",
            " ORDER BY y",
            " LIMIT 5",
        ])
        source = rng.choice(sources).format(b=before, a=alias)
        return f"SELECT {rng.choice(['', '', 'DISTINCT '])}{items} FROM {source}{rest}"

    steps = ["s0 AS (SELECT id AS x, id AS y FROM orders)"]
    steps += [f"s{i} AS ({step(i)})" for i in range(1, rng.randint(4, 20))]
    if rng.random() < 0.3:
        steps = steps[::-1]  # SQLite lets a step name a later one
    last = max(int(text[1 : text.index(" ")]) for text in steps)
    return f"WITH {', '.join(steps)} SELECT {rng.choice(['*', 'count(*)'])} FROM s{last}"


def test_whatever_is_small_enough_compiles_at_once(published):
    rng = random.Random(20260630)
    locked = Sessions(published).get().locked
    compiled = 0
    for _ in range(400):
        sql = made_up(rng)
        try:
            check(sql, guard_shop.ALLOW)
        except UnsafeSQL:
            continue
        started = time.perf_counter()
        try:
            locked.execute(f"EXPLAIN {sql}", (), 60, 1_000).close()
            compiled += 1
        except sqlite3.Error:
            pass  # not every made-up statement means something
        assert time.perf_counter() - started < 2, sql
    assert compiled > 50


# The locked connection holds without the checks of the words before it.


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "CREATE TEMP TABLE t AS SELECT 1",
        "CREATE TEMP VIEW orders AS SELECT 1",
        "ATTACH 'new.db' AS n",
        "VACUUM INTO 'new.db'",
        "PRAGMA query_only = 0",
        "PRAGMA temp_store_directory = '/tmp'",
        "BEGIN",
        "SAVEPOINT s",
        "REINDEX",
        "ANALYZE",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT * FROM sqlite_master",
        "SELECT count(*) FROM sqlite_master",
        "SELECT * FROM articles_fts_data",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM dbstat",
        "INSERT INTO articles_fts(articles_fts) VALUES ('optimize')",
    ],
)
def test_the_connection_alone_refuses(published, tmp_path, monkeypatch, sql):
    monkeypatch.chdir(tmp_path)
    before = published.read_bytes()
    locked = Sessions(published).get().locked
    with pytest.raises(sqlite3.Error):
        locked.execute(sql, (), 1, 1_000).fetchall()
    locked.close()
    assert published.read_bytes() == before and not list(tmp_path.iterdir())


def test_the_full_text_index_works_after_the_lock(published):
    with SafeDatabase(published) as db:
        for sql in (
            "SELECT count(*) FROM articles_fts WHERE articles_fts MATCH 'lamp OR returns'",
            "SELECT title FROM articles_fts WHERE articles_fts MATCH 'lamp' ORDER BY bm25(articles_fts)",
            "SELECT snippet(articles_fts, 1, '', '', '', 3) FROM articles_fts('lamp') ORDER BY rowid DESC",
            "SELECT rowid, title FROM articles_fts WHERE rowid IN (2, 3) ORDER BY rowid DESC",
            "SELECT title FROM articles_fts WHERE title MATCH 'up*' AND rowid < 5",
        ):
            assert db.run(sql).rows


def test_nearest_names():
    assert nearest("order_dat", ["order_date", "status"]) == ["order_date"]
    assert nearest("OrderDate", ["order_date"]) == ["order_date"]
    assert nearest("zzz", ["order_date"]) == []
