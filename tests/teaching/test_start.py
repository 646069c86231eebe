"""`course start`: copies once, overwrites never."""

import pytest

from course_utils import places
from course_utils.teaching import start


@pytest.fixture
def course(tmp_path, monkeypatch):
    for name in ("01_a", "02_b"):
        (tmp_path / "exercises" / name).mkdir(parents=True)
        (tmp_path / "exercises" / name / f"{name}.ipynb").write_text(name, encoding="utf-8")
    monkeypatch.setattr(places, "root", lambda: tmp_path)
    return tmp_path


def test_a_second_start_leaves_the_work_alone(course):
    [(copy, made)] = start.start("01")
    assert made
    assert copy == course / "my_work" / "01_a" / "01_a.ipynb"
    copy.write_text("mine", encoding="utf-8")
    (again, made_again), (_, made_other) = start.start()
    assert (again, made_again, made_other) == (copy, False, True)
    assert copy.read_text(encoding="utf-8") == "mine"


def test_a_course_that_cannot_be_written_gives_copies_in_the_own_folder(course, monkeypatch):
    monkeypatch.setattr(places, "writable", lambda folder: False)
    [(copy, _)] = start.start("02")
    assert copy.is_relative_to(places.home())


def test_an_unknown_exercise_names_those_there_are(course):
    with pytest.raises(LookupError, match="01_a, 02_b"):
        start.start("07")
