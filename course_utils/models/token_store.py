"""A file of the vectors of texts' tokens: 384 floats a token in 48 bytes, or, for few texts, in 384.

Product quantisation (Jégou, Douze and Schmid 2011): a vector is cut into 48 parts of 8 numbers, and each part
is the number of the nearest of that part's 256 centroids.
"""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

SIZE, PARTS, CENTROIDS = 384, 48, 256


class Store:
    """A file of token vectors, memory-mapped: opening it reads the keys, a text reads its own tokens.

    safetensors with `keys` (windows, 16) in order, `starts` (windows + 1), `codes` (tokens, bytes) and, for
    product quantisation, `centroids` (48, 256, 8). A long text has several windows under one key.
    """

    def __init__(self, file: Path) -> None:
        from safetensors import SafetensorError, safe_open

        try:
            opened = safe_open(file, "np")
            self._codes = opened.get_slice("codes")
            self._starts = opened.get_tensor("starts").tolist()
            keys = opened.get_tensor("keys")
            coded = "centroids" in opened.keys()  # noqa: SIM118
            self.centroids = opened.get_tensor("centroids").astype(np.float32) if coded else None
        except (SafetensorError, OSError) as error:
            raise ValueError(
                f"{file} is not a store of token vectors: {error}. Fetch the file again, or delete it: what "
                "is missing is then computed."
            ) from None
        self.rows: dict[bytes, list[int]] = {}
        for row, key in enumerate(keys):
            self.rows.setdefault(key.tobytes(), []).append(row)

    def codes(self, key: bytes) -> list[np.ndarray]:
        """Return the codes (tokens, bytes) of each window of a text; none where it is not stored."""
        bounds = [(self._starts[row], self._starts[row + 1]) for row in self.rows.get(key, ())]
        return [self._codes[begin:end] for begin, end in bounds]

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the unit vectors (tokens, 384), float32, that codes stand for."""
        if self.centroids is None:
            return _unit(codes.astype(np.float32))
        table = self.centroids.reshape(PARTS * CENTROIDS, -1)
        return _unit(table[codes + np.arange(PARTS) * CENTROIDS].reshape(len(codes), SIZE))


def opened(file: Path) -> Store | None:
    """Return the store in a file, opened once until the file changes; None where there is none."""
    if not file.is_file():
        return None
    stat = file.stat()
    return _open(file, stat.st_size, stat.st_mtime_ns)


def code(table: np.ndarray, centroids: np.ndarray | None) -> np.ndarray:
    """Return the codes of vectors (tokens, 384): int8 or, with centroids, the nearest one in each part."""
    if centroids is None:
        return np.round(table * (127 / np.abs(table).max(axis=1, keepdims=True))).astype(np.int8)
    parts = table.reshape(len(table), PARTS, -1).swapaxes(0, 1)
    # |x - c|² is least where x·c - |c|²/2 is greatest.
    nearness = parts @ centroids.swapaxes(1, 2) - (centroids**2).sum(axis=2)[:, None] / 2
    return nearness.argmax(axis=2).T.astype(np.uint8)


def find_centroids(table: np.ndarray) -> np.ndarray:
    """Return the centroids (48, 256, 8) of each part, by k-means with a fixed seed, rounded to float16."""
    import faiss

    quantizer = faiss.ProductQuantizer(SIZE, PARTS, CENTROIDS.bit_length() - 1)
    quantizer.train(np.ascontiguousarray(table, dtype=np.float32))
    found = faiss.vector_to_array(quantizer.centroids).reshape(PARTS, CENTROIDS, -1)
    return found.astype(np.float16).astype(np.float32)


def write(file: Path, rows: Mapping[bytes, Sequence[np.ndarray]], centroids: np.ndarray | None) -> None:
    """Write the codes of each text's windows, texts by key, so that the same texts give the same bytes."""
    from safetensors.numpy import save

    order = [(key, codes) for key in sorted(rows) for codes in rows[key]]
    # safetensors writes the memory as it lies: it must lie row by row
    tables = [codes for _, codes in order] or [np.empty((0, PARTS), dtype=np.uint8)]
    codes = np.ascontiguousarray(np.concatenate(tables))
    keys = np.frombuffer(b"".join(key for key, _ in order), dtype=np.uint8).reshape(len(order), 16)
    starts = np.cumsum([0, *(len(codes) for _, codes in order)], dtype=np.uint32)
    held = {"keys": keys, "starts": starts, "codes": codes}
    if centroids is not None:
        held["centroids"] = centroids.astype(np.float16)
    file.parent.mkdir(parents=True, exist_ok=True)
    _open.cache_clear()  # Windows does not replace a file that is mapped
    draft = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(save(held))
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _unit(table: np.ndarray) -> np.ndarray:
    return table / np.sqrt(np.einsum("ij,ij->i", table, table))[:, None]


@lru_cache(maxsize=4)
def _open(file: Path, size: int, changed: int) -> Store:
    return Store(file)
