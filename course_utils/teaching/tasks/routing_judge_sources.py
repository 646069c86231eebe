"""Judge of the sources side by side of exercise 05: who answers, who fails, and that nothing is swallowed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import capital, forgot_return, so_far
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_QUESTION = "Where is my parcel, and what may I do if it is late?"
_ROWS, _TEXTS = ["row:4", "row:9", "row:1"], ["article:7", "article:2"]
_LATE = ("TimeoutError", "no answer within 2 s")
_GONE = ("ConnectionError", "nobody answers at 127.0.0.1:8737")
_BROKEN = ("ValueError", "no such column: town")


@dataclass(frozen=True)
class Case:
    """A set of sources: what each gives, a list of ids or the name and words of an error."""

    says: str
    sources: tuple[tuple[str, list[str] | tuple[str, ...]], ...]

    @property
    def given(self) -> list[list[str]]:
        """What the sources that answer give, one list each."""
        return [does for _, does in self.sources if isinstance(does, list)]

    @property
    def documents(self) -> list[str]:
        """The ids in order, each once."""
        return _once(chain(*self.given))

    @property
    def failed(self) -> dict[str, str]:
        """The sources that raise, with the words of their errors."""
        return {name: "".join(does[1:]) for name, does in self.sources if not isinstance(does, list)}

    @property
    def until(self) -> list[str]:
        """The ids of the sources before the first that raises."""
        found: list[str] = []
        for _, does in self.sources:
            if not isinstance(does, list):
                break
            found += does
        return _once(found)


def _once(ids: Any) -> list[str]:
    return list(dict.fromkeys(ids))


def _in_turns(case: Case) -> list[str]:
    return _once(id for ids in zip_longest(*case.given) for id in ids if id)


_CASES = (
    Case("with two sources", (("rows", _ROWS), ("texts", _TEXTS))),
    Case("with the same two, the other way round", (("texts", _TEXTS), ("rows", _ROWS))),
    Case("with an id in two of three sources", (("texts", ["article:7", "article:5"]),
         ("tickets", ["ticket:3", "article:7"]), ("graph", ["ticket:8", "ticket:3", "article:1"]))),
    Case("with an id that one source gives twice", (("texts", ["article:2", "article:6", "article:2"]),
         ("rows", ["row:3"]))),
    Case("with a source that finds nothing", (("carrier", []), ("rows", _ROWS))),
    Case("with sources that all find nothing", (("carrier", []), ("rows", []))),
    Case("with the second of three failing", (("rows", _ROWS), ("carrier", _LATE), ("texts", _TEXTS))),
    Case("with the first of two failing", (("carrier", _GONE), ("texts", _TEXTS))),
    Case("with the last of two failing", (("texts", _TEXTS), ("rows", _BROKEN))),
    Case("with two of four failing", (("carrier", _LATE), ("rows", _ROWS), ("graph", _BROKEN),
         ("texts", _TEXTS))),
    Case("with an error that has no words", (("carrier", ("RuntimeError",)), ("rows", _ROWS))),
    Case("with one failing and one that finds nothing", (("carrier", _GONE), ("rows", []))),
    Case("where all fail", (("rows", _BROKEN), ("carrier", _LATE), ("texts", _GONE))),
    Case("where the only source fails", (("carrier", _LATE),)),
)  # fmt: skip
# Wrong lists that people arrive at where every source answers, and what to say of each.
_WRONG: tuple[tuple[Callable[[Case], list[str]], str], ...] = (
    (
        lambda case: list(chain(*case.given)),
        "an id that came before comes again: whoever reads on meets the same document twice.",
    ),
    (
        lambda case: _once(chain(*case.given[::-1])),
        "the sources are read from the last to the first.",
    ),
    (lambda case: case.given[0], "only the first source is read."),
    (lambda case: case.given[-1], "only the last source is read: each takes the place of the one before."),
    (_in_turns, "the sources take turns. Source by source is asked for: their ranks are not comparable."),
    (
        lambda case: sorted(case.documents),
        "the ids are sorted: the order in which a source gave them said what fits best.",
    ),
    (
        lambda case: _once(list(chain(*case.given))[::-1])[::-1],
        "an id that comes again has lost its first place and stands at its last.",
    ),
)
_NAMES = {"all": "sources that all answer", "some": "`documents` where some fail", "failed": "`failed`"}


class SideBySide:
    """ask_all(retrievers, question): a point for all answers, for those beside a failure, for `failed`."""

    def inputs(self) -> dict[str, Any]:
        """Return what each source gives or raises."""
        return {
            "cases": [
                {
                    "question": _QUESTION,
                    "sources": [
                        [name, {"gives": does} if isinstance(does, list) else _raising(does)]
                        for name, does in case.sources
                    ],
                }
                for case in _CASES
            ]
        }

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Look at `documents` and `failed` apart; without documents where all answer there is no point."""
        calls = list(zip(_CASES, report["calls"], strict=True))
        troubles: dict[str, str] = {}
        for case, call in calls:
            for part, trouble in _troubles(call, case, calls).items():
                troubles.setdefault(part, f"{capital(case.says)}, {trouble}")
        if "all" in troubles:
            return Verdict(0, NOT_YET, troubles["all"], 3)
        if not troubles:
            return Verdict(3, PASSED, "Each answer stays, each failure is told, and neither hides the other.")
        right = [name for part, name in _NAMES.items() if part not in troubles]
        part, trouble = next((name, troubles[name]) for name in _NAMES if name in troubles)
        return Verdict(3 - len(troubles), NOT_YET, so_far(right) + trouble, 1 if part == "some" else 2)


