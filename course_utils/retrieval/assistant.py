"""Everything joined: a question and the turn before it in, an answer with its sources out.

Rewritten so that it stands alone, split where one look-up needs another, sent to the source that fits, and
put into words that are held against what was found.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .analyse import codes
from .answer import Answer
from .caller import Caller
from .decomposition import PlanRunner, decompose
from .retrieved import DataType, Decision, Retrieved
from .rewriting import QueryRewriter
from .routing import AdaptiveRetriever
from .synthesis import MultiSourceSynthesizer

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

    from .filters import Filter

WEIGHTS = {"bm25": 0.20, "codes": 0.45, "dense": 0.35}  # chosen in lesson 03, on the dev half


def prose_indexes(documents: Any = None, embedder: Any = None) -> dict[str, Any]:
    """Return the three indexes of lesson 03 by name, of some documents or of the whole shop's.

    embedder: a LangChain embedding model (default: the course's).
    """
    from course_utils import models, shop

    from .bm25 import BM25Index
    from .dense import DenseIndex

    held = shop.documents.load() if documents is None else list(documents)
    return {
        "bm25": BM25Index(held),
        "codes": BM25Index(held, analyse=codes, k1=0.1, b=0),
        "dense": DenseIndex(held, embedder or models.embedder()),
    }


def prose_retriever(
    indexes: Mapping[str, Any], caller: Caller, *, filter: "Filter | None" = None, k: int = 5
) -> "BaseRetriever":
    """Return search in prose as lessons 03 and 04 left it: three lists by z-scores, reranked but for codes.

    indexes: as `prose_indexes` makes them; they hold no caller, so one set serves everybody.
    """
    from course_utils import models

    from .hybrid import HybridRetriever
    from .rerank import RerankingRetriever

    lists = {name: index.retriever(caller=caller, filter=filter) for name, index in indexes.items()}
    hybrid = HybridRetriever(lists, fuse="scores", weights=tuple(WEIGHTS[name] for name in lists))
    return RerankingRetriever(hybrid, models.reranker(), k=k, unless=codes)


class ShopAssistant:
    """Answers questions to the shop: `ShopAssistant(adaptive).answer("and for returns?", previous)`.

    retriever: asks the source that fits. rewriter: makes a follow-up stand alone (default: a QueryRewriter on
    the course's model). planner: a chat model that splits a question whose parts need each other, and reads
    the values between them; None leaves every question whole. synthesizer: puts what was found into words
    (default: a MultiSourceSynthesizer on the course's model).
    """

    def __init__(
        self,
        retriever: AdaptiveRetriever,
        *,
        rewriter: Any = None,
        planner: Any = None,
        synthesizer: MultiSourceSynthesizer | None = None,
    ) -> None:
        self.retriever, self.planner = retriever, planner
        self._rewriter = rewriter
        self._synthesizer = synthesizer or MultiSourceSynthesizer()

    def retrieve(self, question: str, previous: Mapping[str, str] | None = None) -> Retrieved:
        """Return what the sources gave; `.question` is the text they were asked, after the rewriting.

        Of a plan with several parts, the sources of the parts that answer come first, then those that led
        there. What kept a question from being rewritten or split stands in the decision's note.
        """
        note = ""
        if previous is not None:
            if self._rewriter is None:
                from course_utils import models

                self._rewriter = QueryRewriter(models.chat_model("rewrite"))
            rewritten = self._rewriter(question, previous)
            question, note = rewritten.text, rewritten.note
        if self.planner is not None:
            plan = decompose(question, self.planner)
            if len(plan.parts) > 1:
                return _joined(PlanRunner(self.retriever.retrieve, self.planner)(plan), note)
        return _noted(self.retriever.retrieve(question), note)

    def answer(self, question: str, previous: Mapping[str, str] | None = None) -> Answer:
        """Return the answer with its sources, its conflicts, what is missing, and how it came about."""
        return self._synthesizer.answer(self.retrieve(question, previous))


def _joined(run: Any, note: str) -> Retrieved:
    """Return what the steps of a plan gave as one Retrieved."""
    numbered = list(enumerate(run.steps, start=1))
    led = [step for n, step in numbered if n in run.plan.needed and not run.stopped]
    sources = [source for _, step in numbered if step not in led for source in step.retrieved.sources]
    sources += [source for step in led for source in step.retrieved.sources]
    told = f"in {len(run.steps)} steps: {' | '.join(step.question for step in run.steps)}"
    decision = Decision(DataType.MIXED, "; ".join(filter(None, (told, run.stopped, note))))
    return Retrieved(run.plan.question, decision, tuple(sources))


def _noted(retrieved: Retrieved, note: str) -> Retrieved:
    if not note:
        return retrieved
    decision = retrieved.decision
    told = "; ".join(filter(None, (decision.note, note)))
    return Retrieved(
        retrieved.question, Decision(decision.route, told, decision.confidence), retrieved.sources
    )
