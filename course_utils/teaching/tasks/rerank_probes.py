"""The probing half of exercise 04: what is called, on which rankings and replies. It holds no answer."""

from collections.abc import Mapping
from typing import Any

from course_utils.teaching.probe import called, takes_function

_NO_SCORE = {"None": None, "NaN": float("nan")}  # how a missing score travels, since JSON knows no NaN


@takes_function
def max_sim(max_sim: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call max_sim on each pair of arrays, and say whether an array was changed."""
    import numpy as np

    calls = []
    for case in inputs["cases"]:
        given = [np.array(case[name], dtype=np.float64) for name in ("question", "document")]
        before = [array.copy() for array in given]
        outcome = called(max_sim, *given)
        same = all(np.array_equal(old, new) for old, new in zip(before, given, strict=True))
        calls.append(outcome | ({} if same else {"changed_arguments": True}))
    return {"calls": calls}


@takes_function
def rerank(rerank: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call rerank on each list of candidates and of scores."""
    calls = []
    for case in inputs["cases"]:
        scores = [_NO_SCORE[score] if isinstance(score, str) else score for score in case["scores"]]
        calls.append(called(rerank, list(case["candidates"]), scores, case["k"]))
    return {"calls": calls}


@takes_function
def two_numbers(measure: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call measure on each pair of rankings, with the gold ids as a set."""
    return {
        "calls": [
            called(measure, case["candidates"], case["reranked"], set(case["gold"]), case["k"])
            for case in inputs["cases"]
        ]
    }


@takes_function
def parse_scores(parse: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call parse on each reply."""
    return {"calls": [called(parse, case["reply"], case["n"]) for case in inputs["cases"]]}
