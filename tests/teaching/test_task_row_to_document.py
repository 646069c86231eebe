"""The check of the row as a document: on right answers, differently written right ones, and wrong ones."""

import copy
from decimal import Decimal

import pytest
from checking import says
from langchain_core.documents import Document

from course_utils.retrieval.documents import row_document
from course_utils.teaching import tasks

CHECK = tasks.docs.row_to_document.check


def reference(row):
    text = ". ".join(part for part in (row["name"], row["description"]) if part)
    rest = {name: value for name, value in row.items() if name != "description"}
    return Document(id=f"product:{row['id']}", page_content=text, metadata={**rest, "audience": "public"})


def step_by_step(row):
    metadata = dict(row)
    name, description = metadata.pop("name"), metadata.pop("description")
    metadata.update(audience="public", table="product")
    text = f"Name: {name}"
    if description:
        text += f"\nDescription: {description}"
    return Document(id="product:" + str(row["id"]), page_content=text, metadata=metadata)


def without_empty_columns(row):
    """A vector store may take no None in its metadata."""
    document = reference(row)
    document.metadata = {name: value for name, value in document.metadata.items() if value is not None}
    return document


def a_dangling_full_stop(row):
    return made(row, text=f"{row['name']}. {row['description'] or ''}")


def a_sentence(row):
    about = f": {row['description']}" if row["description"] else ""
    return made(row, text=f"{row['name']} is in our shop{about}")


def made(row, **changes):
    """Return the right document with some of its three parts changed."""
    right = reference(row)
    parts = {"id": right.id, "text": right.page_content, "metadata": right.metadata} | changes
    given = {} if parts["id"] is None else {"id": parts["id"]}
    return Document(page_content=parts["text"], metadata=parts["metadata"], **given)


def metadata(**changes):
    """Return an answer whose metadata are right but for these."""
    return lambda row: made(row, metadata=reference(row).metadata | {k: f(row) for k, f in changes.items()})


def some_columns(row):
    kept = {name: row[name] for name in ("id", "price", "category")}
    return made(row, metadata=kept | {"audience": "public"})


def true_values(row):
    return made(row, metadata={name: v for name, v in reference(row).metadata.items() if v})


def takes_from_the_row(row):
    text = ". ".join(filter(None, (row.pop("name"), row.pop("description"))))
    return Document(id=f"product:{row['id']}", page_content=text, metadata=row | {"audience": "public"})


def writes_into_the_row(row):
    row["audience"] = "public"
    return reference(row)


def stops_at_none(row):
    return made(row, text=f"{row['name']}. {row['description'].strip()}")


@pytest.mark.parametrize(
    "answer",
    [
        reference,
        step_by_step,
        without_empty_columns,
        a_dangling_full_stop,
        a_sentence,
        lambda row: row_document("product", row),
    ],
)
def test_right(answer):
    says(CHECK(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the text
        (lambda row: made(row, text=str(row)), 1, "also holds id and price and category"),
        (lambda row: made(row, text=" ".join(map(str, row.values()))), 1, "also holds id and price"),
        (lambda row: made(row, text=f"{row['name']}, {row['category']}"), 1, "does not hold the description"),
        (lambda row: made(row, text=row["description"] or ""), 1, "does not hold the name"),
        (lambda row: made(row, text=row["name"].lower()), 1, "does not hold the name as it stands"),
        (
            lambda row: made(row, text=f"{row['name']}. {row['description']}"),
            1,
            "the word None stands in the text",
        ),
        (
            lambda row: made(row, text=f"{row['name']}. {row['description']}".replace("None", "")),
            1,
            "mend the value, not the finished text",
        ),
        (
            lambda row: made(row, text=f"Name: {row['name']} Description: {row['description'] or ''}"),
            1,
            "speaks of a description that is not there",
        ),
        (
            lambda row: made(row, text=f"{row['name']}. {row['description'] or 'No description.'}"),
            1,
            "speaks of a description that is not there",
        ),
        (stops_at_none, 1, "whose description is None, `to_document` stops with AttributeError"),
        # the id
        (lambda row: made(row, id=None), 1, "has no id"),
        (lambda row: made(row, id=str(row["id"])), 1, "the row's number alone"),
        (lambda row: made(row, id=f"products:{row['id']}"), 1, "the table in the singular"),
        (
            lambda row: made(row, id=None, text=f"product:{row['id']} {row['name']} {row['description']}"),
            1,
            "stands in the text only",
        ),
        (
            lambda row: made(
                row, id=None, metadata=reference(row).metadata | {"doc": f"product:{row['id']}"}
            ),
            1,
            "stands in the metadata only",
        ),
        # the metadata
        (metadata(price=lambda row: str(row["price"])), 1, "price is a text"),
        (metadata(price=lambda row: f"Rs {row['price']}"), 1, "price is a text"),
        (metadata(price=lambda row: int(row["price"])), 1, "price in the metadata is not what it is"),
        (metadata(price=lambda row: Decimal(str(row["price"]))), 1, "price in the metadata is not"),
        (metadata(id=lambda row: str(row["id"])), 1, "id is a text"),
        (metadata(id=lambda row: f"product:{row['id']}"), 1, "id is a text"),
        (metadata(category=lambda row: row["category"].lower()), 1, "category in the metadata is not"),
        (metadata(audience=lambda row: "staff"), 1, "not the one asked for"),
        (metadata(description=lambda row: row["description"]), 1, "the description is in the metadata too"),
        (metadata(text=lambda row: row["description"]), 1, "the description is in the metadata too"),
        (some_columns, 1, "lack sku and launched_on"),
        (true_values, 1, "counts as false"),
        (lambda row: made(row, metadata={"audience": "public"}), 1, "lack id and price and category"),
        (lambda row: made(row, metadata=row), 1, "the description is in the metadata too"),
        (
            lambda row: made(row, metadata={k: v for k, v in row.items() if k != "description"}),
            1,
            "audience is missing",
        ),
        (takes_from_the_row, 1, "changes the row it was given"),
        (writes_into_the_row, 1, "changes the row it was given"),
        # both, or no document at all
        (lambda row: made(row, id=None, metadata=row), 0, "has no id"),
        (lambda row: Document(page_content=str(row)), 0, "has no id"),
        (lambda row: {"id": f"product:{row['id']}", "text": row["name"]}, 0, "a plain dict comes back"),
        (lambda row: [reference(row)], 0, "a value of type list"),
        (lambda row: row["name"], 0, "a value of type str"),
        (lambda row: reference(row) if row["description"] else None, 0, "forget `return`"),
        (lambda row: Document(id=row["id"]), 0, "Document"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(CHECK(lambda row: made(row, id=None)), 1, "The metadata are right.")
    says(CHECK(some_columns), 1, "Id and text are right.")


def test_a_message_holds_no_id_that_would_be_right():
    for answer in (lambda row: made(row, id=None), lambda row: made(row, id=f"x:{row['id']}")):
        assert "product:7" not in CHECK(answer).message


def test_the_tested_twin_of_the_lesson_agrees_with_the_reference():
    row = {
        "id": 7,
        "name": "Steel mug",
        "description": "Keeps tea hot.",
        "price": 649.0,
        "category": "Kitchen",
    }
    before = copy.deepcopy(row)
    assert row_document("product", row).page_content == reference(row).page_content
    assert row == before