def _raising(does: tuple[str, ...]) -> dict[str, Any]:
    return {"raises": does[0], "words": list(does[1:])}


def _troubles(
    call: Mapping[str, Any], case: Case, calls: list[tuple[Case, Mapping[str, Any]]]
) -> dict[str, str]:
    """Return what is wrong with one result, by the point that it costs."""
    documents = "some" if case.failed else "all"
    broken = _broken(call, case)
    if broken:
        # Where nobody answers there are no documents to lose: only what failed is.
        parts = {documents} if not case.failed else {"some", "failed"} if case.given else {"failed"}
        return dict.fromkeys(parts, broken)
    got = call["returned"]
    found: dict[str, str] = {}
    asked = call.get("asked") or []
    if got["documents"] != case.documents:
        found[documents] = _wrong_documents(got["documents"], case, calls)
    elif any(question != _QUESTION for _, question in asked):
        found[documents] = "a source is asked something else than the question."
    elif len(asked) > len(case.sources):
        found[documents] = "a source is asked more than once: each answer costs time, and perhaps money."
    if trouble := _wrong_failures(got, case):
        found["failed"] = trouble
    return found


def _broken(call: Mapping[str, Any], case: Case) -> str:
    """Return why nothing can be read from a result, "" if it can."""
    if "raised" in call:
        stops = f"`ask_all` stops {explain_error(call['raised'])}"
        if not case.failed:
            return stops
        return f"{stops} A source that fails is told in `failed`, whatever it raises, and however many fail."
    got, kind = call["returned"], call.get("type")
    if got is None:
        return forgot_return("ask_all")
    if not isinstance(got, dict) or "not_json" in got:
        return f"a value of type {kind} comes back, not a dict with the keys `documents` and `failed`."
    if "documents" not in got:
        return "the dict has no key `documents`."
    if isinstance(got["documents"], dict):
        return (
            "`documents` is not a list of ids: a set has no order, and a dict by source is not one ranking."
        )
    if not isinstance(got["documents"], list):
        return "`documents` is not a list of ids."
    if any(isinstance(one, list) for one in got["documents"]):
        return (
            "`documents` holds lists: `append` adds what a source gave as one entry, `extend` adds its ids."
        )
    if any(not isinstance(one, str) for one in got["documents"]):
        return "`documents` holds something else than ids."
    return ""


def _wrong_documents(got: list[str], case: Case, calls: list[tuple[Case, Mapping[str, Any]]]) -> str:
    if case.failed:
        if any(id not in case.documents for id in got):
            return "`documents` holds what is no id of a source: a failure is told in `failed` alone."
        if not got:
            return "the answers of the others are thrown away: they are as good as before."
        if got == case.until:
            return (
                "the sources behind the failure are not asked, or not read: one failure ends one call only."
            )
        return "`documents` is not what the other sources gave, in their order."
    told = [
        (one, call["returned"]["documents"])
        for one, call in calls
        if not one.failed and not _broken(call, one)
    ]
    for wrong, words in _WRONG:
        if all(documents == wrong(one) for one, documents in told):
            return words
    if any(id not in case.documents for id in got):
        return "ids come back that no source gave."
    if set(got) < set(case.documents):
        return "ids are missing."
    if len(set(got)) < len(got):
        return "an id comes back more than once."
    return "the order is not source by source, each one's best first. A set, for one, has no order."


def _wrong_failures(got: Mapping[str, Any], case: Case) -> str:
    if "failed" not in got:
        return "the dict has no key `failed`: whoever reads the answer has to know who is missing from it."
    failed, want = got["failed"], case.failed
    if not isinstance(failed, dict) or "not_json" in failed:
        return "`failed` is not a dict from names to texts."
    if missing := [name for name in want if name not in failed]:
        if len(missing) == len(want) and not failed:
            return "a source fails, and `failed` says nothing of it: its silence reads as “nothing found”."
        return "`failed` leaves out a source that raised."
    names = [name for name, _ in case.sources]
    if any(name not in names for name in failed):
        return "`failed` holds a key that is not the name of a source."
    if any(name not in want for name in failed):
        return "`failed` names a source that answered: to find nothing is an answer, and not a failure."
    if any(not isinstance(words, str) for words in failed.values()):
        return "`failed` holds something else than texts: an error itself cannot be put into an answer."
    if any(words not in failed[name] for name, words in want.items()):
        return "`failed` does not say why: the text of the error is missing."
    return ""
