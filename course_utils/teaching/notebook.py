"""What only a notebook needs: a kind word for a check run too early, and reading a solution's cells."""

import ast
import json
import sys
from typing import Any

from course_utils import places

_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"


def shell() -> Any | None:
    """Return the running IPython shell, or None; IPython is never imported for this."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this code, so that rich output is shown."""
    return getattr(shell(), "kernel", None) is not None


def explain_missing_names() -> None:
    """Let `tasks.sql.limit_guard.check(add_limit)` say which cell to run first if add_limit is unknown.

    Python looks the name up before the check is called, so the check line itself is rewritten to look
    it up inside (`check_named`). No other line is touched: a NameError anywhere else is IPython's own,
    and a Run All goes on after a check that came too early.
    """
    running = shell()
    if running is None:
        return
    transformers = running.ast_transformers
    if not any(type(one).__name__ == CheckLines.__name__ for one in transformers):
        transformers.append(CheckLines())


class CheckLines(ast.NodeTransformer):
    """Turn `….tasks.<group>.<task>.check(name)` into `….check_named("name", lambda: name)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (_is_check(node.func) and len(node.args) == 1 and not node.keywords):
            return node
        (argument,) = node.args
        if not isinstance(argument, ast.Name):
            return node
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        lookup = ast.Lambda(args=nothing, body=argument)
        function = ast.Attribute(value=node.func.value, attr="check_named", ctx=ast.Load())
        changed = ast.Call(func=function, args=[ast.Constant(argument.id), lookup], keywords=[])
        return ast.fix_missing_locations(ast.copy_location(changed, node))


def _is_check(function: ast.expr) -> bool:
    names: list[str] = []
    while isinstance(function, ast.Attribute):
        names.insert(0, function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return False
    names.insert(0, function.id)
    if len(names) < 4 or names[-4] != "tasks" or names[-1] != "check":
        return False
    from course_utils.teaching import tasks

    return tasks.find(names[-3], names[-2]) is not None


def solution_cells(name: str, task_id: str) -> list[str]:
    """Return the code cells of `solutions/<name>/<name>.ipynb` that solve `task_id`, markers removed.

    Empty where this copy has no such notebook, or the notebook holds no solution of that task.
    """
    try:
        path = places.root() / "solutions" / name / f"{name}.ipynb"
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if _solves(cell, task_id)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [without_markers(source) for source in sources if _BEGIN in source]


def _solves(cell: dict[str, Any], task_id: str) -> bool:
    about = cell.get("metadata", {}).get("course", {})
    return cell.get("cell_type") == "code" and about.get("task") == task_id


def without_markers(source: str) -> str:
    """Return a cell's code without the lines that fence its solution."""
    lines = [line for line in source.splitlines() if line.strip() not in (_BEGIN, _END)]
    return "\n".join(lines).strip()
