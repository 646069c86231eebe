"""The probing half of exercise 05: what is called, on which replies and sources. It holds no answer."""

from collections.abc import Callable, Mapping
from typing import Any

from course_utils.teaching.probe import called, plain, takes_function

_RAISES = {
    error.__name__: error for error in (TimeoutError, RuntimeError, ConnectionError, ValueError, LookupError)
}
_PATIENCE = 60  # pages after which a loop without an end is stopped


@takes_function
def parse_route(parse_route: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call parse_route on each reply."""
    return {"calls": [called(parse_route, case["reply"], case["routes"]) for case in inputs["cases"]]}


@takes_function
def vote(vote: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call vote on each list of similarities and of labels."""
    return {
        "calls": [called(vote, case["similarities"], case["labels"], case["k"]) for case in inputs["cases"]]
    }


@takes_function
def follow_pages(collect: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call collect on each service, and record the paths that it asked for."""
    calls = []
    for case in inputs["cases"]:
        asked: list[Any] = []
        outcome = called(collect, _service(case["pages"], asked), case["path"])
        calls.append(outcome | {"asked": asked})
    return {"calls": calls}


@takes_function
def side_by_side(ask_all: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call ask_all on each set of sources, and record which were asked what."""
    calls = []
    for case in inputs["cases"]:
        asked: list[Any] = []
        retrievers = {name: _source(name, does, asked) for name, does in case["sources"]}
        calls.append(called(ask_all, retrievers, case["question"]) | {"asked": asked})
    return {"calls": calls}


@takes_function
def supported(supported: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call supported on each answer and its sources, with the citations as tuples."""
    calls = []
    for case in inputs["cases"]:
        answer = [piece | {"cites": [tuple(cite) for cite in piece["cites"]]} for piece in case["answer"]]
        calls.append(called(supported, answer, dict(case["sources"])))
    return {"calls": calls}


def _service(pages: Mapping[str, Any], asked: list[Any]) -> Callable[[Any], dict[str, Any]]:
    """Return the `get` of a service with these pages; one that `fails` raises that."""

    def get(path: Any) -> dict[str, Any]:
        asked.append(plain(path))
        if len(asked) > _PATIENCE:
            raise SystemExit("pages were asked for without an end")
        if not isinstance(path, str) or path not in pages:
            raise LookupError(f"there is no page at {path!r}")
        page = pages[path]
        if "fails" in page:
            raise _RAISES[page["fails"]](f"{path} did not come")
        return {"items": list(page["items"]), "next": page["next"]}

    return get


def _source(name: str, does: Mapping[str, Any], asked: list[Any]) -> Callable[[Any], list[str]]:
    """Return a retriever that gives ids, or raises."""

    def retrieve(question: Any) -> list[str]:
        asked.append([name, plain(question)])
        if "raises" in does:
            raise _RAISES[does["raises"]](*does["words"])
        return list(does["gives"])

    return retrieve
