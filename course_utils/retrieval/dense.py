"""Dense retrieval: the documents whose vectors point where the question's does, among those that may be seen.

The order of work is the point: who asks and the filter decide first, the ranking then sees only what is left.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from langchain_core.documents import Document

from .caller import Caller
from .documents import Documents, checked
from .filters import Filter
from .index import Index, IndexRetriever

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

# FAISS adds up in float32, in an order of its own: nearer than this, two scores may change places.
NOISE = 1e-5
_DIGITS = 6


class _Shelf(NamedTuple):
    """Documents and the FAISS index of their vectors, position for position. It never changes."""

    held: Documents
    index: Any

    @classmethod
    def filled(cls, held: Documents, table: np.ndarray) -> "_Shelf":
        """Return the shelf of some documents and their unit vectors (documents, size)."""
        import faiss

        index = faiss.IndexFlatIP(table.shape[1])
        index.add(np.ascontiguousarray(table, dtype=np.float32))
        return cls(held, index)

    @property
    def size(self) -> int | None:
        """The length of a vector; None while there is none."""
        return None if self.index is None else self.index.d

    def rows(self, places: np.ndarray) -> np.ndarray:
        """Return the stored vectors at some positions, float32."""
        if self.index is None or not len(places):
            return np.empty((0, self.size or 0), dtype=np.float32)
        return self.index.reconstruct_batch(places)

    def nearest(self, query: np.ndarray, seen: np.ndarray, k: int) -> np.ndarray:
        """Return the positions of the k nearest of those seen, and of all that might tie with the last."""
        import faiss

        left = int(seen.sum())
        only = faiss.IDSelectorBitmap(np.packbits(seen, bitorder="little"))
        asked = min(k + 8, left)
        while True:
            scores, places = self.index.search(
                query[None].astype(np.float32), asked, params=faiss.SearchParameters(sel=only)
            )
            if asked == left or scores[0, k - 1] - scores[0, -1] > NOISE:
                return places[0]
            asked = min(4 * asked, left)


class DenseIndex(Index):
    """Documents with unit vectors in FAISS's flat inner-product index: exact search, no training.

    embeddings: any LangChain Embeddings. Vectors are made from a document's text, brought to length 1, and
    kept for as long as the text stays the same. vectors: given instead, shape (documents, size), any float.
    Documents are copied in and copied out. Any number of searches may run beside one writer, since each
    looks at one state as a whole; writers must take turns. Raises ValueError for documents without id or
    audience, and for vectors that are not finite or zero.
    """

    _shelf: _Shelf

    def __init__(
        self,
        documents: Iterable[Document] = (),
        embeddings: "Embeddings | None" = None,
        *,
        vectors: Any = None,
    ) -> None:
        self.embeddings = embeddings
        self._shelf = _Shelf(Documents(), None)
        self._add(checked(documents), vectors)

    def add_documents(self, documents: Sequence[Document], ids: Sequence[str] | None = None) -> list[str]:
        """Add documents, or replace those with the same id; returns the ids.

        A text that its id already had is not embedded again, so new metadata alone cost nothing. `ids` is
        there for LangChain's habit and must be the documents' own. All are added, or after an error none.
        """
        return super().add_documents(documents, ids)

    def search(
        self, question: str | np.ndarray, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[Document]:
        """Return copies of the k best documents that `caller` may see, best first, with metadata["score"].

        The score is the cosine, at most 1. Fewer than k come back only where fewer are left by the filter.
        """
        return super().search(question, caller=caller, k=k, filter=filter)

    def ranking(
        self, question: str | np.ndarray, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return (id, cosine) of the k best, best first, ties by id; the question may be given as its vector.

        Raises ValueError for a k below 1 and for a filter with a key that no document has which the caller
        may see.
        """
        return super().ranking(question, caller=caller, k=k, filter=filter)

    def retriever(self, *, caller: Caller, k: int = 5, filter: Filter | None = None) -> "DenseRetriever":
        """Return a LangChain retriever for one caller; it costs nothing, so make one for each request."""
        return DenseRetriever(index=self, caller=caller, k=k, filter=filter)

    def _best(
        self, question: str | np.ndarray, caller: Caller, k: int, filter: Filter | None
    ) -> tuple[Documents, Iterable[tuple[int, float]]]:
        if not self._shelf.held.mask(caller, filter).any():
            return self._shelf.held, []  # nothing to find, so no model is loaded for the question
        query = self._query(question)
        shelf = self._shelf  # once, and after the wait: documents, mask and vectors that belong together
        seen = shelf.held.mask(caller, filter)
        if not seen.any():
            return shelf.held, []
        places = shelf.nearest(query, seen, min(int(k), int(seen.sum())))
        exact = (shelf.rows(places).astype(np.float64) * query).sum(axis=1)
        scores = np.clip(np.round(exact, _DIGITS), -1, 1).tolist()
        return shelf.held, zip(places.tolist(), scores, strict=True)

    def _query(self, question: str | np.ndarray) -> np.ndarray:
        if isinstance(question, str):
            if self.embeddings is None:
                raise ValueError("This index has no embeddings: give the question as a vector.")
            question = self.embeddings.embed_query(question)
        return _unit(np.atleast_2d(question), ["the question"], self._shelf.size)[0]

    def _add(self, documents: list[Document], vectors: Any = None) -> None:
        if not documents:
            if vectors is not None and len(vectors):
                raise ValueError(f"{len(vectors)} vectors were given, and no documents.")
            return
        held = self._shelf.held
        old = self._shelf.rows(np.arange(len(held)))
        if vectors is None:
            made = iter(self._embed([d.page_content for d in documents if not held.has_text(d)]))
            vectors = [old[held.place(d.id)] if held.has_text(d) else next(made) for d in documents]
        size = self._shelf.size if len(held) else None
        fresh = _unit(np.asarray(vectors), [document.id for document in documents], size)
        held = held.replaced(documents)
        table = np.empty((len(held), fresh.shape[1]), dtype=np.float32)
        table[: len(old)] = old if len(old) else 0
        table[[held.place(document.id) for document in documents]] = fresh
        self._shelf = _Shelf.filled(held, table)

    def _left(self, held: Documents, stay: np.ndarray) -> _Shelf:
        return _Shelf.filled(held, self._shelf.rows(stay))

    def _embed(self, texts: list[str]) -> Sequence[Any]:
        if not texts:
            return []
        if self.embeddings is None:
            raise ValueError("Give embeddings, or vectors: texts must become vectors to be compared.")
        # The course's own has `array`: no detour through lists of floats.
        own = hasattr(self.embeddings, "array")
        made = self.embeddings.array(texts) if own else self.embeddings.embed_documents(texts)
        if made is None or len(made) != len(texts):
            count = "none" if made is None else len(made)
            raise ValueError(
                f"{len(texts)} texts went to the embedding model, and {count} vectors came back."
            )
        return made


