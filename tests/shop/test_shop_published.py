"""The published file holds what a model may read, and nothing else."""

import sqlite3
from contextlib import closing

import pytest

from course_utils import shop


def _columns(path):
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        ).fetchall()
    return set(rows)


def test_it_holds_the_allowed_columns_and_no_others(full, published):
    allowed = {(table, column) for table, columns in shop.PUBLISHED.items() for column in columns}
    assert _columns(published) == allowed
    assert allowed < _columns(full)


def test_nothing_private_is_on_the_allow_list():
    assert not {"staff_notes", "build_info"} & shop.PUBLISHED.keys()
    for columns in shop.PUBLISHED.values():
        assert not {"email", "phone", "salary", "note"} & set(columns)


def test_no_private_byte_is_in_the_file(full, published):
    private = (b"CANARY-STAFF", b"@mail.example", b"@staff.example", b"plover-quartz", b"+91 20 5550")
    content, source = published.read_bytes(), full.read_bytes()
    for text in private:
        assert text in source
        assert text not in content


def test_the_other_rows_are_whole(full, published):
    everything, public = shop.counts(full), shop.counts(published)
    assert set(public) == set(shop.PUBLISHED)
    assert all(public[table] == everything[table] for table in public if table != "articles")


def test_only_public_articles_are_published(tiny, tmp_path, change):
    source = tmp_path / "shop.db"
    source.write_bytes(tiny.read_bytes())
    for number, audience in enumerate(("public", "partner", "staff"), start=1):
        change(
            source,
            "INSERT INTO articles (id, slug, title, body, audience, updated_on) VALUES "
            f"({number}, 'a-{number}', 'T', 'For the {audience} only', '{audience}', '2026-01-01')",
        )
    published = shop.publish_shop(source, tmp_path / "published.db")
    with closing(shop.read_only(published)) as connection:
        assert connection.execute("SELECT audience FROM articles").fetchall() == [("public",)]
    assert b"For the staff only" not in published.read_bytes()


def test_it_keeps_types_and_links(published):
    with closing(shop.read_only(published)) as connection:
        kinds = dict(connection.execute("SELECT name, type FROM pragma_table_info('orders')").fetchall())
        links = connection.execute(
            'SELECT "table", "from" FROM pragma_foreign_key_list(?)', ("orders",)
        ).fetchall()
        assert connection.execute(
            "SELECT strict FROM pragma_table_list WHERE name = 'orders'"
        ).fetchall() == [(1,)]
    assert kinds["amount"] == "REAL" and kinds["ordered_on"] == "TEXT"
    assert links == [("customers", "customer_id")]


def test_only_a_shop_can_be_published(published, tmp_path):
    with pytest.raises(shop.NotAShop, match="not a full shop database"):
        shop.publish_shop(published, tmp_path / "again.db")
    with pytest.raises(FileNotFoundError, match="There is no database file"):
        shop.publish_shop(tmp_path / "nowhere.db", tmp_path / "again.db")
    assert list(tmp_path.iterdir()) == []


def test_publishing_overwrites_only_a_published_file(tiny, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine " * 100, encoding="utf-8")
    for taken in (mine, tiny):
        before = taken.read_bytes()
        with pytest.raises(shop.NotAShop, match="is not a published shop database"):
            shop.publish_shop(tiny, taken)
        assert taken.read_bytes() == before
    published = shop.publish_shop(tiny, tmp_path / "published.db")
    assert shop.publish_shop(tiny, published) == published
