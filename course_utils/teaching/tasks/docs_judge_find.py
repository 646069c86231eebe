"""Judge of the search with two fields of exercise 02: on three customers, then on many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.docs_probes import customer_store
from course_utils.teaching.tasks.judge_shared import forgot_return
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

Customer = dict[str, Any]

_QUESTION = "who lives in Pune?"
_CITIES = ("Pune", "Delhi", "Mumbai", "Navi Mumbai", "Chennai", "Kochi")
_TIERS = ("basic", "silver", "gold")
_ALONE = 160  # the only one in Chennai with gold, and for "who asked for an invoice?" the last of either


def _customer(id: int, name: str, city: str, tier: str, more: str = "") -> Customer:
    return {"id": id, "text": f"Customer {name} lives in {city}.{more}", "city": city, "tier": tier}


def _many() -> list[Customer]:
    """Return 180: ten of each city and tier, one of Chennai and gold; some texts name a second city."""
    made = []
    for number in range(180):
        city, tier = _CITIES[number % 6], _TIERS[number // 6 % 3]
        if (city, tier) == ("Chennai", "gold") and number != _ALONE:
            tier = "basic"
        more = f" Parcels go to {_CITIES[(number + 2) % 6]}." if number % 5 == 0 else ""
        made.append(_customer(207 + 3 * number, f"C{number:03}", city, tier, more))
    return made


SHOPS = {
    "tiny": [
        _customer(1, "Asha", "Pune", "gold"),
        _customer(2, "Ravi", "Delhi", "silver"),
        _customer(3, "Meena", "Pune", "silver"),
    ],
    "large": _many(),
}


@dataclass(frozen=True)
class Search:
    """One call of find; k None: the default."""

    shop: str
    city: str
    tier: str
    k: int | None = None
    question: str = _QUESTION

    @property
    def most(self) -> int:
        """How many may come back."""
        return 3 if self.k is None else self.k

    @property
    def says(self) -> str:
        """The call in words."""
        many = "three customers" if self.shop == "tiny" else f"{len(SHOPS['large'])} customers"
        k = "no k given" if self.k is None else f"k={self.k}"
        return f"Among {many}, asked for {self.city} and {self.tier} with {k}:"


_SEARCHES = (
    Search("tiny", "Pune", "gold"),
    Search("tiny", "Pune", "silver"),
    Search("tiny", "Delhi", "silver"),
    Search("tiny", "Delhi", "gold"),
    Search("large", "Pune", "gold"),
    Search("large", "Pune", "gold", question="who might like a new lamp?"),
    Search("large", "Mumbai", "basic", 2),
    Search("large", "Kochi", "silver", 6, "who wrote to us in spring?"),
    Search("large", "Mumbai", "gold", 50, "who lives by the sea?"),
    Search("large", "Chennai", "gold", 1, "who asked for an invoice?"),
    Search("large", "Agra", "gold", 5),
)


class TwoFields:
    """find(store, question, city, tier, k=3): a point for the three customers, a point for many."""

    def inputs(self) -> dict[str, Any]:
        """Return the customers and the searches."""
        cases = [
            {
                "shop": it.shop,
                "args": [it.question, it.city, it.tier],
                "options": {} if it.k is None else {"k": it.k},
            }
            for it in _SEARCHES
        ]
        return {"shops": SHOPS, "cases": cases}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the ids with the store's own ranking, filtered here."""
        calls = list(zip(_SEARCHES, report["calls"], strict=True))
        tiny = _first_trouble([pair for pair in calls if pair[0].shop == "tiny"])
        if tiny:
            return Verdict(0, NOT_YET, tiny, 1)
        large = _first_trouble([pair for pair in calls if pair[0].shop == "large"])
        if large:
            return Verdict(1, NOT_YET, f"The three customers are right. {large}", 2)
        return Verdict(2, PASSED, "Both fields are exact, and nobody who fits is lost.")


@cache
def ranked(search: Search) -> list[Customer]:
    """Return all customers of the search's shop, in the order of the store."""
    by_id = {it["id"]: it for it in SHOPS[search.shop]}
    found = customer_store(SHOPS[search.shop]).similarity_search(search.question, k=len(by_id))
    return [by_id[document.metadata["id"]] for document in found]


