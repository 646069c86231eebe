"""Making the collections of vectors that are shipped: exactly those of the texts that are there now."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course_utils import places

from . import embedding, token_store, token_vectors, vectors, weights


class Shipped(NamedTuple):
    """A collection's file, how many vectors were missing in it and how many belong to no text any more."""

    file: Path
    missing: int
    stale: int

    def __bool__(self) -> bool:
        return bool(self.missing or self.stale)


def ship(collection: str, texts: Iterable[str], *, check: bool = False) -> Shipped:
    """Make data/embeddings/<collection>.npy hold the vectors of `texts` and no others.

    Vectors that are shipped already, in any collection, are kept as they are; the model is loaded only for
    the rest, with a progress bar. With `check`, nothing is computed or written. TypeError for non-texts.
    """
    folder = places.data() / "embeddings"
    file = vectors.file_of(folder, collection)
    texts = list(dict.fromkeys(embedding._checked(texts)))
    keys = [vectors.key(weights.MODEL_ID, text) for text in texts]
    held = vectors.keys_of(file)
    result = Shipped(file, len(set(keys) - held), len(held - set(keys)))
    if check or not result:
        return result
    known = dict(vectors.shipped(folder))
    new = [text for key, text in zip(keys, texts, strict=True) if key not in known]
    if new:
        fresh = embedding.OfflineEmbeddings().array(new).astype(np.float16)
        known |= {vectors.key(weights.MODEL_ID, text): row for text, row in zip(new, fresh, strict=True)}
    vectors.write(file, {key: known[key] for key in keys})
    return result


def ship_tokens(kind: token_vectors.Kind, texts: Iterable[str], *, check: bool = False) -> Shipped:
    """Make the shipped file of token vectors hold those of `texts` and no others.

    What is stored already is kept as it is, centroids too; the model is loaded only for the rest, with a
    progress bar. Centroids are found where there is no file. With `check`, nothing is computed or written.
    """
    file = token_vectors.file_of(kind)
    old = token_store.opened(file)
    wanted = {token_vectors.key(kind, text): text for text in embedding._checked(texts)}
    held = old.rows.keys() if old else set()
    result = Shipped(file, len(wanted.keys() - held), len(held - wanted.keys()))
    if check or not result:
        return result
    fresh = {key: text for key, text in wanted.items() if key not in held}
    made = dict(zip(fresh, token_vectors.encode(kind, list(fresh.values())), strict=True))
    centroids = old.centroids if old else None
    if kind == "document" and centroids is None:
        centroids = token_store.find_centroids(
            np.concatenate([one for many in made.values() for one in many])
        )
    kept = {key: old.codes(key) for key in wanted if old and key in held}
    coded = {key: [token_store.code(one, centroids) for one in many] for key, many in made.items()}
    del old  # Windows does not replace a file that is mapped
    token_store.write(file, kept | coded, centroids)
    return result
