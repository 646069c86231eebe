"""What the indexes of documents share: what goes in and out, for whom, in which order; and a retriever."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, InstanceOf, field_validator

from .caller import Caller
from .documents import Documents, checked
from .filters import Filter

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun


class Shelf(Protocol):
    """One state of an index, which never changes: its documents, and what is kept for them."""

    @property
    def held(self) -> Documents:
        """The documents."""


class Index(ABC):
    """Documents ranked for a question, for one caller: best first, ties by id.

    An index puts its state into `_shelf` as a whole, and reads it once for each search: so any number of
    searches may run beside one writer.
    """

    _shelf: Shelf

    def __len__(self) -> int:
        return len(self._shelf.held)

    @property
    def documents(self) -> Mapping[str, Document]:
        """Copies of the documents by id, to read."""
        return self._shelf.held

    def add_documents(self, documents: Sequence[Document], ids: Sequence[str] | None = None) -> list[str]:
        """Add documents, or replace those with the same id; returns the ids, which `ids` may only repeat."""
        fresh = checked(documents)
        own = [document.id for document in fresh]
        if ids is not None and list(ids) != own:
            raise ValueError("ids must be those of the documents, in their order; or leave them out.")
        self._add(fresh)
        return own

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents by id; an id that is not there is no error."""
        if isinstance(ids, str) or ids is None:
            raise TypeError(f"ids must be a list of ids, such as ['product:7'], not {ids!r}.")
        held, stay = self._shelf.held.without(ids)
        if len(stay) < len(self):
            self._shelf = self._left(held, stay)

    def search(
        self, question: Any, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[Document]:
        """Return copies of the k best documents that `caller` may see, with metadata["score"]."""
        held, best = self._ranked(question, caller, k, filter)
        return [held.at(place, score=score) for place, score in best]

    def ranking(
        self, question: Any, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return (id, score) of the k best."""
        held, best = self._ranked(question, caller, k, filter)
        return [(held.id_at(place), score) for place, score in best]

    def _ranked(
        self, question: Any, caller: Caller, k: int, filter: Filter | None
    ) -> tuple[Documents, list[tuple[int, float]]]:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"k must be a whole number of at least 1, not {k!r}.")
        held, best = self._best(question, caller, k, filter)
        return held, sorted(best, key=lambda pair: (-pair[1], held.id_at(pair[0])))[:k]

    @abstractmethod
    def _add(self, documents: list[Document]) -> None:
        """Add checked documents, or replace those with the same id: all, or after an error none."""

    @abstractmethod
    def _left(self, held: Documents, stay: np.ndarray) -> Shelf:
        """Return the shelf of the documents that stay, whose positions were `stay`."""

    @abstractmethod
    def _best(
        self, question: Any, caller: Caller, k: int, filter: Filter | None
    ) -> tuple[Documents, Iterable[tuple[int, float]]]:
        """Return documents, and (position, score) of the k best and of all that might tie with the last."""


class IndexRetriever(BaseRetriever):
    """An `Index` as a LangChain retriever, for one caller: `.invoke(question)` returns Documents.

    `caller` has no default: whoever makes a retriever must say for whom.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)

    index: Index
    caller: Annotated[Caller, InstanceOf()]  # a dictionary is not taken for one
    k: int = 5
    filter: Filter | None = None

    @field_validator("k")
    @classmethod
    def _k_is_positive(cls, k: int) -> int:
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return k

    def ranking(self, question: str) -> list[tuple[str, float]]:
        """Return (id, score), best first."""
        return self.index.ranking(question, caller=self.caller, k=self.k, filter=self.filter)

    def _get_relevant_documents(
        self, query: str, *, run_manager: "CallbackManagerForRetrieverRun | None" = None
    ) -> list[Document]:
        return self.index.search(query, caller=self.caller, k=self.k, filter=self.filter)
