"""The process in which a graph query runs: it plans it, holds the plan against a list, runs it and counts.

`graph.SafeGraph` starts it and kills it at its deadline. It knows nothing of the course but this file.
"""

import json
import re
import warnings
from collections.abc import Callable
from typing import Any

# What a plan may consist of. Anything else is refused, also what a later version of the engine may bring.
OPERATORS = frozenset([
    "ACCUMULATE",
    "AGGREGATE",
    "AGGREGATE_FINALIZE",
    "AGGREGATE_SCAN",
    "COUNT_REL_TABLE",
    "CROSS_PRODUCT",
    "DUMMY_SINK",
    "EMPTY_RESULT",
    "EXPRESSIONS_SCAN",
    "FILTER",
    "FLATTEN",
    "HASH_JOIN_BUILD",
    "HASH_JOIN_PROBE",
    "INTERSECT",
    "INTERSECT_BUILD",
    "LIMIT",
    "MULTIPLICITY_REDUCER",
    "NODE_LABEL_FILTER",
    "ORDER_BY",
    "ORDER_BY_MERGE",
    "ORDER_BY_SCAN",
    "PATH_PROPERTY_PROBE",
    "PRIMARY_KEY_SCAN_NODE_TABLE",
    "PROJECTION",
    "QUERY_PRIMARY_KEY_LOOKUP",
    "RECURSIVE_EXTEND",
    "RESULT_COLLECTOR",
    "SCAN_NODE_TABLE",
    "SCAN_REL_TABLE",
    "SEMI_MASKER",
    "SKIP",
    "TABLE_FUNCTION_CALL",
    "TOP_K",
    "TOP_K_SCAN",
    "UNION_ALL_SCAN",
    "UNWIND",
    "UNWIND_DEDUP",
])
FUNCTIONS = frozenset({"READ_FTABLE"})  # the engine's own rows between two operators
_OPERATOR = re.compile(r"([A-Z][A-Z_0-9]*)\[\d+\]")
_FUNCTION = re.compile(r"Function(?:Name)?:\s*([^\s│]+)")
_INTERNAL = ("_ID", "_SRC", "_DST", "_id", "_src", "_dst")
LISTED_VALUES = 6  # a property with at most so many different texts has them named in the schema


def serve(path: str, megabytes: int) -> Callable[[dict], Any]:
    """Open the graph read-only and return what answers a request: {"query": …} or {"schema": true}."""
    import ladybug

    # prepare() is deprecated in favour of execute(), and is the only way to learn that it is one statement.
    warnings.simplefilter("ignore", DeprecationWarning)
    database = ladybug.Database(
        path, read_only=True, buffer_pool_size=megabytes * 2**20 // 2, max_num_threads=2
    )
    connection = ladybug.Connection(database)

    def answer(request: dict) -> Any:
        if "schema" in request:
            return schema(connection)
        return run(connection, **request)

    return answer


def run(connection: Any, query: str, params: dict, max_rows: int, max_bytes: int) -> dict[str, Any]:
    """Return {"columns", "rows", "truncated"}, or {"refused": reason} or {"failed": the engine's message}."""
    prepared = connection.prepare(query, params)
    if not prepared.is_success():
        message = prepared.get_error_message()
        several = re.search(
            r"(multiple|more than one) (statements|quer)|prepare.{0,20}multiple", message, re.I
        )
        return {"refused": "multiple statements"} if several else {"failed": message}
    try:
        plan = connection.execute(f"EXPLAIN {query}", params)
        if isinstance(plan, list):
            return {"refused": "multiple statements"}
        if reason := refused(plan.get_next()[0]):
            return {"refused": reason}
        result = connection.execute(query, params)
        if isinstance(result, list):
            return {"refused": "multiple statements"}
        return read(result, max_rows, max_bytes)
    except RuntimeError as error:
        return {"failed": str(error)}


def refused(plan: str) -> str | None:
    """Return why a plan, as EXPLAIN draws it, may not run; None if it may.

    >>> refused("SCAN_NODE_TABLE[0] COPY_TO[1]")
    'not a read of the graph: COPY_TO'
    """
    operators, functions = set(_OPERATOR.findall(plan)), set(_FUNCTION.findall(plan))
    if not operators:
        return "it has no plan"
    if other := sorted(operators - OPERATORS):
        return f"not a read of the graph: {', '.join(other)}"
    if other := sorted(functions - FUNCTIONS):
        return f"not a read of the graph: {', '.join(other)}"
    return None


def read(result: Any, max_rows: int, max_bytes: int) -> dict[str, Any]:
    """Return the rows up to the limits; the first row beyond them only tells that there are more."""
    rows, size = [], 0
    truncated = False
    while result.has_next():
        row = [plain(value) for value in result.get_next()]
        size += len(json.dumps(row, ensure_ascii=False).encode())
        if len(rows) == max_rows or size > max_bytes:
            truncated = True
            break
        rows.append(row)
    return {"columns": result.get_column_names(), "rows": rows, "truncated": truncated}


def plain(value: Any) -> Any:
    """Return a value as plain JSON: a node or an edge as its properties, without the engine's own ids."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        kept = {key: plain(one) for key, one in value.items() if key not in _INTERNAL and one is not None}
        return {key.strip("_").lower() if key.startswith("_") else key: one for key, one in kept.items()}
    if isinstance(value, list | tuple | set):
        return [plain(one) for one in value]
    return str(value)


def schema(connection: Any) -> dict[str, Any]:
    """Return {"nodes": {label: {property: kind}}, "edges": […], "values": {"label.property": […]}}."""
    nodes, edges, values = {}, [], {}
    tables = list(connection.execute("CALL show_tables() RETURN name, type"))
    for name, kind in sorted(tables):
        properties = {
            row[0]: row[1] for row in connection.execute(f"CALL table_info('{name}') RETURN name, type")
        }
        if kind == "NODE":
            nodes[name] = properties
            pattern = f"(x:`{name}`)"
        else:
            ends = list(connection.execute(f"CALL show_connection('{name}') RETURN *"))
            edges.append({"name": name, "from": ends[0][0], "to": ends[0][1], "properties": properties})
            pattern = f"()-[x:`{name}`]->()"
        for column, type_ in properties.items():
            if type_ != "STRING":
                continue
            some = f"WITH DISTINCT x.`{column}` AS v LIMIT {LISTED_VALUES + 1}"
            found = connection.execute(f"MATCH {pattern} {some} RETURN v ORDER BY v")
            texts = [row[0] for row in found]
            if 1 < len(texts) <= LISTED_VALUES and all(t is None or len(t) <= 30 for t in texts):
                values[f"{name}.{column}"] = texts
    return {"nodes": nodes, "edges": edges, "values": values}
