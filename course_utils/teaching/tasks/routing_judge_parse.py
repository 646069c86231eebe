"""Judge of the route out of a reply of exercise 05: one route, named alone, or mixed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_MIXED = "mixed"
_ROUTES = ("structured", "mixed", "semi_structured", "unstructured")  # neither first nor last is mixed
_OTHERS = ("graph", "rows", "prose")
_MARKS = " \t\n'\"`*."


@dataclass(frozen=True)
class Case:
    """One reply, and the route that it names alone; `part` is the point it belongs to."""

    part: str
    says: str
    reply: str
    right: str = _MIXED
    routes: tuple[str, ...] = _ROUTES

    @property
    def words(self) -> set[str]:
        """The routes whose names are words of the reply, wherever."""
        return set(re.findall(r"\w+", self.reply.lower())) & set(self.routes)


_CASES = (
    Case("alone", "with the bare name structured", "structured", "structured"),
    Case("alone", "with the bare name unstructured", "unstructured", "unstructured"),
    Case("alone", "with the bare name semi_structured", "semi_structured", "semi_structured"),
    Case("dress", "with a name in capitals", "Semi_Structured", "semi_structured"),
    Case("dress", "with a name in quotes", '"unstructured"', "unstructured"),
    Case("dress", "with a name in single quotes", "'Structured'", "structured"),
    Case("dress", "with a name in backticks and a full stop", "`structured`.", "structured"),
    Case("dress", "with spaces and line breaks around a name", "\n  unstructured \n\n", "unstructured"),
    Case("dress", "with a name in a code fence", "```\nunstructured\n```", "unstructured"),
    Case("dress", "with a name in a fence that names a language", "```text\nSTRUCTURED\n```", "structured"),
    Case("dress", "with the label in front", "Route: unstructured", "unstructured"),
    Case("dress", "with the label in small letters", "route: `semi_structured`", "semi_structured"),
    Case("dress", "with a label in bold", "**Route:** Structured", "structured"),
    Case("dress", "with mixed itself", "Route: mixed", _MIXED),
    Case("dress", "with another list of routes", "Route: graph", "graph", _OTHERS),
    Case("prose", "with prose before the name", "Orders are rows, and they have to be counted.\n\nstructured",
         "structured"),
    Case("prose", "with another route in the prose before it",
         "Not structured, for nothing is counted here.\nRoute: unstructured", "unstructured"),
    Case("prose", "with another route in the prose behind it",
         "Route: semi_structured\nWhere a parcel is, no structured table knows.", "semi_structured"),
    Case("prose", "with prose on both sides of a fence",
         "What is unstructured does not help.\n```\nRoute: structured\n```\nI hope it helps.", "structured"),
    Case("prose", "with the same route twice", "structured\nAs I said:\nRoute: Structured", "structured"),
    Case("none", "with an empty reply", ""),
    Case("none", "with a label and no name", "Route:"),
    Case("none", "with an unknown name", "Route: spreadsheet"),
    Case("none", "with a part of a name", "structure"),
    Case("none", "with a name of another list", "structured", _MIXED, _OTHERS),
    Case("none", "with an empty list", "[]"),
    Case("none", "with an empty list in a fence", "```json\n[]\n```"),
    Case("none", "with the number 0", "0"),
    Case("none", "with the number 2", "Route: 2"),
    Case("none", "with the number 7", "7"),
    Case("none", "with nothing but prose", "I would look at the structured rows first."),
    Case("none", "with two routes on two lines", "structured\nunstructured"),
    Case("none", "with two labelled routes", "Route: unstructured\nRoute: semi_structured"),
    Case("none", "with two routes on one line", "structured, unstructured"),
    Case("none", "with mixed and another route, two lines", "mixed\nstructured"),
    Case("none", "with a sentence that has a colon", "Not structured, so: unstructured"),
    Case("none", "with an exclamation mark behind a name", "structured!"),
    Case("none", "with a space inside a name", "un structured"),
)  # fmt: skip
_NAMES = {"dress": "names alone", "prose": "prose around", "none": "no route, or several"}
_HINTS = {"dress": 2, "prose": 1, "none": 3}


class ParseRoute:
    """parse_route(reply, routes): a point for names alone, for prose around, for what names no one route."""

    def inputs(self) -> dict[str, Any]:
        """Return the replies."""
        return {"cases": [{"reply": case.reply, "routes": list(case.routes)} for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare each route with the right one; without bare names there is no point."""
        troubles: dict[str, str] = {}
        for case, call in zip(_CASES, report["calls"], strict=True):
            if trouble := _trouble(call, case):
                troubles.setdefault(case.part, f"{capital(case.says)}: {trouble}")
        if "alone" in troubles:
            return Verdict(0, NOT_YET, troubles["alone"], 1)
        if not troubles:
            return Verdict(3, PASSED, "One route, named alone, counts; everything else asks every source.")
        right = [name for part, name in _NAMES.items() if part not in troubles]
        part, trouble = next((name, troubles[name]) for name in _NAMES if name in troubles)
        return Verdict(3 - len(troubles), NOT_YET, so_far(right) + trouble, _HINTS[part])


