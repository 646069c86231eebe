"""Wide, then narrow: a search finds candidates, a model that reads them again puts them in order."""

import math
import warnings
from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from .caller import Caller
from .hybrid import RetrieverFailed, deepened

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun


class RerankerFailed(RetrieverFailed):
    """The reranker raised an error; the results are the candidates as the search had them."""


class NotScored(RuntimeWarning):
    """The reranker left candidates without a score; they stand last, as the search had them."""


class RerankingRetriever(BaseRetriever):
    """The `candidates` best of a retriever, in a reranker's order: `RerankingRetriever(hybrid, MaxSim())`.

    base: any LangChain retriever. It is asked for `candidates` documents, or for k if that is more, and a
    document that is not among them cannot be in the result. reranker: has `scores(question, texts)`, higher
    is better, as `models.reranker()` has. k: how many come back. unless: a function of the question; where it
    says so, the order stays the base's, and no candidate is read (`unless=codes` leaves codes to the search).

    The result holds documents of the base and no others, each once, with metadata["score"], the reranker's,
    and metadata["rank_before"], from 1. Equal scores keep the order they had. Without a score, which is NaN,
    a candidate stands behind all that have one, under a warning `NotScored`.
    A reranker that fails: the candidates come as the base had them, under a warning `RerankerFailed`, with
    metadata["failed"]. With on_failure="raise", as for measurements, its error is raised.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)

    base: BaseRetriever
    reranker: Any
    candidates: int = Field(default=50, ge=1)
    k: int = Field(default=5, ge=1)
    on_failure: Literal["warn", "raise"] = "warn"
    unless: Callable[[str], Any] | None = None

    def __init__(self, base: BaseRetriever, reranker: Any, **settings: Any) -> None:
        super().__init__(base=base, reranker=reranker, **settings)

    @field_validator("reranker")
    @classmethod
    def _scores(cls, value: Any) -> Any:
        if not callable(getattr(value, "scores", None)):
            raise ValueError(
                f"a reranker has scores(question, texts), as models.reranker() has; not {value!r}"
            )
        return value

    @property
    def caller(self) -> Caller | None:
        """For whom the base searches, None if it does not say."""
        return getattr(self.base, "caller", None)

    def ranking(self, question: str) -> list[tuple[str, float]]:
        """Return (id, score) of the k best, best first; a score is NaN where the reranker gave none."""
        return [(document.id, document.metadata["score"]) for document in self.invoke(question)]

    def _get_relevant_documents(
        self, query: str, *, run_manager: "CallbackManagerForRetrieverRun | None" = None
    ) -> list[Document]:
        config = {"callbacks": run_manager.get_child()} if run_manager else None
        if self.unless is not None and self.unless(query):
            return _once(deepened(self.base, self.k).invoke(query, config))[: self.k]
        most = max(self.candidates, self.k)
        found = _once(deepened(self.base, most).invoke(query, config))[:most]
        failed: dict[str, Any] = {}
        name = str(getattr(self.reranker, "name", type(self.reranker).__name__))
        try:
            texts = [document.page_content for document in found]
            scores = _checked(self.reranker.scores(query, texts), len(texts)) if texts else []
        except Exception as error:
            if self.on_failure == "raise":
                raise
            _tell(f"{name} failed with {type(error).__name__}: {error}. The order is the search's.")
            scores = [math.nan] * len(found)
            failed = {"failed": [*found[0].metadata.get("failed", []), name]}
        if not failed and (without := sum(map(math.isnan, scores))):
            _tell(f"{name} gave {without} of {len(found)} candidates no score: they stand last.", NotScored)
        order = reranked(scores)[: self.k]
        return [
            found[place].model_copy(
                update={
                    "metadata": found[place].metadata
                    | {"score": scores[place], "rank_before": place + 1}
                    | failed
                }
            )
            for place in order
        ]


def reranked(scores: Sequence[float]) -> list[int]:
    """Return the places of scores, best first; equals in the order they had, NaN behind all others.

    >>> reranked([0.2, math.nan, 0.9, 0.2])
    [2, 0, 3, 1]
    """
    # A comparison with NaN is never true, so that sorting by the scores alone leaves any order behind.
    return sorted(range(len(scores)), key=lambda n: (math.isnan(scores[n]), -scores[n], n))


def _checked(scores: Sequence[float], count: int) -> list[float]:
    listed = list(scores)
    if len(listed) != count:
        raise ValueError(f"it gave {len(listed)} scores for {count} candidates, so none can be told apart")
    for place, score in enumerate(listed, start=1):
        if isinstance(score, bool) or not isinstance(score, Real) or math.isinf(score):
            raise ValueError(f"the score of candidate {place} must be a finite number or NaN, not {score!r}")
    return [float(score) for score in listed]


def _once(found: Sequence[Document]) -> list[Document]:
    """Return the documents, each id once, the first of them; those without an id all."""
    seen: set[str] = set()
    kept = []
    for document in found:
        if document.id is None or document.id not in seen:
            kept.append(document)
        if document.id is not None:
            seen.add(document.id)
    return kept


def _tell(text: str, kind: type[Warning] = RerankerFailed) -> None:
    # Not warnings.warn, which says the same thing once: the next search is as incomplete as this one.
    warnings.warn_explicit(text, kind, __name__, 0)
