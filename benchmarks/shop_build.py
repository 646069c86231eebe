"""How building the shop grows: rows per second and peak memory at 1, 10 and 100 times the course.

    python benchmarks/shop_build.py            # about half a minute
    python benchmarks/shop_build.py 1 10       # other sizes

Each size is built in a process of its own, so that one peak of memory does not hide another.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Prints seconds, rows, peak memory of the process in MiB and size of the file in MiB.
_ONE = """
import json, sys, time
from course_utils import shop
from pathlib import Path

start = time.perf_counter()
path = shop.build(Path(sys.argv[1]), size=float(sys.argv[2]))
seconds = time.perf_counter() - start
try:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
except ImportError:  # Windows
    peak = None
rows = sum(shop.counts(path).values())
print(json.dumps([seconds, rows, peak, path.stat().st_size / 2**20]))
"""


def measure(size: float) -> tuple[float, int, float | None, float]:
    """Build one shop in a fresh process; return seconds, rows, peak MiB (None on Windows), file MiB."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _ONE, str(Path(folder) / "shop.db"), str(size)]
        return tuple(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def main() -> None:
    """Print a line for each size, and each one's ratios to the first."""
    sizes = [float(size) for size in sys.argv[1:]] or [1.0, 10.0, 100.0]
    print("  size       rows  seconds    rows/s  ratio  peak MiB  ratio  file MiB")
    first = None
    for size in sizes:
        seconds, rows, peak, file = measure(size)
        rate = rows / seconds
        first = first or (rate, peak)
        memory = f"{peak:9.1f} {peak / first[1]:6.2f}" if peak else f"{'-':>9} {'-':>6}"
        print(f"{size:6g} {rows:10,} {seconds:8.2f} {rate:9,.0f} {rate / first[0]:6.2f} {memory} {file:9.1f}")


if __name__ == "__main__":
    main()
