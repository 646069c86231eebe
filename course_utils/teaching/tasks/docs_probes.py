"""The probing half of exercise 02: what is called, on which documents. Nothing here knows what is right."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course_utils.teaching.probe import called, plain, takes_function

if TYPE_CHECKING:
    from langchain_core.vectorstores import InMemoryVectorStore

# What Python says where the store cannot call its filter, and where a filter takes a Document for a dict.
_NOT_CALLED = re.compile(r"object is not callable|positional argument")
_NO_DICT = re.compile(r"^'Document' object")
_SIZE = 32  # of the made-up vectors: enough to tell some hundred customers apart


@takes_function
def row_to_document(to_document: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call to_document on each row."""
    return {"calls": [_called_for_documents(to_document, case["row"]) for case in inputs["cases"]]}


@takes_function
def two_fields(find: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call find on a fresh store of the case's customers, and say whether the store was changed."""
    calls, find = [], _explaining_filters(find)
    for case in inputs["cases"]:
        store = customer_store(inputs["shops"][case["shop"]])
        before = plain(_held(store))
        outcome = _called_for_documents(find, store, *case["args"], **case["options"])
        calls.append(outcome | ({} if plain(_held(store)) == before else {"changed_arguments": True}))
    return {"calls": calls}


@takes_function
def filter_then_rank(top: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call top on each list of (id, score, metadata)."""
    calls = []
    for case in inputs["cases"]:
        scored = [(id, score, metadata) for id, score, metadata in case["scored"]]
        calls.append(called(top, scored, _keeping(case["keep"]), case["k"]))
    return {"calls": calls}


@takes_function
def entitlements(visible: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call visible on each list of documents, and say whether list or documents were changed."""
    from langchain_core.documents import Document

    calls = []
    for case in inputs["cases"]:
        documents = [
            Document(id=it["id"], page_content=it["text"], metadata=it["metadata"])
            for it in case["documents"]
        ]
        before = plain(_told(documents))
        outcome = _called_for_documents(visible, documents, case["role"])
        calls.append(outcome | ({} if plain(_told(documents)) == before else {"changed_arguments": True}))
    return {"calls": calls}


@takes_function
def resync(plan: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call plan on each pair of seen and now."""
    return {"calls": [called(plan, case["seen"], case["now"]) for case in inputs["cases"]]}


def customer_store(customers: Sequence[Mapping[str, Any]]) -> "InMemoryVectorStore":
    """Return a store of customers (id, text, city, tier) with made-up vectors, the same in every process."""
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=_SIZE))
    store.add_documents([
        Document(
            id=f"customer:{it['id']}",
            page_content=it["text"],
            metadata={"id": it["id"], "city": it["city"], "tier": it["tier"]},
        )
        for it in customers
    ])
    return store


def _held(store: "InMemoryVectorStore") -> dict[str, Any]:
    return {id: [it["text"], it["metadata"]] for id, it in store.store.items()}


def _explaining_filters(find: Callable) -> Callable:
    """Return `find` with a note on the errors that come of not knowing what this store's filter is."""

    @functools.wraps(find)
    def explained(*args: Any, **kwargs: Any) -> Any:
        try:
            return find(*args, **kwargs)
        except (TypeError, AttributeError) as error:
            if _from_filter(error):
                error.add_note("This store's `filter` is a function, called with a Document.")
            raise

    return explained


def _from_filter(error: BaseException) -> bool:
    searching = store_itself = False
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        store_itself = "langchain_core" in code.co_filename
        searching = searching or (store_itself and "similarity_search" in code.co_name)
        frame = frame.tb_next
    return searching and bool((_NOT_CALLED if store_itself else _NO_DICT).search(str(error)))


def _keeping(condition: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    def keep(metadata: Mapping[str, Any]) -> bool:
        if not isinstance(metadata, Mapping):
            raise TypeError(f"keep takes the metadata, a dict, and got a {type(metadata).__name__}")
        return all(metadata.get(key) == value for key, value in condition.items())

    return keep


def _called_for_documents(function: Callable, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Call a function that returns documents; each is told as {"document": {id, text, metadata}}."""
    kinds: list[str] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        kinds.append(type(value).__name__)
        return _told(value)

    outcome = called(call, *args, **kwargs)
    return {**outcome, "type": kinds[0]} if kinds else outcome


def _told(value: Any) -> Any:
    from langchain_core.documents import Document

    if isinstance(value, Document):
        return {"document": {"id": value.id, "text": value.page_content, "metadata": dict(value.metadata)}}
    return [_told(one) for one in value] if type(value) in {list, tuple} else value
