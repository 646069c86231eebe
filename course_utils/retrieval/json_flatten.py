"""Nested JSON as documents: lines "path: value", and a JSON pointer (RFC 6901) back to where each stands."""

import json
import re
from collections.abc import Iterator
from typing import Any

from jsonpointer import JsonPointer, escape
from langchain_core.documents import Document

from .json_endpoints import Endpoint
from .json_reply import Record

_SOURCE = re.compile(r"([\w.-]+)#((?:/[^#]*)?)")
Piece = tuple[str, Any]  # a JSON pointer into the record, "" for all of it, and what stands there


def lines(data: Any, path: str = "") -> Iterator[str]:
    """Yield one line for each value, with the way to it.

    >>> list(lines({"limits": {"max_weight_g": 20000}, "cities": ["Delhi", "Pune"], "to": None}))
    ['limits/max_weight_g: 20000', 'cities/0: Delhi', 'cities/1: Pune', 'to: null']
    """
    if isinstance(data, dict | list) and data:
        members = data.items() if isinstance(data, dict) else enumerate(data)
        for name, value in members:
            yield from lines(value, f"{path}/{_shown(str(name))}" if path else _shown(str(name)))
    else:
        yield f"{path or 'value'}: {_shown(data)}"


def _shown(value: Any) -> str:
    """Return a value on one line: a text with a line break cannot pass for a line of its own."""
    if isinstance(value, str) and value and value.isprintable() and value == value.strip():
        return value
    return json.dumps(value, ensure_ascii=False)


def pieces(data: Any, most: int = 2_500, pointer: str = "") -> Iterator[Piece]:
    """Yield `data` whole if its lines have at most `most` characters, else its parts, none of them lost.

    What stays together: the plain values of an object, and what is small beside them. A list of objects is
    split into its elements. A single value that is longer than `most` stays whole all the same.
    """
    if not isinstance(data, dict | list) or not data or size(data) <= most:
        yield pointer, data
        return
    members = list(data.items() if isinstance(data, dict) else enumerate(data))
    inner = [(name, value) for name, value in members if isinstance(value, dict | list) and value]
    if isinstance(data, dict):
        apart = {name for name, value in inner if size(value) > most // 4 or _objects(value)}
        if own := {name: value for name, value in members if name not in apart}:
            yield from _bounded(own, most, pointer)
        inner = [(name, value) for name, value in inner if name in apart]
    elif not inner:
        yield from _bounded(data, most, pointer)
    else:
        inner = members
    for name, value in inner:
        yield from pieces(value, most, f"{pointer}/{escape(str(name))}")


def _objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _bounded(data: Any, most: int, pointer: str) -> Iterator[Piece]:
    """Yield plain members together, or one by one where they are too long together."""
    if size(data) <= most:
        yield pointer, data
        return
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield f"{pointer}/{escape(str(name))}", value


def size(data: Any) -> int:
    """Return how many characters the lines of `data` have, line ends included."""
    return sum(len(line) + 1 for line in lines(data))


def record_documents(
    record: Record, endpoint: Endpoint, asked: str, name: str, most: int = 2_500
) -> list[Document]:
    """Return a record of the source `name` as documents, one or, where its text is long, one for each piece.

    A text is cut at twice `most` characters, which only a single value can reach, and says so.
    """
    found = _SOURCE.fullmatch(record.source)
    file, root = found.groups() if found else ("", "")
    key = record.data.get(endpoint.key) if isinstance(record.data, dict) and endpoint.key else None
    key = str(key or root.rpartition("/")[2])[:80]
    place = [endpoint.kind, key] if key and key != endpoint.kind else [endpoint.kind]
    made = []
    for pointer, part in pieces(record.data, most):
        title = " / ".join(map(_shown, [*place, *pointer.split("/")[1:]]))
        title += f", as of {_shown(record.as_of)}" if record.as_of else ""
        text = "\n".join([title, *lines(part, pointer[1:])])
        metadata = {
            "source": name, "endpoint": endpoint.name, "query": asked, "file": file,
            "pointer": root + pointer, "data": part, "as_of": record.as_of, "score": 1.0,
        }  # fmt: skip
        if len(text) > 2 * most:
            metadata["cut"] = True
            text = f"{text[: 2 * most]} … (cut, {len(text)} characters)"
        made.append(Document(id=f"{name}:{'/'.join(place)}{pointer}", page_content=text, metadata=metadata))
    return made


def value_at(data: Any, pointer: str, below: str) -> Any:
    """Return what stands at `below` in the source, given that `data` stands at `pointer` there.

    Both are pointers into the source: value_at(parcel, "/shipments/31", "/shipments/31/delivered_on").
    Raises LookupError where `below` does not lie in `data`.
    """
    rest = below.removeprefix(pointer)
    if not below.startswith(pointer) or (rest and not rest.startswith("/")):
        raise LookupError(f"{below} is not below {pointer or 'the root'}")
    missing = object()
    found = JsonPointer(rest).resolve(data, missing)
    if found is missing:
        raise LookupError(f"{below} is not in what stands at {pointer or 'the root'}")
    return found
