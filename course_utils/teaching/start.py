"""The learner's own copies of the exercises: made once, never overwritten."""

import shutil
from pathlib import Path

from course_utils import places


def work_folder() -> Path:
    """Return where the learner's copies live: `my_work/` in the course, or the learner's own folder."""
    root = places.root()
    return (root if places.writable(root) else places.home()) / "my_work"


def start(which: str = "") -> list[tuple[Path, bool]]:
    """Copy the exercises whose name starts with `which` (all by default) into the work folder.

    Returns (copy, made) for each: `made` is False where a copy was there already; it is left as it is.
    Raises LookupError if no exercise has that name.
    """
    found = sorted((places.root() / "exercises").glob(f"{which}*/*.ipynb"))
    found = [path for path in found if ".yours-" not in path.name]
    if not found:
        names = ", ".join(sorted(p.name for p in (places.root() / "exercises").iterdir() if p.is_dir()))
        raise LookupError(f"No exercise is called {which!r}. There are: {names}")
    copies = []
    for source in found:
        target = work_folder() / source.parent.name / source.name
        made = not target.exists()
        if made:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        copies.append((target, made))
    return copies
