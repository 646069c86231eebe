"""Relationship questions by graph query: the shop's graph behind a guard, and a model that writes Cypher.

Four layers, the strongest first: a *published* graph holds only what may be read (`graph_build`); it is
opened read-only in a process of its own that is killed at its deadline (`graph_child`); the engine's plan is
held against a list of allowed operators; the words are looked at first, to say what is wrong
(`cypher_words`).

    graph = SafeGraph()
    graph.run("MATCH (c:Customer)-[:REFERRED]->(d:Customer) RETURN c.name, d.name")
"""

import logging
import re
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from .child import Child, ChildFailed
from .cypher_words import MAX_STEPS, UnsafeCypher, check_words
from .engines import engine
from .graph_retriever import CYPHER_PROMPT, GraphResult, GraphRetriever
from .graph_schema import graph_text
from .sql_errors import QueryFailed, nearest
from .sql_rows import Rows

__all__ = [
    "CYPHER_PROMPT",
    "DIALECT",
    "Graph",
    "GraphResult",
    "GraphRetriever",
    "SafeGraph",
    "UnsafeCypher",
    "connect",
]

logger = logging.getLogger("course_utils.graph")
MEGABYTES = 512
# What is said differently in the two engines. ladybug's column was run, Neo4j's is from its manual.
DIALECT = (
    {"what": "tables", "ladybug": "unknown: an error", "Neo4j": "unknown: no rows"},
    {"what": "the edges of a walk", "ladybug": "rels(p)", "Neo4j": "relationships(p)"},
    {"what": "the label of a node", "ladybug": "label(n), a text", "Neo4j": "labels(n), a list"},
    {"what": "the type of an edge", "ladybug": "label(r)", "Neo4j": "type(r)"},
    {"what": "a reserved word as a label", "ladybug": "(o:`Order`)", "Neo4j": "(o:Order)"},
    {"what": "shortest walk", "ladybug": "-[:X* SHORTEST 1..5]->", "Neo4j": "shortestPath(…)"},
    {"what": "may a walk use an edge twice", "ladybug": "yes, unless -[:X* TRAIL 1..5]->", "Neo4j": "no"},
    {"what": "*1.. without an end", "ladybug": "30 steps at most", "Neo4j": "no limit"},
    {"what": "read a file", "ladybug": "LOAD FROM 'x.csv'", "Neo4j": "LOAD CSV FROM 'file:///x.csv'"},
    {"what": "a date", "ladybug": "date('2026-03-01')", "Neo4j": "date('2026-03-01')"},
)  # fmt: skip


class Graph(Protocol):
    """What a GraphRetriever needs of a database: a schema as text, and rows for one reading statement."""

    @property
    def schema_shown(self) -> str:
        """The nodes and edges, as a model is told of them."""

    def run(self, cypher: str, params: Mapping[str, Any] | None = None) -> Rows:
        """Return the rows of one reading statement; raises UnsafeCypher or QueryFailed."""


