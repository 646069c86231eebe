"""The golden questions: what people ask this shop, with the documents, rows or values that answer each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from course_utils import places

PATTERNS = (
    "concept", "identifier", "aggregate", "multi_hop", "relationship", "follow_up", "filter",
    "semi_structured", "unanswerable",
)  # fmt: skip
SPLITS = ("dev", "test")
AUDIENCES = ("public", "partner", "staff")
# What JSON must hold for a field; a text for any other.
_KINDS = {
    "documents": list, "sql": str | None, "rows": list, "ordered": bool, "values": list,
    "previous": dict | None, "filter": dict,
}  # fmt: skip
_WORDS = {
    str: "a text", list: "a list", bool: "true or false", dict: "an object",
    str | None: "a text or null", dict | None: "an object or null",
}  # fmt: skip
_PARTS = {"documents": str, "rows": list, "values": list}


@dataclass(frozen=True)
class Question:
    """A question, who asks it, and what answers it.

    documents: the ids of all documents that answer it, not only of the one it was written from; empty where
    rows or values answer it, or nothing does (pattern "unanswerable").
    sql, rows: a query on the published shop and its rows, which a test computes anew; `ordered` where the
    order of the rows counts. values: what the carrier's JSON says, as (file, JSON pointer, value).
    previous: the turn before, as {"question", "answer"}. filter: what the question says about metadata, as
    {"price": {"below": 3000}}. note: why these and not others.
    """

    id: str
    question: str
    pattern: str
    split: str
    audience: str = "public"
    documents: tuple[str, ...] = ()
    sql: str | None = None
    rows: tuple[tuple[Any, ...], ...] = ()
    ordered: bool = False
    values: tuple[tuple[str, str, Any], ...] = ()
    previous: Mapping[str, str] | None = None
    filter: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __hash__(self) -> int:
        return hash(self.id)

    def __post_init__(self) -> None:
        for name, known in (("pattern", PATTERNS), ("split", SPLITS), ("audience", AUDIENCES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected one of {', '.join(known)}")
        answered = bool(self.documents or self.sql or self.values)
        if answered == (self.pattern == "unanswerable"):
            raise ValueError(
                f"a question of pattern {self.pattern!r} with{'' if answered else 'out'} an answer"
            )
        if self.pattern == "follow_up" and not self.previous:
            raise ValueError("a follow_up needs its previous turn")
        if self.previous is not None and set(self.previous) != {"question", "answer"}:
            raise ValueError('previous must have "question" and "answer"')


def load(
    split: str | None = "dev", pattern: str | None = None, path: str | Path | None = None
) -> tuple[Question, ...]:
    """Return the golden questions of a split, in the order of the file.

    split: "dev" to look at while you change things, "test" for the last figure only, None for both.
    pattern: one of PATTERNS, or None for all. Raises ValueError that names the line for a bad one.
    """
    if split not in {None, *SPLITS}:
        raise ValueError(f"split is {split!r}, expected dev, test or None for both.")
    if pattern not in {None, *PATTERNS}:
        raise ValueError(f"pattern is {pattern!r}, expected one of {', '.join(PATTERNS)}.")
    file = Path(path) if path is not None else places.data() / "golden" / "questions.jsonl"
    found: dict[str, Question] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            one = _question(json.loads(line))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}, line {number}: {error}.") from None
        if one.id in found:
            raise ValueError(f"{file}, line {number}: the id {one.id} is already taken.")
        found[one.id] = one
    wanted = (one for one in found.values() if split in {None, one.split} and pattern in {None, one.pattern})
    return tuple(wanted)


def _question(cells: Any) -> Question:
    if not isinstance(cells, dict):
        raise ValueError(f"{cells!r} is no object with the fields of a question")
    if unknown := cells.keys() - {field.name for field in fields(Question)}:
        raise ValueError(f"there is no field {min(unknown)!r}")
    for name, value in cells.items():
        kind = _KINDS.get(name, str)
        if not isinstance(value, kind):
            raise ValueError(f"{name} is {value!r}, expected {_WORDS[kind]}")
        for part in value if name in _PARTS else ():
            if not isinstance(part, _PARTS[name]):
                raise ValueError(f"{name} has {part!r} in it, expected {_WORDS[_PARTS[name]]}")
    tuples = {name: tuple(cells[name]) for name in ("documents",) if name in cells}
    tuples |= {name: tuple(map(tuple, cells[name])) for name in ("rows", "values") if name in cells}
    return Question(**cells | tuples)
