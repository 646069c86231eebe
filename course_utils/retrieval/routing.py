"""One retriever for every question: it decides where the answer stands, asks there, and says what failed."""

import contextvars
import queue
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, model_validator

from .caller import Caller
from .hybrid import RetrieverFailed, _callers, _may_see
from .retrieved import DataType, Decision, Retrieved, Source
from .routing_labels import SINGLE, Classifier, RelationshipDecision
from .routing_rules import RuleClassifier
from .sql_errors import NoQuery

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun

RELATIONSHIP = "relationship"
NO_QUERY = "no query"  # what a source "ran" where the model saw none that could answer
PLACES: tuple[str, ...] = (*SINGLE, RELATIONSHIP)
ASKED = "query", "sql", "cypher"  # metadata that may hold what a source ran


class AdaptiveRetriever(BaseRetriever):
    """Retrievers behind a router: `AdaptiveRetriever({"structured": sql, "unstructured": hybrid})`.

    retrievers: one for each of structured, semi_structured and unstructured, or some of them, and one named
    "relationship", such as a graph, if there is one. classify: a function from a question to a Decision
    (default: `RuleClassifier()`). seconds: how long each source may take, one number, or one for each.

    Mixed asks structured, semi-structured and unstructured side by side, each in its own thread. A
    RelationshipDecision asks "relationship", or structured where there is none. Where the chosen route has
    no retriever, or the classifier raises, every source is asked, and the decision's note says so.

    One source that fails is never the end: the others are asked as well, if `fall_back`. So they are where
    prose or JSON had nothing. Rows are different: a query that ran and found none has answered the question;
    where the model saw no query that could, nothing failed, and the others are asked.
    The first source stays in the result, and the note says what happened.

    `.retrieve(question)` returns all of it as a Retrieved and does not raise for a source: an error, or that
    it was late, stands in `Source.error`. A late one cannot be stopped; its thread goes on and nobody waits
    for it. `.invoke` returns the documents as copies, source by source in the order asked, with
    metadata["route"] and ["source"]; scores are each source's own, not comparable. It warns
    `RetrieverFailed` for a source that failed, and raises RuntimeError if nobody answered.

    Who asks: as in HybridRetriever, retrievers that have a caller must have the same one, and what is marked
    for another audience is left out of the answers of those without.

    Raises ValueError for no retrievers, an unknown name, different callers, or seconds not above 0.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retrievers: dict[str, BaseRetriever]
    classify: Classifier = Field(default_factory=RuleClassifier)
    seconds: float | dict[str, float] = 20.0
    fall_back: bool = True

    def __init__(self, retrievers: Mapping[str, BaseRetriever], **settings: Any) -> None:
        super().__init__(retrievers={str(name): one for name, one in retrievers.items()}, **settings)

    @model_validator(mode="after")
    def _fits(self) -> "AdaptiveRetriever":
        if unknown := [name for name in self.retrievers if name not in PLACES]:
            hint = " Mixed asks the others side by side." if DataType.MIXED in unknown else ""
            raise ValueError(f"There is no route {unknown[0]!r}: expected some of {', '.join(PLACES)}.{hint}")
        if not any(route in self.retrievers for route in SINGLE):
            raise ValueError(f"A retriever is needed for at least one of {', '.join(SINGLE)}.")
        limits = self.seconds if isinstance(self.seconds, dict) else dict.fromkeys(PLACES, self.seconds)
        if missing := [name for name in self.retrievers if name not in limits]:
            raise ValueError(f"seconds says nothing of {missing[0]!r}: give one number, or one for each.")
        for name, limit in limits.items():
            if name not in PLACES or not limit > 0 or not isfinite(limit):
                raise ValueError(
                    f"seconds must be above 0 and finite for a known route, not {name}: {limit!r}."
                )
        _ = self.caller
        return self

    @property
    def caller(self) -> Caller | None:
        """For whom the retrievers search, None if none of them knows; ValueError if they disagree."""
        callers = list(dict.fromkeys(_callers(self.retrievers.values())))
        if len(callers) > 1:
            raise ValueError(
                f"The retrievers search for different callers, {callers[0]} and {callers[1]}. One result "
                "must not mix what two may see: make them all for the caller who asks."
            )
        return callers[0] if callers else None

    def decide(self, question: str) -> Decision:
        """Return the classifier's decision, or mixed with a note where it raised or returned no Decision."""
        try:
            decision = self.classify(question)
        except Exception as error:  # whatever its model or its network raised: the question is still asked
            return Decision(
                DataType.MIXED, f"the classifier failed with {type(error).__name__}: {_short(error)}"
            )
        if isinstance(decision, Decision) and decision.route in list(DataType):
            return decision
        return Decision(
            DataType.MIXED, f"the classifier returned {_short(repr(decision))}, which is no route"
        )

    def retrieve(self, question: str) -> Retrieved:
        """Return the decision about a question and what each source gave, or why it gave nothing."""
        return self._retrieve(question, None)

    def _retrieve(self, question: str, config: Any) -> Retrieved:
        decision = self.decide(question)
        everybody = [str(name) for name in SINGLE if name in self.retrievers]
        name = _place(decision, self.retrievers)
        if name is None:
            return Retrieved(question, decision, self._ask(everybody, question, config))
        if name not in self.retrievers:
            decision = Decision(
                DataType.MIXED, _join(decision.note, f"no retriever for {name}: asking all"), None
            )
            return Retrieved(question, decision, self._ask(everybody, question, config))
        sources = self._ask([name], question, config)
        why = self._unanswered(sources[0])
        others = [other for other in everybody if other != name]
        if self.fall_back and why and others:
            decision = Decision(
                DataType.MIXED, _join(decision.note, f"{name} {why}: asking the others"), None
            )
            sources += self._ask(others, question, config)
        return Retrieved(question, decision, sources)

    def _unanswered(self, source: Source) -> str:
        """Return why the other sources should be asked after this one, "" if they need not be."""
        if source.error:
            return "failed"
        rows = source.name in {DataType.STRUCTURED, RELATIONSHIP} and not source.query.startswith(NO_QUERY)
        return "" if source.documents or rows else "found nothing"

    def _ask(self, names: Iterable[str], question: str, config: Any) -> tuple[Source, ...]:
        """Return what the named sources gave, in their order; they run at once, each until its own limit."""
        started = time.monotonic()
        running = [(name, self._start(name, question, config)) for name in names]
        sources = []
        for name, answers in running:
            limit = self.seconds[name] if isinstance(self.seconds, dict) else self.seconds
            try:
                sources.append(answers.get(timeout=max(0.0, started + limit - time.monotonic())))
            except queue.Empty:
                late = f"no answer within {limit:g} s"
                sources.append(Source(name, question, (), limit * 1000, late))
        return tuple(sources)

    def _start(self, name: str, question: str, config: Any) -> "queue.SimpleQueue[Source]":
        """Start asking one source in a thread; return the queue that gets its Source."""
        answers: queue.SimpleQueue[Source] = queue.SimpleQueue()
        retriever, caller = self.retrievers[name], self.caller

        def work() -> None:
            begin = time.perf_counter()
            found: tuple[Document, ...] = ()
            error = ""
            try:
                found = tuple(one for one in retriever.invoke(question, config) if _may_see(caller, one))
            except NoQuery as nothing:
                elapsed = (time.perf_counter() - begin) * 1000
                answers.put(Source(name, f"{NO_QUERY} ({_short(nothing)})", (), elapsed))
                return
            except Exception as failure:  # reported in the result, whatever it is
                error = f"{type(failure).__name__}: {_short(failure)}"
            elapsed = (time.perf_counter() - begin) * 1000
            answers.put(Source(name, _query(found, question), found, elapsed, error))

        # A daemon: a source that hangs must not keep the process alive. The context carries callbacks.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), name=f"ask {name}", daemon=True).start()
        return answers

    def _get_relevant_documents(
        self, query: str, *, run_manager: "CallbackManagerForRetrieverRun | None" = None
    ) -> list[Document]:
        config = {"callbacks": run_manager.get_child()} if run_manager else None
        retrieved = self._retrieve(query, config)
        told = "; ".join(f"{source.name}: {source.error}" for source in retrieved.failed)
        if told and len(retrieved.failed) == len(retrieved.sources):
            raise RuntimeError(f"No source answered. {told}")
        if told:  # not warnings.warn, which says the same thing once
            warnings.warn_explicit(
                f"{told}. The results are of the others alone.", RetrieverFailed, __name__, 0
            )
        return tagged(retrieved)


def tagged(retrieved: Retrieved) -> list[Document]:
    """Return copies of the documents, each id once, with the route and the source in their metadata."""
    found = []
    seen: set[str] = set()
    for source in retrieved.sources:
        for document in source.documents:
            if document.id is not None and document.id in seen:
                continue
            seen.add(document.id or "")
            told = {"route": str(retrieved.decision.route), "source": source.name}
            found.append(document.model_copy(update={"metadata": document.metadata | told}))
    return found


def _place(decision: Decision, retrievers: Mapping[str, BaseRetriever]) -> str | None:
    """Return the one retriever to ask, None for all."""
    if isinstance(decision, RelationshipDecision) and RELATIONSHIP in retrievers:
        return RELATIONSHIP
    return None if decision.route == DataType.MIXED else str(decision.route)


def _query(found: Iterable[Document], question: str) -> str:
    """Return what a source ran, where its documents say it; the question otherwise."""
    for document in found:
        for key in ASKED:
            if document.metadata.get(key):
                return str(document.metadata[key])
        break
    return question


def _join(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _short(told: Any) -> str:
    return " ".join(str(told).split())[:200]