class SafeGraph:
    """A graph in a ladybug file on which model-written Cypher can run; default: the published shop.

    `max_rows` and `max_bytes` cap what one query returns, `seconds` how long it runs before its process is
    killed. `log` is called after each run with a dict of query, outcome, milliseconds and rows (how many,
    never which); without it the same goes to the logger `course_utils.graph`. Several notebooks may have one
    file open. Usable as a context manager. Raises FileNotFoundError where there is no file, EngineMissing
    without ladybug.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        max_rows: int = 50,
        seconds: float = 2.0,
        max_bytes: int = 200_000,
        log: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        if max_rows < 1 or max_bytes < 1 or not seconds > 0:
            raise ValueError("max_rows, max_bytes and seconds must be above zero.")
        engine("ladybug")
        if path is None:
            from .graph_build import shop_graph_path

            path = shop_graph_path()
        self.path = Path(path).absolute()
        if not self.path.is_file():
            raise FileNotFoundError(
                f"There is no graph {self.path}. Make one with graph_build.build_graph(published, path)."
            )
        self.max_rows, self.max_bytes, self.seconds, self.log = max_rows, max_bytes, seconds, log
        serve = "course_utils.retrieval.graph_child:serve"
        self._child = Child(serve, str(self.path), MEGABYTES, seconds=seconds, megabytes=2 * MEGABYTES)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """{"nodes": {label: {property: kind}}, "edges": [{"name", "from", "to", "properties"}], "values"}."""
        return self._child.call({"schema": True}, seconds=60)

    @property
    def schema_shown(self) -> str:
        """The nodes and edges as text, as a model is told of them."""
        return graph_text(self.schema)

    def run(self, cypher: str, params: Mapping[str, Any] | None = None) -> Rows:
        """Run one reading statement exactly as it is written and return its rows.

        `params` are values for $name. Rows beyond `max_rows` or `max_bytes` are left out, and
        `Rows.truncated` says so. Nodes, edges and walks come as dicts and lists of their properties.
        Raises UnsafeCypher for what may not run and QueryFailed for what cannot be answered.
        """
        started, outcome, count = time.perf_counter(), "failed", 0
        try:
            rows = self._run(check_words(cypher), dict(params or {}), started)
            outcome, count = "cut" if rows.truncated else "ok", len(rows)
            return rows
        except (UnsafeCypher, QueryFailed) as error:
            outcome = f"{'refused' if isinstance(error, UnsafeCypher) else 'failed'}: {error.reason}"
            raise
        finally:
            elapsed = (time.perf_counter() - started) * 1000
            entry = {"query": str(cypher), "outcome": outcome, "milliseconds": elapsed, "rows": count}
            if self.log:
                self.log(entry)
            else:
                logger.info("query=%r outcome=%r rows=%d ms=%.1f", str(cypher), outcome, count, elapsed)

    def _run(self, cypher: str, params: dict[str, Any], started: float) -> Rows:
        limits = {"max_rows": self.max_rows, "max_bytes": self.max_bytes}
        try:
            reply = self._child.call({"query": cypher, "params": params, **limits})
        except ChildFailed as error:
            raise _stopped(error, self.seconds) from error
        except TypeError as error:  # json: a parameter of another kind
            raise QueryFailed(
                f"a parameter cannot be sent: {error}", "Give texts, numbers and lists."
            ) from error
        if "refused" in reply:
            raise UnsafeCypher(reply["refused"], "Write one statement that only matches and returns.")
        if "failed" in reply:
            raise self._explained(reply["failed"])
        rows = tuple(tuple(row) for row in reply["rows"])
        elapsed = (time.perf_counter() - started) * 1000
        return Rows(tuple(reply["columns"]), rows, reply["truncated"], elapsed)

    def _explained(self, message: str) -> UnsafeCypher | QueryFailed:
        """Return what the engine said, with what to do about it."""
        first = message.split("\n")[0]
        said = re.sub(r"^\w+ exception: ", "", first)
        nodes, edges = self.schema["nodes"], self.schema["edges"]
        if "read-only database" in said:
            return UnsafeCypher("not a read: the graph is opened read-only", "Write MATCH … RETURN ….")
        if "memory" in said.lower():
            return QueryFailed("too large: it needs more memory than a query may have", _SMALLER)
        names = [*nodes, *(edge["name"] for edge in edges)]
        if found := re.search(r"Table (\S+) does not exist", said):
            near = nearest(found[1], names)
            return QueryFailed(
                f"no such label: {found[1]}",
                f"Nearest: {near[0]}." if near else f"There are: {_some(names)}.",
            )
        if found := re.search(r"Cannot find property (\S+) for (\S+?)\.?$", said):
            known = {p for kinds in [*nodes.values(), *(e["properties"] for e in edges)] for p in kinds}
            near = nearest(found[1], sorted(known))
            hint = f"Nearest: {near[0]}." if near else f"Properties: {_some(sorted(known))}."
            return QueryFailed(f"no such property: {found[2]}.{found[1]}", hint)
        if "Parser exception" in first:
            place = re.search(r"offset: (\d+)", first)
            hint = (
                "Write MATCH, WHERE, RETURN, ORDER BY, LIMIT; RETURN comes last and once. An alias needs AS."
            )
            return QueryFailed(
                f"syntax error{f' at character {place[1]}' if place else ''}: {_short(said)}", hint
            )
        return QueryFailed(_short(said), _hint(said))

    def close(self) -> None:
        """End the process that runs the queries; the next query starts another."""
        self._child.close()

    def __enter__(self) -> "SafeGraph":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


_SMALLER = "Match fewer nodes first (WITH … LIMIT), or walk fewer steps."


def _stopped(error: ChildFailed, seconds: float) -> QueryFailed:
    if error.kind == "late":
        return QueryFailed(f"too slow: it took more than {seconds:g} s and was stopped", _SMALLER)
    if error.kind == "memory":
        return QueryFailed("too large: it took more memory than a query may have, and was stopped", _SMALLER)
    if error.kind == "died":
        return QueryFailed("the engine ended while it ran this query; the graph is unharmed", _SMALLER)
    return QueryFailed(f"the engine could not run it: {error}", "Write it in another way.")


def _hint(said: str) -> str:
    if "upper bound" in said.lower() or "Recursive" in said:
        return f"Give the most steps, at most {MAX_STEPS}."
    if "not in scope" in said:
        return "After WITH only what it lists is known: add the name to WITH."
    if "function" in said.lower():
        return "Use count, collect, sum, avg, min, max, size, length, label, lower, and the operators."
    return "Compare it with the nodes and edges of the schema."


def _some(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:159] + "…"


def connect(**limits: Any) -> Graph:
    """Return the graph that the settings name: a Neo4j server where NEO4J_URI is set, else the shop's file.

    NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE go with it; all may stand in the environment or in a
    `.env`. `limits` are those of the class: max_rows, seconds, max_bytes, log.
    """
    from course_utils.models.settings import find

    address = find("NEO4J_URI")
    if address is None:
        return SafeGraph(**limits)
    from .graph_neo4j import Neo4jGraph

    named = {name: find(f"NEO4J_{name.upper()}") for name in ("username", "password", "database")}
    return Neo4jGraph(address.value, **{n: s.value for n, s in named.items() if s}, **limits)
