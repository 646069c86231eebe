"""The vectors that are shipped with the course, so that no lesson loads a model for a known text.

One file a collection, `data/embeddings/<collection>.npy`: NumPy's own format, a row a text, a row being the
key (16 bytes of the sha256 of model and text) and the unit vector as 384 float16, 784 bytes in all. Rows
are sorted by key and known rows are never rewritten, so the same texts give the same bytes.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

SIZE = 384
ROW = np.dtype([("key", "V16"), ("vector", "<f2", (SIZE,))])


def key(model: str, text: str) -> bytes:
    """Return the key of `text` under `model` (its name and the hashes of its files)."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]


def file_of(folder: Path, collection: str) -> Path:
    """Return the file of a collection; its name is lower-case letters, digits, _ and -."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", collection):
        raise ValueError(
            f"A collection's name is lower-case letters, digits, _ and - (lesson_01), not {collection!r}."
        )
    return folder / f"{collection}.npy"


def _load(file: Path) -> np.ndarray:
    try:
        with file.open("rb") as stream:
            rows = np.lib.format.read_array(stream, allow_pickle=False)
        if rows.dtype != ROW or rows.ndim != 1:
            raise ValueError(f"it holds {rows.dtype} of shape {rows.shape}")
        good = np.isfinite(rows["vector"]).all(axis=1) & rows["vector"].any(axis=1)
        if not good.all():
            raise ValueError(f"the vector in row {good.argmin()} is zero or not finite")
    except Exception as error:  # NumPy raises many kinds for a file that is not its own
        raise ValueError(
            f"{file} is not a store of vectors (rows of a 16-byte key and {SIZE} float16): {error}. "
            "Fetch the file again, or delete it: what is missing is then computed."
        ) from None
    return rows


@lru_cache(maxsize=4)
def _open(marks: tuple[tuple[Path, int, int], ...]) -> dict[bytes, np.ndarray]:
    found: dict[bytes, np.ndarray] = {}
    for file, _, _ in marks:
        rows = _load(file)
        found.update(zip((name.tobytes() for name in rows["key"]), rows["vector"], strict=True))
    return found


def shipped(folder: Path) -> Mapping[bytes, np.ndarray]:
    """Return every stored vector of every collection in `folder`, float16, by key.

    Kept in memory until a file changes.
    """
    stats = [(file, file.stat() if file.exists() else file.lstat()) for file in sorted(folder.glob("*.npy"))]
    return _open(tuple((file, stat.st_size, stat.st_mtime_ns) for file, stat in stats))


def keys_of(file: Path) -> set[bytes]:
    """Return the keys of the vectors in a collection's file; none where there is no file."""
    return {name.tobytes() for name in _load(file)["key"]} if file.exists() else set()


def record(folder: Path, collection: str, model: str, texts: Iterable[str], vectors: np.ndarray) -> Path:
    """Add the vectors (texts, 384) of `texts` to a collection, atomically; returns its file.

    One writer at a time: of two that add to the same collection at once, the later one wins.
    """
    file = file_of(folder, collection)
    rows = {row["key"].tobytes(): row["vector"] for row in _load(file)} if file.exists() else {}
    for text, vector in zip(texts, vectors, strict=True):
        rows.setdefault(key(model, text), vector)
    return write(file, rows)


def write(file: Path, rows: Mapping[bytes, np.ndarray]) -> Path:
    """Write a collection's file, atomically: its rows sorted by key, as float16."""
    file.parent.mkdir(parents=True, exist_ok=True)
    table = np.empty(len(rows), dtype=ROW)
    for number, name in enumerate(sorted(rows)):
        table[number] = (np.void(name), rows[name].astype("<f2"))
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as stream:
            np.save(stream, table, allow_pickle=False)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return file
