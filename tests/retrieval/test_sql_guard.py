"""SafeDatabase as a program sees it: rows, caps, threads, log, and messages a person can act on."""

import logging
import multiprocessing
import os
import sqlite3
import sys
import threading

import guard_shop
import pytest
from guard_shop import made, refused

from course_utils.retrieval.sql_guard import QueryFailed, Rows, SafeDatabase, check_sql
from course_utils.shop.publish import publish

SEED = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, amount REAL, status TEXT);
INSERT INTO customers VALUES (1, 'Asha', 'Pune'), (2, 'Ravi', 'Delhi'), (3, 'Meena', 'Pune');
INSERT INTO orders VALUES (1, 1, 250.0, 'paid'), (2, 1, 100.0, 'paid'), (3, 2, 75.5, 'refunded'),
    (4, 3, 300.0, 'paid');
"""
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT {} FROM c"


# the seed lesson's own results


def test_paid_total_per_city(tmp_path):
    with made(tmp_path, SEED) as db:
        sql = (
            "SELECT c.city, SUM(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE o.status = 'paid' GROUP BY c.city ORDER BY total DESC"
        )
        rows = db.run(sql)
        assert list(rows) == [("Pune", 650.0)]
        assert rows.columns == ("city", "total")
        assert refused(db.run, "DROP TABLE orders").reason == "only SELECT"
        assert refused(db.run, "SELECT 1; DELETE FROM orders").reason == "multiple statements"
        assert list(db.run("SELECT COUNT(*) FROM orders")) == [(4,)]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("DROP TABLE orders", "only SELECT"),
        ("SELECT 1; DELETE FROM orders", "multiple statements"),
        ("WITH x AS (SELECT 1) INSERT INTO product(name) VALUES('z')", "only SELECT"),
        ("WITH d AS (DELETE FROM product RETURNING *) SELECT * FROM d", "only SELECT"),
        ("PRAGMA query_only=0", "only SELECT"),
        ("VACUUM INTO 'copy.db'", "only SELECT"),
        ("", "no statement"),
        ("SELECT " + "(" * 1000 + "1" + ")" * 1000, "too deeply nested"),
        ("SELECT 1 WHERE 1 IN (" + ",".join(["1"] * 100_000) + ")", "too long"),
    ],
)
def test_check_sql_alone_refuses(sql, reason):
    error = refused(check_sql, sql)
    assert error.reason == str(error) == reason
    assert error.hint


def test_a_write_inside_with_is_named():
    assert "DELETE" in refused(check_sql, "WITH d AS (DELETE FROM product RETURNING *) SELECT * FROM d").hint


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'DROP TABLE x'", [("DROP TABLE x",)]),
        ("SELECT updated_at FROM tickets WHERE id = 1", [("2024-05-01",)]),
        ("SELECT replace(name, 'A', 'B') FROM customers WHERE id = 1", [("Bda",)]),
        ("SELECT name FROM customers WHERE id = 1 -- ; DELETE FROM customers", [("Ada",)]),
        ("WITH v AS (VALUES(1),(2)) SELECT * FROM v", [(1,), (2,)]),
        ("VALUES(1)", [(1,)]),
        ("SELECT 1 UNION SELECT 2", [(1,), (2,)]),
    ],
)
def test_write_words_in_harmless_places_run(db, sql, expected):
    assert list(db.run(sql)) == expected


def test_checked_text_comes_back_as_it_was():
    sql = " SELECT  [a] /* b */ FROM t -- c"
    assert check_sql(sql) == sql
    assert check_sql("SELECT 1; -- done") == "SELECT 1"


# bounds


def test_rows_are_cut_at_the_cap_and_said_so(db):
    rows = db.run("SELECT a.id FROM orders a, orders b")
    assert len(rows) == 50 and rows.truncated
    assert "there are more" in rows.to_markdown()
    whole = db.run("SELECT id FROM orders")
    assert len(whole) == 40 and not whole.truncated


def test_exactly_the_cap_is_not_cut(published):
    with SafeDatabase(published, max_rows=40) as db:
        assert not db.run("SELECT id FROM orders").truncated


def test_long_text_arrives_whole(db):
    text = "x" * 3_000
    rows = db.run(f"SELECT '{text}'")
    assert rows[0] == (text,) and text in rows.to_markdown()


def test_bytes_are_capped(published):
    with SafeDatabase(published, max_rows=1_000, max_bytes=1_000) as db:
        rows = db.run("SELECT a.name, b.name FROM products a, products b")
        assert rows.truncated and 0 < sum(len(x) + len(y) for x, y in rows) <= 1_000
        error = refused(db.run, f"SELECT '{'é' * 600}'", QueryFailed)
        assert error.reason == "result too large"


def test_endless_query_is_stopped_and_the_next_one_runs(published):
    with SafeDatabase(published, timeout_s=0.2) as db:
        rows = db.run(ENDLESS.format("x"))
        assert len(rows) == 50 and rows.truncated
        error = refused(db.run, ENDLESS.format("count(*)"), QueryFailed)
        assert error.reason == "too slow: stopped after 0.2 s"
        assert error.hint
        assert list(db.run("SELECT 1")) == [(1,)]


def test_parameters(db):
    assert list(db.run("SELECT name FROM customers WHERE id = ?", (12,))) == [("Lena",)]
    assert list(db.run("SELECT name FROM customers WHERE id = :id", {"id": 1})) == [("Ada",)]
    hostile = "x' OR 1=1; DROP TABLE customers; --"
    assert list(db.run("SELECT name FROM customers WHERE name = ?", [hostile])) == []
    assert "every ?" in refused(lambda sql: db.run(sql, (1, 2)), "SELECT ?", QueryFailed).hint
    assert refused(lambda sql: db.run(sql, {"b": 1}), "SELECT :a", QueryFailed).reason


@pytest.mark.parametrize("options", [{"max_rows": 0}, {"timeout_s": 0}, {"max_bytes": -1}])
def test_bounds_must_be_positive(published, options):
    with pytest.raises(ValueError, match="above zero"):
        SafeDatabase(published, **options)


# showing rows


def test_rows_show_as_a_table():
    rows = Rows(("a|b", "c"), (("x|y\nz", None), (b"\0\1", 1.5)), False, 2.0)
    assert rows.to_markdown() == str(rows)
    assert rows.to_markdown().splitlines()[0] == "| a\\|b | c |"
    assert "| x\\|y<br>z | NULL |" in rows.to_markdown()
    assert "| (2 bytes) | 1.5 |" in rows.to_markdown()
    assert "2 rows" in rows.to_markdown()
    assert rows.frame().shape == (2, 2)


def test_rows_escape_html():
    page = Rows(("<b>",), (("<script>alert(1)</script>",),))._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_no_rows_are_said_to_be_none(db):
    rows = db.run("SELECT name FROM customers WHERE 0")
    assert len(rows) == 0 and rows.columns == ("name",) and "no rows" in rows.to_markdown()


def test_columns_of_one_name_are_all_kept(db):
    rows = db.run("SELECT a.id, b.id FROM orders a JOIN orders b ON b.id = a.id + 1 WHERE a.id = 1")
    assert rows.columns == ("id", "id") and rows[0] == (1, 2)


# opening, closing, threads, processes


def test_a_missing_file_is_said_to_be_missing_and_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="publish"):
        SafeDatabase(tmp_path / "none.db")
    assert not list(tmp_path.iterdir())


def test_an_unpublished_file_is_not_opened(case_shop):
    with pytest.raises(ValueError, match="not made by publish"):
        SafeDatabase(case_shop)


def test_what_is_no_database_is_not_opened(tmp_path):
    path = tmp_path / "x.db"
    path.write_text("this is no database, only text " * 50, encoding="utf-8")
    with pytest.raises(ValueError, match="not an SQLite database"):
        SafeDatabase(path)


def test_a_published_file_with_a_view_added_is_not_opened(tmp_path):
    made(tmp_path, SEED).close()
    with sqlite3.connect(tmp_path / "published.db") as db:
        db.execute("CREATE VIEW v AS SELECT 1")
    db.close()
    with pytest.raises(ValueError, match="not made by publish"):
        SafeDatabase(tmp_path / "published.db")


def test_odd_characters_in_the_path(tmp_path):
    folder = tmp_path / "a b%20#é"
    folder.mkdir()
    with made(folder, SEED) as db:
        assert list(db.run("SELECT COUNT(*) FROM customers")) == [(3,)]
    assert sorted(path.name for path in folder.iterdir()) == ["published.db", "source.db"]


def test_tables_list_what_can_be_read(db):
    assert db.tables["customers"] == ("id", "name", "city", "tier")
    assert set(db.tables) == set(guard_shop.ALLOW)
    assert {*db.tables["articles_fts"]} == {"title", "body", "rank", "articles_fts"}


def test_threads_have_their_own_connections(db):
    found, wrong = [], []

    def work(number):
        try:
            for _ in range(20):
                found.append(db.run("SELECT id FROM orders WHERE id = ?", (number,))[0][0] == number)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and found == [True] * 120


def test_closing_waits_for_a_query_in_another_thread(published):
    db, seen = SafeDatabase(published, timeout_s=0.5), []
    running = threading.Event()

    def work():
        running.set()
        try:
            db.run(ENDLESS.format("count(*)"))
        except QueryFailed as error:
            seen.append(error.reason)

    thread = threading.Thread(target=work)
    thread.start()
    running.wait(5)
    db.close()
    thread.join(10)
    assert seen and not thread.is_alive()
    assert "closed" in refused(db.run, "SELECT 1", QueryFailed).reason


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="no safe fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_survives_a_fork(db):
    assert list(db.run("SELECT 1")) == [(1,)]
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=lambda: answers.put(list(db.run("SELECT COUNT(*) FROM orders"))))
    child.start()
    assert answers.get(timeout=20) == [(40,)]
    child.join(20)
    assert list(db.run("SELECT COUNT(*) FROM customers")) == [(12,)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not replace a file that is open")
def test_a_file_published_anew_is_read_anew(tmp_path):
    with made(tmp_path, SEED) as db:
        assert list(db.run("SELECT COUNT(*) FROM orders")) == [(4,)]
        publish(tmp_path / "source.db", tmp_path / "published.db", {"customers": ["city"]})
        assert refused(db.run, "SELECT COUNT(*) FROM orders").reason == "forbidden table: orders"
        assert db.tables == {"customers": ("city",)}


# the log


def test_log_tells_what_ran_and_never_what_came_out(published):
    entries = []
    with SafeDatabase(published, log=entries.append) as db:
        db.run("SELECT name FROM customers WHERE id = 1")
        db.run("SELECT a.id FROM orders a, orders b")
        refused(db.run, "DROP TABLE orders")
        refused(db.run, "SELECT 1 FROM", QueryFailed)
    outcomes = [entry["outcome"] for entry in entries]
    assert outcomes[:3] == ["ok", "cut", "refused: only SELECT"] and outcomes[3].startswith("failed: ")
    assert [entry["rows"] for entry in entries] == [1, 50, 0, 0]
    assert all(entry["milliseconds"] >= 0 for entry in entries)
    assert entries[0]["query"] == "SELECT name FROM customers WHERE id = 1"
    assert "Ada" not in str(entries)


def test_log_goes_to_the_logger(db, caplog):
    with caplog.at_level(logging.INFO, "course_utils.sql"):
        db.run("SELECT name FROM customers WHERE id = 1")
    assert "SELECT name FROM customers WHERE id = 1" in caplog.text and "1 rows" in caplog.text
    assert "Ada" not in caplog.text


# nearest values


def test_nearest_values_ignore_case_and_accents(tmp_path):
    script = (
        "CREATE TABLE a (n TEXT);"
        "INSERT INTO a VALUES ('Antônio Carlos Jobim'), ('AC/DC'), ('Carlos'), (7), (NULL);"
    )
    with made(tmp_path, script) as db:
        assert db.nearest_values("a", "n", "antonio carlos jobim")[0] == "Antônio Carlos Jobim"
        assert db.nearest_values("A", "N", "Antonio Carlos Jobin")[0] == "Antônio Carlos Jobim"
        assert db.nearest_values("a", "n", "zzzz") == []
        assert db.nearest_values("a", "n", "carlos", limit=1) == ["Carlos"]
        assert refused(lambda sql: db.nearest_values(sql, "n", "x"), "b").reason == "forbidden table: b"
        assert refused(lambda sql: db.nearest_values("a", sql, "x"), "m").reason == "forbidden column: a.m"


# other schemas


def test_a_column_named_as_its_table_is_no_full_text_search(tmp_path):
    script = "CREATE TABLE region (region TEXT, n INTEGER); INSERT INTO region VALUES ('north', 1);"
    with made(tmp_path, script) as db:
        assert list(db.run("SELECT n FROM region WHERE region = 'nor' || 'th'")) == [(1,)]
        assert check_sql("SELECT n FROM region WHERE region = 'north'", db.tables)


def test_a_wide_table_can_be_read(tmp_path):
    columns = ", ".join(f"c{i}" for i in range(300))
    with made(tmp_path, f"CREATE TABLE wide ({columns}); INSERT INTO wide (c0) VALUES (5);") as db:
        rows = db.run("SELECT * FROM wide")
        assert len(rows.columns) == 300 and rows[0][0] == 5


def test_names_with_quotes_and_keywords(tmp_path):
    script = (
        'CREATE TABLE "select" ("group" TEXT, "it\'s ""x""" INTEGER); INSERT INTO "select" VALUES (\'g\', 1);'
    )
    with made(tmp_path, script) as db:
        assert list(db.run('SELECT "group", "it\'s ""x""" FROM "select"')) == [("g", 1)]
        assert list(db.run("SELECT [group] FROM `select`")) == [("g",)]


