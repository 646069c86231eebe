"""A model writes a query, it fails, and the model reads why: the loop that all query languages share."""

import time
from collections.abc import Callable
from logging import Logger

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from .query_result import Attempt
from .sql_rows import Rows

NO_QUERY = "NO QUERY"  # how a model says that no query on this data can answer
NO_QUERY_SAID = "the model wrote no query"
NOTHING = Rows((), (), False, 0.0)
Tried = tuple[Attempt, Rows | None]


def write_until_it_runs(
    write: Callable[[list[BaseMessage]], str],
    attempt: Callable[[str], Tried],
    most: int,
    trail: list[Attempt],
    wanted: str = "SELECT statement",
) -> Rows:
    """Return the rows of the first reply that runs; without one, no rows, and the last of `trail` says why.

    `write` takes the messages about earlier failures (none at first) and returns the model's reply;
    `attempt` takes a reply and returns the Attempt and its rows, None in place of rows where something
    refused it. A failure goes back to the model as its own reply followed by the reason and the hint, at most
    `most` times. A reply that begins with NO QUERY ends it. Each attempt is added to `trail`, which is
    the caller's own, so that it is whole also where `write` raises.
    """
    repairs: list[BaseMessage] = []
    while len(trail) <= most:
        reply = write(repairs)
        if said := no_query(reply):
            trail.append(said)
            break
        tried, rows = attempt(reply)
        trail.append(tried)
        if rows is not None:
            return rows
        # Some APIs refuse an empty message.
        repairs = [*repairs, AIMessage(reply.strip() or "(empty)"), HumanMessage(feedback(trail, wanted))]
    return NOTHING


def no_query(reply: str) -> Attempt | None:
    """Return the Attempt of a model that says it sees no query, with its reason; None for other replies."""
    if not reply.lstrip().upper().startswith(NO_QUERY):
        return None
    reason = " ".join(reply.split())[len(NO_QUERY) :].strip(" :-.")
    return Attempt("", f"{NO_QUERY_SAID}: {reason or 'no reason given'}", None, reply)


def feedback(trail: list[Attempt], wanted: str = "SELECT statement") -> str:
    """Return what the model is told about its last attempt; the same failure is not news twice."""
    last, before = trail[-1], trail[:-1]
    if any((a.error, a.hint) == (last.error, last.hint) for a in before):
        same = " Your statement did not change." if any(a.query == last.query for a in before) else ""
        return f"That failed for the same reason as before.{same} Write a different statement that avoids it."
    hint = f"\nHint: {last.hint}" if last.hint else ""
    return f"That did not run. Reason: {last.error}{hint}\nReply with the corrected {wanted} alone."


def record(
    log: Logger, name: str, question: str, trail: list[Attempt], error: str | None, rows: Rows, started: float
) -> float:
    """Write one line about a question to `log` and return its milliseconds since `started`.

    The line has question, query (called `name`), outcome, number of rows, attempts and milliseconds, and
    nothing of what was read. `started` is a time.perf_counter().
    """
    elapsed = (time.perf_counter() - started) * 1000
    outcome = f"failed: {error}" if error else "rows" if len(rows) else "no rows"
    log.info(
        f"question=%r {name}=%r outcome=%r rows=%d attempts=%d ms=%.1f",
        question, trail[-1].query if trail else "", outcome, len(rows), len(trail), elapsed,
    )  # fmt: skip
    return elapsed
