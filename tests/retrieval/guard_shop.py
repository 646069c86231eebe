"""The shop that the guard's cases assume, published as they say, and the harm done to it by attacks."""

import base64
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from course_utils.retrieval.sql_guard import SafeDatabase, UnsafeSQL

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
CASES = TESTS / "cases"
ALLOW = json.loads((CASES / "sql_guard_allow.json").read_text(encoding="utf-8"))
ALL = json.loads((CASES / "sql_guard.json").read_text(encoding="utf-8"))


def make(path: Path, *scripts: Path) -> Path:
    """Make a SQLite file from SQL scripts."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;")  # thousands of commits, unsynced
    for script in scripts:
        db.executescript(script.read_text(encoding="utf-8-sig"))
    db.close()
    return path


def everything(path: Path) -> dict[str, list[str]]:
    """Return all tables and views of a file with all their columns."""
    db = sqlite3.connect(path)
    names = [
        row[1] for row in db.execute("PRAGMA table_list") if row[0] == "main" and row[1][:7] != "sqlite_"
    ]
    found = {name: [row[1] for row in db.execute(f'PRAGMA table_xinfo("{name}")')] for name in names}
    db.close()
    return found


def made(tmp_path, script, **options):
    """Return a SafeDatabase over everything that the script makes."""
    source = tmp_path / "source.db"
    with sqlite3.connect(source) as new:
        new.executescript(script)
    new.close()
    return SafeDatabase.publish(source, allow=everything(source), to=tmp_path / "published.db", **options)


def refused(run, sql, kind=UnsafeSQL):
    """Return the error of this kind that `run(sql)` raises."""
    import pytest

    with pytest.raises(kind) as caught:
        run(sql)
    return caught.value


def run_apart(path: Path, cases: dict[str, object], timeout_s: float, processes: int = 2) -> dict[str, dict]:
    """Run the cases in child processes; a case that killed its process gets {"killed": how}."""
    names = list(cases)
    waiting = [names[i::processes] for i in range(processes)]
    found: dict[str, dict] = {}
    while any(waiting):
        children = [(part, _start(path, part, cases, timeout_s)) for part in waiting if part]
        waiting = []
        for part, child in children:
            lines, _ = child.communicate(timeout=50)
            answered = [json.loads(line) for line in lines.splitlines()]
            found |= dict(answered)
            left = part[len(answered) :]
            if left:  # the next one killed the process: go on after it
                found[left[0]] = {"killed": child.returncode}
                waiting.append(left[1:])
    return found


def _start(path: Path, part: list[str], cases: dict[str, object], timeout_s: float) -> subprocess.Popen:
    ready = [
        [name, {"base64": base64.b64encode(sql).decode()} if isinstance(sql, bytes) else sql]
        for name, sql in ((name, cases[name]) for name in part)
    ]
    work = {"path": str(path), "timeout_s": timeout_s, "cases": ready}
    child = subprocess.Popen(
        [sys.executable, str(HERE / "guard_child.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=path.parent,
        env=os.environ | {"PYTHONPATH": str(TESTS.parent), "PYTHONUTF8": "1"},
    )
    # all of it now, so that the children work at the same time
    child.stdin.write(json.dumps(work))
    child.stdin.close()
    child.stdin = None
    return child
