"""The vectors of a text's tokens, for late interaction: those shipped with the course, or MiniLM's own.

Stored are the tokens of the shop's documents and golden questions (token_store.py says how). A text that is
not stored is encoded, once a process while there is room. As in ColBERT (Khattab and Zaharia 2020), marks and
the tokens for begin and end do not count in a document; in a question everything does.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from course_utils import places

from . import embedding, vectors, weights
from .token_store import opened
from .windows import windows

if TYPE_CHECKING:
    from tokenizers import Encoding

    from .minilm import MiniLM

ROOM = 254  # tokens of a text that MiniLM reads, without the two for begin and end
KEPT = 500  # texts encoded in this process whose vectors are kept, some 30 MB
Kind = Literal["document", "question"]
_live: dict[bytes, list[np.ndarray]] = {}


def of_question(text: str) -> np.ndarray:
    """Return the unit vectors of a question's tokens, float32 of shape (tokens, 384)."""
    return np.concatenate(_find("question", [text])[0])


def of_documents(texts: Sequence[str]) -> list[list[np.ndarray]]:
    """Return for each text, for each of its windows (one unless it is long), unit vectors (tokens, 384)."""
    return _find("document", texts)


def file_of(kind: Kind) -> Path:
    """Return the file of the shipped token vectors of documents or of questions."""
    return places.data() / "embeddings" / "tokens" / f"{kind}s.safetensors"


def key(kind: Kind, text: str) -> bytes:
    """Return the key of a text in the store: a question's tokens are others than a document's."""
    return vectors.key(f"{weights.MODEL_ID}/{kind}", text)


def encode(kind: Kind, texts: Sequence[str], batch_size: int = 32) -> list[list[np.ndarray]]:
    """Return MiniLM's own unit vectors for each text and window; loads it, with a bar for many texts."""
    from torch.nn.functional import normalize

    model = embedding._minilm()
    pieces = [(number, one) for number, text in enumerate(texts) for one in _cut(model, text)]
    order = sorted(range(len(pieces)), key=lambda place: -len(pieces[place][1].ids))
    split = [order[begin : begin + batch_size] for begin in range(0, len(order), batch_size)]
    batches = ((some, model._forward([pieces[place][1] for place in some])[0]) for some in split)
    made: dict[int, np.ndarray] = {}
    for some, table in embedding._progress(batches, len(pieces)):
        for row, place in enumerate(some):
            made[place] = normalize(table[row, _counted(kind, pieces[place][1])], dim=1).numpy()
    found: list[list[np.ndarray]] = [[] for _ in texts]
    for at, (owner, _) in enumerate(pieces):
        found[owner].append(made[at])
    return found


def _find(kind: Kind, texts: Sequence[str]) -> list[list[np.ndarray]]:
    store, by_key = opened(file_of(kind)), {key(kind, text): text for text in texts}
    found = {one: [store.decode(codes) for codes in store.codes(one)] for one in by_key} if store else {}
    new = {one: text for one, text in by_key.items() if not found.get(one) and one not in _live}
    if new:
        made = zip(new, encode(kind, list(new.values())), strict=True)
        _live.update((one, [window.astype(np.float16) for window in windows]) for one, windows in made)
    for one in by_key:
        found[one] = found.get(one) or [window.astype(np.float32) for window in _live[one]]
    while len(_live) > KEPT:
        _live.pop(next(iter(_live)), None)  # the oldest
    return [found[key(kind, text)] for text in texts]


def _cut(model: "MiniLM", text: str) -> "list[Encoding]":
    """Return the tokens of a text, or those of its windows where it is too long."""
    first = model.tokens(text)
    if not first.overflowing:
        return [first]
    every = (zip(one.offsets, one.special_tokens_mask, strict=True) for one in (first, *first.overflowing))
    spans = [span for one in every for span, special in one if not special]
    return [model.tokens(window) for window in windows(text, spans, ROOM)]


def _counted(kind: Kind, encoding: "Encoding") -> list[int]:
    """Return the places of the tokens that count; all, where a document has nothing but marks."""
    every = list(range(len(encoding.ids)))
    if kind == "question":
        return every
    tokens, special = encoding.tokens, encoding.special_tokens_mask
    return [n for n in every if not special[n] and any(map(str.isalnum, tokens[n]))] or every
