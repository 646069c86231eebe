"""How a retriever is asked a golden question: for whom, how deep, and what its models spent meanwhile."""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .metrics import unique


def as_asked(index: Any, build: Callable[..., Any] | None = None, **settings: Any) -> Callable[[Any], Any]:
    """Return the factory that asks an index for each golden question's audience and with its filter.

    Of several indexes, {"bm25": …, "dense": …}, `build` makes one retriever: it is called with theirs, in
    the same dict, and with `settings`. `as_asked(pair, HybridRetriever, k=5)` is a hybrid to evaluate.
    """
    from .caller import Caller
    from .filters import Filter

    def factory(question: Any) -> Any:
        role = "guest" if question.audience == "public" else question.audience
        filter = Filter.from_json(question.filter) if question.filter else None
        who = {"caller": Caller("judge", role), "filter": filter}
        if isinstance(index, Mapping):
            made: Any = {name: one.retriever(**who) for name, one in index.items()}
        else:
            made = index.retriever(**who)
        return build(made, **settings) if build else made

    return factory


def reason(question: Any) -> str:
    """Return why a question has no gold documents."""
    if getattr(question, "sql", None):
        return "answered by SQL"
    if getattr(question, "values", None):
        return "answered by values"
    return "unanswerable" if question.pattern == "unanswerable" else "without any gold"


def name_of(retriever: Any) -> str:
    """Return what a run is called if nobody says it."""
    name = getattr(retriever, "__name__", type(retriever).__name__)
    return "retriever" if name == "<lambda>" else name


def retriever_for(retriever: Any, question: Any) -> Any:
    """Return the retriever for a question: it is one, or an index or a factory makes one."""
    if not hasattr(retriever, "invoke") and hasattr(retriever, "retriever"):
        retriever = as_asked(retriever)
    if hasattr(retriever, "ranking") or hasattr(retriever, "invoke"):
        return retriever
    if not callable(retriever):
        raise TypeError(f"A retriever is needed, or a function question -> retriever, not {retriever!r}.")
    return retriever_for(retriever(question), question)


def deep(retriever: Any, k: int) -> Any:
    """Return it asked for k documents, if it can be told how many."""
    from .hybrid import deepened

    return deepened(retriever, k) if hasattr(type(retriever), "model_fields") else retriever


def ids_of(retriever: Any, text: str) -> list[str]:
    """Return the ids that a retriever finds for a text, best first, each once."""
    if hasattr(retriever, "ranking"):
        return unique(id for id, _ in retriever.ranking(text))
    return unique(document.id for document in retriever.invoke(text))


@functools.cache
def _hook() -> ContextVar:
    """Return the variable whose handler LangChain gives to every model that is called in this context."""
    from langchain_core.tracers.context import register_configure_hook

    variable: ContextVar = ContextVar("calls_of_a_question", default=None)
    register_configure_hook(variable, inheritable=True)
    return variable


@contextmanager
def counted() -> Iterator[list[int | None]]:
    """Yield a list that gets the tokens of each model call inside, None for a call that does not say."""
    from langchain_core.callbacks import BaseCallbackHandler

    calls: list[int | None] = []

    class Handler(BaseCallbackHandler):
        def on_llm_end(self, response: Any, **_: Any) -> None:
            messages = [getattr(one, "message", None) for many in response.generations for one in many[:1]]
            used = [getattr(message, "usage_metadata", None) for message in messages]
            calls.extend(usage["total_tokens"] if usage else None for usage in used)

        def on_llm_error(self, error: BaseException, **_: Any) -> None:
            calls.append(None)

    token = _hook().set(Handler())
    try:
        yield calls
    finally:
        _hook().reset(token)
