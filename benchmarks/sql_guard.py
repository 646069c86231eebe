"""Measure the guard: good queries answered, attacks stopped, the cost of a run, the longest single step.

    python benchmarks/sql_guard.py            all of it, about half a minute
    python benchmarks/sql_guard.py --quick    without the attacks

The cases are those of tests/cases. An attack counts as stopped if no harm was seen: no changed or new file,
no secret read, no more than 1,000 rows, 300 kB, 1.5 s and 150 MB, and its process lived on.
"""

import argparse
import logging
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "retrieval")]

import guard_shop  # noqa: E402
import guard_statements  # noqa: E402

from course_utils.retrieval.sql_guard import SafeDatabase, check_sql  # noqa: E402
from course_utils.retrieval.sql_lock import LIMITS  # noqa: E402
from course_utils.shop.publish import file_uri, publish  # noqa: E402

GOOD = [case for case in guard_shop.ALL if case["expect"] == "allow"]
BAD = {case["id"]: case["sql"] for case in guard_shop.ALL if case["expect"] == "reject"}
WORDS = re.compile(r"\b(insert|update|delete|drop|alter|create|attach|pragma|replace)\b", re.I)


def by_words(sql: str) -> str:
    """Check a statement as the first lesson on SQL does: by a list of forbidden words."""
    text = sql.strip().rstrip(";")
    if ";" in text:
        raise ValueError("multiple statements")
    if not text.lower().startswith("select"):
        raise ValueError("only SELECT")
    if WORDS.search(text):
        raise ValueError("forbidden keyword")
    return text


def passes(check: Callable[[str], object], sql: object) -> bool:
    """Return whether the check lets the statement through."""
    try:
        check(sql)
    except Exception:
        return False
    return True


def microseconds(call: Callable[[], object], times: int = 15) -> float:
    """Return the shortest of several runs: other work on the machine only ever adds."""
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return best * 1e6


def answered(db: SafeDatabase, case: dict) -> bool:
    """Return whether a good case gives the rows that it should."""
    if not passes(lambda sql: check_sql(sql, db.tables), case["sql"]):
        return False
    rows = db.run(case["sql"], case.get("params"))
    got = [[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows]
    return bool(case.get("optional")) or got == case["expected_rows"]


def good(db: SafeDatabase, path: Path) -> None:
    """Print the share of good queries that give their rows."""
    plain = sqlite3.connect(file_uri(path, "ro"), uri=True)
    right = sum(answered(db, case) for case in GOOD)
    ours = sum(
        passes(db.run, sql) and list(db.run(sql)) == plain.execute(sql.rstrip("; ")).fetchall()
        for sql in guard_statements.READS
    )
    words = sum(passes(by_words, case["sql"]) for case in GOOD)
    of_ours = f"{ours}/{len(guard_statements.READS)} of our own"
    print(f"good queries answered    guard {right}/{len(GOOD)} cases, {of_ours}")
    print(f"                         words {words}/{len(GOOD)} cases")


def attacks(path: Path) -> None:
    """Print the share of attacks that did no harm."""
    for label, cases in (("cases", BAD), ("our own", guard_statements.ATTACKS)):
        seen = guard_shop.run_apart(path, cases, timeout_s=1.0, processes=1)
        harmed = [name for name, what in seen.items() if harm(what)]
        slowest = max(what.get("seconds", 0) for what in seen.values())
        most = max(what.get("mb", 0) for what in seen.values())
        print(
            f"attacks without harm     guard {len(seen) - len(harmed)}/{len(seen)} {label}; "
            f"slowest {slowest:.2f} s, most memory {most:.0f} MB {harmed or ''}"
        )
    through = sum(passes(by_words, sql) for sql in BAD.values())
    print(f"                         words let {through}/{len(BAD)} cases reach the database")


def harm(what: dict) -> bool:
    """Return whether harm was seen."""
    over = what.get("rows", 0) > 1_000 or what.get("bytes", 0) > 300_000
    over = over or what.get("seconds", 0) > 1.5 or what.get("mb", 0) > 150
    return bool(
        "killed" in what
        or "fault" in what
        or over
        or what.get("secret")
        or what["changed"]
        or len(what["files"]) > 1
    )


def cost(db: SafeDatabase, path: Path) -> None:
    """Print what a guarded run costs beside a plain one, a parse and the list of words."""
    import sqlglot

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    plain = sqlite3.connect(file_uri(path, "ro"), uri=True)
    times: dict[str, list[float]] = {
        "guarded run": [],
        "plain execute": [],
        "sqlglot.parse": [],
        "words + plain": [],
    }
    for case in GOOD:
        sql, params = case["sql"], case.get("params") or ()
        if not passes(lambda s: sqlglot.parse(s, read="sqlite"), sql):
            continue

        def words(sql: str = sql, params: object = params) -> None:
            passes(by_words, sql)
            plain.execute(sql, params).fetchmany(51)

        times["guarded run"].append(microseconds(lambda s=sql, p=params: db.run(s, p)))
        times["plain execute"].append(microseconds(lambda s=sql, p=params: plain.execute(s, p).fetchmany(51)))
        times["sqlglot.parse"].append(microseconds(lambda s=sql: sqlglot.parse(s, read="sqlite"), 5))
        times["words + plain"].append(microseconds(words))
    guarded = times.pop("guarded run")
    print(f"median guarded run       {statistics.median(guarded):.0f} µs on a kept connection")
    for name, others in times.items():
        ratio = statistics.median(a / b for a, b in zip(guarded, others, strict=True))
        print(f"  against {name:<15}  {ratio:.2f} x ({statistics.median(others):.0f} µs)")


def steps() -> None:
    """Print how long one call can take within the limits: nothing can stop SQLite inside it."""
    db = sqlite3.connect(":memory:")
    for limit, value in LIMITS.items():
        db.setlimit(limit, value)
    n = LIMITS[sqlite3.SQLITE_LIMIT_LENGTH] - 10
    text, pattern = "a" * n, LIMITS[sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH]
    numbers = "[" + "0," * (n // 2 - 2) + "0]"
    calls = {
        "LIKE": ("SELECT ? LIKE ?", (text, "%" + "a" * (pattern - 2) + "b")),
        "GLOB": ("SELECT ? GLOB ?", (text, "*" + "[a]" * ((pattern - 2) // 3) + "b")),
        "json_set": ("SELECT length(json_set(?, ?, 1))", (numbers, f"$[{n // 2 - 3}]")),
        "strftime": ("SELECT strftime(?, 'now')", ("%f" * (n // 6),)),
        "upper": ("SELECT length(upper(?))", (text,)),
    }
    taken = {
        name: microseconds(lambda c=call: db.execute(*c).fetchone(), 3) / 1000 for name, call in calls.items()
    }
    print("longest single calls     " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in taken.items()))


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the attacks")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        source = guard_shop.make(Path(folder) / "shop.db", guard_shop.CASES / "sql_guard_shop.sql")
        alone = Path(folder) / "alone"
        path = publish(source, alone / "published.db", guard_shop.ALLOW)
        print(f"SQLite {sqlite3.sqlite_version}, Python {sys.version.split()[0]}")
        with SafeDatabase(path, max_rows=1_000, log=lambda entry: None) as db:
            good(db, path)
            if not quick:
                attacks(path)
            cost(db, path)
        steps()


if __name__ == "__main__":
    main()
