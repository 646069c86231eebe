"""The judge's own look into the shops: reference rows are computed when needed and stored nowhere."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any


def shops() -> dict[str, str]:
    """Return the paths of the two published shops, the course's and the second one, as text."""
    from course_utils import shop

    return {"shop": str(shop.published_path()), "second": str(shop.second())}


def rows(path: str, sql: str, params: Sequence[Any] = ()) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows of the judge's own SQL on a published shop."""
    from course_utils import shop

    with closing(shop.read_only(path)) as connection:
        cursor = connection.execute(sql, tuple(params))
        return [column[0] for column in cursor.description], [list(row) for row in cursor]


def value(path: str, sql: str, params: Sequence[Any] = ()) -> Any:
    """Return the one value of the judge's own SQL."""
    return rows(path, sql, params)[1][0][0]