def _unit(table: np.ndarray, names: Sequence[str], size: int | None) -> np.ndarray:
    """Return the vectors at length 1, float64; ValueError names the one that has no direction."""
    if table.ndim != 2 or len(table) != len(names) or (size is not None and table.shape[1] != size):
        wanted = f"({len(names)}, {size or 'any'})"
        raise ValueError(f"Vectors of shape {wanted} are needed, found {table.shape}.")
    if np.iscomplexobj(table):
        raise ValueError("Vectors of real numbers are needed, found complex ones.")
    table = table.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        table = table / np.abs(table).max(axis=1, keepdims=True)  # else a square of 1e200 is infinite
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    bad = np.flatnonzero(~np.isfinite(lengths[:, 0]) | (lengths[:, 0] == 0))
    if len(bad):
        raise ValueError(
            f"The vector of {names[bad[0]]} has no direction: it is zero, or holds what is no number."
        )
    return table / lengths


class DenseRetriever(IndexRetriever):
    """A `DenseIndex` as a LangChain retriever, for one caller: `.invoke(question)` returns Documents.

    `caller` has no default: whoever makes a retriever must say for whom.
    """

    index: DenseIndex

    def ranking(self, question: str) -> list[tuple[str, float]]:
        """Return (id, cosine), best first."""
        return super().ranking(question)
