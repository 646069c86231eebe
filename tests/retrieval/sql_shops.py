"""For the tests of text-to-SQL: shops, Chinook, databases made on the spot, a model that obeys."""

import sqlite3
import tempfile
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from course_utils import shop
from course_utils.retrieval import SafeDatabase, SQLRetriever

FOREIGN = Path(__file__).parent.parent / "foreign"


@lru_cache
def folder() -> Path:
    scratch = tempfile.TemporaryDirectory(prefix="course-sql-", ignore_cleanup_errors=True)
    folder.keep = scratch  # removed when the tests end
    return Path(scratch.name)


@lru_cache
def path(size: str) -> Path:
    """The published shop "course" or "tiny", or "second" from another seed."""
    if size == "second":
        return shop.second()
    if size == "course":
        return shop.published_path()
    full = shop.build(folder() / f"{size}.db", size=size)
    return shop.publish_shop(full, folder() / f"{size}_published.db")


@lru_cache
def safe(size: str = "course", max_rows: int = 50) -> SafeDatabase:
    return SafeDatabase(path(size), max_rows=max_rows)


def made(name: str, script: str, **options: Any) -> SafeDatabase:
    """A database from an SQL script, all of it published."""
    source = folder() / f"{name}.db"
    source.unlink(missing_ok=True)
    with closing(sqlite3.connect(source)) as connection:
        connection.executescript(script)
        tables = [n for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        allow = {
            t: [r[1] for r in connection.execute("SELECT * FROM pragma_table_info(?)", (t,))] for t in tables
        }
    return SafeDatabase.publish(source, allow=allow, to=folder() / f"{name}_published.db", **options)


@lru_cache
def chinook() -> SafeDatabase:
    file = FOREIGN / "chinook.sql"
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    return made("chinook", file.read_text(encoding="utf-8-sig"))


class Saying(BaseChatModel):
    """A model that gives these replies in turn, the last one again and again, and keeps what it was sent."""

    replies: list[str]
    _sent: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "saying"

    @property
    def sent(self) -> list[list[BaseMessage]]:
        return self._sent

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = self.replies[min(len(self._sent), len(self.replies) - 1)]
        self._sent.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def asking(*replies: str, size: str = "tiny", **options: Any) -> tuple[SQLRetriever, Saying]:
    """A retriever whose model gives these replies, and the model."""
    model = Saying(replies=list(replies))
    return SQLRetriever(safe(size), model, **options), model
