"""Judge of the pages of exercise 05: all of them, what there is where one fails, and an end in any case."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_MOST = 10


@dataclass(frozen=True)
class Case:
    """A service's list and how it should be read; `part` is the point it belongs to.

    pages: the items of each, or the name of the error that it ends in. back: the page, from 0, to which the
    last one leads, None if to no other.
    """

    part: str
    says: str
    pages: tuple[list[str] | str, ...]
    back: int | None = None

    def path(self, number: int) -> str:
        """Return the path of a page, from 0; what follows cannot be guessed from it."""
        return f"/delays?cursor={(number * 7 + 3) % 41}"

    @property
    def served(self) -> dict[str, dict[str, Any]]:
        """The pages by their paths."""
        made: dict[str, dict[str, Any]] = {}
        for number, page in enumerate(self.pages):
            last = number == len(self.pages) - 1
            following = self.back if last else number + 1
            onward = None if following is None else self.path(following)
            made[self.path(number)] = (
                {"fails": page} if isinstance(page, str) else {"items": page, "next": onward}
            )
        return made

    @property
    def come(self) -> list[list[str]]:
        """The items of the pages that come, one list for each, at most ten."""
        found: list[list[str]] = []
        for page in self.pages[:_MOST]:
            if isinstance(page, str):
                break
            found.append(page)
        return found

    @property
    def items(self) -> list[str]:
        """The items that can be collected."""
        return [item for page in self.come for item in page]

    @property
    def complete(self) -> bool:
        """Whether that is all of the list."""
        return len(self.come) == len(self.pages) and self.back is None


def _full(count: int) -> tuple[list[str], ...]:
    """Return pages with two items each."""
    return tuple([f"city {number}a", f"city {number}b"] for number in range(1, count + 1))


_ONE, _TWO, _THREE = _full(3)
_CASES = (
    Case("whole", "with a single page", (_ONE,)),
    Case("whole", "with two pages", (_ONE, _TWO)),
    Case("whole", "with four pages", _full(4)),
    Case("whole", "with a single page without items", ([],)),
    Case("whole", "with a page without items in the middle", (_ONE, [], _THREE)),
    Case("whole", "with items that come more than once", (["city 1a", "city 1a"], _TWO, _TWO)),
    Case("fails", "where the second page does not come, with TimeoutError", (_ONE, "TimeoutError", _THREE)),
    Case("fails", "where the fourth page does not come, with RuntimeError", (*_full(3), "RuntimeError")),
    Case("fails", "where the first page does not come, with TimeoutError", ("TimeoutError", _TWO)),
    Case("fails", "where the first page does not come, with RuntimeError", ("RuntimeError",)),
    Case("ends", "where the third page leads back to the first", (_ONE, _TWO, _THREE), 0),
    Case("ends", "where the only page leads to itself", (_ONE,), 0),
    Case("ends", "where the fourth page leads back to the second", _full(4), 1),
    Case("ends", "with exactly ten pages", _full(10)),
    Case("ends", "with eleven pages", _full(11)),
    Case("ends", "with thirty pages", _full(30)),
)
_NAMES = {"whole": "pages that all come", "fails": "pages that do not come", "ends": "loops and long lists"}


class FollowPages:
    """collect(get, path): a point for whole lists, for pages that fail, for loops and long lists."""

    def inputs(self) -> dict[str, Any]:
        """Return the pages of each service and the path of the first."""
        return {"cases": [{"pages": case.served, "path": case.path(0)} for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare items and flag with what can be had; without the first point there is no other."""
        troubles: dict[str, str] = {}
        for case, call in zip(_CASES, report["calls"], strict=True):
            if trouble := _trouble(call, case):
                troubles.setdefault(case.part, f"{capital(case.says)}, {trouble}")
        if "whole" in troubles:
            return Verdict(0, NOT_YET, troubles["whole"], 2)
        if not troubles:
            return Verdict(
                3, PASSED, "It follows to the end, keeps what came, and says when that is not all."
            )
        right = [name for part, name in _NAMES.items() if part not in troubles]
        part, trouble = next(iter(troubles.items()))
        return Verdict(3 - len(troubles), NOT_YET, so_far(right) + trouble, 2 if part == "fails" else 3)