def _trouble(call: Mapping[str, Any], case: Case) -> str:
    """Return what is wrong with one route, "" if nothing is."""
    if "raised" in call:
        return f"`parse_route` stops {explain_error(call['raised'])}"
    got = call["returned"]
    if got == case.right:
        return ""
    if got is None:
        return forgot_return("parse_route")
    if not isinstance(got, str):
        return f"a value of type {call.get('type')} comes back, not the name of a route."
    if got != _MIXED and got not in case.routes:
        return _no_route(got, case)
    if case.part == "none":
        return _guessed(got, case)
    if got == _MIXED:
        return _not_seen(case)
    if got in case.words:
        return (
            "a route is picked out of prose, and the line that names one alone says another. Prose may name "
            "a route to rule it out."
        )
    if got in case.right:
        return (
            "another route comes back, whose name is a part of the one in the reply: `in` finds it there too."
        )
    return "a route comes back that the reply does not name."


def _no_route(got: str, case: Case) -> str:
    bare = got.lower().strip(_MARKS).removeprefix("route:").strip(_MARKS)
    if case.right != _MIXED and bare == case.right:
        return (
            "the name comes back as the model wrote it: whoever looks it up among the routes finds nothing."
        )
    if bare == case.reply.lower().strip(_MARKS).removeprefix("route:").strip(_MARKS):
        return "what the model wrote comes back though it is no route of the list: there is nobody to ask."
    if got in _ROUTES:
        return "a route comes back that is not in the list: read the names from `routes`."
    return "a text comes back that is neither a route of the list nor mixed."


def _not_seen(case: Case) -> str:
    """Return what is said of mixed where one route is named."""
    if case.part == "prose":
        if "twice" in case.says:
            return "mixed comes back: one route that is named twice is still one route."
        if len(case.words) > 1:
            return (
                "mixed comes back, as if two routes were named. A name inside a sentence names nothing: only "
                "a line counts that holds a name and no more."
            )
        return "mixed comes back, though one line holds the name of a route and no more."
    if case.part == "alone":
        return "mixed comes back, though the reply is the name of a route and nothing else."
    if case.routes == _OTHERS:
        return "mixed comes back: the routes of this call stand in `routes`."
    return "mixed comes back, though what stands around the name does not count."


def _guessed(got: str, case: Case) -> str:
    """Return what is said of a route where mixed is right."""
    if found := re.search(r"\d+", case.reply):
        number, routes = int(found[0]), case.routes
        if number < len(routes) and got == routes[number]:
            return (
                "the number is taken as a place counted from 0. The model may have counted from 1, and "
                "nobody would notice: a number names no route."
            )
        if number <= len(routes) and got == routes[number - 1]:
            last = " For 0 that is the place -1, the last of a Python list." if number == 0 else ""
            return f"the number is taken as a place counted from 1.{last} A number names no route."
    if _MIXED in case.words:
        return "mixed is named too, and is a route like any other: beside it, two routes are named."
    if "colon" in case.says and case.reply.endswith(got):
        return (
            "whatever stands before a colon is taken for a label. The only label is `Route:`; other words "
            "make the line prose."
        )
    if "mark" in case.says:
        return (
            "a mark is passed over that is none of those that do not count: spaces, quotes, backticks, "
            "asterisks and full stops."
        )
    if "space" in case.says and got == case.reply.replace(" ", ""):
        return "a space is taken out of a name: around a name spaces do not count, inside it they do."
    if "two" in case.says:
        first = min(case.words, key=case.reply.lower().index)
        which = "first" if got == first else "last"
        return f"two different routes are named, and the {which} of them is taken without a word."
    if got in case.words:
        return "a route is picked out of prose, where nobody knows whether it was meant."
    if got.startswith(case.reply) and case.reply:
        return "a part of a name is taken for the name."
    if got in (case.routes[0], case.routes[-1]):
        which = "first" if got == case.routes[0] else "last"
        return (
            f"the {which} route of the list comes back, though the reply names none. A default that looks "
            "like an answer hides every failure of the model."
        )
    return "a route comes back that the reply does not name."
