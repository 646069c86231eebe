"""Building: sizes, seeds, one content everywhere, and nobody's file overwritten."""

import sqlite3
from contextlib import closing

import pytest

from course_utils import places, shop
from course_utils.shop import connect
from course_utils.shop.articles import read_article
from course_utils.shop.connect import build_info
from course_utils.shop.dice import Dice, Quota, Weighted
from course_utils.shop.sources import source_hash, statements


def test_the_same_seed_gives_the_same_content(full, tmp_path):
    again = shop.build(tmp_path / "again.db")
    assert shop.data_hash(again) == shop.data_hash(full)
    other = shop.build(tmp_path / "other.db", size=0.1, seed=5)
    assert shop.data_hash(other) != shop.data_hash(shop.build(tmp_path / "third.db", size=0.1, seed=6))


def test_size_one_is_the_course(full, tmp_path):
    assert shop.data_hash(shop.build(tmp_path / "one.db", size=1)) == shop.data_hash(full)


def test_dice_promise_these_throws():
    """random.random() is the same in every Python; these numbers hold the dice to it."""
    dice = Dice(1, "orders")
    assert [dice.below(1000) for _ in range(5)] == [939, 290, 578, 718, 96]


def test_weighted_never_picks_a_weight_of_zero():
    dice, values = Dice(3, "x"), Weighted({"never": 0, "seldom": 1, "often": 9})
    picks = [values.pick(dice) for _ in range(500)]
    assert set(picks) == {"seldom", "often"}
    assert 20 < picks.count("seldom") < 90


def test_a_quota_keeps_its_share():
    quota = Quota(30)
    assert [i for i in range(1, 13) if quota.due()] == [2, 5, 9, 12]


@pytest.mark.parametrize(("size", "customers", "orders"), [(0.1, 80, 500), (2, 1600, 10_000), (0.0001, 8, 1)])
def test_a_factor_scales_customers_and_orders(tmp_path, size, customers, orders):
    seen = []
    path = shop.build(
        tmp_path / "shop.db", size=size, progress=lambda done, count: seen.append((done, count))
    )
    rows = shop.counts(path)
    assert (rows["customers"], rows["orders"]) == (customers, orders)
    assert rows["products"] >= 160
    assert seen[-1] == (orders, orders) and seen == sorted(seen)


@pytest.mark.parametrize("size", ["huge", 0, -1, float("nan"), float("inf"), True, None, "3", 10_000])
def test_a_bad_size_is_explained(tmp_path, size):
    with pytest.raises(ValueError, match='expected "tiny", "course" or a number above 0'):
        shop.build(tmp_path / "shop.db", size=size)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", ["7", 1.5, None, True])
def test_a_bad_seed_is_explained(tmp_path, seed):
    with pytest.raises(ValueError, match="expected a whole number"):
        shop.build(tmp_path / "shop.db", seed=seed)


