"""The shop: one SQLite database, made from `data/` on first need, and the safe ways to read it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .builder import SEED, build
    from .catalogue import last_sale
    from .chain_db import sql_database
    from .connect import NotAShop, OldSQLite, check_sqlite, read_only
    from .db import engine, frame
    from .opening import counts, data_hash, path, published_path, second
    from .published import PUBLISHED, PUBLISHED_WHERE, publish_shop
    from .sources import BadSource

# Each name and the module it lives in: imported when first used, so that `import` stays cheap.
_HOME = {
    "BadSource": "sources",
    "NotAShop": "connect",
    "OldSQLite": "connect",
    "PUBLISHED": "published",
    "PUBLISHED_WHERE": "published",
    "SEED": "builder",
    "build": "builder",
    "check_sqlite": "connect",
    "counts": "opening",
    "data_hash": "opening",
    "engine": "db",
    "frame": "db",
    "last_sale": "catalogue",
    "path": "opening",
    "publish_shop": "published",
    "published_path": "opening",
    "read_only": "connect",
    "second": "opening",
    "sql_database": "chain_db",
}

__all__ = [
    "PUBLISHED",
    "PUBLISHED_WHERE",
    "SEED",
    "BadSource",
    "NotAShop",
    "OldSQLite",
    "build",
    "check_sqlite",
    "counts",
    "data_hash",
    "engine",
    "frame",
    "last_sale",
    "path",
    "publish_shop",
    "published_path",
    "read_only",
    "second",
    "sql_database",
]


def __getattr__(name: str) -> Any:
    if name in {"carrier", "documents", "questions"}:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
