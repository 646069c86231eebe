"""Judge of the repair loop of exercise 01: plays scripted models and reads what the loop did."""

from collections.abc import Mapping, Sequence
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_QUESTION = "How many customers live in each city?"
_RIGHT = "SELECT city, COUNT(*) FROM customers GROUP BY city"
_ROWS = [["Harbour Town", 41], ["Mill Lane", 17]]  # invented: the loop returns what run gave it
_NONE = "SELECT id FROM orders WHERE status = 'lost'"
_WRONG = {
    "SELECT town, COUNT(*) FROM customers GROUP BY town": "no such column: town",
    "SELECT city, COUNT(*) FROM customer GROUP BY city": "no such table: customer",
    "SELECT city, COUNT(* FROM customers": "near FROM: syntax error",
}
_FIRST, _SECOND, _THIRD = _WRONG
_CASES: dict[str, dict[str, Any]] = {
    "at once": {"replies": [_RIGHT], "options": {}},
    "second": {"replies": [_FIRST, _RIGHT], "options": {}},
    "third": {"replies": [_FIRST, _SECOND, _RIGHT], "options": {}},
    "no rows": {"replies": [_NONE], "options": {}},
    "never": {"replies": [_FIRST, _SECOND, _THIRD, _RIGHT], "options": {"max_repairs": 2}},
    "no repairs": {"replies": [_SECOND, _RIGHT], "options": {"max_repairs": 0}},
}


class RepairLoop:
    """ask(question, llm, run, max_repairs=2): a point each for rows, repair prompts and an honest end."""

    def inputs(self) -> dict[str, Any]:
        """Return the scripted conversations: replies of the model, and what run makes of each SQL."""
        outcomes = {_RIGHT: _ROWS, _NONE: [], **_WRONG}
        return {"cases": [{"question": _QUESTION, "outcomes": outcomes, **case} for case in _CASES.values()]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Read rows, prompts and the end of each conversation."""
        played = dict(zip(_CASES, report["calls"], strict=True))
        rows, prompts, end = _rows(played), _prompts(played), _end(played)
        points = sum(not trouble for trouble in (rows, prompts, end))
        if points == 3:
            return Verdict(3, PASSED, "It repairs, within its limit, and says so when it cannot.")
        trouble, hint = next(
            (text, hint) for text, hint in ((rows, 2), (prompts, 3), (end, 2 if prompts else 3)) if text
        )
        return Verdict(points, NOT_YET, trouble, hint)


def _rows(played: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is wrong with the rows, or with the number of calls where an SQL did run."""
    call = played["at once"]
    if "raised" in call:
        return f"Where the first SQL is right, `ask` stops {explain_error(call['raised'])}"
    if not call["prompts"]:
        return "`ask` never calls llm."
    if not call["ran"]:
        return "`ask` never calls run: the model's SQL has to be tried out to know whether it is right."
    if call["returned"] == _RIGHT:
        return "`ask` returns the SQL; it should return the rows that run(sql) gives."
    if call["returned"] != _ROWS:
        return "Where the first SQL is right, what comes back is not the rows that run(sql) gave."
    if len(call["prompts"]) > 1 or len(call["ran"]) > 1:
        return "The first SQL ran, and `ask` goes on calling: return the rows of the first SQL that runs."
    call = played["no rows"]
    if "raised" in call or call["returned"] != [] or len(call["prompts"]) > 1:
        return (
            "The SQL ran and found no rows, which is an answer: return the empty list. Only a ValueError "
            "from run is a failure to repair."
        )
    for name, attempts in (("second", 2), ("third", 3)):
        call = played[name]
        made = len(call["prompts"])
        if "raised" in call and made < attempts:
            after = "the first failure" if made <= 1 else f"{made} attempts"
            return f"`ask` gives up after {after}; max_repairs=2 means two more attempts after the first."
        if "raised" in call and "ValueError" not in call["raised"].get("bases", ()):
            return f"Where a repair is needed, `ask` stops {explain_error(call['raised'])}"
        if call.get("returned") == _ROWS and made == attempts:
            continue
        if call["ran"].count(call["ran"][0] if call["ran"] else None) > 1:
            return "After a failure `ask` runs the same SQL again: run the one that the model sent last."
        if made > attempts:
            return "A repaired SQL ran, and `ask` goes on asking the model."
        return (
            "The first SQL fails, a later one is right, and its rows do not come back: ask the model again "
            "and return what run gives for the new SQL."
        )
    return ""


def _prompts(played: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what the repair prompts leave out."""
    first = played["at once"]["prompts"][:1]
    if not first or not isinstance(first[0], str):
        return "llm takes the prompt as one text (str)." if first else "`ask` never calls llm."
    if _QUESTION not in first[0]:
        return "The first prompt does not hold the question."
    for name, failed in (("second", [_FIRST]), ("third", [_FIRST, _SECOND])):
        prompts = played[name]["prompts"]
        if len(prompts) < len(failed) + 1:
            return "There is no repair prompt: after a failure, ask the model again and say what went wrong."
        trouble = _left_out(prompts[len(failed)], failed)
        if trouble:
            return trouble
    return ""


def _left_out(prompt: Any, failed: Sequence[str]) -> str:
    if not isinstance(prompt, str):
        return "llm takes the prompt as one text (str)."
    latest = failed[-1]
    again = " It holds an older one: the latest failure counts." if len(failed) > 1 else ""
    if _WRONG[latest] not in prompt and latest not in prompt and not again:
        return "The repair prompt says nothing of the failure: the same prompt gets the same answer."
    if _WRONG[latest] not in prompt:
        return "The repair prompt leaves out the error's text, str(error), which says what to change." + again
    if latest not in prompt:
        return (
            "The repair prompt leaves out the SQL that failed, so the model cannot see what it wrote." + again
        )
    if _QUESTION not in prompt:
        return "The repair prompt leaves out the question: a model that sees only SQL answers something else."
    return ""


def _end(played: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is wrong where nothing helps: too many calls, too few, or a dishonest end."""
    for name, allowed in (("never", 3), ("no repairs", 1)):
        call, limit = played[name], _CASES[name]["options"]["max_repairs"]
        made = len(call["prompts"])
        times = "once" if allowed == 1 else f"{allowed} times"
        if made > allowed:
            return (
                f"With max_repairs={limit} the model may be called {times} in all; "
                f"`ask` calls it {'again and again' if made > 10 else f'{made} times'}."
            )
        if made < allowed:
            return (
                f"With max_repairs={limit} the model may be called {times} in all; `ask` stops after {made}."
            )
        if "raised" not in call:
            return _dishonest(call["returned"])
        last = _WRONG[_CASES[name]["replies"][made - 1]]
        if not any(last in text for text in (call["raised"]["message"], *call["raised"]["causes"])):
            return (
                "When all attempts fail, `ask` raises, and its message does not name the last error: "
                "whoever called it cannot see why."
            )
    return ""


def _dishonest(returned: Any) -> str:
    if returned == []:
        return (
            "When no SQL ran, `ask` returns an empty list. That reads as “no rows found”, which nobody "
            "knows: raise an exception that names the last error."
        )
    if returned is None:
        return "When no SQL ran, `ask` returns None: raise an exception that names the last error."
    return (
        "When no SQL ran, `ask` returns something all the same: raise an exception that names the last error."
    )
