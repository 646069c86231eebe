"""Judge of the re-sync of exercise 02: what to add, to update and to delete, and nothing else."""

from collections.abc import Mapping
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import forgot_return, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

Texts = dict[str, str]
_LISTS = ("add", "update", "delete")
_LAMP, _MUG, _BAND, _MAT = "product:12", "product:7", "product:31", "product:25"
_SHOP: Texts = {
    _LAMP: "Reading lamp. Warm light.",
    _MUG: "Steel mug. Keeps tea hot.",
    _BAND: "Exercise band. Medium.",
    _MAT: "Yoga mat. 6 mm thick.",
}


def _with(changes: Mapping[str, str] | None = None, without: tuple[str, ...] = ()) -> Texts:
    every = {**_SHOP, **(changes or {})}
    return {id: text for id, text in every.items() if id not in without}


_ALL = "all of it happens at once"  # three lists, none of them empty: whichever is which shows
# What has happened, in words, and the index and the shop, in an order that is not sorted.
_CASES: dict[str, tuple[Texts, Texts]] = {
    "nothing has changed": (_with(), _with()),
    "two products are new": (_with(without=(_MUG, _LAMP)), _with()),
    "two products are gone": (_with(), _with(without=(_BAND, _MAT))),
    "a text has become longer": (_with(), _with({_MUG: "Steel mug. Keeps tea hot for two hours."})),
    "a text has changed and kept its length": (_with(), _with({_MAT: "Yoga mat. 8 mm thick."})),
    "one product came and another went": (_with(without=(_BAND,)), _with(without=(_MAT,))),
    "a text has moved to a new id": (
        _with(),
        _with({"product:99": _SHOP[_MUG]}, without=(_MUG,)),
    ),
    "two products have exchanged their texts": (_with(), _with({_MUG: _SHOP[_MAT], _MAT: _SHOP[_MUG]})),
    "only an upper-case letter has changed": (_with(), _with({_BAND: "Exercise band. medium."})),
    "a text was empty and still is": (_with({_LAMP: ""}), _with({_LAMP: ""})),
    "a text was empty and no longer is": (_with({_LAMP: ""}), _with()),
    "a text has become empty": (_with(), _with({_LAMP: ""})),
    _ALL: (
        _with({"product:40": "Rope.", "product:18": "Bottle."}),
        _with({
            _MUG: "Steel mug, new.",
            _BAND: "Exercise band. Strong.",
            "product:55": "Towel.",
            "product:51": "Cap.",
        }),
    ),
    "the index is empty": ({}, _with()),
    "the shop is empty": (_with(), {}),
}


