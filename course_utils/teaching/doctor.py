"""Is this machine ready? One line a check, with the way out where it is not."""

import importlib.metadata
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from course_utils import places

DISTRIBUTION = "retrieval-course"
SQLITE_NEEDED = (3, 37, 0)


@dataclass(frozen=True)
class Finding:
    """The outcome of one check: `ok`, what was seen, and what to do where it is not ok."""

    check: str
    ok: bool
    seen: str
    way_out: str = ""

    def __str__(self) -> str:
        line = f"[{'OK' if self.ok else 'FAIL'}] {self.check}: {self.seen}"
        return line if self.ok else f"{line}\n       {self.way_out}"


def _python() -> Finding:
    seen = ".".join(map(str, sys.version_info[:3]))
    way_out = "Install Python 3.11 or newer and make a new virtual environment with it."
    return Finding("Python", sys.version_info >= (3, 11), seen, way_out)


def _sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> Finding:
    needed = ".".join(map(str, SQLITE_NEEDED))
    seen = ".".join(map(str, version))
    way_out = f"The shop needs SQLite {needed} or newer. A newer Python or the conda environment brings one."
    return Finding("SQLite", tuple(version) >= SQLITE_NEEDED, seen, way_out)


def pinned(requirements: list[str] | None = None) -> dict[str, str]:
    """Return package -> exact version, as the installed course asks for (without its extras)."""
    if requirements is None:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    pins = (re.fullmatch(r"([A-Za-z0-9._-]+)==([^;\s]+)", line.strip()) for line in requirements)
    return {pin[1]: pin[2] for pin in pins if pin}


def _packages() -> Finding:
    way_out = "Run `pip install -e .` in the course's folder with the environment that runs this."
    try:
        pins = pinned()
    except importlib.metadata.PackageNotFoundError:
        return Finding("packages", False, f"{DISTRIBUTION} is not installed in {sys.prefix}", way_out)
    wrong = []
    for name, wanted in pins.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "missing"
        if found.split("+")[0] != wanted:
            wrong.append(f"{name} {found} instead of {wanted}")
    return Finding("packages", not wrong, "; ".join(wrong) or f"{len(pins)} pinned packages match", way_out)


def _compiled(load: Callable[[], object] | None = None) -> Finding:
    def load_faiss() -> object:
        import faiss

        return faiss.IndexFlatIP(2)

    way_out = (
        "numpy and faiss-cpu do not fit each other. Run `pip install --force-reinstall -e .` in a new "
        "virtual environment: the pinned pair is built for the same NumPy."
    )
    try:
        (load or load_faiss)()
    except Exception as error:  # a broken binary raises many kinds
        return Finding("numpy and faiss", False, f"{type(error).__name__}: {error}", way_out)
    return Finding("numpy and faiss", True, "load together")


def _data() -> Finding:
    try:
        return Finding("course data", True, f"found in {places.data()}")
    except places.CourseDataNotFound as error:
        return Finding("course data", False, "not found", str(error))


def _shop() -> Finding:
    from course_utils import shop

    try:
        return Finding(
            "shop", True, f"{shop.frame('SELECT COUNT(*) AS n FROM orders').n[0]:,} orders in {shop.path()}"
        )
    except Exception as error:  # whatever it is, the learner needs its words, not a traceback
        return Finding(
            "shop", False, f"{type(error).__name__}: {error}", "Delete data/shop.db and try again."
        )


def _home() -> Finding:
    way_out = "Set the environment variable COURSE_HOME to a folder you can write to."
    try:
        folder = places.home()
    except OSError as error:
        return Finding("progress", False, str(error), way_out)
    return Finding("progress", places.writable(folder), f"kept in {folder}", way_out)


def _weights() -> Finding:
    from course_utils.models import weights

    try:
        weights.folder()
    except Exception as error:
        return Finding("embedding model", False, str(error).splitlines()[0], str(error))
    return Finding("embedding model", True, "all-MiniLM-L6-v2, weights verified")


def _chat() -> Finding:
    from course_utils.models.settings import find

    key = find("ANTHROPIC_API_KEY")
    seen = (
        f"Claude, with the key found in {key.where}"
        if key
        else "offline script (no ANTHROPIC_API_KEY is set)"
    )
    return Finding("chat model", True, seen)


def shadowing(folders: list[Path]) -> list[Path]:
    """Return the files that hide a module of Python or of a pinned package: `random.py`, `numpy/`."""
    names = set(sys.stdlib_module_names) | {name.replace("-", "_") for name in ("numpy", "pandas", "torch")}
    names |= {"faiss", "anthropic", "sqlalchemy", "sqlglot", "matplotlib", "yaml", "course_utils"}
    found = []
    for folder in folders:
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            module = path.stem if path.suffix == ".py" else path.name if path.is_dir() else ""
            is_ours = path.name == "course_utils" and folder == places.root()
            if module in names and not is_ours and (path.suffix == ".py" or (path / "__init__.py").exists()):
                found.append(path)
    return found


def _shadows() -> Finding:
    try:
        root = places.root()
    except places.CourseDataNotFound:
        return Finding("file names", True, "not looked at: the course's folder is unknown")
    folders = {Path.cwd(), root, *(p.parent for p in root.glob("*/*.ipynb")), *root.glob("my_work/*")}
    found = shadowing(sorted(folders))
    seen = ", ".join(str(path) for path in found) or "no file hides a module"
    return Finding(
        "file names", not found, seen, "Rename these: Python imports them instead of the real module."
    )


CHECKS = (_python, _sqlite, _packages, _compiled, _data, _shop, _home, _weights, _chat, _shadows)


def examine() -> list[Finding]:
    """Run every check and return the findings in order; a check that breaks is itself a finding."""
    findings = []
    for check in CHECKS:
        try:
            findings.append(check())
        except Exception as error:
            name = check.__name__.strip("_")
            findings.append(Finding(name, False, f"{type(error).__name__}: {error}", "Please report this."))
    return findings


def ready() -> bool:
    """Print the findings that need something done, or one line that all is well; return whether it is."""
    findings = examine()
    troubles = [finding for finding in findings if not finding.ok]
    for trouble in troubles:
        print(trouble)
    if not troubles:
        print(f"This machine is ready: {len(findings)} checks passed.")
    return not troubles
