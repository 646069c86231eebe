"""The doctor: what it finds, and that it always names a way out."""

import pytest

from course_utils.teaching import doctor


def test_an_old_sqlite_names_the_version_needed():
    finding = doctor._sqlite((3, 31, 0))
    assert not finding.ok
    assert "3.31.0" in str(finding)
    assert "3.37.0 or newer" in str(finding)
    assert doctor._sqlite((3, 37, 0)).ok


def test_numpy_and_faiss_that_do_not_fit_are_named():
    def broken():
        raise ImportError("numpy.core.multiarray failed to import")

    finding = doctor._compiled(broken)
    assert str(finding).startswith("[FAIL] numpy and faiss: ImportError: numpy.core.multiarray")
    assert "pip install" in finding.way_out


def test_pins_are_read_from_the_requirements_without_the_extras():
    lines = ["numpy==2.4.6", "Foo-bar==1.0 ", 'pytest==9.2.0; extra == "test"', "loose>=1"]
    assert doctor.pinned(lines) == {"numpy": "2.4.6", "Foo-bar": "1.0"}


def test_another_version_of_a_package_is_named(monkeypatch):
    monkeypatch.setattr(doctor, "pinned", lambda: {"pip": "0.0.1", "no-such-package": "1"})
    finding = doctor._packages()
    assert not finding.ok
    assert "instead of 0.0.1" in finding.seen
    assert "no-such-package missing" in finding.seen


@pytest.mark.parametrize("name", ["random.py", "numpy.py", "pandas/__init__.py"])
def test_a_file_that_hides_a_module_is_found(tmp_path, name):
    for path in (tmp_path / name, tmp_path / "notes.py"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("", encoding="utf-8")
    (tmp_path / "statistics").mkdir()  # a folder without __init__.py hides nothing
    assert [path.name for path in doctor.shadowing([tmp_path])] == [name.split("/")[0]]


def test_a_check_that_breaks_is_a_finding_and_the_rest_goes_on(monkeypatch, capsys):
    def breaks():
        raise RuntimeError("out of order")

    monkeypatch.setattr(doctor, "CHECKS", (breaks, doctor._python))
    assert [finding.ok for finding in doctor.examine()] == [False, True]
    assert not doctor.ready()
    assert "out of order" in capsys.readouterr().out


def test_this_machine_is_ready(capsys):
    assert doctor.ready(), capsys.readouterr().out
