"""Building the shop: the hand-written tables from `data/`, the rest generated, all into one file."""

import math
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

from course_utils import places

from .articles import load_articles
from .catalogue import Catalogue
from .connect import SHOP_ID, check_sqlite, refuse_foreign, replacing
from .content import content_hash, row_counts
from .customers import Pool, customers
from .dice import Dice
from .orders import sales
from .published import published_hash
from .sources import TABLES, check_links, load, source_hash, statements
from .texts import load_reviews, load_tickets
from .tiny import load_tiny

SEED = 20260630
CUSTOMERS, ORDERS = 800, 5000  # of the size `course`
LARGEST = 1000
_BATCH = 500
# The file is new and only takes its name when it is finished, so no journal is needed. The cache
# is limited (2 MB): a large shop takes no more memory than a small one.
_FAST = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -2000;
"""

Progress = Callable[[int, int], object]


def build(
    path: str | os.PathLike[str],
    *,
    size: str | float = "course",
    seed: int = SEED,
    progress: Progress | None = None,
) -> Path:
    """Build a shop database at `path` and return its path.

    size: "tiny" (3 customers, 4 orders), "course" (800 customers, 5,000 orders), or a number above 0
    by which the customers and orders of "course" are multiplied (100 -> 500,000 orders).
    progress: called now and then with the orders done and the orders in all.

    The file appears at once, when it is finished. A shop that stands at `path` is replaced; any other
    file is left alone (NotAShop). Raises ValueError for another size, BadSource for an error in
    `data/`, OldSQLite where this Python's SQLite is too old.
    """
    check_sqlite()
    label, factor = parse_size(size)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ValueError(f"seed is {seed!r}, expected a whole number, such as {SEED}.")
    file = Path(path).resolve()
    refuse_foreign(file, SHOP_ID)
    folder = places.data()
    source = source_hash(folder)
    with replacing(file) as part, closing(sqlite3.connect(part, isolation_level=None)) as connection:
        connection.executescript(f"{_FAST} PRAGMA application_id = {SHOP_ID};")
        connection.execute("BEGIN")
        _fill(connection, folder, factor, seed, progress)
        check_links(connection)
        info = {"source": source, "size": label, "seed": str(seed)}
        info |= {"content": content_hash(connection), "published": published_hash(connection)}
        info |= {f"rows of {table}": str(count) for table, count in row_counts(connection).items()}
        connection.executemany("INSERT INTO build_info VALUES (?, ?)", info.items())
        connection.execute("COMMIT")
    return file


def parse_size(size: str | float) -> tuple[str, float]:
    """Return the size's name and its factor; `tiny` has the factor 0."""
    if size == "tiny":
        return "tiny", 0
    if size == "course":
        return "course", 1
    number = isinstance(size, int | float) and not isinstance(size, bool)
    if not number or not math.isfinite(size) or not 0 < size <= LARGEST:
        raise ValueError(
            f'size is {size!r}, expected "tiny", "course" or a number above 0 and up to {LARGEST}: '
            f"the factor by which the {ORDERS:,} orders of the course are multiplied."
        )
    return ("course" if size == 1 else f"{float(size)}"), float(size)


def _fill(
    connection: sqlite3.Connection, folder: Path, factor: float, seed: int, progress: Progress | None
) -> None:
    script = (folder / "schema.sql").read_text(encoding="utf-8")
    indexes = []
    for statement in statements(script):
        if "CREATE INDEX" in statement:
            indexes.append(statement)
        else:
            connection.execute(statement)
    for table in TABLES:
        load(connection, folder, table)
    if factor:
        pool = Pool()
        people = customers(max(round(CUSTOMERS * factor), 8), Dice(seed, "customers"), folder, pool)
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", people)
        _load_sales(connection, max(round(ORDERS * factor), 1), seed, pool, progress)
    else:
        load_tiny(connection)
    for statement in indexes:
        connection.execute(statement)
    if factor:
        load_reviews(connection, folder, Dice(seed, "reviews"))
        load_tickets(connection, folder, Dice(seed, "tickets"))
        load_articles(connection, folder)


def _load_sales(
    connection: sqlite3.Connection, count: int, seed: int, pool: Pool, progress: Progress | None
) -> None:
    """Write the orders in batches, so that only one batch is in memory."""
    catalogue = Catalogue(connection, Dice(seed, "catalogue"))
    stream = sales(count, Dice(seed, "orders"), catalogue, pool)
    done = refunds = 0
    while batch := list(islice(stream, _BATCH)):
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", (sale.order for sale in batch))
        connection.executemany(
            "INSERT INTO order_items VALUES (?, ?, ?, ?)", (item for sale in batch for item in sale.items)
        )
        back = [
            (number, sale.order[0], *sale.refund)
            for number, sale in enumerate((sale for sale in batch if sale.refund), start=refunds + 1)
        ]
        connection.executemany("INSERT INTO refunds VALUES (?, ?, ?, ?, ?)", back)
        refunds += len(back)
        done += len(batch)
        if progress:
            progress(done, count)
