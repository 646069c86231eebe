"""Documents in order, with their metadata as columns: which of them a caller may see, and a filter leaves."""

import copy
import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .caller import AUDIENCES, Caller
from .filters import Filter, Range, compare
from .values import Plain, day, plain

if TYPE_CHECKING:
    from langchain_core.documents import Document

_AUDIENCES = frozenset().union(*AUDIENCES.values())
# What a search writes into the metadata of what it finds.
FOUND = frozenset({"score", "found", "failed", "rank_before"})
_FIXED = (str, int, float, bool, type(None))  # values that nobody can change in place


def row_document(
    table: str,
    row: Mapping[str, Any],
    text: Iterable[str] = ("name", "description"),
    audience: str | None = None,
) -> "Document":
    """Return a row as a document: the columns of `text` to search in, all others as metadata, types kept.

    >>> row_document("product", {"id": 7, "name": "Mug", "price": 9.5, "category": "kitchen"}, text=["name"])
    Document(id="product:7", page_content="Mug.", metadata={"id": 7, "price": 9.5, "category": "kitchen", …})

    The row needs an `id`; a column of `text` that is empty is left out. The audience is the row's own, if it
    has one, else `audience`, else public. Raises ValueError for a missing column and for two audiences.
    """
    from langchain_core.documents import Document

    row = dict(row)
    columns = [text] if isinstance(text, str) else list(text)
    if missing := [name for name in ("id", *columns) if row.get(name) is None and name not in row]:
        raise ValueError(f"The row has no {missing[0]!r}, only {', '.join(row)}.")
    if row["id"] is None:
        raise ValueError("The row's id is None, and an id must lead back to the row.")
    own = row.get("audience", audience)
    if audience is not None and own != audience:
        raise ValueError(f"The row is for the audience {own!r} and cannot be given out as {audience!r}.")
    told = [str(row[name]).strip() for name in columns if not _empty(row[name])]
    content = " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in told)
    rest = {name: value for name, value in row.items() if name == "id" or name not in columns}
    return Document(
        id=f"{table}:{row['id']}",
        page_content=content,
        metadata={**rest, "audience": "public" if own is None else own},
    )


def _empty(value: Any) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return not str(value).strip() or str(value) == "<NA>"


def own_copy(document: "Document", **more: Any) -> "Document":
    """Return a copy that shares nothing that can be changed in place, with `more` in its metadata."""
    from langchain_core.documents import Document

    kept = document.metadata.items()
    metadata = {key: it if isinstance(it, _FIXED) else copy.deepcopy(it) for key, it in kept}
    return Document(id=document.id, page_content=document.page_content, metadata=metadata | more)


