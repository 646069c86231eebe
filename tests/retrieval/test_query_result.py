"""What a question gives back: a table with its notes, documents, one line in the log."""

import asyncio
import doctest
import importlib
import logging

import pytest
import sql_shops
from langchain_core.retrievers import BaseRetriever
from sql_shops import Saying, asking

from course_utils.retrieval import SQLRetriever, UnsafeSQL

RIGHT = "SELECT COUNT(*) AS n FROM customers"


@pytest.fixture(scope="module")
def offline():
    return SQLRetriever(sql_shops.safe("course"))


def test_zero_rows_say_so_and_offer_what_is_near():
    result = SQLRetriever(sql_shops.safe("tiny")).ask("Which customers live in pune?")
    assert str(result).startswith("no rows") and "near it stands 'Pune'" in str(result)
    assert "no rows" in result.to_markdown() and "no rows" in result._repr_html_() and result.empty


def test_a_count_of_nothing_offers_what_is_near(offline):
    result = offline.ask("How many customers live in Bangalore?")
    assert result.empty and "'Bengaluru'" in result.near[0]


def test_a_cut_result_says_so(offline):
    result = offline.ask("List all customers.")
    assert result.rows.truncated and len(result.rows) == 50 and "there are more" in str(result)
    assert "there are more" in result._repr_html_() and "there are more" in result.to_markdown()


def test_a_result_prints_as_a_table_with_its_warnings():
    retriever, _ = asking("SELECT city, COUNT(*) / 2 AS half FROM customers GROUP BY city ORDER BY city")
    result = retriever.ask("Half?")
    assert str(result).splitlines()[:3] == ["| city | half |", "| --- | --- |", "| Delhi | 0 |"]
    assert "Warning: COUNT(*) / 2 divides two whole numbers" in str(result) and repr(result) == str(result)


def test_html_is_escaped():
    retriever, _ = asking("SELECT '<b>x</b>' AS \"<i>\" FROM customers LIMIT 1")
    page = retriever.ask("?")._repr_html_()
    assert "<b>" not in page and "<i>" not in page and "&lt;b&gt;" in page
    retriever, _ = asking("DROP TABLE x -- <script>")
    assert "<script>" not in retriever.ask("?")._repr_html_()


def test_one_document_for_each_row_in_the_querys_order():
    retriever, _ = asking("SELECT name, city, name FROM customers ORDER BY id")
    documents = retriever.invoke("Who?")
    assert isinstance(retriever, BaseRetriever) and [d.id for d in documents] == ["sql:1", "sql:2", "sql:3"]
    first = documents[0]
    assert first.page_content == "name: Asha; city: Pune; name_2: Asha"
    assert first.metadata["row"] == {"name": "Asha", "city": "Pune", "name_2": "Asha"}
    assert first.metadata["score"] == 1.0 and first.metadata["sql"].startswith("SELECT name")


def test_a_long_text_reaches_the_document_whole():
    long = "é" * 900
    db = sql_shops.made(
        "long", f"CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO t VALUES (1, '{long}')"
    )
    (document,) = SQLRetriever(db, Saying(replies=["SELECT body FROM t"])).invoke("?")
    assert document.page_content == f"body: {long}"


def test_no_documents_for_no_rows_but_an_error_for_a_failure():
    assert asking("SELECT 1 WHERE 0")[0].invoke("?") == []
    with pytest.raises(UnsafeSQL, match="only SELECT") as failed:
        asking("DROP TABLE orders")[0].invoke("?")
    assert failed.value.hint


def test_it_works_asynchronously_and_in_a_chain():
    retriever, _ = asking(RIGHT)
    assert [d.page_content for d in asyncio.run(retriever.ainvoke("?"))] == ["n: 3"]
    assert (retriever | len).invoke("?") == 1


def test_one_line_in_the_log_for_a_call_and_nothing_of_what_was_read(caplog):
    retriever, _ = asking("SELECT nmae FROM customers", "SELECT name\nFROM customers")
    with caplog.at_level(logging.INFO, "course_utils.sql"):
        retriever.ask("Who\nis there?")
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("question=")]
    assert len(lines) == 1 and "\n" not in lines[0]
    assert (
        "question='Who\\nis there?' sql='SELECT name\\nFROM customers' outcome='rows' rows=3 attempts=2 ms="
        in lines[0]
    )
    assert "Asha" not in caplog.text and "Meena" not in caplog.text


def test_a_failure_is_in_the_log(caplog):
    with caplog.at_level(logging.INFO, "course_utils.sql"):
        asking("DROP TABLE orders")[0].ask("?")
    assert "outcome='failed: only SELECT' rows=0 attempts=3" in caplog.text


@pytest.mark.parametrize("name", ["sql_answer", "query_result", "sql_schema", "query_tools"])
def test_the_examples_in_the_docstrings_are_true(name):
    found = doctest.testmod(importlib.import_module(f"course_utils.retrieval.{name}"))
    assert found.attempted and not found.failed
