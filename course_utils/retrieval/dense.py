"""Dense retrieval: the documents whose vectors point where the question's does, among those that may be seen.

The order of work is the point: who asks and the filter decide first, the ranking then sees only what is left.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, field_validator

from .caller import Caller
from .documents import Documents
from .filters import Filter

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.embeddings import Embeddings

# FAISS adds up in float32, in an order of its own: nearer than this, two scores may change places.
NOISE = 1e-5
_DIGITS = 6


class DenseIndex:
    """Documents with unit vectors in FAISS's flat inner-product index: exact search, no training.

    embeddings: any LangChain Embeddings. Vectors are made from a document's text, brought to length 1, and
    kept for as long as the text stays the same. vectors: given instead, shape (documents, size), any float.
    Raises ValueError for documents without id or audience, and for vectors that are not finite or zero.
    """

    def __init__(
        self,
        documents: Iterable[Document] = (),
        embeddings: "Embeddings | None" = None,
        *,
        vectors: Any = None,
    ) -> None:
        self.embeddings = embeddings
        self._held = Documents()
        self._index: Any = None
        self._add(self._held.checked(documents), vectors)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents by id, to read."""
        return self._held.by_id

    def add_documents(self, documents: Sequence[Document], ids: Sequence[str] | None = None) -> list[str]:
        """Add documents, or replace those with the same id; returns the ids.

        A text that its id already had is not embedded again, so new metadata alone cost nothing. `ids` is
        there for LangChain's habit and must be the documents' own.
        """
        fresh = self._held.checked(documents)
        own = [document.id for document in fresh]
        if ids is not None and list(ids) != own:
            raise ValueError("ids must be those of the documents, in their order; or leave them out.")
        self._add(fresh)
        return own

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents by id; an id that is not there is no error."""
        if len(self._held):
            rows = self._rows(np.arange(len(self._held)))
            self._fill(rows[self._held.drop(ids)])

    def search(
        self, question: str | np.ndarray, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[Document]:
        """Return copies of the k best documents that `caller` may see, best first, with metadata["score"].

        The score is the cosine, at most 1. Fewer than k come back only where fewer are left by the filter.
        """
        found = []
        for id, score in self.ranking(question, caller=caller, k=k, filter=filter):
            document = self._held.at(self._held.place(id))
            found.append(document.model_copy(update={"metadata": document.metadata | {"score": score}}))
        return found

    def ranking(
        self, question: str | np.ndarray, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return (id, cosine) of the k best, best first, ties by id; the question may be given as its vector.

        Raises ValueError for a k below 1 and for a filter with a key that no document has.
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ValueError(f"k must be a whole number of at least 1, not {k!r}.")
        seen = self._held.mask(caller, filter)
        left = int(seen.sum())
        if not left:
            return []
        query = self._query(question)
        places = self._nearest(query, seen, min(k, left), left)
        exact = (self._rows(places).astype(np.float64) * query).sum(axis=1)
        scores = np.clip(np.round(exact, _DIGITS), -1, 1).tolist()
        ids = [self._held.at(place).id for place in places]
        return sorted(zip(ids, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))[:k]

    def retriever(self, *, caller: Caller, k: int = 5, filter: Filter | None = None) -> "DenseRetriever":
        """Return a LangChain retriever for one caller; it costs nothing, so make one for each request."""
        return DenseRetriever(index=self, caller=caller, k=k, filter=filter)

    def _nearest(self, query: np.ndarray, seen: np.ndarray, k: int, left: int) -> np.ndarray:
        """Return the positions of the k nearest that are seen, and of all that might tie with the last."""
        import faiss

        only = faiss.IDSelectorBitmap(np.packbits(seen, bitorder="little"))
        asked = min(k + 8, left)
        while True:
            scores, places = self._index.search(
                query[None].astype(np.float32), asked, params=faiss.SearchParameters(sel=only)
            )
            if asked == left or scores[0, k - 1] - scores[0, -1] > NOISE:
                return places[0]
            asked = min(4 * asked, left)

    def _query(self, question: str | np.ndarray) -> np.ndarray:
        if not isinstance(question, str):
            return _unit(np.atleast_2d(question), ["the question"], self._index.d)[0]
        if self.embeddings is None:
            raise ValueError("This index has no embeddings: give the question as a vector.")
        vector = self.embeddings.embed_query(question)
        return _unit(np.atleast_2d(vector), ["the question"], self._index.d)[0]

    def _add(self, documents: list[Document], vectors: Any = None) -> None:
        if not documents:
            return
        old = self._rows(np.arange(len(self._held)))
        if vectors is None:
            made = iter(self._embed([d.page_content for d in documents if not self._knows(d)]))
            vectors = [old[self._held.place(d.id)] if self._knows(d) else next(made) for d in documents]
        size = self._index.d if self._index is not None else None
        fresh = _unit(np.asarray(vectors), [document.id for document in documents], size)
        self._held.put(documents)
        table = np.empty((len(self._held), fresh.shape[1]), dtype=np.float32)
        table[: len(old)] = old if len(old) else 0
        table[[self._held.place(document.id) for document in documents]] = fresh
        self._fill(table)

    def _knows(self, document: Document) -> bool:
        place = self._held.place(document.id)
        return place is not None and self._held.at(place).page_content == document.page_content

    def _embed(self, texts: list[str]) -> np.ndarray | list[list[float]]:
        if not texts:
            return []
        if self.embeddings is None:
            raise ValueError("Give embeddings, or vectors: texts must become vectors to be compared.")
        if hasattr(self.embeddings, "array"):  # the course's own: no detour through lists of floats
            return self.embeddings.array(texts)
        return self.embeddings.embed_documents(texts)

    def _rows(self, places: np.ndarray) -> np.ndarray:
        """Return the stored vectors at some positions, float32."""
        if self._index is None or not len(places):
            return np.empty((0, self._index.d if self._index else 0), dtype=np.float32)
        return self._index.reconstruct_batch(places)

    def _fill(self, table: np.ndarray) -> None:
        import faiss

        self._index = faiss.IndexFlatIP(table.shape[1])
        self._index.add(np.ascontiguousarray(table, dtype=np.float32))


def _unit(table: np.ndarray, names: Sequence[str], size: int | None) -> np.ndarray:
    """Return the vectors at length 1, float64; ValueError names the one that has no direction."""
    if table.ndim != 2 or len(table) != len(names) or (size is not None and table.shape[1] != size):
        wanted = f"({len(names)}, {size or 'any'})"
        raise ValueError(f"Vectors of shape {wanted} are needed, found {table.shape}.")
    table = table.astype(np.float64)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    bad = np.flatnonzero(~np.isfinite(lengths[:, 0]) | (lengths[:, 0] == 0))
    if len(bad):
        raise ValueError(
            f"The vector of {names[bad[0]]} has no direction: it is zero, or holds what is no number."
        )
    return table / lengths


class DenseRetriever(BaseRetriever):
    """A `DenseIndex` as a LangChain retriever, for one caller: `.invoke(question)` returns Documents.

    `caller` has no default: whoever makes a retriever must say for whom.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: DenseIndex
    caller: Caller
    k: int = 5
    filter: Filter | None = None

    @field_validator("k")
    @classmethod
    def _k_is_positive(cls, k: int) -> int:
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return k

    def ranking(self, question: str) -> list[tuple[str, float]]:
        """Return (id, cosine), best first."""
        return self.index.ranking(question, caller=self.caller, k=self.k, filter=self.filter)

    def _get_relevant_documents(
        self, query: str, *, run_manager: "CallbackManagerForRetrieverRun | None" = None
    ) -> list[Document]:
        return self.index.search(query, caller=self.caller, k=self.k, filter=self.filter)
