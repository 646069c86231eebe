"""Shops for the tests: the course's own, the tiny one, and a data folder that a test may change."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from course_utils import places, shop


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    return shop.build(tmp_path_factory.mktemp("course") / "shop.db")


@pytest.fixture(scope="session")
def published(full):
    return shop.publish_shop(full, full.with_name("shop_published.db"))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return shop.build(tmp_path_factory.mktemp("tiny") / "tiny.db", size="tiny")


@pytest.fixture(scope="session")
def tiny_published(tiny):
    return shop.publish_shop(tiny, tiny.with_name("tiny_published.db"))


@pytest.fixture
def query(full):
    """Return a function that runs a query on the course's shop."""
    with closing(shop.read_only(full)) as connection:
        yield lambda sql, *values: connection.execute(sql, values).fetchall()


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """A copy of the sources in a folder of its own, which the shop then uses."""
    folder = tmp_path / "course" / "data"
    folder.mkdir(parents=True)
    for source in (*places.data().glob("*.csv"), places.data() / "schema.sql"):
        shutil.copy(source, folder)
    shutil.copytree(places.data() / "articles", folder / "articles")
    monkeypatch.setenv("COURSE_DATA", str(folder))
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def change():
    """Return a function that changes a database file as somebody with a writable connection would."""

    def run(path, script):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)

    return run
