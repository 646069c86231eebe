"""Whether what was retrieved holds the golden answer: its rows, its values of the API, or a gold document."""

from collections.abc import Iterable
from typing import Any

from .compare import same_rows
from .json_flatten import value_at
from .retrieved import Retrieved


def answered_by(question: Any, retrieved: Retrieved, k: int = 5) -> bool:
    """Return whether a golden question has what answers it; ValueError for one that nothing answers.

    Gold rows: those of one query must be equal to them. Values: each must be among the records. Documents:
    one of them must be among the first k that some source found, since each has an order of its own.
    """
    if not (question.sql or question.values or question.documents):
        raise ValueError(f"{question.id} has no gold: nothing in the shop's data answers it.")
    if question.sql:
        return any(
            bool(same_rows(rows, question.rows, question.ordered))
            for source in retrieved.sources
            if (rows := _rows(source.documents))
        )
    if question.values:
        records = [d.metadata for d in retrieved.documents if "pointer" in d.metadata]
        return all(_holds(records, *wanted) for wanted in question.values)
    return any(d.id in question.documents for source in retrieved.sources for d in source.documents[:k])


def _rows(documents: Iterable[Any]) -> list[dict[str, Any]]:
    held = [document.metadata for document in documents if "row" in document.metadata]
    return [] if any(one.get("truncated") for one in held) else [one["row"] for one in held]


def _holds(records: Iterable[dict[str, Any]], file: str, pointer: str, value: Any) -> bool:
    for record in records:
        if record.get("file") != file:
            continue
        try:
            if value_at(record["data"], record["pointer"], pointer) == value:
                return True
        except LookupError:
            continue
    return False
