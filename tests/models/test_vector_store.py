"""The file of shipped vectors: same texts, same bytes; damage is named."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from course_utils.models import vectors


def unit(*seeds: int) -> np.ndarray:
    table = np.stack([np.random.default_rng(seed).normal(size=vectors.SIZE) for seed in seeds])
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def stored(folder, text, model="m"):
    return vectors.shipped(folder)[vectors.key(model, text)]


def test_what_is_recorded_is_found_within_a_thousandth(tmp_path):
    vectors.record(tmp_path, "a", "m", ["one", "two"], unit(1, 2))
    vectors.record(tmp_path, "b", "m", ["three"], unit(3))
    for text, seed in (("one", 1), ("two", 2), ("three", 3)):
        assert np.abs(stored(tmp_path, text).astype(np.float32) - unit(seed)[0]).max() < 1e-3


def test_the_order_of_recording_leaves_no_trace(tmp_path):
    texts = [f"text {number}" for number in range(20)]
    vectors.record(tmp_path, "a", "m", texts, unit(*range(20)))
    for number in reversed(range(20)):
        vectors.record(tmp_path, "b", "m", [texts[number]], unit(number))
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npy", "b.npy"]


def test_a_known_row_is_not_rewritten(tmp_path):
    file = vectors.record(tmp_path, "a", "m", ["one"], unit(1))
    before = file.read_bytes()
    vectors.record(tmp_path, "a", "m", ["one"], unit(2))
    assert file.read_bytes() == before


def test_keys_tell_models_and_texts_apart(tmp_path):
    texts = ["one", "One", "one ", "", "\ud800", "caf\u00e9", "cafe\u0301"]
    assert len({vectors.key(model, text) for model in ("m", "n") for text in texts}) == 2 * len(texts)
    vectors.record(tmp_path, "a", "m", ["one"], unit(1))
    assert vectors.key("n", "one") not in vectors.shipped(tmp_path)


def test_a_row_costs_784_bytes(tmp_path):
    file = vectors.record(tmp_path, "a", "m", map(str, range(100)), unit(*range(100)))
    assert file.stat().st_size < 100 * 784 + 200


def test_a_changed_file_is_read_again(tmp_path):
    assert not vectors.shipped(tmp_path)
    vectors.record(tmp_path, "a", "m", ["one"], unit(1))
    assert len(vectors.shipped(tmp_path)) == 1
    vectors.record(tmp_path, "a", "m", ["two"], unit(2))
    assert len(vectors.shipped(tmp_path)) == 2


def test_no_folder_is_no_vectors(tmp_path):
    assert not vectors.shipped(tmp_path / "nowhere")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = vectors.record(tmp_path, "a", "m", ["one"], unit(1))
    before = file.read_bytes()

    def half(stream, *_, **__):
        stream.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(vectors.np, "save", half)
    with pytest.raises(OSError, match="disk full"):
        vectors.record(tmp_path, "a", "m", ["two"], unit(2))
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs", b"\x93NUMPY\x01\x00", "half"])
def test_a_damaged_file_is_named(tmp_path, content):
    file = vectors.record(tmp_path, "a", "m", ["one", "two"], unit(1, 2))
    file.write_bytes(file.read_bytes()[:-100] if content == "half" else content)
    with pytest.raises(ValueError, match=r"a\.npy is not a store of vectors.*delete it"):
        vectors.shipped(tmp_path)


def test_a_file_of_other_numbers_is_named(tmp_path):
    np.save(tmp_path / "other.npy", np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"other\.npy is not a store.*float64"):
        vectors.shipped(tmp_path)


def test_foreign_files_are_named(tmp_path):
    file = tmp_path / "other.npy"

    def refused(read=lambda: vectors.shipped(tmp_path)):
        with pytest.raises(ValueError, match=r"other\.npy is not a store.*delete it"):
            read()

    with file.open("wb") as stream:
        np.savez(stream, a=np.zeros(3))
    refused()
    file.write_bytes(b"PK\x03\x04 junk")
    refused()
    file.write_bytes(b"\x93NUMPY\x01\x00\x04\x00((((\n")
    refused()
    file.unlink()
    file.mkdir()
    refused()
    refused(lambda: vectors.keys_of(file))
    refused(lambda: vectors.record(tmp_path, "other", "m", ["one"], unit(1)))


def test_a_dead_link_is_named(tmp_path):
    try:
        (tmp_path / "other.npy").symlink_to(tmp_path / "nowhere")
    except OSError:
        pytest.skip("this system makes no links")
    with pytest.raises(ValueError, match=r"other\.npy is not a store.*delete it"):
        vectors.shipped(tmp_path)


@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_a_stored_vector_that_is_none_is_named(tmp_path, value):
    vectors.write(tmp_path / "a.npy", {b"0" * 16: unit(1)[0], b"1" * 16: np.full(vectors.SIZE, value)})
    with pytest.raises(ValueError, match=r"a\.npy is not a store.*row 1 is zero or not finite"):
        vectors.shipped(tmp_path)


def test_two_threads_may_write_the_same_collection(tmp_path):
    rows = {bytes([number]) * 16: row for number, row in enumerate(unit(*range(60)))}
    file = tmp_path / "a.npy"
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: vectors.write(file, rows), range(80))) == {file}
    assert vectors.keys_of(file) == set(rows) and list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["", "../x", "Lesson", "a b", ".hidden", "a.npy"])
def test_a_collection_has_a_plain_name(tmp_path, name):
    with pytest.raises(ValueError, match="lower-case"):
        vectors.file_of(tmp_path, name)