def _fitting(search: Search) -> list[int]:
    """Return the ids of all who fit, best first."""
    return [it["id"] for it in ranked(search) if (it["city"], it["tier"]) == (search.city, search.tier)]


def _first_trouble(calls: Sequence[tuple[Search, Mapping[str, Any]]]) -> str:
    for search, call in calls:
        if "raised" in call:
            return f"{search.says} `find` stops {explain_error(call['raised'])}"
        trouble = _shape(call) or _trouble(call["returned"], search, calls)
        if not trouble and call.get("changed_arguments"):
            trouble = "the store holds something else after the call, and the next question goes to it too."
        if trouble:
            return f"{search.says} {trouble}"
    return ""


def _shape(call: Mapping[str, Any]) -> str:
    got = call["returned"]
    if got is None:
        return forgot_return("find")
    if isinstance(got, dict) and got.get("not_json") == "set":
        return "a set comes back, which has no order: return a list, best first."
    if not isinstance(got, list):
        return f"a value of type {call['type']} comes back, not a list of ids."
    if any(isinstance(one, dict) and "document" in one for one in got):
        return "documents come back, not the ids of their rows: where in a document did the row's id go?"
    if any(isinstance(one, list) for one in got):
        return "the list holds more than ids: leave the scores out."
    if any(isinstance(one, str) for one in got):
        return "the ids are texts. The row's own id, a whole number, is in the document's metadata."
    if any(not isinstance(one, int) for one in got):
        return "the list holds something else than ids."
    return ""


def _trouble(got: list[Any], search: Search, calls: Sequence[tuple[Search, Mapping[str, Any]]]) -> str:
    by_id = {it["id"]: it for it in ranked(search)}
    k, fit = search.most, _fitting(search)
    if got == fit[:k]:
        return ""
    if any(id not in by_id for id in got):
        return "ids come back that no customer has."
    if others := [by_id[id] for id in got if id not in fit]:
        return _let_through(others, search)
    if len(set(got)) < len(got):
        return "an id comes back more than once."
    if len(got) > k:
        return f"{len(got)} ids come back; at most {k} may."
    if len(got) < min(k, len(fit)) and search.shop == "tiny":
        return "somebody who fits does not come back: what you compare is not what was asked for."
    if len(got) < min(k, len(fit)):
        fits = "1 customer fits" if len(fit) == 1 else f"{len(fit)} customers fit"
        if _as_if_k_were(len(got), calls):
            return f"{fits} and {len(got)} came back: does k reach the store as it was given?"
        return (
            f"{fits} and {len(got)} came back. Who was lost stood further down the ranking "
            "than you looked: a filter after the cut finds only what the cut has left."
        )
    if set(got) == set(fit[:k]):
        return "the ids are right and their order is not: the best first, as the store ranks them."
    return "all of these fit, and the store has better ones: does it rank them, and for this question?"


def _as_if_k_were(own: int, calls: Sequence[tuple[Search, Mapping[str, Any]]]) -> bool:
    """Return whether each search found its best, never more than `own`: so does a k that nobody hands on."""
    return own > 0 and all(call.get("returned") == _fitting(it)[: min(it.most, own)] for it, call in calls)


def _let_through(others: Sequence[Customer], search: Search) -> str:
    if all(it["tier"] == search.tier for it in others):
        if all(search.city in it["city"] for it in others):
            return f"customers of {others[0]['city']} come back: a part of a name is another city's name."
        if any(search.city in it["text"] for it in others):
            return "customers come back whose text names the city, and who live elsewhere: ask the metadata."
        return "customers of another city come back: the tier alone lets them through."
    if all(it["city"] == search.city for it in others):
        return "customers of another tier come back: the city alone lets them through."
    if all(search.city == it["city"] or search.tier == it["tier"] for it in others):
        return "customers come back who fit one of the two fields: both must fit."
    return "customers come back who fit neither city nor tier: nearest to a question is not the same as fit."
