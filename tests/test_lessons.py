"""What a lesson builds by hand agrees with its tested twin in course_utils."""

import json
import re

import numpy as np
import pytest

from course_utils import models, places, shop
from course_utils.retrieval.sql_extract import extract_sql
from course_utils.retrieval.sql_guard import UnsafeSQL, check_sql


@pytest.fixture(scope="module")
def by_hand():
    """The functions that lesson 01 writes, taken from its cells."""
    path = places.root() / "lessons" / "01_sql_retrieval.ipynb"
    cells = {
        cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    }
    names = {"re": re}
    exec(cells["extract"].split("\n\n\nsql =")[0], names)
    exec(cells["words"], names)
    return names


@pytest.mark.parametrize(
    "reply", ["```sql\nSELECT 1\n```", "```\nSELECT name FROM products\n```", "SELECT 2"]
)
def test_extraction_by_hand_and_the_tested_one_agree(by_hand, reply):
    assert by_hand["extract_sql_by_hand"](reply) == extract_sql(reply)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [("DROP TABLE orders", "only SELECT"), ("SELECT 1; DELETE FROM orders", "multiple statements")],
)
def test_both_guards_refuse_in_the_same_words(by_hand, sql, reason):
    with pytest.raises(ValueError) as plain:
        by_hand["check_words"](sql)
    with pytest.raises(UnsafeSQL) as tested:
        check_sql(sql)
    assert str(plain.value) == str(tested.value) == reason


def test_both_guards_pass_a_plain_query_unchanged(by_hand):
    sql = "SELECT city, COUNT(*) FROM customers GROUP BY city"
    for text in (sql, sql + ";"):
        assert by_hand["check_words"](text) == check_sql(text) == sql


@pytest.mark.slow
def test_the_vectors_shipped_are_those_that_the_model_gives():
    from course_utils.models.minilm import MiniLM
    from course_utils.models.weights import folder

    products = shop.frame(
        "SELECT name || '. ' || description AS text FROM products WHERE id IN (12, 76, 146)"
    )
    texts = [*products.text, "What is the average price of all active products?"]
    shipped = models.embedder().array(texts)
    fresh = np.vstack([rows for _, rows in MiniLM(folder()).encode(texts, 32)])
    assert shipped.shape == (4, 384)
    assert sorted(np.abs(shipped @ fresh.T).max(axis=1).round(3)) == [1.0] * 4
