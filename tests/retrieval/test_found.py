"""Whether what was retrieved holds the golden answer."""

import pytest
from langchain_core.documents import Document

from course_utils.retrieval import DataType, Decision, Retrieved, Source
from course_utils.retrieval.found import answered_by
from course_utils.shop.questions import Question


def asked(**gold):
    return Question(id="q", question="?", pattern="concept" if gold else "unanswerable", split="dev", **gold)


def retrieved(*sources):
    made = (Source(str(n), "?", tuple(documents)) for n, documents in enumerate(sources))
    return Retrieved("?", Decision(DataType.MIXED), tuple(made))


def prose(*ids):
    return [Document(id=id, page_content="text") for id in ids]


def rows(*records, truncated=False):
    return [
        Document(page_content="row", metadata={"row": record, "sql": "SELECT 1", "truncated": truncated})
        for record in records
    ]


def test_a_gold_document_counts_among_the_first_of_its_own_source():
    question = asked(documents=("article:a#1", "article:b#1"))
    assert answered_by(question, retrieved(prose("x"), prose("y", "article:b#1")))
    assert not answered_by(question, retrieved(prose("x", "y", "article:b#1")), k=2)
    assert not answered_by(question, retrieved())


def test_rows_must_be_all_of_the_gold_rows_and_no_others():
    question = asked(sql="SELECT …", rows=(("Pune", 2), ("Delhi", 3)))
    right = rows({"city": "Delhi", "n": 3}, {"city": "Pune", "n": 2})
    assert answered_by(question, retrieved(prose("x"), right))
    assert not answered_by(question, retrieved(right[:1]))
    assert not answered_by(question, retrieved([*right, *rows({"city": "Agra", "n": 1})]))
    assert not answered_by(
        question, retrieved(rows({"city": "Delhi", "n": 3}, {"city": "Pune", "n": 2}, truncated=True))
    )
    assert not answered_by(question, retrieved(prose("x")))


def test_each_value_must_stand_where_the_gold_says():
    question = asked(values=(("a.json", "/s/1/day", "Monday"), ("b.json", "/n", 3)))

    def record(file, pointer, data):
        return Document(page_content="", metadata={"file": file, "pointer": pointer, "data": data})

    one, two = record("a.json", "/s/1", {"day": "Monday"}), record("b.json", "", {"n": 3})
    assert answered_by(question, retrieved([one], [two]))
    assert not answered_by(question, retrieved([one]))
    assert not answered_by(question, retrieved([record("a.json", "/s/2", {"day": "Monday"}), two]))
    assert not answered_by(question, retrieved([record("b.json", "/s/1", {"day": "Monday"}), two]))


def test_what_nothing_answers_is_not_measured_so():
    with pytest.raises(ValueError, match="q has no gold"):
        answered_by(asked(), retrieved())
