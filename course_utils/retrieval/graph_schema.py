"""What a model is told of a graph: nodes, edges with their direction, and the values of some properties."""

from collections.abc import Mapping
from typing import Any

from .graph_build import EDGES

MEANS: Mapping[str, str] = {edge.name: edge.means for edge in EDGES}
_KINDS = {"STRING": "text", "INT64": "whole number", "DOUBLE": "number"}


def graph_text(schema: Mapping[str, Any], means: Mapping[str, str] = MEANS) -> str:
    """Return the schema {"nodes", "edges", "values"} of a graph as text, for people and for models.

    `means` says of an edge's name what its arrow says; an edge that it does not name stands without.
    """
    values = schema["values"]
    lines = ["Nodes:"]
    for label, properties in schema["nodes"].items():
        lines.append(f"  (:{label} {{{_listed(label, properties, values)}}})")
    lines.append("Edges:")
    for edge in schema["edges"]:
        inside = _listed(edge["name"], edge["properties"], values)
        kind = f"[:{edge['name']} {{{inside}}}]" if inside else f"[:{edge['name']}]"
        about = f"  // {means[edge['name']]}" if edge["name"] in means else ""
        lines.append(f"  (:{edge['from']})-{kind}->(:{edge['to']}){about}")
    return "\n".join(lines)


def _listed(name: str, properties: Mapping[str, str], values: Mapping[str, Any]) -> str:
    parts = []
    for column, kind in properties.items():
        texts = values.get(f"{name}.{column}")
        some = "one of " + ", ".join(map(repr, texts)) if texts else _KINDS.get(kind, kind.lower())
        parts.append(f"{column}: {some}")
    return ", ".join(parts)
