"""The help centre: `data/articles/<slug>.md`, Markdown below a few lines of YAML."""

import re
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

from .sources import BadSource, article_files, text_of

_NEEDED = {"id": int, "title": str, "audience": str, "updated_on": date}
_OPTIONAL = {"product": str, "superseded_by": str}
_WORDS = {int: "a whole number", str: "text", date: "a date such as 2026-03-31"}
_INSERT = """
INSERT INTO articles (id, slug, title, body, product_id, audience, updated_on, superseded_by)
VALUES (:id, :slug, :title, :body, :product_id, :audience, :updated_on, :superseded_by)
"""


def load_articles(connection: sqlite3.Connection, folder: Path) -> None:
    """Insert every article; BadSource names the file and what is wrong with it."""
    products = dict(connection.execute("SELECT sku, id FROM products").fetchall())
    for file in article_files(folder):
        head, body = read_article(file)
        sku = head.get("product")
        if sku is not None and sku not in products:
            raise BadSource(f"{file}: there is no product {sku}.")
        cells = {
            "id": head["id"],
            "slug": file.stem,
            "title": head["title"],
            "body": body,
            "product_id": products.get(sku),
            "audience": head["audience"],
            "updated_on": head["updated_on"].isoformat(),
            "superseded_by": head.get("superseded_by"),
        }
        try:
            connection.execute(_INSERT, cells)
        except (OverflowError, sqlite3.IntegrityError) as error:
            raise BadSource(f"{file}: {error}.") from error
    _check_successors(connection, folder)


def read_article(file: Path) -> tuple[dict[str, Any], str]:
    """Return the front matter and the body of an article; BadSource for a name or a field that is off."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", file.stem):
        raise BadSource(
            f"{file}: its name must be a-z and 0-9, joined by single hyphens (returns-policy.md)."
        )
    parts = re.fullmatch(r"---\n(.*?)^---\n(.*)", text_of(file), re.DOTALL | re.MULTILINE)
    if not parts:
        raise BadSource(f"{file}: it must begin with a line ---, then YAML, then a line ---.")
    head = _front_matter(file, parts[1])
    known = _NEEDED | _OPTIONAL
    if not isinstance(head, dict) or not _NEEDED.keys() <= head.keys() <= known.keys():
        raise BadSource(
            f"{file}: the front matter needs {', '.join(_NEEDED)} and may have {', '.join(_OPTIONAL)}."
        )
    for name, value in head.items():
        if type(value) is not known[name]:
            raise BadSource(f"{file}: {name} is {value!r}, expected {_WORDS[known[name]]}.")
    return head, parts[2].strip()


def _front_matter(file: Path, text: str) -> Any:
    """Return what the YAML says; BadSource where it is none, or says something twice."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
            names = [name.value for name, _ in node.value]
            if twice := [name for name in names if names.count(name) > 1]:
                raise yaml.YAMLError(f"the key {twice[0]!r} is written twice")
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise BadSource(f"{file}: its front matter is not YAML: {error}") from error
    except (ValueError, LookupError, AttributeError) as error:  # such as a date that no calendar has
        raise BadSource(f"{file}: its front matter has a value that cannot be: {error}") from error


def _check_successors(connection: sqlite3.Connection, folder: Path) -> None:
    """Raise BadSource for an article that names a successor which cannot take its place."""
    wrong = connection.execute("""
        SELECT old.slug, old.superseded_by FROM articles old
        LEFT JOIN articles new ON new.slug = old.superseded_by AND new.audience = old.audience
            AND new.updated_on > old.updated_on
        WHERE old.superseded_by IS NOT NULL AND new.id IS NULL""").fetchone()
    if wrong:
        raise BadSource(
            f"{folder / 'articles' / wrong[0]}.md: superseded_by names {wrong[1]}, which is missing, "
            "older, or for another audience."
        )