@pytest.mark.parametrize("function", ["instr", "replace", "trim", "printf", "format"])
def test_checked_functions_answer_as_sqlite_does(db, function):
    calls = {
        "instr": [
            "'abc', 'c'",
            "'abc', ''",
            "NULL, 'a'",
            "x'0102', x'02'",
            "12345, 34",
            "'ébé', 'é'",
            "'a', NULL",
        ],
        "replace": ["'abc', 'b', 'xx'", "'abc', '', 'x'", "NULL, 'a', 'b'", "1234, 2, 9", "'aaa', 'a', ''"],
        "trim": ["'xxaxx', 'x'", "'abc', ''", "' a '", "12321, 1", "NULL, 'x'"],
        "printf": [
            "'%05.1f|%-5s|%+d|%x|%%', 2.25, 'ab', 3, 255",
            "'%,d', 1234567",
            "'%*d', 8, 42",
            "'%s'",
            "NULL",
            "'Order 20240101: %d', 3",
        ],
        "format": ["'%d items', 3", "'%q', 'it''s'", "'%.3s', 'abcdef'", "'%c%c', 'x', 'y'"],
    }[function]
    plain = sqlite3.connect(":memory:")
    for call in calls:
        sql = f"SELECT {function}({call})"
        assert list(db.run(sql)) == plain.execute(sql).fetchall(), sql
    plain.close()
