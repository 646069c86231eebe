"""What a question brought back: which route it took and why, and what each source found or why it failed."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.documents import Document


class DataType(StrEnum):
    """A route: the shape of the data that answers a question."""

    STRUCTURED = "structured"  # rows: counted, added up, compared, joined
    SEMI_STRUCTURED = "semi_structured"  # nested JSON behind an API: looked up by key
    UNSTRUCTURED = "unstructured"  # prose: searched by words and meaning
    MIXED = "mixed"  # more than one of them, asked side by side


@dataclass(frozen=True)
class Decision:
    """Which route a classifier chose, in words why, and how sure it is (0 to 1; None if it cannot say)."""

    route: DataType
    note: str = ""
    confidence: float | None = None


@dataclass(frozen=True)
class Source:
    """What one retriever gave for one query: documents, best first, or the error that it ended in.

    query: what it ran, such as SQL or an endpoint with parameters; the question where it searches by that.
    """

    name: str
    query: str
    documents: tuple["Document", ...] = ()
    milliseconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Retrieved:
    """A question, the decision about it, and its sources in the order in which they were asked."""

    question: str
    decision: Decision
    sources: tuple[Source, ...] = field(default_factory=tuple)

    @property
    def documents(self) -> list["Document"]:
        """The documents of all sources, source by source, each id once."""
        seen: dict[str, Document] = {}
        for source in self.sources:
            for document in source.documents:
                seen.setdefault(document.id or f"{source.name}#{len(seen)}", document)
        return list(seen.values())

    @property
    def failed(self) -> tuple[Source, ...]:
        """The sources that ended in an error."""
        return tuple(source for source in self.sources if source.error)
