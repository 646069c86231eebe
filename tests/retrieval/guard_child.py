"""Run statements through the guard in a process of its own and report, for each, what harm could be seen.

Reads {"path", "timeout_s", "cases": [[id, sql], …]} as JSON from the standard input; writes a line a case.
"""

import base64
import json
import sys
import time
from pathlib import Path

from course_utils.retrieval.sql_guard import QueryFailed, SafeDatabase, UnsafeSQL

SECRETS = ("CANARY", "canary-mail", "4242.5", "CREATE TABLE")


def peak_mb() -> float:
    """Return the most memory this process ever held, in MB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1_048_576 if sys.platform == "darwin" else 1024)


def attempt(db: SafeDatabase, sql: object) -> dict[str, object]:
    """Run one statement and return what it did."""
    before, started = peak_mb(), time.perf_counter()
    seen: dict[str, object] = {"reason": ""}
    try:
        rows = db.run(sql)
        text = repr((rows.columns, rows.rows))
        # a secret that the statement itself spells out is no secret read
        seen |= {"rows": len(rows), "bytes": len(text)}
        seen["secret"] = next((s for s in SECRETS if s in text and s not in str(sql)), "")
    except (UnsafeSQL, QueryFailed) as error:
        seen["reason"] = error.reason
    except BaseException as error:  # anything else is a fault of the guard
        seen["fault"] = repr(error)
    return seen | {"seconds": time.perf_counter() - started, "mb": peak_mb() - before}


def main() -> None:
    """Answer on the standard output, a line as soon as each case has run."""
    work = json.load(sys.stdin)
    path = Path(work["path"])
    content = path.read_bytes()
    with SafeDatabase(path, max_rows=1_000, timeout_s=work["timeout_s"], log=lambda entry: None) as db:
        for name, sql in work["cases"]:
            given = base64.b64decode(sql["base64"]) if isinstance(sql, dict) else sql
            seen = attempt(db, given)
            seen["changed"] = path.read_bytes() != content
            seen["files"] = sorted(file.name for file in path.parent.iterdir())
            print(json.dumps([name, seen]), flush=True)


if __name__ == "__main__":
    main()
