"""The published shop as a property graph in one ladybug file, built on first need.

Only the published database is read, so what no model may see cannot be in the graph. Nodes carry the columns
of their table; an edge stands for a foreign key or a row of a linking table, its arrow as its name reads.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from course_utils import places, shop

from .engines import engine


class Node(NamedTuple):
    """A kind of node: the SQLite table it comes from, and its columns with the graph's types."""

    label: str
    table: str
    columns: dict[str, str]


class Edge(NamedTuple):
    """A kind of edge: from and to which kind of node, its properties, and the SELECT that lists it.

    The SELECT gives the id it leads from, the id it leads to, then the properties. `means` says what the
    arrow says, for people and for models.
    """

    name: str
    source: str
    target: str
    properties: dict[str, str]
    select: str
    means: str


_TEXT, _WHOLE, _REAL = "STRING", "INT64", "DOUBLE"


def _columns(texts: str, **others: str) -> dict[str, str]:
    return {"id": _WHOLE, **dict.fromkeys(texts.split(), _TEXT), **others}


NODES = (
    Node("Customer", "customers", _columns("name city region tier joined_on")),
    Node("Product", "products", _columns("sku name status launched_on description", price=_REAL)),
    Node("Category", "categories", _columns("name")),
    Node("Supplier", "suppliers", _columns("name city")),
    Node("SalesOrder", "orders", _columns("ordered_on status", amount=_REAL)),
    Node("Refund", "refunds", _columns("reason refunded_on", amount=_REAL)),
    Node("Ticket", "tickets", _columns("subject error_code status created_on")),
    Node("Staff", "staff", _columns("name role city joined_on")),
    Node("Team", "teams", _columns("name city remit")),
)
_LINE = {"quantity": _WHOLE, "unit_price": _REAL}
EDGES = (
    Edge(
        "BOUGHT",
        "Customer",
        "Product",
        {**_LINE, "order_id": _WHOLE, "ordered_on": _TEXT, "status": _TEXT},
        "SELECT o.customer_id, i.product_id, i.qty, i.unit_price, o.id, o.ordered_on, o.status "
        "FROM order_items i JOIN orders o ON o.id = i.order_id",
        "one edge for each line of an order; status is the order's, and only 'paid' is a sale",
    ),
    Edge(
        "PLACED",
        "Customer",
        "SalesOrder",
        {},
        "SELECT customer_id, id FROM orders",
        "the customer placed the order",
    ),
    Edge(
        "CONTAINS",
        "SalesOrder",
        "Product",
        _LINE,
        "SELECT order_id, product_id, qty, unit_price FROM order_items",
        "a line of the order",
    ),
    Edge(
        "REFUND_OF",
        "Refund",
        "SalesOrder",
        {},
        "SELECT id, order_id FROM refunds",
        "money that went back for an order",
    ),
    Edge(
        "REVIEWED",
        "Customer",
        "Product",
        {"score": _WHOLE, "title": _TEXT, "created_on": _TEXT},
        "SELECT customer_id, product_id, score, title, created_on FROM reviews",
        "one edge for each review; score 1 is worst, 5 is best",
    ),
    Edge(
        "OPENED",
        "Customer",
        "Ticket",
        {},
        "SELECT customer_id, id FROM tickets",
        "the customer wrote the ticket",
    ),
    Edge(
        "ABOUT",
        "Ticket",
        "Product",
        {},
        "SELECT id, product_id FROM tickets WHERE product_id IS NOT NULL",
        "what the ticket is about",
    ),
    Edge(
        "RELATED",
        "Product",
        "Product",
        {"kind": _TEXT},
        "SELECT product_id, related_id, kind FROM product_links",
        "kind 'replaces': from the new product to the old one; 'accessory': from a product to its extra; "
        "'compatible': the two work together, stored in one direction",
    ),
    Edge(
        "IN_CATEGORY", "Product", "Category", {}, "SELECT id, category_id FROM products", "where it is listed"
    ),
    Edge(
        "UNDER",
        "Category",
        "Category",
        {},
        "SELECT id, parent_id FROM categories WHERE parent_id IS NOT NULL",
        "from a category to the one above it",
    ),
    Edge("SUPPLIES", "Supplier", "Product", {}, "SELECT supplier_id, id FROM products", "who supplies it"),
    Edge(
        "REFERRED",
        "Customer",
        "Customer",
        {},
        "SELECT referred_by, id FROM customers WHERE referred_by IS NOT NULL",
        "from the customer who brought someone in to the new one",
    ),
    Edge("MEMBER_OF", "Staff", "Team", {}, "SELECT id, team_id FROM staff", "the team of a person"),
    Edge(
        "REPORTS_TO",
        "Staff",
        "Staff",
        {},
        "SELECT id, manager_id FROM staff WHERE manager_id IS NOT NULL",
        "from a person to the boss",
    ),
    Edge(
        "WORKS_WITH",
        "Staff",
        "Staff",
        {"topic": _TEXT},
        "SELECT staff_id, works_with, topic FROM team_links",
        "means the same from both ends, but each pair is stored once: match it without an arrow",
    ),
)


