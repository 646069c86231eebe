"""The shop's rows as documents: a text to search in, typed metadata to filter by, an id that leads back.

Ids are `table:key` in the singular: `product:118`, `review:77`, `ticket:12`, `article:returns-policy`. A text
too long for the embedding model is cut into parts that repeat their heading: `article:warranty-terms#2`.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .connect import read_only
from .opening import path as shop_path
from .parts import parts

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

_QUERIES = {
    "products": """
        SELECT p.id, p.sku, p.name, p.description, c.name AS category, b.name AS branch, s.name AS supplier,
               p.price, p.launched_on, p.status
        FROM products p JOIN categories c ON c.id = p.category_id JOIN categories b ON b.id = c.parent_id
        JOIN suppliers s ON s.id = p.supplier_id ORDER BY p.id""",
    "articles": """
        SELECT a.id, a.slug, a.title, a.body, a.product_id, p.sku, a.audience, a.updated_on, a.superseded_by
        FROM articles a LEFT JOIN products p ON p.id = a.product_id ORDER BY a.slug""",
    "reviews": """
        SELECT r.id, r.title, r.body, r.product_id, p.sku, p.name AS product, r.customer_id,
               r.score AS stars, r.created_on
        FROM reviews r JOIN products p ON p.id = r.product_id ORDER BY r.id""",
    "tickets": """
        SELECT t.id, t.subject, t.body, t.product_id, p.sku, p.name AS product, t.customer_id, t.error_code,
               t.status, t.created_on
        FROM tickets t LEFT JOIN products p ON p.id = t.product_id ORDER BY t.id""",
}
TABLES = tuple(_QUERIES)
# What goes into the text is left out of the metadata; everything else goes there as it is.
_IN_TEXT = {
    "products": {"description"},
    "articles": {"body"},
    "reviews": {"body"},
    "tickets": {"body"},
}


@dataclass(frozen=True)
class Changes:
    """What an index must do to follow the shop: documents to add, to replace, and ids to delete."""

    added: list["Document"] = field(default_factory=list)
    updated: list["Document"] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.updated or self.deleted)

    def __str__(self) -> str:
        return f"{len(self.added)} added, {len(self.updated)} updated, {len(self.deleted)} deleted"


def load(
    tables: Iterable[str] | str | None = None, path: str | os.PathLike[str] | None = None
) -> list["Document"]:
    """Return the documents of some tables, or of all four, in the order of the tables and their keys.

    tables: of "products", "articles", "reviews", "tickets". path: a shop's file; the course's own if not
    given. Metadata keep SQLite's types: a price is a float, a date is text as 2026-03-31, what is not there
    is None. `audience` says who may see a text: public, partner or staff; tickets are for staff. The score of
    a review is called `stars`, since a search puts its own `score` into what it finds.
    """
    with closing(read_only(shop_path() if path is None else path)) as connection:
        connection.row_factory = sqlite3.Row
        found = []
        for table in _chosen(tables):
            for row in connection.execute(_QUERIES[table]):
                found += _documents(table, dict(row))
        return found


def get(id: str, path: str | os.PathLike[str] | None = None) -> "Document":
    """Return one document by its id; KeyError where there is none."""
    table = _table_of(id)
    for document in load(table, path):
        if document.id == id:
            return document
    raise KeyError(f"There is no document {id!r} in the shop.")


def row(id: str, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Return the row that a document was made from, fresh from the database; KeyError where it is gone."""
    table, key = _table_of(id), id.partition(":")[2].partition("#")[0]
    column = "slug" if table == "articles" else "id"
    with closing(read_only(shop_path() if path is None else path)) as connection:
        connection.row_factory = sqlite3.Row
        # Compared as text, so that a key with letters in it finds nothing instead of failing.
        found = connection.execute(
            f"SELECT * FROM {table} WHERE CAST({column} AS TEXT) = ?", (key,)
        ).fetchone()
    if found is None:
        raise KeyError(f"There is no row for {id!r} in {table}.")
    return dict(found)


def snapshot(documents: Iterable["Document"]) -> dict[str, str]:
    """Return id -> fingerprint of text and metadata: all an index must remember to see later what changed."""
    return {document.id: _fingerprint(document) for document in documents}


