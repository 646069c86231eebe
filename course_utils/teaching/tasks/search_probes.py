"""The probing half of exercise 03: what is called, with what. Nothing here knows what is right."""

from collections.abc import Mapping
from typing import Any

from course_utils.teaching.probe import called, takes_function


@takes_function
def keep_codes(terms: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call terms on each text."""
    return {"calls": [called(terms, text) for text in inputs["cases"]]}


@takes_function
def bm25_score(score: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call score on each query, document and corpus."""
    return _called(score, inputs)


@takes_function
def rrf(fuse: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call fuse on each list of rankings."""
    return _called(fuse, inputs)


@takes_function
def mix_z(mix: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call mix on each list of scored lists; (id, score) travels as a list and arrives as a tuple."""
    calls = []
    for case in inputs["cases"]:
        scored, weights = case["args"]
        calls.append(called(mix, [[tuple(pair) for pair in pairs] for pairs in scored], weights))
    return {"calls": calls}


@takes_function
def choose_weight(choose: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call choose on each pair of settings and singles."""
    return _called(choose, inputs)


def _called(function: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"calls": [called(function, *case["args"], **case["options"]) for case in inputs["cases"]]}
