"""The query tools in a model's hands: what it is told, what comes back, and a whole conversation."""

import json
import logging

import pytest
import sql_shops
from langchain_core.messages import HumanMessage

from course_utils.models import chat_model
from course_utils.retrieval import Caller, Rows, as_tools
from course_utils.retrieval.query_result import SQLResult
from course_utils.retrieval.sql_answer import Evidence, split_sentences

STAFF = Caller("revathi.menon", "staff")


def tools(caller=STAFF, size="tiny"):
    return {tool.name: tool for tool in as_tools(caller, sql_shops.safe(size))}


def test_the_tools_tell_the_model_what_they_take_and_not_who_asks():
    found = tools()
    assert list(found) == ["refunds_by_region", "revenue_by_city", "top_products", "orders_of"]
    for tool in found.values():
        schema = tool.tool_call_schema.model_json_schema()
        assert tool.description and all(field["description"] for field in schema["properties"].values())
        assert not {"caller", "db", "user"} & set(schema["properties"])
    limit = found["top_products"].tool_call_schema.model_json_schema()["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 50, 5)


def call(tool, **values):
    return tool.invoke({"name": tool.name, "args": values, "id": "1", "type": "tool_call"})


def test_a_tool_answers_in_json_with_the_rows_beside_it():
    message = call(tools()["refunds_by_region"], quarter="2026-Q1")
    assert json.loads(message.content) == {
        "columns": ["region", "refunds", "amount"],
        "rows": [["North", 1, 75.5], ["West", 0, 0.0]],
        "truncated": False,
    }
    assert isinstance(message.artifact, Rows) and message.status == "success"


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("refunds_by_region", {"quarter": "Q1 2026"}, "Error: quarter must look like 2026-Q1, not 'Q1 2026'"),
        ("refunds_by_region", {}, "Error: quarter is missing"),
        ("refunds_by_region", {"quarter": 2026}, "Error: quarter must look like 2026-Q1, not 2026"),
        (
            "top_products",
            {"start": "2026-01-01", "end": "2026-01-31", "limit": 99},
            "Error: limit must be a whole number from 1",
        ),
        ("orders_of", {"customer_id": 2}, "Error: a customer may ask for their own orders only"),
        (
            "orders_of",
            {"customer_id": "2"},
            "Error: customer_id must be a whole number of at least 1, not '2'",
        ),
        ("orders_of", {"customer_id": 2, "caller": "staff"}, "Error: caller is not an argument of this tool"),
    ],
)
def test_what_is_wrong_with_a_call_comes_back_as_text(name, values, said, caplog):
    with caplog.at_level(logging.INFO, "course_utils.tools"):
        message = call(tools(Caller(1, "customer"))[name], **values)
    assert message.content.startswith(said) and message.status == "error"
    assert "user=1 role=customer" in caplog.text and "refused" in caplog.text


def test_a_query_that_fails_comes_back_as_text():
    db = sql_shops.made("other", "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1);")
    message = call({tool.name: tool for tool in as_tools(STAFF, db)}["refunds_by_region"], quarter="2026-Q1")
    assert message.content.startswith("Error: forbidden table") and message.status == "error"


def converse(question, caller=STAFF, size="course"):
    """Ask, run the tools that the model calls, hand their messages back, until it speaks."""
    found = tools(caller, size)
    model = chat_model("query_tools").bind_tools(list(found.values()))
    messages = [HumanMessage(question)]
    for _ in range(5):
        messages.append(model.invoke(messages))
        if not messages[-1].tool_calls:
            return messages
        messages += [found[one["name"]].invoke(one) for one in messages[-1].tool_calls]
    raise AssertionError("the model never came to an end")


@pytest.mark.parametrize("question", chat_model("query_tools").questions)
def test_a_round_trip_ends_in_words_that_the_rows_back(question):
    messages = converse(question)
    results = [message for message in messages if message.type == "tool"]
    rows = results[-1].artifact
    evidence = Evidence(SQLResult(question, "", rows, 1, 0.0))
    assert len(rows) and all(evidence.backs(one) for one in split_sentences(messages[-1].text))


def test_an_error_leads_the_model_to_a_better_call():
    messages = converse("How much was refunded in each region in the first quarter of 2026?")
    assert [m.status for m in messages if m.type == "tool"] == ["error", "success"]


def test_the_same_question_from_another_caller_is_refused():
    (result,) = [
        m for m in converse("What has customer 23 ordered?", Caller(7, "customer")) if m.type == "tool"
    ]
    assert result.status == "error" and result.artifact is None
    (result,) = [
        m for m in converse("What has customer 23 ordered?", Caller(23, "customer")) if m.type == "tool"
    ]
    assert result.status == "success" and len(result.artifact) > 40
