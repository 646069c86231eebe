"""The probing half of exercise 01: what is called and run. Nothing here knows what is right."""

from collections.abc import Mapping
from typing import Any

from course_utils.teaching.probe import called, plain, takes_function, takes_text

PATIENCE = 5.0  # seconds a query may take: generous, a laptop in a classroom is busy


@takes_function
def limit_guard(add_limit: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call add_limit on each list of arguments."""
    return {"calls": [called(add_limit, *case["args"]) for case in inputs["cases"]]}


@takes_function
def cte_guard(guard: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call guard on each query."""
    return {"calls": [called(guard, case["sql"]) for case in inputs["cases"]]}


@takes_text
def customers_per_city(reply: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Take the SQL out of the reply and run it on each shop of `inputs["shops"]`, name -> path."""
    from course_utils.retrieval.sql_extract import extract_sql

    taken = called(extract_sql, reply)
    sql = taken.get("returned")
    if not isinstance(sql, str):
        return {"sql": "", "results": {}, "extract": taken.get("raised")}
    results = {name: run_on(path, sql, inputs["max_rows"]) for name, path in inputs["shops"].items()}
    return {"sql": sql, "results": results}


@takes_function
def repair_loop(ask: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Play each scripted conversation and record the prompts and the SQL that was run."""
    return {"calls": [_played(ask, case) for case in inputs["cases"]]}


@takes_function
def revenue_tool(revenue: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Call revenue on each city and month with a database that records what it is asked."""
    from course_utils.retrieval.sql_guard import SafeDatabase

    calls = []
    for case in inputs["cases"]:
        with SafeDatabase(
            inputs["shops"][case["shop"]], max_rows=inputs["max_rows"], timeout_s=PATIENCE
        ) as real:
            db = Recorder(real)
            calls.append({**called(revenue, case["city"], case["month"], db), "ran": db.ran})
    return {"calls": calls}


def run_on(path: str, sql: str, max_rows: int) -> dict[str, Any]:
    """Run one query on a published shop: {"columns", "rows", "truncated"} or {"refused", "hint"}."""
    from course_utils.retrieval.sql_guard import QueryFailed, SafeDatabase, UnsafeSQL

    try:
        with SafeDatabase(path, max_rows=max_rows, timeout_s=PATIENCE) as db:
            rows = db.run(sql)
    except (UnsafeSQL, QueryFailed) as error:
        return {"refused": str(error.reason), "hint": str(error.hint or "")}
    return plain({"columns": list(rows.columns), "rows": list(rows.rows), "truncated": bool(rows.truncated)})


class Recorder:
    """A SafeDatabase that remembers each query, its parameters, and whether rows were cut off."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.ran: list[dict[str, Any]] = []

    def run(self, sql: str, params: Any = None) -> Any:
        """Run one query; see SafeDatabase.run."""
        entry = {"sql": plain(sql), "params": plain(params), "truncated": False}
        self.ran.append(entry)
        rows = self._db.run(sql, params)
        entry["truncated"] = bool(rows.truncated)
        return rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


def _played(ask: Any, case: Mapping[str, Any]) -> dict[str, Any]:
    prompts: list[Any] = []
    ran: list[Any] = []
    stop_at = len(case["replies"]) + 20  # a loop without an end is stopped, and seen as too many calls

    def llm(prompt: Any) -> str:
        prompts.append(plain(prompt))
        if len(prompts) > stop_at:
            raise SystemExit("the model was called without an end")
        return case["replies"][min(len(prompts), len(case["replies"])) - 1]

    def run(sql: Any) -> list[list[Any]]:
        ran.append(plain(sql))
        if len(ran) > stop_at:
            raise SystemExit("run was called without an end")
        outcome = case["outcomes"].get(sql.strip() if isinstance(sql, str) else "")
        if not isinstance(outcome, list):
            raise ValueError(outcome or "no such query: pass run the SQL that the model returned")
        return outcome

    outcome = called(ask, case["question"], llm, run, **case["options"])
    return {**outcome, "prompts": prompts, "ran": ran}