class Resync:
    """plan(seen, now): a point for each list; order and untouched arguments cost one together."""

    def inputs(self) -> dict[str, Any]:
        """Return the pairs of index and shop."""
        return {"cases": [{"seen": seen, "now": now} for seen, now in _CASES.values()]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the three lists of each case with the right ones."""
        troubles: dict[str, str] = {}
        manners = order = ""
        for (says, (seen, now)), call in zip(_CASES.items(), report["calls"], strict=True):
            if shape := _shape(call):
                return Verdict(0, NOT_YET, f"Where {says}, {shape}", 1)
            want = _wanted(seen, now)
            got = dict(zip(_LISTS, call["returned"], strict=True))
            if says == _ALL:
                order = _order(got, want)
            for name in _LISTS:
                if sorted(got[name]) != want[name]:
                    troubles.setdefault(name, f"Where {says}, {_trouble(name, got[name], seen, now)}")
                elif got[name] != want[name] and not manners:
                    manners = f"Where {says}, `{name}` holds the right ids and is not sorted."
            if call.get("changed_arguments"):
                manners = "`plan` changes a dict it was given: whoever passed it in still needs it as it was."
        if not troubles and not manners:
            return Verdict(
                3, PASSED, "What changed is embedded again, what is gone leaves, the rest is left alone."
            )
        if "changed places" in order:
            return Verdict(0, NOT_YET, order, 1)
        right = [f"`{name}`" for name in _LISTS if name not in troubles]
        points = max(0, len(right) - bool(manners))
        if order:
            return Verdict(points, NOT_YET, order, 3)
        begin = so_far(right) if troubles else ""
        return Verdict(points, NOT_YET, begin + (next(iter(troubles.values()), "") or manners), 2)


def _wanted(seen: Texts, now: Texts) -> dict[str, list[str]]:
    return {
        "add": sorted(now.keys() - seen.keys()),
        "update": sorted(id for id in now.keys() & seen.keys() if now[id] != seen[id]),
        "delete": sorted(seen.keys() - now.keys()),
    }


def _shape(call: Mapping[str, Any]) -> str:
    if "raised" in call:
        return f"`plan` stops {explain_error(call['raised'])}"
    got = call["returned"]
    if got is None:
        return forgot_return("plan")
    if not isinstance(got, list) or len(got) != 3:
        return "something else than three lists comes back: `return add, update, delete`."
    for name, ids in zip(_LISTS, got, strict=True):
        if not isinstance(ids, list):
            kind = ids.get("not_json", "dict") if isinstance(ids, dict) else type(ids).__name__
            how = ": `sorted(…)` makes a list of it." if kind in {"set", "frozenset", "dict"} else "."
            return f"`{name}` is no list, its type is {kind}{how}"
        if any(not isinstance(id, str) for id in ids):
            return f"`{name}` holds more than ids: an id is the key of the dicts, without its text."
    return ""


def _order(got: Mapping[str, list[str]], want: Mapping[str, list[str]]) -> str:
    """Return in words that right lists stand in the wrong places, "" if they do not."""
    lists, right = [sorted(got[name]) for name in _LISTS], [want[name] for name in _LISTS]
    if lists[0] == right[2] and lists[2] == right[0]:
        return "`add` and `delete` have changed places: the index is to follow the shop."
    if lists != right and sorted(lists) == sorted(right):
        return "The three lists are right and in another order than add, update, delete."
    return ""


def _trouble(name: str, got: list[str], seen: Texts, now: Texts) -> str:
    """Return what is wrong with one list: first what does not belong there, then what is missing."""
    if len(set(got)) < len(got):
        return f"an id stands in `{name}` more than once."
    if any(id not in seen and id not in now for id in got):
        return f"`{name}` holds an id that is neither in the index nor in the shop."
    extra = [id for id in got if id not in _wanted(seen, now)[name]]
    return _too_many(name, extra, seen, now) if extra else _too_few(name, got, seen, now)


def _too_many(name: str, extra: list[str], seen: Texts, now: Texts) -> str:
    same = any(id in seen and id in now and seen[id] == now[id] for id in extra)
    if name != "delete" and same:
        return (
            f"`{name}` holds ids whose text is the same in index and shop: each would be embedded again "
            "for nothing."
        )
    if name == "add":
        if any(id in now for id in extra):
            return "`add` holds an id that the index has already, with another text: that is no new one."
        return "`add` holds an id that is gone from the shop."
    if name == "update":
        if any(id not in seen for id in extra):
            return "`update` holds an id that the index does not have yet."
        return "`update` holds an id that is gone from the shop: there is no text to embed."
    if any(id not in seen for id in extra):
        return "`delete` holds an id that the index never had."
    return "`delete` holds an id that is still in the shop: between delete and add nobody would find it."


def _too_few(name: str, got: list[str], seen: Texts, now: Texts) -> str:
    missing = [id for id in _wanted(seen, now)[name] if id not in got]
    if name == "add":
        return "a new id is missing from `add`: nobody will ever find it. Ids are compared here, not texts."
    if name == "delete":
        return (
            "an id that is gone from the shop is missing from `delete`: the index would go on answering "
            "from a row that no longer exists."
        )
    if all(len(seen[id]) == len(now[id]) for id in missing):
        return "a text of the same length is not the same text: it is missing from `update`."
    return (
        "an id whose text has changed is missing from `update`: the index would go on answering with "
        "the old text."
    )