def changed_since(
    seen: Mapping[str, str],
    tables: Iterable[str] | str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Changes:
    """Return what differs between the shop now and a `snapshot` taken earlier.

    Every row is compared, by a hash: a date of change would miss deleted rows, and rows of another table
    whose values stand in the text, such as a product's name in its reviews. The ids of these tables
    (`product:…`) are the shop's; all others in `seen` are left alone.
    """
    tables = _chosen(tables)
    now = load(tables, path)
    prefixes = tuple(f"{table.removesuffix('s')}:" for table in tables)
    gone = {id for id in seen if id.startswith(prefixes)} - {document.id for document in now}
    return Changes(
        added=[document for document in now if document.id not in seen],
        updated=[d for d in now if d.id in seen and seen[d.id] != _fingerprint(d)],
        deleted=sorted(gone),
    )


def sync(
    store: "VectorStore | Any",
    tables: Iterable[str] | str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    seen: Mapping[str, str] | None = None,
) -> Changes:
    """Make a vector store hold what the shop holds, and return what that took.

    Only new and changed documents are given to the store, so nothing else is embedded again. What the store
    holds is asked of a `DenseIndex` or an InMemoryVectorStore itself; for another store give `seen`, the
    `snapshot` from the last time, and one that ignores ids it does not have. What may no longer be seen goes
    first: deleted rows and old versions. If it is interrupted, running it again finishes it.
    """
    changes = changed_since(_held(store) if seen is None else seen, tables, path)
    # A DenseIndex keeps the vector of a text that stays, so such a document needs no model and comes first;
    # of the others the old version goes, lest it be seen while the model is away.
    held = getattr(store, "documents", None)
    known = held if isinstance(held, Mapping) else {}
    same = {d.id for d in changes.updated if d.id in known and known[d.id].page_content == d.page_content}
    if same:
        store.add_documents([document for document in changes.updated if document.id in same])
    if gone := changes.deleted + [d.id for d in changes.updated if d.id not in same]:
        store.delete(gone)
    fresh = [document for document in changes.added + changes.updated if document.id not in same]
    if fresh:
        store.add_documents(fresh, ids=[document.id for document in fresh])
    return changes


def _held(store: Any) -> dict[str, str]:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    if isinstance(store, InMemoryVectorStore):
        kept = store.store.items()
        return snapshot(Document(id=id, page_content=it["text"], metadata=it["metadata"]) for id, it in kept)
    if isinstance(getattr(store, "documents", None), Mapping):
        return snapshot(store.documents.values())
    raise TypeError(
        f"{type(store).__name__} does not say which documents it holds. Keep seen = snapshot(documents) when "
        "you fill it, and give it here: sync(store, seen=seen)."
    )


def _chosen(tables: Iterable[str] | str | None) -> list[str]:
    chosen = (
        [tables] if isinstance(tables, str) else list(dict.fromkeys(TABLES if tables is None else tables))
    )
    for table in chosen:
        if table not in TABLES:
            raise ValueError(f"No documents are made of {table!r}, only of {', '.join(TABLES)}.")
    return chosen


def _table_of(id: str) -> str:
    table = f"{id.partition(':')[0]}s"
    if table not in TABLES or ":" not in id:
        raise KeyError(f"{id!r} is no document's id; one looks like product:118 or article:returns-policy.")
    return table


def _documents(table: str, cells: dict[str, Any]) -> list["Document"]:
    """Return the document of a row, or its parts where the text is long."""
    from langchain_core.documents import Document

    head = _head(table, cells)
    id = f"{table.removesuffix('s')}:{cells['slug'] if table == 'articles' else cells['id']}"
    metadata = {"table": table, "audience": "staff" if table == "tickets" else "public"}
    metadata |= {name: value for name, value in cells.items() if name not in _IN_TEXT[table]}
    body = cells["description" if table == "products" else "body"]
    pieces = parts(head, body)
    if len(pieces) == 1:
        return [Document(id=id, page_content=pieces[0].text, metadata=metadata)]
    return [
        Document(
            id=f"{id}#{number}",
            page_content=piece.text,
            metadata=metadata | {"heading": piece.heading, "part": number, "parts": len(pieces)},
        )
        for number, piece in enumerate(pieces, start=1)
    ]


def _head(table: str, cells: dict[str, Any]) -> str:
    """Return the line above the text: what a reader must know to understand any part of it."""
    if table == "products":
        return f"{cells['name']} ({cells['sku']}), {cells['category'].lower()}"
    if table == "reviews":
        return f"{cells['product']}: {cells['title']}"
    if table == "tickets":
        about = ", ".join(filter(None, (cells["product"], cells["error_code"])))
        return f"{cells['subject']} ({about})" if about else cells["subject"]
    return cells["title"]


def _fingerprint(document: "Document") -> str:
    told = json.dumps([document.page_content, document.metadata], sort_keys=True, default=str)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]
