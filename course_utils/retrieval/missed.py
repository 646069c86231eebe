"""Where a gold document was lost: in the collection, the filter, the candidates, the cut or the reranking."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from .asking import deep, ids_of, reason, retriever_for
from .metrics import unique

Stage = Literal[
    "found", "not in the collection", "filtered out", "not among the candidates", "ranked below k",
    "cut by the reranker",
]  # fmt: skip


class Fate(NamedTuple):
    """What became of a gold document, and why."""

    document: str
    stage: Stage
    why: str

    def __str__(self) -> str:
        return f"{self.document}: {self.stage}, {self.why}"


@dataclass(frozen=True)
class Stages:
    """What is left of the documents after each stage of a search.

    collection: all ids. allowed: those that entitlements and filter leave; reasons: id -> why one is out.
    candidates: ids, best first. reranked: the same after the reranker, None where there is none. What is not
    known stays None, and then a loss is put down to the stage after it.
    """

    candidates: Sequence[str]
    reranked: Sequence[str] | None = None
    allowed: Collection[str] | None = None
    collection: Collection[str] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, retriever: Any, question: Any, depth: int = 50) -> "Stages":
        """Ask a retriever, a factory or an index, and what it is built of; `depth` is how many candidates.

        One with a `reranker` asks its `base` for its own number of `candidates`. Collection and filters are
        those of the indexes below.
        """
        one = retriever_for(retriever, question)
        base = one.base if hasattr(one, "reranker") else None
        most = depth if base is None else one.candidates
        reranked = None if base is None else ids_of(deep(one, most), question.question)
        candidates = ids_of(deep(one if base is None else base, most), question.question)
        leaves = list(_leaves(one))
        if not leaves:
            return cls(candidates, reranked)
        collection = {id for leaf in leaves for id in leaf.index.documents}
        out = {
            id: [_barred(leaf, id) for leaf in leaves if id in leaf.index.documents]
            for id in question.documents
            if id in collection
        }
        reasons = {id: told[0] for id, told in out.items() if all(told)}
        return cls(candidates, reranked, collection - reasons.keys(), collection, reasons)


def why_missed(question: Any, stages: Any, *, k: int = 5) -> list[Fate]:
    """Return for each gold document of a question at which stage it was lost, or that it was found.

    stages: a `Stages`; or a retriever, factory or index, which is then asked. k: how many are shown in the
    end. Raises ValueError for a question without gold documents.
    """
    if not question.documents:
        raise ValueError(f"{question.id} has no gold documents: {reason(question)}.")
    known = stages if isinstance(stages, Stages) else Stages.of(stages, question)
    return [_fate(id, known, k) for id in question.documents]


def _fate(id: str, stages: Stages, k: int) -> Fate:
    first, last = unique(stages.candidates), unique(stages.reranked or ())
    before, after = (ids.index(id) + 1 if id in ids else None for ids in (first, last))
    rank = before if stages.reranked is None else after
    if rank is not None and rank <= k:
        return Fate(id, "found", f"rank {rank}")
    if stages.collection is not None and id not in stages.collection:
        return Fate(id, "not in the collection", "so no search can find it")
    if stages.allowed is not None and id not in stages.allowed:
        return Fate(id, "filtered out", stages.reasons.get(id, "before any ranking"))
    if before is None:
        return Fate(id, "not among the candidates", f"of which there are {len(first)}")
    if stages.reranked is None:
        return Fate(id, "ranked below k", f"rank {before} where {k} are shown")
    place = f"rank {after}" if after else "none"
    return Fate(id, "cut by the reranker", f"rank {before} before it, {place} after, where {k} are shown")


def _leaves(retriever: Any) -> Iterator[Any]:
    """Yield the retrievers on an index of their own, of which one is built."""
    if hasattr(getattr(retriever, "index", None), "documents"):
        yield retriever
    for inner in (getattr(retriever, "base", None), *getattr(retriever, "retrievers", ())):
        if inner is not None:
            yield from _leaves(inner)


def _barred(leaf: Any, id: str) -> str:
    """Return why a retriever may not find a document, "" if it may."""
    document = leaf.index.documents[id]
    audience, caller = document.metadata["audience"], leaf.caller
    if audience not in caller.audiences:
        return f"it is for the audience {audience}, and the caller is a {caller.role}"
    return f"by {leaf.filter!r}" if leaf.filter is not None and not leaf.filter(document) else ""
