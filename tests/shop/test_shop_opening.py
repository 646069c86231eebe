"""Finding the shop: built on first need, rebuilt when it should be, from any folder and by two at once."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from course_utils import places, shop
from course_utils.shop import builder, connect, opening
from course_utils.shop.connect import build_info

HELLO = "from course_utils import shop; print(shop.path()); print(shop.published_path())"


@pytest.fixture(scope="module", autouse=True)
def pair(tmp_path_factory):
    """A full and a published shop; in this module `course` is small, so that a rebuild is quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "CUSTOMERS", 40)
        patch.setattr(builder, "ORDERS", 200)
        made = shop.build(tmp_path_factory.mktemp("pair") / "shop.db")
        yield made, shop.publish_shop(made, made.with_name("shop_published.db"))


@pytest.fixture
def built(own_data, pair):
    """The data folder with both files built from it (copied: the sources are the same)."""
    for file in pair:
        shutil.copy(file, own_data)
    return own_data


@pytest.fixture
def read_only_data(own_data, monkeypatch):
    """The data folder as on a read-only mount."""
    really = places.writable
    monkeypatch.setattr(places, "writable", lambda folder: folder != own_data and really(folder))
    return own_data


def _inode(path):
    return path.stat().st_mtime_ns, path.stat().st_ino


def test_it_is_built_beside_its_sources(own_data, pair):
    path = shop.path()
    assert path == own_data / "shop.db"
    assert shop.data_hash(path) == shop.data_hash(pair[0])
    assert shop.published_path() == own_data / "shop_published.db"
    assert set(shop.counts(shop.published_path())) == set(shop.PUBLISHED)
    assert not list(own_data.glob("*.part"))


def test_a_good_file_is_used_as_it_is(built):
    before = _inode(built / "shop.db"), _inode(built / "shop_published.db")
    assert shop.path() == built / "shop.db"
    assert (_inode(built / "shop.db"), _inode(built / "shop_published.db")) == before


def test_a_file_is_checked_once_per_process(built, monkeypatch):
    shop.path()
    asked = []
    monkeypatch.setattr(opening, "content_hash", lambda connection: asked.append(connection))
    shop.path()
    assert asked == []
    os.utime(built / "shop.db", ns=(1, 1))
    shop.path()
    assert len(asked) >= 1


@pytest.mark.parametrize("source", ["products.csv", "schema.sql", "staff_notes.csv"])
def test_changed_sources_mean_a_new_shop(built, source):
    before = _inode(built / "shop.db")
    text = (built / source).read_text(encoding="utf-8")
    new = text.replace("Yoga Mat Lite", "Yoga Mat Light").replace("Who buys.", "Who buys here.")
    (built / source).write_text(new.replace("praise", "much praise"), encoding="utf-8")
    shop.path()
    assert _inode(built / "shop.db") != before


def test_line_ends_do_not_matter(built):
    before = _inode(built / "shop.db")
    for source in (*built.glob("*.csv"), built / "schema.sql"):
        source.write_bytes(source.read_bytes().replace(b"\n", b"\r\n"))
    shop.path()
    assert _inode(built / "shop.db") == before


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path):
    path.write_bytes(b"")


def _scribble(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4096] = b"\xff" * 4096
    path.write_bytes(content)


def _text(path):
    path.write_text("this is no database " * 100, encoding="utf-8")


