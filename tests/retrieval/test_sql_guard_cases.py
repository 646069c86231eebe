"""The guard on every case: a good query gives the rows it should, an attack does no harm."""

import re
import sqlite3

import guard_shop
import guard_statements
import pytest

from course_utils.retrieval.sql_guard import SafeDatabase, check_sql
from course_utils.shop.publish import file_uri

GOOD = {case["id"]: case for case in guard_shop.ALL if case["expect"] == "allow"}
BAD = {case["id"]: case["sql"] for case in guard_shop.ALL if case["expect"] == "reject"}
ATTACKS = {**BAD, **guard_statements.ATTACKS}
READS = {f"read {i}": sql for i, sql in enumerate(guard_statements.READS)}
TIMEOUT = 0.4


@pytest.fixture(scope="module")
def db(published):
    with SafeDatabase(published, max_rows=1_000, timeout_s=10) as db:
        yield db


@pytest.fixture(scope="module")
def harm(published):
    return guard_shop.run_apart(published, ATTACKS, TIMEOUT)


def plain(value):
    return value.hex() if isinstance(value, bytes) else value


def equal(got, expected):
    """Whether two cells are equal; how SQLite prints the last digits of a fraction changed over time."""
    if isinstance(expected, float):
        return got == pytest.approx(expected)
    if isinstance(expected, str) and isinstance(got, str):
        return re.sub(r"(\.\d{10})\d+", r"\1", got) == re.sub(r"(\.\d{10})\d+", r"\1", expected)
    return got == expected


@pytest.mark.parametrize("name", GOOD)
def test_good_query_gives_the_expected_rows(db, name):
    case = GOOD[name]
    rows = db.run(case["sql"], case.get("params"))
    got = [[plain(value) for value in row] for row in rows]
    if case.get("optional"):  # query plans differ from one SQLite to the next
        assert got
        return
    assert list(rows.columns) == case["expected_columns"]
    assert len(got) == len(case["expected_rows"])
    for row, expected in zip(got, case["expected_rows"], strict=True):
        assert len(row) == len(expected) and all(map(equal, row, expected)), (row, expected)
    assert not rows.truncated


@pytest.mark.parametrize("name", READS)
def test_read_of_our_own_gives_what_sqlite_gives(db, published, name):
    sql = READS[name]
    unguarded = sqlite3.connect(file_uri(published, "ro"), uri=True)
    expected = unguarded.execute(sql.rstrip("; ")).fetchall()
    unguarded.close()
    assert list(db.run(sql)) == expected
    assert check_sql(sql, db.tables).rstrip("; ") == sql.rstrip("; ")


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_does_no_harm(harm, name):
    seen = harm[name]
    assert "killed" not in seen, f"the process ended with {seen['killed']}"
    assert "fault" not in seen
    assert not seen["changed"]
    assert seen["files"] == ["published.db"]
    assert not seen.get("secret")
    assert seen.get("rows", 0) <= 1_000
    assert seen.get("bytes", 0) <= 300_000
    assert seen["seconds"] < TIMEOUT + 4, "a deadline must hold, give or take a busy machine"
    assert seen["mb"] < 150


# Each of these must be stopped, not only answered harmlessly.
HARMLESS = {"R093", "R097", "R098", "R148", "R171"}  # the published file has no e-mail, comments do nothing
CUT = {"R119", "R122", *(f"R{i}" for i in range(140, 147))}  # endless rows, cut at the cap


@pytest.mark.parametrize("name", sorted(BAD.keys() - HARMLESS - CUT))
def test_attack_is_refused_with_a_reason(harm, name):
    assert harm[name].get("reason")


@pytest.mark.parametrize("name", sorted(CUT))
def test_endless_rows_are_cut(harm, name):
    assert harm[name].get("rows") == 1_000 or harm[name]["reason"]


MUST_STOP = (
    "printf width of ten digits",
    "printf width as text",
    "printf format as blob",
    "json array over endless rows",
    "stars of stars",
    "long names of columns",
    "long names and no rows",
    "long formats of dates",
    "full join with the schema",
    "full join with an index part",
)


@pytest.mark.parametrize("name", MUST_STOP)
def test_own_attack_is_refused_with_a_reason(harm, name):
    assert harm[name].get("reason")


GROWING = {
    "json array": "SELECT length(json_group_array(hex(zeroblob(20000)))) FROM n",
    "json object": "SELECT length(json_group_object(i, hex(zeroblob(20000)))) FROM n",
    "thirty json arrays": "SELECT "
    + ", ".join(f"length(json_group_array(i || '{k}' || hex(zeroblob(20000))))" for k in range(30))
    + " FROM n",
}


@pytest.mark.parametrize("name", GROWING)
def test_memory_is_bounded_while_there_is_time(published, name):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) "
    [seen] = guard_shop.run_apart(published, {name: numbers + GROWING[name]}, 3.0).values()
    assert seen["reason"] == "too complex"
    assert seen["mb"] < 150


def test_there_are_enough_statements_of_our_own():
    assert len(set(guard_statements.READS)) >= 60
    assert len(guard_statements.ATTACKS) >= 60
    known = {case["sql"] for case in guard_shop.ALL}
    assert not known & set(guard_statements.READS)
    assert not known & {sql for sql in guard_statements.ATTACKS.values() if isinstance(sql, str)}
