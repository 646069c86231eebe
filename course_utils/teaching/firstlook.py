"""The verdicts that are the same for every task: untouched, wrong type, always raises, returns None."""

from collections.abc import Mapping
from typing import Any

from course_utils.teaching import probe
from course_utils.teaching.verdict import NOT_ATTEMPTED, NOT_YET, Verdict


def first_look(report: Any, asks: str) -> Verdict | None:
    """Return the verdict on everything that is the same for all tasks, or None: let the judge speak."""
    status = report.get("status") if isinstance(report, dict) else None
    if status == probe.NOT_ATTEMPTED:
        return Verdict(0, NOT_ATTEMPTED, f"`{asks}` has no answer in it yet.", 1)
    if status == probe.WRONG_TYPE:
        tip = ""
        if report.get("wanted") == "a function":
            tip = f" Pass the function itself, `check({asks})`, not the result of calling it."
        return Verdict(
            0,
            NOT_YET,
            f"`{asks}` should be {report.get('wanted')}, but it is {_article(report.get('got'))}.{tip}",
            1,
        )
    if status != probe.ANSWERED:
        return Verdict(0, NOT_YET, f"`{asks}` could not be tried out{_because(report)}.", 1)
    calls = report.get("calls")
    if not isinstance(calls, list) or not calls or not all(isinstance(call, dict) for call in calls):
        return None
    raised = [call["raised"] for call in calls if isinstance(call.get("raised"), dict)]
    if len(raised) == len(calls):
        return _always_raises(raised, asks)
    if all("returned" in call and call["returned"] is None for call in calls):
        how = "did you forget `return`?"
        if report.get("printed"):
            how = "it prints something instead. Printing shows a value to people, `return` hands it on."
        return Verdict(0, NOT_YET, f"`{asks}` returns None: {how}", 1)
    kinds = {call.get("type") for call in calls}
    if kinds == {"coroutine"}:
        return Verdict(0, NOT_YET, f"`{asks}` is an `async def`: use a plain `def` here.", 1)
    if kinds == {"generator"}:
        return Verdict(0, NOT_YET, f"`{asks}` uses `yield`: `return` one value instead.", 1)
    return None


def _always_raises(raised: list[dict], asks: str) -> Verdict | None:
    bases = [set(error.get("bases", ())) for error in raised]
    if all("NotImplementedError" in names for names in bases):
        return Verdict(0, NOT_ATTEMPTED, f"`{asks}` still raises NotImplementedError.", 1)
    if any("ValueError" in names for names in bases):
        return None  # ValueError is how these tasks refuse: the judge knows what that means
    return Verdict(0, NOT_YET, f"`{asks}` stops {explain_error(raised[0])}", 1)


def explain_error(raised: Mapping[str, Any]) -> str:
    """Return "with ValueError: no such thing (line 3 of `f`: `return x`)." for a described exception."""
    if raised.get("type") == "RecursionError":
        return f"because it calls itself without an end{_where(raised)}."
    text = f"{raised.get('type')}: {raised.get('message')}".rstrip(": ").splitlines() or [""]
    notes = raised.get("notes") or [""]
    return f"with {text[0][:300]}{_where(raised)}. {notes[0][:300]}".rstrip()


def _where(raised: Mapping[str, Any]) -> str:
    """Return " (line 3 of `f`: `return x`)" of a described exception, or as much of it as is known."""
    function, code = raised.get("function"), raised.get("code")
    line = f"line {raised['line']} of" if raised.get("line") else "in"
    known = [f"`{part}`" for part in (function, code) if part and "`" not in part]
    return f" ({line} {': '.join(known)})" if known else ""


def _because(report: Any) -> str:
    raised = report.get("raised") if isinstance(report, dict) else None
    return f": it stops {explain_error(raised)}".rstrip(".") if isinstance(raised, dict) else ""


def _article(kind: Any) -> str:
    kind = str(kind)
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
