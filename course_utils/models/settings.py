"""Where a setting comes from: the environment first, then a file called .env."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from course_utils import places


class Setting(NamedTuple):
    """A value and, for messages, the place where it was found."""

    value: str
    where: str


def _folders() -> Iterator[Path]:
    """Yield the working directory and its parents, then the course's folder and its parents."""
    here = Path.cwd()
    yield from (here, *here.parents)
    try:
        root = places.root()
    except places.CourseDataNotFound:
        return
    yield from (root, *root.parents)


def _read(file: Path) -> dict[str, str | None]:
    from dotenv import dotenv_values

    try:
        raw = file.read_bytes()
    except OSError:
        return {}  # somebody else's file in a parent folder: not ours to complain about
    # PowerShell's `>` writes UTF-16, Notepad may write a byte order mark.
    encoding = "utf-16" if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    return dotenv_values(stream=io.StringIO(raw.decode(encoding, errors="replace")))


def find(name: str) -> Setting | None:
    """Return the setting called `name`, or None where it is unset or empty.

    The environment wins, even with an empty value: that is how a key in a file is switched off. Then
    every .env from the working directory upwards is looked at, then those from the course's folder
    upwards. Read anew at each call, so that a key set in a later cell counts.
    """
    if name in os.environ:
        value = os.environ[name].strip()
        return Setting(value, f"the environment variable {name}") if value else None
    for folder in dict.fromkeys(_folders()):
        file = folder / ".env"
        if file.is_file() and (value := (_read(file).get(name) or "").strip()):
            return Setting(value, f"{name} in the file {file}")
    return None
