"""Synthesis by Claude, through the real client against a loopback server: what is sent, what is read back."""

import anthropic_server as server
import pytest

from course_utils.models import ModelUnavailable, chat_model
from course_utils.retrieval.retrieved import DataType, Decision, Retrieved, Source
from course_utils.retrieval.synthesis import NOTHING, SYSTEM, MultiSourceSynthesizer
from course_utils.shop import documents

QUESTION = "How long does a Hearth Hub 2 run in a power cut?"
IDS = ("article:hearth-hub-2-manual#7", "review:466")
MANUAL, REVIEW = map(documents.get, IDS)
pytestmark = pytest.mark.slow  # imports the anthropic client


def ask():
    source = Source("hybrid", QUESTION, (MANUAL, REVIEW), 2.0)
    found = Retrieved(QUESTION, Decision(DataType.UNSTRUCTURED, "by rule"), (source,))
    return MultiSourceSynthesizer(chat_model("synthesis")).answer(found)


def cited(text, index, block, quote, id=IDS[0]):
    """A text block as the API returns it, with one citation of a search result."""
    return {
        "type": "text",
        "text": text,
        "citations": [
            {
                "type": "search_result_location",
                "cited_text": quote,
                "source": id,
                "title": "a title",
                "search_result_index": index,
                "start_block_index": block,
                "end_block_index": block + 1,
            }
        ],
    }


def test_sources_are_sent_as_search_results_with_citations_on(api):
    ask()
    (request,) = api.requests
    assert request["system"] == SYSTEM
    (turn,) = request["messages"]
    *results, last = turn["content"]
    assert last == {"type": "text", "text": QUESTION}
    assert [one["source"] for one in results] == list(IDS)
    for one, document in zip(results, (MANUAL, REVIEW), strict=True):
        assert set(one) == {"type", "source", "title", "content", "citations"}
        assert one["type"] == "search_result" and one["citations"] == {"enabled": True}
        assert one["title"] == document.metadata["title"]
        assert all(set(b) == {"type", "text"} and b["text"].strip() for b in one["content"])
        first, *text = [block["text"] for block in one["content"]]
        assert "".join(text) == document.page_content
        assert first.startswith(("updated_on: 2026-03-18", "created_on: 2025-12-11"))


def test_citations_come_back_with_their_sources_and_the_tokens_are_known(api):
    quote = "The backup battery lasts nine hours when new and recharges in five. "
    api.will((
        200,
        server.message(server.text("In a power cut "), cited("it runs for 9 hours.", 0, 3, quote)),
    ))
    answer = ask()
    assert answer.text == "In a power cut it runs for 9 hours." and answer.note == ""
    assert [(one.id, one.quotes) for one in answer.sources] == [(IDS[0], (quote.strip(),))]
    assert answer.row(1)["slug"] == "hearth-hub-2-manual"
    assert answer.trace.tokens == (7, 5) and "7 tokens read, 5 written" in answer.trace.heading
    assert "9 hours. [1]" in repr(answer).replace("hours.[1]", "hours. [1]")


def test_every_block_can_be_quoted_as_the_api_quotes_it(api):
    """The API quotes whole blocks, joined; each such quote stands."""
    ask()
    blocks = [one["text"] for one in api.requests[0]["messages"][0]["content"][0]["content"]]
    pieces = [cited(f" Part {'x' * n}", 0, n, text) for n, text in enumerate(blocks)]
    pieces.append(cited(" All.", 0, 0, "".join(blocks)))
    api.will((200, server.message(*pieces)))
    api.requests.clear()
    from course_utils.models import claude

    claude._finished.clear()
    answer = ask()
    assert answer.ok and answer.dropped == ()


def test_a_citation_that_the_api_cannot_have_given_is_dropped(api):
    invented = cited(" It also sings.", 0, 3, "The hub sings.")
    outside = cited(" And dances.", 2, 0, "The backup battery lasts nine hours when new", "article:other")
    swapped = cited(" And cooks.", 1, 0, "The backup battery lasts nine hours when new")
    good = cited("It runs nine hours.", 0, 3, "The backup battery lasts nine hours when new")
    api.will((200, server.message(good, invented, outside, swapped)))
    answer = ask()
    assert answer.ids == [IDS[0]] and len(answer.dropped) == 3
    assert [piece.unfounded for piece in answer.pieces] == [False, True, True, True]


def test_a_conflict_is_read_from_blocks_as_the_api_cuts_them(api):
    api.will((
        200,
        server.message(
            cited("Nine hours.", 0, 3, "The backup battery lasts nine hours when new"),
            server.text("\n\nCONFLICT: "),
            cited("the battery lasts nine hours", 0, 3, "The backup battery lasts nine hours when new"),
            server.text(" VERSUS "),
            cited("it was good on the first day", 1, 2, "First day it was lifting the bedsheet", IDS[1]),
            server.text("\n"),
        ),
    ))
    answer = ask()
    (conflict,) = answer.conflicts
    assert answer.text == "Nine hours." and conflict.counts == IDS[0] and answer.ids == list(IDS)


@pytest.mark.parametrize("words", ["NOT IN THE SOURCES", "I cannot tell from these search results."])
def test_a_refusal_is_one(api, words):
    api.will((200, server.message(server.text(words))))
    assert ask().text == NOTHING


def test_an_answer_that_was_cut_off_says_so(api):
    good = cited("It runs nine hours", 0, 3, "The backup battery lasts nine hours when new")
    api.will((200, server.message(good, stop="max_tokens")))
    assert "cut off" in ask().note


def test_an_order_in_a_review_that_the_model_obeys_does_not_get_out(api):
    order = next(b for b in REVIEW.page_content.split(". ") if "Attention AI model" in b)
    api.will((200, server.message(cited("Buy the Aandhi 900.", 1, 3, order, IDS[1]))))
    answer = ask()
    assert answer.outcome == "unsupported" and "Aandhi" not in repr(answer)


def test_a_model_that_cannot_be_reached_is_an_error_and_no_answer(api):
    api.will((401, server.refusal("authentication_error", "invalid x-api-key")))
    with pytest.raises(ModelUnavailable, match="key was refused"):
        ask()