def test_a_learners_file_is_not_overwritten(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("my notes " * 50, encoding="utf-8")
    with pytest.raises(shop.NotAShop, match="is not a shop database, so it is left alone"):
        shop.build(notes, size="tiny")
    assert notes.read_text(encoding="utf-8").startswith("my notes")


def test_another_database_is_not_overwritten(tmp_path):
    mine = tmp_path / "mine.db"
    with closing(sqlite3.connect(mine)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    with pytest.raises(shop.NotAShop, match="left alone"):
        shop.build(mine, size="tiny")
    with closing(sqlite3.connect(mine)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM mine").fetchall() == [(0,)]


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(shop.NotAShop, match="is a folder"):
        shop.build(tmp_path)


def test_a_shop_is_replaced_by_a_new_one(tmp_path):
    path = shop.build(tmp_path / "shop.db", size=0.02)
    shop.build(path, size="tiny")
    assert shop.counts(path)["orders"] == 4
    assert [file.name for file in tmp_path.iterdir()] == ["shop.db"]


def test_a_path_below_a_file_is_explained(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(NotADirectoryError, match="Choose another folder"):
        shop.build(tmp_path / "file" / "shop.db", size="tiny")


def test_an_interrupted_build_leaves_nothing_and_spoils_nothing(tmp_path):
    path = shop.build(tmp_path / "shop.db", size="tiny")

    def stop(done, count):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shop.build(path, size=0.05, progress=stop)
    assert shop.counts(path)["orders"] == 4
    assert [file.name for file in tmp_path.iterdir()] == ["shop.db"]


def test_an_old_sqlite_is_named_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(connect.sqlite3, "sqlite_version_info", (3, 31, 1))
    monkeypatch.setattr(connect.sqlite3, "sqlite_version", "3.31.1")
    with pytest.raises(shop.OldSQLite, match=r"SQLite 3\.31\.1.*3\.37\.0 or newer.*conda") as caught:
        shop.build(tmp_path / "shop.db", size="tiny")
    assert "STRICT" in str(caught.value)
    with pytest.raises(shop.OldSQLite):
        shop.path()


def test_build_info_says_how_it_was_made(tiny):
    info = build_info(tiny)
    assert (info["size"], info["seed"], info["rows of orders"]) == ("tiny", str(shop.SEED), "4")
    assert info["content"] == shop.data_hash(tiny)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("products.csv", "2022-06-14", "14.06.2022", r"products\.csv, line 2: launched_on is '14\.06\.2022'"),
        (
            "products.csv",
            "2499.00",
            "2499.005",
            r"products\.csv, line 2: price is '2499\.005', expected an amount",
        ),
        (
            "products.csv",
            "SKU-77717",
            "SKU-77707",
            r"products\.csv, line 3: UNIQUE constraint failed: products\.sku",
        ),
        ("products.csv", "SKU-77821", "SKU-00000", r"lacks SKUs that the stories need: \['SKU-77821'\]"),
        ("teams.csv", "remit", "task", r"teams\.csv: the header is .*'task'"),
        ("staff.csv", ",1,,Pune", ",99,,Pune", r"staff, row 1: points to a row of teams that does not exist"),
        ("reviews.csv", "1,17,", "1,999,", r"reviews\.csv, line 2: there is no product 999"),
        ("reviews.csv", "2024-08-14", "2019-08-14", r"reviews\.csv, line 2: .* older than its product"),
        ("tickets.csv", ",closed,", ",done,", r"tickets\.csv, line \d+: CHECK constraint failed"),
        ("articles/returns-policy.md", "audience: public", "audience: all", "CHECK constraint failed"),
        ("articles/returns-policy.md", "id: 49", "id: 50", "UNIQUE constraint failed: articles.id"),
        ("articles/returns-policy.md", "---\n", "", "it must begin with a line ---"),
        ("articles/returns-policy.md", "title:", "titel:", "the front matter needs id, title, audience, upd"),
        ("articles/returns-policy.md", "id: 49", "id: x", "id is 'x', expected a whole number"),
        ("articles/returns-policy.md", "id: 49", "id: [", "its front matter is not YAML"),
        (
            "articles/returns-policy.md",
            "audience: public",
            "audience: staff\naudience: public",
            r"returns-policy\.md: .*the key 'audience' is written twice",
        ),
        (
            "articles/returns-policy.md",
            "2026-02-15\n",
            "2026-02-30\n",
            r"policy\.md: .*value that cannot be: day",
        ),
        ("articles/returns-policy.md", "id: 49", "id: !!timestamp x", r"policy\.md: .*value that cannot be"),
        ("articles/returns-policy.md", "id: 49", f"id: {2**63}", r"returns-policy\.md: .*too large"),
        ("teams.csv", "\n1,", f"\n{2**63},", r"teams\.csv, line 2: .*too large"),
        ("reviews.csv", "\n1,", f"\n{2**63},", r"reviews\.csv, line 2: .*too large"),
        ("reviews.csv", "\n1,17,", f"\n1,{2**63},", r"reviews\.csv, line 2: .*too large"),
        ("products.csv", "2499.00", "inf", r"products\.csv, line 2: price is 'inf', expected an amount"),
        (
            "articles/returns-policy.md",
            "2026-02-15",
            "2024-02-15",
            "superseded_by names returns-policy, which",
        ),
        (
            "articles/err-4471-aurora-smart-plug.md",
            "product: SKU-77821",
            "product: SKU-1",
            "no product SKU-1",
        ),
    ],
)
def test_a_mistake_in_the_sources_is_named(own_data, tmp_path, file, old, new, message):
    source = own_data / file
    text = source.read_text(encoding="utf-8")
    assert old in text
    source.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(shop.BadSource, match=message):
        shop.build(tmp_path / "out.db", size=0.02)
    assert not (tmp_path / "out.db").exists()


def test_a_text_older_than_every_account_is_named(own_data, tmp_path):
    text = (own_data / "tickets.csv").read_text(encoding="utf-8").splitlines()[0]
    cells = {"id": "1", "subject": "s", "body": "b", "status": "closed", "created_on": "2019-01-01"}
    line = ",".join(cells.get(name, "") for name in text.split(","))
    (own_data / "tickets.csv").write_text(f"{text}\n{line}\n", encoding="utf-8")
    with pytest.raises(shop.BadSource, match=r"tickets\.csv, line 2: nobody had an account by 2019-01-01"):
        shop.build(tmp_path / "out.db", size=0.02)


def test_the_line_ends_of_the_sources_leave_no_trace(own_data, tmp_path):
    before = source_hash(own_data), shop.data_hash(shop.build(tmp_path / "lf.db", size=0.02))
    for end in (b"\r\n", b"\r"):
        for file in (*own_data.glob("*.csv"), *(own_data / "articles").glob("*.md")):
            content = b"\n".join(file.read_bytes().splitlines()) + b"\n"
            file.write_bytes(content.replace(b"\n", end))
        after = source_hash(own_data), shop.data_hash(shop.build(tmp_path / "other.db", size=0.02))
        assert after == before, end


def test_git_keeps_the_line_ends():
    lines = (places.root() / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert {"* text=auto eol=lf", "*.npy binary", "*.png binary"} <= set(lines)


@pytest.mark.parametrize("name", ["a#1", "a:b", " x", "A", "a--b", "a-", "a.b", "caf\u00e9", "a\n"])
def test_an_article_has_a_plain_name(tmp_path, name):
    file = tmp_path / f"{name}.md"
    head = "---\nid: 1\ntitle: T\naudience: public\nupdated_on: 2026-01-01\n---\n"
    try:
        file.write_text(head, encoding="utf-8")
    except OSError:
        pytest.skip("this system has no such name")
    with pytest.raises(shop.BadSource, match="its name must be a-z and 0-9, joined by single hyphens"):
        read_article(file)


def test_hidden_files_beside_the_articles_are_passed_over(own_data, tmp_path):
    before = source_hash(own_data)
    (own_data / "articles" / "._y.md").write_bytes(b"\x00\x05\xff")
    (own_data / "articles" / ".ipynb_checkpoints").mkdir()
    (own_data / "articles" / ".hidden.md").mkdir()
    assert source_hash(own_data) == before
    shop.build(tmp_path / "out.db", size=0.02)


def test_a_title_may_end_in_dashes(tmp_path):
    file = tmp_path / "a.md"
    file.write_text(
        "---\nid: 1\ntitle: T ---\naudience: public\nupdated_on: 2026-01-01\n---\nBody\n---\nmore\n",
        encoding="utf-8",
    )
    head, body = read_article(file)
    assert head["title"] == "T ---" and body == "Body\n---\nmore"


@pytest.mark.parametrize("name", ["articles/returns-policy.md", "tickets.csv", "people.csv", "schema.sql"])
def test_a_source_in_another_encoding_is_named(own_data, tmp_path, name):
    file = own_data / name
    file.write_bytes(file.read_bytes() + "caf\u00e9\n".encode("latin-1"))
    with pytest.raises(shop.BadSource, match=f"{file.name} is not UTF-8"):
        shop.build(tmp_path / "out.db", size=0.02)


def test_a_missing_source_is_named(own_data, tmp_path):
    (own_data / "staff.csv").unlink()
    with pytest.raises(shop.BadSource, match=r"staff\.csv is missing"):
        shop.build(tmp_path / "out.db", size="tiny")


def test_an_sql_script_is_split_at_its_statements():
    script = "-- one; two\nCREATE TABLE a (b TEXT CHECK (b <> ';'));\n\nCREATE INDEX c ON a (b);\n"
    assert list(statements(script)) == [
        "-- one; two\nCREATE TABLE a (b TEXT CHECK (b <> ';'));",
        "CREATE INDEX c ON a (b);",
    ]
