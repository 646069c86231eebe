"""Documents in order, with their metadata as columns: which of them a caller may see, and a filter leaves."""

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from .caller import AUDIENCES, Caller
from .filters import Filter, Plain, Range, compare, day, plain

if TYPE_CHECKING:
    from langchain_core.documents import Document

_AUDIENCES = frozenset().union(*AUDIENCES.values())


def row_document(
    table: str,
    row: Mapping[str, Any],
    text: Iterable[str] = ("name", "description"),
    audience: str = "public",
) -> "Document":
    """Return a row as a document: the columns of `text` to search in, all others as metadata, types kept.

    >>> row_document("product", {"id": 7, "name": "Mug", "price": 9.5, "category": "kitchen"}, text=["name"])
    Document(id="product:7", page_content="Mug.", metadata={"id": 7, "price": 9.5, "category": "kitchen", …})

    The row needs an `id`; a column of `text` that is empty is left out. Raises ValueError for a missing one.
    """
    from langchain_core.documents import Document

    columns = [text] if isinstance(text, str) else list(text)
    if missing := [name for name in ("id", *columns) if name not in row]:
        raise ValueError(f"The row has no {missing[0]!r}, only {', '.join(row)}.")
    told = [str(row[name]).strip() for name in columns if row[name] not in {None, ""}]
    content = " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in told)
    rest = {name: value for name, value in row.items() if name == "id" or name not in columns}
    return Document(id=f"{table}:{row['id']}", page_content=content, metadata={**rest, "audience": audience})


class Documents:
    """Documents by id, in order of arrival, and the positions of those that a caller may see.

    Each needs an id of its own and `metadata["audience"]`, one of public, partner, staff: text that nobody
    marked is not let in, since it would have to be for everyone or for no one.
    """

    def __init__(self, documents: Iterable["Document"] = ()) -> None:
        self._order: list[Document] = []
        self._places: dict[str, int] = {}
        self._columns: dict[str, _Column] = {}
        self._keys: frozenset[str] | None = None
        self.put(documents)

    def __len__(self) -> int:
        return len(self._order)

    @property
    def by_id(self) -> Mapping[str, "Document"]:
        """The documents by id, to read."""
        return MappingProxyType({document.id: document for document in self._order})

    def at(self, position: int) -> "Document":
        """Return the document at a position."""
        return self._order[position]

    def place(self, id: str) -> int | None:
        """Return the position of a document, None where there is none."""
        return self._places.get(id)

    def checked(self, documents: Iterable["Document"]) -> list["Document"]:
        """Return the documents as a list; ValueError names the first that cannot be taken."""
        listed = list(documents)
        seen: set[str] = set()
        for number, document in enumerate(listed):
            name = f"documents[{number}]" if not document.id else f"The document {document.id!r}"
            if not document.id:
                raise ValueError(
                    f'{name} has no id. Give it one that leads to its row, such as "product:118".'
                )
            if document.id in seen:
                raise ValueError(f"{name} comes twice. Ids must differ, however alike the texts are.")
            seen.add(document.id)
            if "score" in document.metadata:
                raise ValueError(
                    f"{name} has a score in its metadata, where a search puts its own. Give it another name, "
                    "such as stars; or remove it, if the document comes from a search."
                )
            audience = document.metadata.get("audience")
            if not isinstance(audience, str) or audience not in _AUDIENCES:
                raise ValueError(
                    f"{name} does not say who may see it: metadata['audience'] is {audience!r}, expected one "
                    f"of {', '.join(sorted(_AUDIENCES))}."
                )
        return listed

    def put(self, documents: Iterable["Document"]) -> None:
        """Add documents; one whose id is known takes the place of the old one."""
        for document in self.checked(documents):
            place = self._places.setdefault(document.id, len(self._order))
            self._order[place : place + 1] = [document]
        self._forget()

    def drop(self, ids: Iterable[str]) -> np.ndarray:
        """Remove documents, ignoring unknown ids; return the positions, as they were, of those that stay."""
        gone = {self._places[id] for id in ids if id in self._places}
        stay = np.array([place for place in range(len(self._order)) if place not in gone], dtype=np.int64)
        self._order = [self._order[place] for place in stay]
        self._places = {document.id: place for place, document in enumerate(self._order)}
        self._forget()
        return stay

    def mask(self, caller: Caller, filter: Filter | None = None) -> np.ndarray:
        """Return for each position whether this caller may see it and the filter lets it through, as bools.

        The caller's entitlements cannot be left out, and a filter can only narrow them. TypeError for
        anything but a Caller; ValueError for a key that no document has.
        """
        if not isinstance(caller, Caller):
            raise TypeError(
                f"caller must be a Caller, not {caller!r}. Say who asks: Caller('revathi', 'staff'), or "
                "GUEST for somebody unknown, who sees what is public."
            )
        if filter is not None and not isinstance(filter, Filter):
            raise TypeError(f"filter must be a Filter such as Filter(city='Pune'), not {filter!r}.")
        asked = Filter(audience=caller.audiences)
        if filter is not None:
            if self._order:
                self._check_keys(filter)
            asked &= filter
        left = np.ones(len(self._order), dtype=bool)
        for key, condition in asked.conditions:
            left &= self._column(key).holds(condition)
        return left

    def _check_keys(self, filter: Filter) -> None:
        if self._keys is None:
            self._keys = frozenset(key for document in self._order for key in document.metadata)
        for key in sorted(filter.keys - self._keys):
            near = difflib.get_close_matches(key, self._keys, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            known = ", ".join(sorted(self._keys))
            raise ValueError(f"No document has {key!r} in its metadata.{hint} The keys are: {known}.")

    def _column(self, key: str) -> "_Column":
        if key not in self._columns:
            self._columns[key] = _Column([document.metadata.get(key, _ABSENT) for document in self._order])
        return self._columns[key]

    def _forget(self) -> None:
        self._columns.clear()
        self._keys = None


_ABSENT = object()


class _Column:
    """The values of one key: positions by value for equality, arrays of numbers and days for ranges."""

    def __init__(self, values: list[Any]) -> None:
        self._size = len(values)
        places: dict[Plain, list[int]] = {}
        self._numbers = np.full(self._size, np.nan)
        self._days = np.full(self._size, "NaT", dtype="datetime64[D]")
        for place, value in enumerate(values):
            found = plain(value) if value is not _ABSENT else None
            if found is None:
                continue
            places.setdefault(found, []).append(place)
            if found.kind == "number":
                self._numbers[place] = found.value
            elif found.kind == "text" and (date := day(found.value)):
                self._days[place] = np.datetime64(date)
        self._places = {value: np.array(found) for value, found in places.items()}

    def holds(self, condition: Range | frozenset[Plain]) -> np.ndarray:
        """Return for each position whether the condition holds; nothing compares with NaN or NaT."""
        if not isinstance(condition, Range):
            left = np.zeros(self._size, dtype=bool)
            for value in condition:
                if value in self._places:
                    left[self._places[value]] = True
            return left
        column = self._numbers if condition.kind == "number" else self._days
        left = np.ones(self._size, dtype=bool)
        for name, bound in condition.bounds():
            left &= compare(name, column, np.datetime64(bound) if condition.kind == "day" else float(bound))
        return left
