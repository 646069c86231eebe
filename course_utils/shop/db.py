"""Reading the shop from Python: a SQLAlchemy engine and pandas tables, both read-only."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from .connect import read_only
from .content import tables
from .opening import path as shop_path
from .opening import published_path

if TYPE_CHECKING:
    import pandas
    import sqlalchemy


def engine(path: str | os.PathLike[str] | None = None) -> "sqlalchemy.Engine":
    """Return a SQLAlchemy engine that can only read: of the published shop, or of the file given.

    The URL `sqlite:///shop.db?mode=ro` would be writable; here each connection is opened by
    `read_only`, which also takes paths with %, ? and #. Raises FileNotFoundError for a missing file.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    file = published_path() if path is None else Path(path).resolve()
    read_only(file).close()
    return create_engine("sqlite://", creator=lambda: read_only(file), poolclass=NullPool)


def frame(sql: str, /, **params: object) -> "pandas.DataFrame":
    """Return the rows of a query of your own over the full shop, as a pandas table.

    Values go in by name, never by gluing text: `frame("… WHERE city = :city", city="Pune")`.
    Raises ValueError for a value that is missing and for a statement that returns no table;
    SQLite's own errors, a refused write among them, come through as sqlite3.Error.
    """
    import pandas

    with closing(read_only(shop_path())) as connection:
        try:
            cursor = connection.execute(sql, params)
        except sqlite3.ProgrammingError as error:
            if "binding" not in str(error).lower():
                raise
            given = ", ".join(f":{name}" for name in params) or "none"
            raise ValueError(
                f"The query needs a value that was not given ({error}). Values given: {given}. "
                'Name each one in the query and in the call: frame("… WHERE city = :city", city="Pune").'
            ) from error
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                names = tables(connection)
                error.add_note(f"The shop's tables: {', '.join(names)}.")
            raise
        if cursor.description is None:
            raise ValueError("frame() shows the rows of a query; this statement has none. Write a SELECT.")
        columns = [name for name, *_ in cursor.description]
        return pandas.DataFrame.from_records(cursor.fetchall(), columns=columns, coerce_float=True)
