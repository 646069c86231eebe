"""One retriever of several: each is asked, their rankings are fused, and each result says who found it."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, model_validator

from .caller import Caller
from .fusion import mix_scores, reciprocal_rank_fusion

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun


class RetrieverFailed(RuntimeWarning):
    """One retriever of a hybrid raised an error; the results are those of the others."""


class _Answer(NamedTuple):
    """What one retriever found: id -> score, best first, and the documents by id where they were wanted."""

    name: str
    scores: dict[str, Any]
    documents: Mapping[str, Document]


class HybridRetriever(BaseRetriever):
    """Retrievers fused into one: `HybridRetriever([bm25, dense], weights=[0.3, 0.7]).invoke(question)`.

    retrievers: any of LangChain's, in a list, or in a dict that names them: {"bm25": …, "dense": …}. One with
    a method `ranking(question)` gives ids and scores; the documents of any other need an id.
    weights: one per retriever, equal if not given; one of weight 0 is not asked.
    fuse: "ranks" (`reciprocal_rank_fusion` with `k`) or "scores" (`mix_scores`; higher must be better).
    depth: how many each retriever is asked for, whatever its own setting, but at least `limit`. limit: how
    many come back. `k` is the constant of the fusion: for more results take `deepened(hybrid, n)`.

    Results are copies. metadata["score"] is the fused score; metadata["found"] says in whose list at which
    rank, as {"bm25": 3, "dense": 1}. Two documents are one if their ids are equal, whatever their texts; of
    metadata that differ, those of the list with the better rank stay, of equals the first.

    Who asks: retrievers that have a caller must have the same one. One without, beside them, may find what
    that caller must not see: what is marked for another audience is left out before the fusion.
    One that fails: the others answer, under a warning `RetrieverFailed` each time and with its name in
    metadata["failed"]; if nobody answers, RuntimeError. With on_failure="raise", as for measurements, its
    own error is raised.
    Raises ValueError for no retrievers, different callers, weights or k that `fusion` refuses, documents
    without id, and scores that are missing or are distances.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retrievers: tuple[BaseRetriever, ...] = Field(min_length=1)
    weights: tuple[float, ...] | None = None
    k: float = 60
    limit: int = Field(5, ge=1)
    depth: int = Field(50, ge=1)
    fuse: Literal["ranks", "scores"] = "ranks"
    on_failure: Literal["warn", "raise"] = "warn"

    def __init__(
        self, retrievers: Sequence[BaseRetriever] | Mapping[str, BaseRetriever], **settings: Any
    ) -> None:
        if isinstance(retrievers, Mapping):
            retrievers = [one.model_copy(update={"name": name}) for name, one in retrievers.items()]
        super().__init__(retrievers=retrievers, **settings)

    @model_validator(mode="after")
    def _fits(self) -> "HybridRetriever":
        reciprocal_rank_fusion([[]] * len(self.retrievers), k=self.k, weights=self.weights)
        _ = self.caller
        return self

    @property
    def caller(self) -> Caller | None:
        """For whom the retrievers search, None if none of them knows; ValueError if they disagree."""
        callers = list(dict.fromkeys(_callers(self.retrievers)))
        if len(callers) > 1:
            raise ValueError(
                f"The retrievers search for different callers, {callers[0]} and {callers[1]}. One result "
                "must not mix what two may see: make them all for the caller who asks."
            )
        return callers[0] if callers else None

    def ranking(self, question: str) -> list[tuple[str, float]]:
        """Return (id, fused score) of the `limit` best, best first, ties by id."""
        return self._fused(self._ask(question)[0])

    def _get_relevant_documents(
        self, query: str, *, run_manager: "CallbackManagerForRetrieverRun | None" = None
    ) -> list[Document]:
        answers, failed = self._ask(query, documents=True, run_manager=run_manager)
        ranks = [{id: rank for rank, id in enumerate(one.scores, start=1)} for one in answers]
        found = []
        for id, score in self._fused(answers):
            places = [(at[id], one) for at, one in zip(ranks, answers, strict=True) if id in at]
            document = min(places, key=lambda place: place[0])[1].documents.get(id)
            if document is None or not _may_see(self.caller, document):
                continue  # a writer has taken it away, or from this caller, since it was ranked
            told = {"score": score, "found": {one.name: rank for rank, one in places}}
            told |= {"failed": failed} if failed else {}
            found.append(document.model_copy(update={"metadata": document.metadata | told}))
        return found

    def _fused(self, answers: list[_Answer]) -> list[tuple[str, float]]:
        lists = [one.scores.items() for one in answers]
        if self.fuse == "ranks":
            return reciprocal_rank_fusion(lists, k=self.k, weights=self.weights, limit=self.limit)
        for one in answers:
            _check_scores(one)
        return mix_scores(lists, weights=self.weights, limit=self.limit)

    def _ask(
        self,
        question: str,
        documents: bool = False,
        run_manager: "CallbackManagerForRetrieverRun | None" = None,
    ) -> tuple[list[_Answer], list[str]]:
        """Return an answer for each retriever, empty where it failed or has weight 0, and who failed."""
        caller, depth = self.caller, max(self.depth, self.limit)
        config = {"callbacks": run_manager.get_child()} if run_manager else None
        answers, errors = [], {}
        weights = self.weights or (1.0,) * len(self.retrievers)
        for name, retriever, weight in zip(self._names(), self.retrievers, weights, strict=True):
            asked = deepened(retriever, depth)
            library = _library(asked, caller, documents)
            got: list[Any] = []
            if weight:
                try:
                    got = asked.invoke(question, config) if library is None else asked.ranking(question)
                except Exception as error:
                    if self.on_failure == "raise":
                        raise
                    errors[name] = error
            if library is None:
                library = _by_id(name, got, caller)
                got = [(id, document.metadata.get("score")) for id, document in library.items()]
            scores: dict[str, Any] = {}
            for id, score in got:  # of several the first, as the fusion would have it
                scores.setdefault(id, score)
            answers.append(_Answer(name, dict(islice(scores.items(), depth)), library))
        if errors:
            _tell(errors, nobody=len(errors) == sum(map(bool, weights)))
        return answers, list(errors)

    def _names(self) -> list[str]:
        """Return a name for each: its own, or its class's, with its place where two have the same."""
        names = [one.get_name() for one in self.retrievers]
        return [
            f"{one} #{place}" if names.count(one) > 1 else one for place, one in enumerate(names, start=1)
        ]


