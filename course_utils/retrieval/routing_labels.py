"""What the three routers share: their interface, the true route of a golden question, labelled examples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_utils import places

from .retrieved import DataType, Decision

if TYPE_CHECKING:
    from course_utils.shop.questions import Question

# A router is a function from a question to a Decision. It may raise: AdaptiveRetriever then asks everybody.
Classifier = Callable[[str], Decision]
SINGLE = (DataType.STRUCTURED, DataType.SEMI_STRUCTURED, DataType.UNSTRUCTURED)


@dataclass(frozen=True)
class RelationshipDecision(Decision):
    """Rows that are reached from row to row: for a graph retriever where there is one, for SQL otherwise."""

    route: DataType = DataType.STRUCTURED


@dataclass(frozen=True)
class Example:
    """A question as it is classified, with the turn before it if there is one, and its true route."""

    text: str
    route: DataType


def route_of(question: "Question") -> DataType | None:
    """Return the true route of a golden question, None for one that nothing in the shop answers.

    Values of the carrier are semi-structured, SQL is structured, documents are prose. A multi-hop question
    with gold documents is mixed: rows name the thing, and prose says what is asked about it.
    """
    if question.values:
        return DataType.SEMI_STRUCTURED
    if question.sql:
        return DataType.STRUCTURED
    if not question.documents:
        return None
    return DataType.MIXED if question.pattern == "multi_hop" else DataType.UNSTRUCTURED


def with_previous(question: str, previous: str | None = None) -> str:
    """Return what is classified for a follow-up: the question before it, and it, on a line each."""
    return f"{previous}\n{question}" if previous else question


def text_of(question: "Question") -> str:
    """Return what is classified of a golden question. A rewritten question needs no turn before it."""
    return with_previous(question.question, (question.previous or {}).get("question"))


def load_examples(path: str | Path | None = None) -> tuple[Example, ...]:
    """Return the labelled questions of a file like data/routes.yaml, in its order.

    Raises ValueError that names the entry for an unknown route, a route without questions, an entry that is
    neither a text nor a pair of texts, and a text that comes twice.
    """
    import yaml

    file = Path(path) if path is not None else places.data() / "routes.yaml"
    try:
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{file} is not valid YAML; a text with : or ? may need quotes. {error}") from None
    if not isinstance(told, Mapping) or not told:
        raise ValueError(f"{file} must be lists of questions under the names of routes.")
    found: dict[str, Example] = {}
    for name, entries in told.items():
        if name not in list(DataType):
            raise ValueError(f"{file}: {name!r} is no route; expected one of {', '.join(DataType)}.")
        if not isinstance(entries, list) or not entries:
            raise ValueError(f"{file}: {name} needs a list of questions, found {entries!r}.")
        for number, entry in enumerate(entries, start=1):
            text = _text(entry, f"{file}: {name}[{number}]")
            if text in found:
                raise ValueError(f"{file}: {name}[{number}] is already there: {text!r}.")
            found[text] = Example(text, DataType(name))
    return tuple(found.values())


def _text(entry: Any, where: str) -> str:
    parts = entry if isinstance(entry, list) and len(entry) == 2 else [entry]
    if not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError(
            f"{where} is {entry!r}, expected a text, or a pair of texts for a follow-up. A text with a "
            "colon, or one that looks like a number or a date, needs quotes."
        )
    return "\n".join(parts)