def shop_graph_path() -> Path:
    """Return the file of the shop's graph, built first where it is missing or the shop has changed.

    It lies in the user's cache folder, named after the rows it holds; two notebooks may ask at once, one of
    them builds and the other waits. Raises EngineMissing without ladybug.
    """
    from filelock import FileLock

    engine("ladybug")
    source = shop.published_path()
    folder = places.cache() / "graphs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"shop-{shop.data_hash(source)[:16]}-{_shape()}.lbug"
    if not path.exists():
        with FileLock(folder / "building.lock"):
            if not path.exists():
                build_graph(source, path)
    return path


def build_graph(source: str | os.PathLike[str], to: str | os.PathLike[str]) -> Path:
    """Build the graph of a published shop in the new file `to`, and return its path.

    It is built beside `to` and put in its place when it is whole. Every count is held against the source:
    raises ValueError where an edge leads to a node that is not there. FileExistsError where `to` exists.
    """
    lb = engine("ladybug")
    to = Path(to)
    if to.exists():
        raise FileExistsError(f"{to} exists already. Choose another name, or delete that graph first.")
    part = to.with_name(f".{to.name}-{uuid4().hex[:8]}.part")
    try:
        with closing(shop.read_only(source)) as rows:
            database = lb.Database(str(part), buffer_pool_size=2**29)
            connection = lb.Connection(database)
            try:
                for node in NODES:
                    _load_nodes(connection, rows, node)
                for edge in EDGES:
                    _load_edges(connection, rows, edge)
            finally:
                connection.close()
                database.close()
        part.replace(to)
    finally:
        for left in to.parent.glob(f"{part.name}*"):
            left.unlink(missing_ok=True)
    return to


def _load_nodes(connection: object, rows: sqlite3.Connection, node: Node) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in node.columns.items())
    connection.execute(f"CREATE NODE TABLE `{node.label}` ({columns}, PRIMARY KEY (id))")
    _copy(connection, rows, node.label, f"SELECT {', '.join(node.columns)} FROM {node.table}")


def _load_edges(connection: object, rows: sqlite3.Connection, edge: Edge) -> None:
    columns = "".join(f", {name} {kind}" for name, kind in edge.properties.items())
    connection.execute(f"CREATE REL TABLE `{edge.name}` (FROM `{edge.source}` TO `{edge.target}`{columns})")
    count = _copy(connection, rows, edge.name, edge.select)
    # Matched from both of its ends: an edge to nowhere would be missing in one of the two directions.
    for pattern in (f"(a)-[r:`{edge.name}`]->(b)", f"(b)<-[r:`{edge.name}`]-(a)"):
        found = connection.execute(f"MATCH {pattern} RETURN count(*)").get_next()[0]
        if found != count:
            raise ValueError(f"{edge.name}: {count} rows in the shop, {found} edges in the graph.")


def _copy(connection: object, rows: sqlite3.Connection, table: str, select: str) -> int:
    import pandas

    frame = pandas.read_sql(select, rows)
    connection.execute(f"COPY `{table}` FROM $rows", {"rows": frame})
    return len(frame)


def _shape() -> str:
    """Return a short hash of what is built from the rows: a new kind of edge makes a new file."""
    import hashlib

    return hashlib.sha256(repr((NODES, EDGES)).encode()).hexdigest()[:8]
