"""What a model may read of the shop, and the file that holds only that."""

import os
import sqlite3
from pathlib import Path

from .connect import build_info, refuse_foreign, replacing
from .content import content_hash
from .publish import APPLICATION_ID as PUBLISHED_ID
from .publish import publish

# Table -> columns. Not here: customers' e-mail; staff's e-mail, phone and salary; staff_notes; build_info.
PUBLISHED: dict[str, tuple[str, ...]] = {
    "categories": ("id", "name", "parent_id"),
    "suppliers": ("id", "name", "city"),
    "products": (
        "id", "sku", "name", "category_id", "supplier_id", "price", "launched_on", "status", "description",
    ),
    "product_links": ("product_id", "related_id", "kind"),
    "customers": ("id", "name", "city", "region", "tier", "joined_on", "referred_by"),
    "orders": ("id", "customer_id", "ordered_on", "status", "amount"),
    "order_items": ("order_id", "product_id", "qty", "unit_price"),
    "refunds": ("id", "order_id", "amount", "reason", "refunded_on"),
    "reviews": ("id", "product_id", "customer_id", "score", "title", "body", "created_on"),
    "tickets": ("id", "customer_id", "product_id", "subject", "body", "error_code", "status", "created_on"),
    "articles": (
        "id", "slug", "title", "body", "product_id", "audience", "updated_on", "superseded_by",
    ),
    "teams": ("id", "name", "city", "remit"),
    "staff": ("id", "name", "role", "team_id", "manager_id", "city", "joined_on"),
    "team_links": ("staff_id", "works_with", "topic"),
}  # fmt: skip
# Table -> which of its rows; the other tables are published whole.
PUBLISHED_WHERE: dict[str, str] = {"articles": "audience = 'public'"}


def publish_shop(source: str | os.PathLike[str], to: str | os.PathLike[str]) -> Path:
    """Write to `to` a copy of the shop at `source` with nothing but PUBLISHED in it; return its path.

    Raises NotAShop where `source` is no full shop, or `to` is a file of another kind.
    """
    source, file = Path(source).resolve(), Path(to).resolve()
    build_info(source)
    refuse_foreign(file, PUBLISHED_ID)
    with replacing(file) as part:
        publish(source, part, PUBLISHED, where=PUBLISHED_WHERE)
    return file


def published_hash(connection: sqlite3.Connection) -> str:
    """Return the content hash that a published file of this full shop must have."""
    return content_hash(connection, PUBLISHED, PUBLISHED_WHERE)
