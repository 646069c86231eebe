"""A published file holds what was allowed, as it was, and nothing else."""

import sqlite3
import sys

import pytest

from course_utils.retrieval.sql_guard import SafeDatabase
from course_utils.shop.publish import publish

SCRIPT = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL UNIQUE, age INT CHECK (age > 0) DEFAULT 7,
    twice GENERATED ALWAYS AS (age * 2) VIRTUAL,
    thrice INT GENERATED ALWAYS AS (age * 3) STORED,
    secret TEXT, odd "strange type"
);
INSERT INTO people (id, name, age, secret, odd) VALUES (1, 'Ada', 30, 'S3CRET', 1);
INSERT INTO people (id, name, age, secret, odd) VALUES (5, 'Bo', 20, 'S3CRET', x'00');
CREATE TABLE pairs (a TEXT, b INTEGER, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
INSERT INTO pairs VALUES ('x', 1, 2.5);
CREATE TABLE strict_one (id INTEGER PRIMARY KEY, v ANY NOT NULL, person INTEGER REFERENCES people (id),
    other INTEGER REFERENCES hidden (id)) STRICT;
INSERT INTO strict_one VALUES (1, x'0102', 1, 1);
CREATE TABLE hidden (id INTEGER PRIMARY KEY, x TEXT);
INSERT INTO hidden VALUES (1, 'S3CRET');
CREATE INDEX "by name" ON people (name DESC, age);
CREATE INDEX by_secret ON people (secret);
CREATE INDEX partial ON people (age) WHERE secret = 'S3CRET';
CREATE INDEX expression ON people (lower(name));
CREATE VIEW "first view" AS SELECT id, name FROM people;
CREATE VIEW second AS SELECT id AS number, upper(name) AS loud FROM "first view";
CREATE TABLE "odd ""name]" ("col umn" TEXT, "group" INTEGER);
INSERT INTO "odd ""name]" VALUES ('x', 1);
CREATE TABLE plain (x TEXT);
INSERT INTO plain VALUES ('a'), ('b');
DELETE FROM plain WHERE x = 'a';
CREATE VIRTUAL TABLE search
    USING fts5(title, body UNINDEXED, extra, tokenize = "porter unicode61", prefix='2');
INSERT INTO search (rowid, title, body, extra) VALUES (7, 'running shoes', 'hidden words', 'S3CRET');
CREATE VIRTUAL TABLE outer_search USING fts5(x, content='hidden', content_rowid='id');
INSERT INTO outer_search(outer_search) VALUES ('rebuild');
CREATE TRIGGER t AFTER INSERT ON people BEGIN SELECT 1; END;
"""
ALLOW = {
    "People": ["id", "NAME", "age", "twice", "thrice", "odd"],
    "pairs": ("a", "b", "v"),
    "strict_one": ("id", "v", "person", "other"),
    "first view": ("id", "name"),
    "second": ("number", "loud"),
    'odd "name]': ("col umn", "group"),
    "plain": ("x",),
    "search": ("title", "body", "rank", "search"),
}


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "from here"
    folder.mkdir()
    with sqlite3.connect(folder / "source.db") as db:
        db.executescript(SCRIPT)
    db.close()
    return folder / "source.db"


@pytest.fixture
def db(source, tmp_path):
    db = sqlite3.connect(publish(source, tmp_path / "to" / "published.db", ALLOW))
    yield db
    db.close()


def declared(db, name):
    return db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]


def test_only_what_is_allowed_is_in_the_file(db, tmp_path):
    assert b"S3CRET" not in (tmp_path / "to" / "published.db").read_bytes()
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert {name for name in names if not name.startswith("search_")} == {
        "people", "pairs", "strict_one", "first view", "second", 'odd "name]', "plain", "search"
    }  # fmt: skip
    assert not db.execute("SELECT 1 FROM sqlite_schema WHERE type IN ('view', 'trigger')").fetchall()


def test_rows_and_generated_columns(db):
    rows = db.execute("SELECT * FROM people ORDER BY id").fetchall()
    assert rows == [(1, "Ada", 30, 60, 90, 1), (5, "Bo", 20, 40, 60, b"\0")]
    assert db.execute("SELECT * FROM pairs").fetchall() == [("x", 1, 2.5)]
    assert db.execute('SELECT "col umn", "group" FROM "odd ""name]"').fetchall() == [("x", 1)]


def test_types_keys_and_collations_are_kept(db):
    about = {row[1]: row[2:] for row in db.execute("PRAGMA table_info(people)")}
    assert about["id"] == ("INTEGER", 0, None, 1)
    assert about["name"][:2] == ("TEXT", 1)
    assert about["age"][0] == about["thrice"][0] == "INT"
    assert db.execute("SELECT count(*) FROM people WHERE name = 'ADA'").fetchone() == (1,)
    assert "WITHOUT ROWID" in declared(db, "pairs")
    assert [row[5] for row in db.execute("PRAGMA table_info(pairs)")] == [1, 2, 0]
    assert "STRICT" in declared(db, "strict_one")


def test_foreign_keys_with_both_ends_are_kept(db):
    keys = [(row[2], row[3], row[4]) for row in db.execute("PRAGMA foreign_key_list(strict_one)")]
    assert keys == [("people", "person", "id")]


def test_indexes_on_published_columns_are_kept(db):
    found = {row[1]: row[2] for row in db.execute("PRAGMA index_list(people)")}
    assert found == {"by name": 0, "unique_people_name": 1}
    plan = db.execute("EXPLAIN QUERY PLAN SELECT id FROM people WHERE name = 'ada'").fetchone()[3]
    assert "USING" in plan and "INDEX" in plan


def test_views_become_tables(db):
    assert db.execute("SELECT * FROM second ORDER BY number").fetchall() == [(1, "ADA"), (5, "BO")]
    assert db.execute('SELECT count(*) FROM "first view"').fetchone() == (2,)


def test_rowids_are_kept(db):
    assert db.execute("SELECT rowid, x FROM plain").fetchall() == [(2, "b")]


def test_full_text_table_keeps_its_tokenizer_and_text(db):
    assert db.execute("SELECT rowid, body FROM search WHERE search MATCH 'run'").fetchall() == [
        (7, "hidden words")
    ]
    assert db.execute("SELECT rowid FROM search WHERE search MATCH 'hidden'").fetchall() == []
    assert "extra" not in declared(db, "search")


def test_external_content_becomes_its_own(source, tmp_path):
    allow, where = {"outer_search": ["x"]}, {"outer_search": "rowid = 1"}
    with SafeDatabase.publish(source, allow=allow, to=tmp_path / "f.db", where=where) as db:
        assert list(db.run("SELECT x FROM outer_search WHERE outer_search MATCH 's3cret'")) == [("S3CRET",)]


def test_where_limits_the_rows(source, tmp_path):
    where = {"people": "id IN (SELECT max(id) FROM people)", "search": "rowid > 100"}
    db = sqlite3.connect(publish(source, tmp_path / "p.db", ALLOW, where=where))
    assert db.execute("SELECT name FROM people").fetchall() == [("Bo",)]
    assert db.execute("SELECT count(*) FROM search WHERE search MATCH 'run'").fetchone() == (0,)
    db.close()


def test_the_source_stays_as_it_is(source, tmp_path):
    before = source.read_bytes(), sorted(path.name for path in source.parent.iterdir())
    publish(source, tmp_path / "p.db", ALLOW)
    assert (source.read_bytes(), sorted(path.name for path in source.parent.iterdir())) == before


def test_a_source_in_use_and_in_wal_mode(source, tmp_path):
    writer = sqlite3.connect(source)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO plain VALUES ('committed')")
    writer.commit()
    writer.execute("INSERT INTO plain VALUES ('not yet')")
    db = sqlite3.connect(publish(source, tmp_path / "p.db", {"plain": ["x"]}))
    assert db.execute("SELECT x FROM plain").fetchall() == [("b",), ("committed",)]
    db.close()
    writer.close()


@pytest.mark.parametrize(
    ("allow", "where", "message"),
    [
        ({"peeple": ["id"]}, None, "no table named 'peeple'. Nearest: people"),
        ({"people": ["nmae"]}, None, "no column of people named 'nmae'. Nearest: name"),
        ({"people": []}, None, "non-empty list"),
        ({"people": "id"}, None, "non-empty list"),
        ({}, None, "empty"),
        ({"search_data": ["block"]}, None, "no table named"),
        ({"sqlite_schema": ["sql"]}, None, "no table named"),
        ({"people": ["id"], "PEOPLE": ["id"]}, None, "twice"),
        ({"search": ["rank"]}, None, "hidden"),
        ({"people": ["id"]}, {"hidden": "1"}, "no published table named 'hidden'"),
        ({"people": ["id"]}, {"people": "nope = 1"}, "nope"),
        ({"people": ["id"]}, {"people": "1); DROP TABLE people; --"}, "does not work"),
    ],
)
def test_a_wrong_request_is_explained_and_leaves_nothing(source, tmp_path, allow, where, message):
    to = tmp_path / "out" / "p.db"
    publish(source, to, ALLOW)
    before = to.read_bytes()
    with pytest.raises(ValueError, match="(?s)" + ".*") as caught:
        publish(source, to, allow, where=where)
    assert message in str(caught.value)
    assert to.read_bytes() == before
    assert [path.name for path in to.parent.iterdir()] == ["p.db"]


def test_source_and_target_must_differ(source):
    before = source.read_bytes()
    with pytest.raises(ValueError, match="source itself"):
        publish(source, source.parent / ".." / source.parent.name / source.name, ALLOW)
    assert source.read_bytes() == before


def test_a_missing_source_and_one_that_is_no_database(source, tmp_path):
    with pytest.raises(FileNotFoundError, match="not there"):
        publish(tmp_path / "none.db", tmp_path / "p.db", ALLOW)
    text = tmp_path / "text.db"
    text.write_text("no database at all, " * 100, encoding="utf-8")
    with pytest.raises(ValueError, match="not an SQLite database"):
        publish(text, tmp_path / "p.db", ALLOW)
    assert not (tmp_path / "none.db").exists() and not (tmp_path / "p.db").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no such characters in names there")
def test_any_path_works(source, tmp_path):
    folder = tmp_path / "a?b#c%41 é"
    folder.mkdir()
    odd = source.rename(folder / "x?mode=rwc.db")
    assert publish(odd, folder / "y#.db", ALLOW).exists()
    assert sorted(path.name for path in folder.iterdir()) == ["x?mode=rwc.db", "y#.db"]
