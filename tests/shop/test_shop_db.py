"""Reading from Python: nothing can be written, odd paths open, and mistakes are explained."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from course_utils import shop
from course_utils.shop import db

WRITES = [
    "DELETE FROM orders",
    "DROP TABLE orders",
    "PRAGMA query_only = 0; DELETE FROM orders",
    "PRAGMA writable_schema = 1; DELETE FROM sqlite_master",
    "VACUUM INTO 'stolen.db'",
    "ATTACH 'stolen.db' AS s; CREATE TABLE s.t AS SELECT * FROM customers",
    "PRAGMA journal_mode = WAL; DELETE FROM orders",
]


@pytest.fixture
def course(monkeypatch, full):
    """Let frame() read the shop of these tests."""
    monkeypatch.setattr(db, "shop_path", lambda: full)


@pytest.mark.parametrize("script", WRITES)
def test_a_read_only_connection_writes_nothing(tiny, tmp_path, monkeypatch, script):
    monkeypatch.chdir(tmp_path)
    before = tiny.read_bytes()
    with closing(shop.read_only(tiny)) as connection, pytest.raises(sqlite3.DatabaseError):
        for statement in script.split(";"):
            connection.execute(statement)
    assert tiny.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", WRITES)
def test_an_engine_writes_nothing(tiny_published, tmp_path, monkeypatch, script):
    monkeypatch.chdir(tmp_path)
    before = tiny_published.read_bytes()
    with shop.engine(tiny_published).connect() as connection, pytest.raises(OperationalError):
        for statement in script.split(";"):
            connection.execute(text(statement))
    assert tiny_published.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a b.db", "50%41.db", "what#1.db", "käse 'x'.db", "x&mode=rwc.db"])
def test_odd_names_open_read_only(tiny_published, tmp_path, name):
    path = tmp_path / "q=1 %20#" / name
    path.parent.mkdir()
    path.write_bytes(tiny_published.read_bytes())
    with shop.engine(path).connect() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM orders")).scalar() == 4
        with pytest.raises(OperationalError, match="readonly"):
            connection.execute(text("DELETE FROM orders"))
    assert [file.name for file in path.parent.iterdir()] == [name]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows allows no ? in a name")
def test_a_question_mark_in_the_name(tiny, tmp_path):
    path = tmp_path / "really?mode=rwc&x.db"
    path.write_bytes(tiny.read_bytes())
    with closing(shop.read_only(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM orders").fetchone() == (4,)


def test_a_missing_file_is_not_created(tmp_path):
    for opener in (shop.read_only, shop.engine, shop.sql_database):
        with pytest.raises(FileNotFoundError, match="There is no database file"):
            opener(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_the_engine_opens_the_published_shop():
    with shop.engine().connect() as connection:
        tables = {
            name
            for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))
        }
    assert tables == set(shop.PUBLISHED)


def test_an_engine_holds_no_file_open(tiny_published, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(tiny_published.read_bytes())
    engine = shop.engine(copy)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    assert engine.pool.status() == "NullPool"
    copy.unlink()


def test_frame_takes_values_by_name(course):
    frame = shop.frame(
        "SELECT city, COUNT(*) AS n FROM customers WHERE region = :r GROUP BY city ORDER BY 1", r="West"
    )
    assert list(frame.columns) == ["city", "n"]
    assert list(frame["city"]) == ["Ahmedabad", "Mumbai", "Nagpur", "Pune"]
    assert frame["n"].dtype.kind == "i"


def test_frame_takes_a_hostile_value_as_a_value(course):
    frame = shop.frame("SELECT * FROM customers WHERE city = :city", city="Pune' OR 1=1; --")
    assert len(frame) == 0 and "email" in frame.columns


def test_frame_names_a_missing_value(course):
    with pytest.raises(ValueError, match=r"a value that was not given.*:city.*Values given: :town") as caught:
        shop.frame("SELECT * FROM customers WHERE city = :city", town="Pune")
    assert 'city="Pune"' in str(caught.value)
    with pytest.raises(ValueError, match="Values given: none"):
        shop.frame("SELECT * FROM customers WHERE city = ?")


def test_frame_only_reads(course, full):
    before = full.read_bytes()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        shop.frame("UPDATE orders SET amount = 0")
    with pytest.raises(ValueError, match="Write a SELECT"):
        shop.frame("PRAGMA query_only = 0")
    assert full.read_bytes() == before


def test_frame_lists_the_tables_when_one_is_missing(course):
    with pytest.raises(sqlite3.OperationalError, match="no such table: order_lines") as caught:
        shop.frame("SELECT * FROM order_lines")
    assert "order_items" in caught.value.__notes__[0]


def test_importing_the_shop_is_cheap():
    code = (
        "import sys, course_utils.shop as shop; shop.PUBLISHED; shop.path; shop.frame; shop.engine; "
        "heavy = {'pandas', 'sqlalchemy', 'langchain_core', 'langchain_community', 'sqlglot', 'numpy'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_package_offers_what_it_lists():
    for name in shop.__all__:
        assert getattr(shop, name) is not None
    assert set(shop.__all__) <= set(dir(shop))
    with pytest.raises(AttributeError, match="no attribute 'pathe'"):
        shop.pathe  # noqa: B018