def _other_database(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (a)")


def _deleted_rows(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM orders WHERE id > 100")


def _changed_value(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE orders SET amount = 1 WHERE id = 17")


@pytest.mark.parametrize(
    "harm", [_cut, _empty, _scribble, _text, _other_database, _deleted_rows, _changed_value]
)
@pytest.mark.parametrize("name", ["shop.db", "shop_published.db"])
def test_a_damaged_file_is_noticed_and_made_anew(built, harm, name, pair):
    harm(built / name)
    shop.path()
    assert shop.data_hash(built / "shop.db") == shop.data_hash(pair[0])
    assert shop.data_hash(built / "shop_published.db") == shop.data_hash(pair[1])


def test_somebodys_own_file_is_set_aside_not_lost(built):
    _text(built / "shop.db")
    shop.path()
    assert (built / "shop.db.set-aside").read_text(encoding="utf-8").startswith("this is no database")


def test_a_journal_of_the_old_file_does_not_reach_the_new_one(built, pair):
    _cut(built / "shop.db")
    (built / "shop.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0" * 600)
    assert shop.data_hash(shop.path()) == shop.data_hash(pair[0])
    assert not (built / "shop.db-journal").exists()


def test_a_read_only_folder_means_the_cache(read_only_data, pair, tmp_path):
    path = shop.path()
    assert path.parent == tmp_path / "cache" and path.name.startswith("shop-")
    assert shop.published_path().parent == path.parent
    assert shop.data_hash(path) == shop.data_hash(pair[0])
    assert not (read_only_data / "shop.db").exists()
    assert shop.path() == path


def test_prepared_files_in_a_read_only_folder_are_used(read_only_data, pair, tmp_path):
    for file in pair:
        shutil.copy(file, read_only_data)
    assert shop.path() == read_only_data / "shop.db"
    assert not list((tmp_path / "cache").glob("*.db"))


def test_a_folder_below_a_file_is_not_writable(tmp_path):
    """Permission bits do not stop the administrator; this does stop everybody."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert not places.writable(tmp_path / "file" / "data")
    assert places.writable(tmp_path)


def test_a_stale_file_that_cannot_be_replaced_means_the_cache(built, tmp_path, monkeypatch):
    """As on Windows, while another notebook has the old shop open."""
    _changed_value(built / "shop.db")
    really = connect.Path.replace

    def replace(self, target):
        if connect.Path(target).parent == built:
            raise PermissionError(13, "The process cannot access the file")
        return really(self, target)

    monkeypatch.setattr(connect.Path, "replace", replace)
    assert shop.path().parent == tmp_path / "cache"


def test_a_file_that_another_process_made_first_is_used(own_data, pair, monkeypatch):
    """As on Windows: both build, the slower one cannot replace what the faster one has open."""
    made = {own_data / file.name: file for file in pair}
    really = connect.Path.replace

    def replace(self, target):
        if target in made:
            shutil.copy(made[target], target)
            raise PermissionError(13, "The process cannot access the file")
        return really(self, target)

    monkeypatch.setattr(connect.Path, "replace", replace)
    assert shop.path() == own_data / "shop.db"


def test_two_processes_may_start_at_once(own_data):
    command = [sys.executable, "-c", HELLO]
    starts = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"
    ]
    full, published = own_data / "shop.db", own_data / "shop_published.db"
    for start in starts:
        out, err = start.communicate(timeout=120)
        assert (start.returncode, err) == (0, "")
        assert out.split() == [str(full), str(published)]
    assert shop.counts(full)["orders"] == 5000
    assert shop.data_hash(full) == build_info(full)["content"]
    assert shop.data_hash(published) == build_info(full)["published"]
    assert not list(own_data.glob(".*"))


@pytest.mark.parametrize("where", ["root", "lessons", "home"])
def test_it_is_found_from_any_working_folder(built, tmp_path, where, monkeypatch):
    """Without COURSE_DATA: above the working folder, or from anywhere beside the package."""
    monkeypatch.delenv("COURSE_DATA")
    folder = {"root": built.parent, "lessons": built.parent / "lessons", "home": tmp_path / "home"}[where]
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    if where != "home":
        installed = tmp_path / "site-packages" / "course_utils" / "places.py"
        monkeypatch.setattr(places, "__file__", str(installed))
        assert shop.path() == built / "shop.db"
    else:
        assert places.data().parent / "course_utils" == places.Path(places.__file__).parent


def test_a_missing_data_folder_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    with pytest.raises(places.CourseDataNotFound, match="Point it at the `data` folder"):
        shop.path()


def test_the_second_shop_is_published_and_kept(own_data, tmp_path):
    second = shop.second()
    assert second.parent == tmp_path / "cache"
    assert shop.counts(second)["orders"] == 40
    assert set(shop.counts(second)) == set(shop.PUBLISHED)
    before = _inode(second)
    assert shop.second() == second and _inode(second) == before
    _changed_value(second)
    assert shop.second() == second and _inode(second) != before


def test_the_data_hash_tells_content_apart(built, pair, tiny, tmp_path):
    assert shop.data_hash() == shop.data_hash(pair[0])
    copy = tmp_path / "copy.db"
    shutil.copy(pair[0], copy)
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("VACUUM")
    assert shop.data_hash(copy) == shop.data_hash(pair[0])
    _changed_value(copy)
    assert shop.data_hash(copy) != shop.data_hash(pair[0]) != shop.data_hash(tiny)


def test_left_over_parts_are_swept_away(tmp_path):
    old, new = tmp_path / ".shop.db-1-00000000.part", tmp_path / ".shop.db-2-00000000.part"
    for part in (old, new):
        part.write_bytes(b"x")
    os.utime(old, (1, 1))
    shop.build(tmp_path / "shop.db", size="tiny")
    assert not old.exists() and new.exists()
