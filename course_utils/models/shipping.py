"""Making the collections of vectors that are shipped: exactly those of the texts that are there now."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course_utils import places

from . import embedding, vectors, weights


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