class Documents(Mapping[str, "Document"]):
    """Documents by id, each at a position, and the positions of those that a caller may see.

    It never changes: `replaced` and `without` return another one. What is read from it is a copy. Each
    document needs an id of its own and `metadata["audience"]`, one of public, partner, staff: text that
    nobody marked is not let in, since it would have to be for everyone or for no one.
    """

    def __init__(self, documents: Iterable["Document"] = ()) -> None:
        self._set(own_copy(document) for document in checked(documents))

    def _set(self, documents: Iterable["Document"]) -> "Documents":
        self._order = tuple(documents)
        self._places = {document.id: place for place, document in enumerate(self._order)}
        self._columns: dict[str, _Column] = {}
        self._keys: dict[frozenset[str], frozenset[str]] = {}
        return self

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, id: str) -> "Document":
        return own_copy(self._order[self._places[id]])

    def at(self, position: int, **more: Any) -> "Document":
        """Return a copy of the document at a position, with `more` in its metadata."""
        return own_copy(self._order[position], **more)

    def id_at(self, position: int) -> str:
        """Return the id of the document at a position."""
        return self._order[position].id

    def place(self, id: str) -> int | None:
        """Return the position of a document, None where there is none."""
        return self._places.get(id)

    def has_text(self, document: "Document") -> bool:
        """Return whether a document with this id is there and has the same text."""
        place = self.place(document.id)
        return place is not None and self._order[place].page_content == document.page_content

    def replaced(self, documents: Iterable["Document"]) -> "Documents":
        """Return these with `documents` added at the end; one whose id is known takes the old one's place."""
        order, places = list(self._order), dict(self._places)
        for document in checked(documents):
            place = places.setdefault(document.id, len(order))
            order[place : place + 1] = [own_copy(document)]
        return Documents()._set(order)

    def without(self, ids: Iterable[str]) -> tuple["Documents", np.ndarray]:
        """Return these without some ids (unknown ones do not matter), and the old positions of the rest."""
        gone = {self._places[id] for id in ids if id in self._places}
        stay = np.array([place for place in range(len(self)) if place not in gone], dtype=np.int64)
        return Documents()._set(self._order[place] for place in stay), stay

    def mask(self, caller: Caller, filter: Filter | None = None) -> np.ndarray:
        """Return for each position whether this caller may see it and the filter lets it through, as bools.

        The caller's entitlements cannot be left out, and a filter can only narrow them. TypeError for
        anything but a Caller; ValueError for a key that no document has which this caller may see.
        """
        if not isinstance(caller, Caller):
            raise TypeError(
                f"caller must be a Caller, not {caller!r}. Say who asks: Caller('revathi', 'staff'), or "
                "GUEST for somebody unknown, who sees what is public."
            )
        if filter is not None and not isinstance(filter, Filter):
            raise TypeError(f"filter must be a Filter such as Filter(city='Pune'), not {filter!r}.")
        audiences = AUDIENCES[caller.role]
        left = self._column("audience").holds(frozenset(map(plain, audiences)))
        if filter is not None:
            if left.any():
                self._check_keys(filter, audiences, left)
            for key, condition in filter.conditions:
                left &= self._column(key).holds(condition)
        return left

    def _check_keys(self, filter: Filter, audiences: frozenset[str], seen: np.ndarray) -> None:
        """Raise for a key that is in no visible document: what others have stays as unknown as they are."""
        if audiences not in self._keys:
            visible = (self._order[place].metadata for place in np.flatnonzero(seen))
            self._keys[audiences] = frozenset(key for metadata in visible for key in metadata)
        known = sorted(map(str, self._keys[audiences]))
        for key in sorted(filter.keys - self._keys[audiences], key=str):
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(
                f"No document has {key!r} in its metadata.{hint} The keys are: {', '.join(known)}."
            )

    def _column(self, key: str) -> "_Column":
        if key not in self._columns:
            self._columns[key] = _Column([document.metadata.get(key, _ABSENT) for document in self._order])
        return self._columns[key]


def checked(documents: Iterable["Document"]) -> list["Document"]:
    """Return the documents as a list; ValueError names the first that cannot be taken."""
    listed = list(documents)
    seen: set[str] = set()
    for number, document in enumerate(listed):
        name = f"documents[{number}]" if not document.id else f"The document {document.id!r}"
        if not document.id:
            raise ValueError(f'{name} has no id. Give it one that leads to its row, such as "product:118".')
        if document.id in seen:
            raise ValueError(f"{name} comes twice. Ids must differ, however alike the texts are.")
        seen.add(document.id)
        if own := FOUND & document.metadata.keys():
            raise ValueError(
                f"{name} has a {min(own)} in its metadata, where a search puts its own. Give it another "
                "name, such as stars; or remove it, if the document comes from a search."
            )
        audience = document.metadata.get("audience")
        if type(audience) is not str or audience not in _AUDIENCES:
            raise ValueError(
                f"{name} does not say who may see it: metadata['audience'] is {audience!r}, expected one "
                f"of {', '.join(sorted(_AUDIENCES))}."
            )
    return listed


_ABSENT = object()


class _Column:
    """The values of one key: positions by value for equality, arrays of numbers and days for ranges."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        places: dict[Plain, list[int]] = {}
        self._numbers = np.full(len(values), np.nan)
        self._days = np.full(len(values), "NaT", dtype="datetime64[D]")
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
        # Above 2**53 a float does not hold every whole number: those few are compared one by one.
        self._large = np.flatnonzero(np.abs(np.nan_to_num(self._numbers, posinf=0, neginf=0)) >= 2**53)

    def holds(self, condition: Range | frozenset[Plain | None]) -> np.ndarray:
        """Return for each position whether the condition holds; nothing compares with NaN or NaT."""
        if not isinstance(condition, Range):
            left = np.zeros(len(self._values), dtype=bool)
            for value in condition:
                if value in self._places:
                    left[self._places[value]] = True
            return left
        column = self._numbers if condition.kind == "number" else self._days
        left = np.ones(len(self._values), dtype=bool)
        for name, bound in condition.bounds():
            left &= compare(name, column, np.datetime64(bound) if condition.kind == "day" else float(bound))
        exact = self._large
        if condition.kind == "number" and any(abs(bound) >= 2**53 for _, bound in condition.bounds()):
            exact = np.flatnonzero(~np.isnan(self._numbers))
        for place in exact:
            left[place] = condition.holds(self._values[place])
        return left
