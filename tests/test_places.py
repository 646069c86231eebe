"""Where the course finds its data, whatever the working directory is."""

import pytest

from course_utils import places


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working directory outside the course, with no setting that helps."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_course(folder):
    (folder / "data").mkdir(parents=True)
    for name in ("schema.sql", "products.csv"):
        (folder / "data" / name).write_text("", encoding="utf-8")
    return folder / "data"


@pytest.mark.parametrize("start", ["", "lessons", "data"])
def test_the_data_is_found_from_the_course_its_folders_and_from_home(elsewhere, monkeypatch, start):
    found = places.data()
    monkeypatch.chdir(found.parent / start)
    assert places.data() == found
    assert places.root() == found.parent


def test_a_setting_names_the_data_or_the_course(elsewhere, monkeypatch):
    mine = a_course(elsewhere / "copy")
    for named in (mine, mine.parent):
        monkeypatch.setenv("COURSE_DATA", str(named))
        assert places.data() == mine


def test_a_wrong_setting_says_what_was_looked_for(elsewhere, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(elsewhere))
    with pytest.raises(places.CourseDataNotFound, match="COURSE_DATA is set to .* unset it"):
        places.data()


def test_without_a_course_beside_it_the_package_looks_above_and_then_says_how_to_point(
    elsewhere, monkeypatch
):
    monkeypatch.setattr(places, "__file__", str(elsewhere / "site-packages" / "course_utils" / "places.py"))
    with pytest.raises(places.CourseDataNotFound, match="COURSE_DATA"):
        places.data()
    inside = a_course(elsewhere / "course").parent / "lessons"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert places.data() == elsewhere / "course" / "data"


def test_a_folder_that_cannot_hold_a_file_is_not_writable(tmp_path):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    assert places.writable(tmp_path)
    assert not places.writable(file / "below")
    assert list(tmp_path.iterdir()) == [file]