def _trouble(call: Mapping[str, Any], case: Case) -> str:
    """Return what is wrong with one result, "" if nothing is."""
    asked = call.get("asked") or []
    if len(asked) > 2 * _MOST:
        return _endless(asked)
    if "raised" in call:
        return _stops(call["raised"], case)
    got = call["returned"]
    if shape := _shape(got, call.get("type")):
        return shape
    if None in asked:
        return "`get` is asked for the page None: that is the sign that there is no other page."
    if len(asked) > _MOST:
        return f"{len(asked)} pages are asked for, and at most {_MOST} may be."
    items, complete = got
    return _wrong_items(items, complete, case) or _wrong_flag(complete, case) or _again(asked, case)


def _again(asked: list[Any], case: Case) -> str:
    """Return that a page was asked for twice, "" if none was."""
    if len(set(map(str, asked))) == len(asked):
        return ""
    if case.part == "fails":
        return (
            "the page that does not come is asked for again. `get` has tried often enough by then, and "
            "whoever waits for the answer waits once more for each try."
        )
    return "a page is asked for twice: look whether it was there before you ask."


def _endless(asked: list[Any]) -> str:
    if len(set(map(str, asked))) < len(asked) / 2:
        if len(set(map(str, asked[-_MOST:]))) == 1:
            return "the same page is asked for again and again, and would be without an end."
        return "the pages go round in a circle, and `collect` with them, without an end."
    return f"{len(asked)} pages are asked for, and at most {_MOST} may be: a list may be very long."


def _stops(raised: Mapping[str, Any], case: Case) -> str:
    lost = ""
    if case.part == "fails" and set(raised["bases"]) & {"TimeoutError", "RuntimeError"}:
        lost = " Whoever called it gets nothing of what had come."
    return f"`collect` stops {explain_error(raised)}{lost}"


def _shape(got: Any, kind: Any) -> str:
    if got is None:
        return forgot_return("collect")
    if not isinstance(got, list):
        return f"a value of type {kind} comes back, not items and whether they are all."
    if len(got) == 2 and isinstance(got[0], bool) and isinstance(got[1], list):
        return "the flag comes first and the items second: the other way round is asked for."
    if len(got) != 2 or not isinstance(got[0], list) or not isinstance(got[1], bool):
        return (
            "what comes back is not a list of items and True or False. Items alone do not say whether they "
            "are all there are."
        )
    return ""


def _wrong_items(items: list[Any], complete: bool, case: Case) -> str:
    want = case.items
    if items == want:
        return ""
    if want and not items:
        if case.part == "whole":
            return "no items come back."
        return "what came before is thrown away. Keep it, and let the flag say that it is not all."
    if any(isinstance(item, (list, dict)) for item in items):
        return (
            "pages come back and not their items: `append` adds a page as one item, `extend` adds its items."
        )
    if len(items) < len(want) and items == list(dict.fromkeys(want)):
        return (
            "an item that comes more than once comes back once. Whether two equal ones are the same, nobody "
            "said: leave them as they come."
        )
    if len(items) > len(want):
        if case.back is not None:
            return "items come back more than once: a page that was there before is read again."
        if len(case.pages) > _MOST and items[: len(want)] == want:
            return f"items of more than {_MOST} pages come back."
        return "more items come back than the pages have."
    if items == want[: len(items)]:
        if case.part == "whole" and [] in case.pages:
            return "the items behind it are missing: a page without items is not the end, `next` is."
        if items == case.come[0] and case.part == "whole":
            return "only the items of the first page come back: where `next` is not None, there is more."
        return "items are missing at the end: a page that came, or may be asked for, is left out."
    if items == want[-len(items) :]:
        return "the items of earlier pages are gone: each page takes their place instead of adding to them."
    return "the items are not those of the pages, in their order."


def _wrong_flag(complete: bool, case: Case) -> str:
    if complete == case.complete:
        return ""
    if case.complete:
        why = " Ten pages are allowed, and the tenth was the last." if len(case.pages) == _MOST else ""
        return f"all items are there, and the flag says that they are not.{why}"
    if case.part == "fails" and not case.items:
        return "the flag says that the list is complete, and empty. Nobody knows: nothing came."
    if case.part == "fails":
        return (
            "the flag says that the list is complete, and a page did not come. A count of it would be wrong, "
            "and nobody would notice."
        )
    if case.back is not None:
        return "the flag says that the list is complete, and its last page was never seen."
    return "the flag says that the list is complete, and there is an eleventh page."