def deepened(retriever: BaseRetriever, depth: int) -> BaseRetriever:
    """Return a copy that returns up to `depth` results; the retriever itself where it has no such setting.

    Set are the `limit` of a HybridRetriever (its `k` is another thing), a field `k`, as this course's and
    most of LangChain's retrievers have, and the k in `search_kwargs` of a vector store's.
    """
    fields = type(retriever).model_fields
    if isinstance(retriever, HybridRetriever):
        return retriever.model_copy(update={"limit": depth})
    if "k" in fields:
        return retriever.model_copy(update={"k": depth})
    if "search_kwargs" in fields:
        return retriever.model_copy(update={"search_kwargs": retriever.search_kwargs | {"k": depth}})
    return retriever


def _callers(retrievers: Iterable[BaseRetriever]) -> Iterator[Caller]:
    """Yield the callers of retrievers and of those they wrap."""
    for retriever in retrievers:
        own = getattr(retriever, "caller", None)
        if isinstance(own, Caller):
            yield own
            continue
        for value in vars(retriever).values():
            # Only the start of a list: it may be a whole collection, and never holds that many retrievers.
            inner = islice(value, 20) if isinstance(value, (list, tuple)) else [value]
            yield from _callers(one for one in inner if isinstance(one, BaseRetriever))


def _library(
    retriever: BaseRetriever, caller: Caller | None, documents: bool
) -> Mapping[str, Document] | None:
    """Return what the ids of `ranking` lead to, nothing if not wanted; None where `invoke` is needed.

    It is for a retriever without `ranking`, or without an index to look documents up in; and where somebody
    asks and the retriever does not know who, so that what it finds must be looked through.
    """
    knows = caller is None or isinstance(getattr(retriever, "caller", None), Caller)
    if not knows or not callable(getattr(retriever, "ranking", None)):
        return None
    if not documents:
        return {}
    held = getattr(getattr(retriever, "index", None), "documents", None)
    return held if isinstance(held, Mapping) else None


def _by_id(name: str, found: Iterable[Document], caller: Caller | None) -> dict[str, Document]:
    """Return documents by id in their order, the first of each, without those marked for others."""
    kept: dict[str, Document] = {}
    for document in found:
        if not document.id:
            raise ValueError(
                f"{name} found a document without id, which no other list can name: "
                f"{document.page_content[:60]!r}. Give documents an id before they are added."
            )
        if _may_see(caller, document):
            kept.setdefault(document.id, document)
    return kept


def _may_see(caller: Caller | None, document: Document) -> bool:
    audience = document.metadata.get("audience")
    return caller is None or audience is None or audience in list(caller.audiences)


def _check_scores(answer: _Answer) -> None:
    """Raise ValueError, and say whose they are, for scores that cannot be mixed."""
    scores = list(answer.scores.values())
    if any(isinstance(score, bool) or not isinstance(score, Real) for score in scores):
        raise ValueError(f"{answer.name} gives no scores: metadata['score'] is needed, or fuse='ranks'.")
    if any(after > before for before, after in pairwise(scores)):
        raise ValueError(
            f"The scores of {answer.name} rise from rank to rank, as distances do: the nearest would count "
            "least. Give scores where higher is better, or fuse='ranks'."
        )


def _tell(errors: Mapping[str, Exception], nobody: bool) -> None:
    told = "; ".join(f"{name} failed with {type(error).__name__}: {error}" for name, error in errors.items())
    if nobody:
        raise RuntimeError(f"No retriever answered. {told}") from next(iter(errors.values()))
    # Not warnings.warn, which says the same thing once: the next search is as incomplete as this one.
    warnings.warn_explicit(f"{told}. The results are of the others alone.", RetrieverFailed, __name__, 0)
