"""Judge of the entitlements of exercise 02: who sees what, and what happens where nobody said."""

from collections.abc import Mapping, Sequence
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import forgot_return, other_error, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_SEES = {
    "guest": ("public",),
    "customer": ("public",),
    "partner": ("public", "partner"),
    "staff": ("public", "partner", "staff"),
}
_MISSING = "no audience at all"


def _document(id: str, text: str, audience: Any = _MISSING) -> dict[str, Any]:
    metadata = {"table": "articles"} | ({} if audience == _MISSING else {"audience": audience})
    return {"id": f"article:{id}", "text": text, "metadata": metadata}


_MARKED = [
    _document("price-list-partner", "What a partner pays for each product.", "partner"),
    _document("returns", "Anything may come back within 30 days.", "public"),
    _document("night-shift", "Who answers the telephone at night.", "staff"),
    _document("delivery", "Parcels take two to five days.", "public"),
    _document("refund-limits", "Up to which sum staff may refund alone.", "staff"),
    _document("spare-parts", "How a partner orders spare parts.", "partner"),
]
# Two unmarked ones stand next to each other: who removes from the list while reading it skips the second.
_ODD = [
    _document("draft-1", "A page that nobody has marked yet."),
    _document("draft-2", "Another page that nobody has marked yet."),
    _document("returns", "Anything may come back within 30 days.", "public"),
    _document("rumour", "Not for customers.", "not public"),
    _document("old-1", "Marked with nothing.", None),
    _document("old-2", "Marked with an empty text.", ""),
    _document("board", "For the board alone.", "board"),
    _document("spare-parts", "How a partner orders spare parts.", "partner"),
    _document("night-shift", "Who answers the telephone at night.", "staff"),
    _document("rota", "For those who hire.", "staff managers"),
    _document("rebates", "For a partner who asked.", "part"),
]
_STRANGERS = ("admin", "", "part", None)
_CASES = (
    *(("marked", role, _MARKED) for role in _SEES),
    *(("odd", role, _ODD) for role in _SEES),
    *(("stranger", role, _MARKED) for role in _STRANGERS),
)


class Entitlements:
    """visible(documents, role): a point for the four roles, a point for failing closed."""

    def inputs(self) -> dict[str, Any]:
        """Return the documents and the roles."""
        return {"cases": [{"documents": documents, "role": role} for _, role, documents in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare what each role saw with what it may see."""
        calls = list(zip(_CASES, report["calls"], strict=True))
        known = _first(
            _seen_wrongly(call, role, _MARKED) for (kind, role, _), call in calls if kind == "marked"
        )
        closed = _first(_leak(call, role) for (kind, role, _), call in calls if kind == "odd")
        closed = closed or _first(
            _let_in(call, role) for (kind, role, _), call in calls if kind == "stranger"
        )
        if not closed and any(call.get("changed_arguments") for _, call in calls):
            closed = (
                "`visible` changes the list or the documents that came in: the next caller would get what "
                "this one left over. Make a new list."
            )
        points = (not known) + (not closed)
        if points == 2:
            return Verdict(2, PASSED, "Each role sees its own, and what nobody marked is seen by nobody.")
        if known:
            right = so_far(["bad marks and unknown roles are dealt with"] if points else [])
            return Verdict(points, NOT_YET, right + known, 1)
        return Verdict(points, NOT_YET, f"The four roles are right where all is marked. {closed}", 2)


def _first(troubles: Any) -> str:
    return next((trouble for trouble in troubles if trouble), "")


def _shape(call: Mapping[str, Any], role: Any) -> str:
    if "raised" in call:
        return f"For {role}, `visible` stops {explain_error(call['raised'])}"
    got = call["returned"]
    if got is None:
        return f"For {role}, {forgot_return('visible')}"
    if not isinstance(got, list):
        return f"For {role}, a value of type {call['type']} comes back, not a list of documents."
    if any(not isinstance(one, dict) or not isinstance(one.get("document"), dict) for one in got):
        return f"For {role}, the list holds something else than documents: hand on the documents themselves."
    return ""


def _ids(call: Mapping[str, Any]) -> list[str]:
    return [one["document"]["id"] for one in call["returned"]]


def _may_see(role: str, documents: Sequence[Mapping[str, Any]]) -> list[str]:
    return [it["id"] for it in documents if it["metadata"].get("audience") in _SEES[role]]


def _seen_wrongly(call: Mapping[str, Any], role: str, documents: Sequence[Mapping[str, Any]]) -> str:
    if shape := _shape(call, role):
        return shape
    got, want = _ids(call), _may_see(role, documents)
    if got == want:
        return ""
    if call.get("changed_arguments"):
        return (
            f"For {role}, other documents come back than should, and the list that came in is changed: "
            "removing from a list while reading it skips the one after each removal. Make a new list."
        )
    meant = {it["id"]: it["metadata"]["audience"] for it in documents}
    if any(id not in meant for id in got):
        return f"For {role}, documents come back that did not go in."
    seen, may = {meant[id] for id in got}, set(_SEES[role])
    if seen - may:
        what = " and ".join(sorted(seen - may))
        return f"The role {role} sees what is for {what}: name what each role may see, not what one may not."
    if may - seen:
        what = " and ".join(sorted(may - seen))
        return (
            f"The role {role} does not see what is for {what}: a role is no audience, it has a set of them."
        )
    if sorted(got) == sorted(want):
        return f"For {role}, the right documents are in another order than they came."
    return f"For {role}, some documents of an audience come back and others of the same do not."


def _leak(call: Mapping[str, Any], role: str) -> str:
    """Return which unmarked or wrongly marked document a role saw, or that it saw nothing at all."""
    if shape := _shape(call, role):
        return shape + (
            " Some of these documents have no audience, or one that does not exist: no error, they are "
            "merely for nobody."
            if "raised" in call
            else ""
        )
    got = set(_ids(call))
    shown = [it for it in _ODD if it["id"] in got and it["metadata"].get("audience") not in _SEES["staff"]]
    if not shown:
        if got:
            return ""
        return f"The role {role} sees nothing where some documents are badly marked, not even what is public."
    if "audience" not in shown[0]["metadata"]:
        return (
            f"The role {role} sees a document without an audience. Somebody forgot to mark it, and a guess "
            "makes it readable: what nobody has marked is for nobody."
        )
    audience = shown[0]["metadata"]["audience"]
    if not audience:
        return f"The role {role} sees a document whose audience is {audience!r}: empty is not public."
    if any(name in audience or audience in name for name in _SEES["staff"]):
        return (
            f"The role {role} sees a document for {audience!r}: a word that merely contains another, or is "
            "a part of it, is another word. Compare the whole."
        )
    return f"The role {role} sees a document for {audience!r}, an audience that nobody belongs to."


def _let_in(call: Mapping[str, Any], role: Any) -> str:
    """Return what is wrong with the answer to a role that does not exist."""
    if "raised" in call:
        return other_error(call["raised"], f"An unknown role ({role!r})", "`visible`")
    if isinstance(call["returned"], list) and not call["returned"]:
        return (
            f"An unknown role ({role!r}) sees nothing, which is safe and silent: a mistyped role looks like "
            "an empty shop. Raise ValueError."
        )
    return f"An unknown role ({role!r}) is let in as if it were a known one: raise ValueError."
