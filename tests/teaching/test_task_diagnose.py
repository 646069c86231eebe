"""A wrong query is told which mistake it made, and another way to the same rows is right."""

import sqlite3

import pytest

from course_utils.teaching.diagnose import Table, difference

MUSIC = """
CREATE TABLE invoice (id INTEGER PRIMARY KEY, country TEXT, total REAL);
CREATE TABLE line (invoice_id INTEGER, price REAL);
CREATE TABLE playlist (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE playlist_track (playlist_id INTEGER, track_id INTEGER);
INSERT INTO invoice VALUES (1, 'USA', 3.0), (2, 'USA', 2.5), (3, 'Norway', 1.0), (4, 'Chile', 9.0);
INSERT INTO line VALUES (1, 1.0), (1, 1.0), (1, 1.0), (2, 1.25), (2, 1.25), (3, 0.5), (3, 0.5),
 (4, 4.5), (4, 4.5);
INSERT INTO playlist VALUES (1, 'Music'), (2, 'Films'), (3, 'Music'), (4, 'Jazz');
INSERT INTO playlist_track VALUES (1, 1), (1, 2), (3, 1), (4, 5);
"""


@pytest.fixture(scope="module")
def run():
    db = sqlite3.connect(":memory:")
    db.executescript(MUSIC)

    def table(sql):
        cursor = db.execute(sql)
        return Table.of([column[0] for column in cursor.description], cursor.fetchall(), sql)

    yield table
    db.close()


TOTALS = "SELECT country, SUM(total) AS total FROM invoice GROUP BY country"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(total) AS s, country AS c FROM invoice GROUP BY country ORDER BY 1 DESC",
        "WITH t AS (SELECT * FROM invoice) SELECT country, SUM(total) FROM t GROUP BY 1",
        "SELECT DISTINCT country, (SELECT SUM(total) FROM invoice WHERE country = o.country) FROM invoice o",
        "SELECT i.country, SUM(l.price) FROM invoice i JOIN line l ON l.invoice_id = i.id GROUP BY i.country",
    ],
)
def test_another_way_to_the_same_rows_is_right(run, sql):
    assert difference(run(sql), run(TOTALS)) is None


def test_a_sort_by_a_quoted_alias_sorts_by_a_constant(run):
    right = "SELECT country, SUM(total) AS sales FROM invoice GROUP BY country ORDER BY sales LIMIT 1"
    wrong = "SELECT country, SUM(total) AS sales FROM invoice GROUP BY country ORDER BY 'sales' LIMIT 1"
    assert "same for each row" in difference(run(wrong), run(right), ordered=True)


def test_groups_by_a_name_that_is_not_unique_are_wrong(run):
    right = (
        "SELECT p.name, COUNT(t.track_id) FROM playlist p "
        "LEFT JOIN playlist_track t ON t.playlist_id = p.id GROUP BY p.id"
    )
    wrong = right.replace("LEFT JOIN", "JOIN").replace("p.id", "p.name", 1).replace("BY p.id", "BY p.name")
    wrong = wrong.replace("t.playlist_id = p.name", "t.playlist_id = p.id")
    text = difference(run(wrong), run(right))
    assert "drops what has no match" in text
    assert "Group by the key" in text


def test_a_join_that_repeats_totals_is_explained_as_fan_out(run):
    wrong = "SELECT SUM(i.total) FROM invoice i JOIN line l ON l.invoice_id = i.id"
    assert "fan-out" in difference(run(wrong), run("SELECT SUM(total) FROM invoice"))


def test_an_integer_division_is_pointed_at(run):
    wrong = "SELECT SUM(country = 'USA') / COUNT(*) FROM invoice"
    right = "SELECT 1.0 * SUM(country = 'USA') / COUNT(*) FROM invoice"
    assert "divides two integers" in difference(run(wrong), run(right))


@pytest.mark.parametrize(
    ("wrong", "fragment"),
    [
        ("SELECT * FROM invoice", "SELECT * brings every column"),
        ("SELECT country, SUM(total), COUNT(*) FROM invoice GROUP BY country", "your query has 3"),
        ("SELECT country FROM invoice", "your query has 1"),
        ("SELECT country, SUM(total) FROM invoice", "without GROUP BY"),
        (f"{TOTALS} LIMIT 2", "LIMIT"),
        ("SELECT country, total FROM invoice", "more rows"),
        (f"{TOTALS} HAVING total > 2", "missing."),
        (
            "SELECT country, SUM(total) FROM invoice WHERE id > 3 GROUP BY country",
            "WHERE in your query leaves them",
        ),
        ("SELECT country, SUM(total) FROM invoice WHERE id <> 2 GROUP BY country", "too small: the WHERE"),
        ("SELECT country, MAX(total) FROM invoice GROUP BY country", "not the ones"),
    ],
)
def test_wrong_rows_are_explained(run, wrong, fragment):
    assert fragment in difference(run(wrong), run(TOTALS))


def test_order_counts_only_where_it_is_asked_for(run):
    up, down = run(f"{TOTALS} ORDER BY country"), run(f"{TOTALS} ORDER BY country DESC")
    assert difference(up, down) is None
    assert "order is not" in difference(up, down, ordered=True)


def test_a_column_is_compared_with_its_namesake():
    want = Table.of(("paid", "refunded"), [[1, 2], [3, 4]])
    assert difference(Table.of(("refunded", "paid"), [[2, 1], [4, 3]]), want) is None
    assert difference(Table.of(("refunded", "paid"), [[1, 2], [3, 4]]), want)


def test_no_message_tells_a_reference_value(run):
    want = Table.of(("a", "b"), [["x", 987654.25]])
    for rows in ([["x", 1]], [["x", 2_000_000]], [["y", 1]], [], [["x", 1], ["z", 2]]):
        for sql in ("", "SELECT a, b FROM t JOIN u", "not sql ((("):
            assert "987654" not in difference(Table.of(("a", "b"), rows, sql), want)
