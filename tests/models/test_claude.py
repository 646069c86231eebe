"""Claude through the real anthropic client, against a server on this machine."""

import asyncio
import json
import logging
import socket
import traceback

import pytest
from anthropic_server import KEY, message, refusal, text
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

from course_utils import models

OK = (200, message(text("Good day.")))
BUSY = (529, refusal("overloaded_error", "Overloaded"), {"retry-after": "0.05"})


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    from langchain_core.caches import InMemoryCache

    from course_utils.models import claude

    monkeypatch.setattr(claude, "_finished", InMemoryCache())


@pytest.fixture
def waits(monkeypatch):
    """What the client waits between tries, without the waiting."""
    import anthropic._base_client as base

    slept: list[float] = []
    monkeypatch.setattr(base.time, "sleep", slept.append)
    return slept


def failure(model, question="Hello?") -> models.ModelUnavailable:
    """Return the error of a call, after making sure that no key is in what a person would see."""
    with pytest.raises(models.ModelUnavailable) as caught:
        model.invoke(question)
    assert KEY not in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert "COURSE_LLM=scripted" in str(caught.value)
    return caught.value


def test_a_message_goes_there_and_back(api, capsys):
    reply = models.chat_model("any task").invoke([("system", "Be brief."), ("human", "Hello?")])
    assert reply.content == "Good day."
    assert reply.usage_metadata["input_tokens"] == 7
    assert capsys.readouterr().out == "Claude (claude-sonnet-5-5) through the Anthropic API\n"
    (request,) = api.requests
    assert api.paths == ["/v1/messages"]
    assert request["model"] == "claude-sonnet-5-5"
    assert request["system"] == "Be brief."
    assert request["messages"] == [{"role": "user", "content": "Hello?"}]
    assert KEY in str(api.headers[0])


def test_nothing_is_sent_before_a_question(api):
    models.chat_model()
    assert api.requests == []


def test_the_name_comes_from_the_argument_then_the_setting(api, monkeypatch):
    monkeypatch.setenv("COURSE_LLM", "claude-haiku-4-5")
    models.chat_model().invoke("one")
    models.chat_model(model="claude-opus-5").invoke("two")
    assert [request["model"] for request in api.requests] == ["claude-haiku-4-5", "claude-opus-5"]


def test_temperature_is_nought_where_the_model_takes_one(api):
    for name in ("claude-haiku-4-5", "claude-sonnet-5-5", "claude-of-tomorrow"):
        models.chat_model(model=name).invoke("Hello?")
    assert [request.get("temperature") for request in api.requests] == [0, None, None]


def test_key_and_address_from_a_file(api, course, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    (course / ".env").write_text(
        f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={api.url}/\n", encoding="utf-8"
    )
    assert models.chat_model().invoke("Hello?").content == "Good day."
    api.will((401, refusal("authentication_error", "invalid x-api-key")))
    assert str(course / ".env") in str(failure(models.chat_model(), "Again?"))


def test_the_same_question_is_asked_once_and_answered_alike(api):
    api.will(OK, (200, message(text("Something else."))))
    first = models.chat_model().invoke("Hello?")
    assert models.chat_model().invoke("Hello?").content == first.content
    assert len(api.requests) == 1
    assert models.chat_model().invoke("And now?").content == "Something else."
    assert models.chat_model(model="claude-haiku-4-5").invoke("Hello?").content == "Something else."
    assert len(api.requests) == 3


def test_a_tool_round_trip(api):
    @tool
    def count(city: str) -> int:
        """Count the customers of a city."""
        return 2

    call = {"type": "tool_use", "id": "toolu_1", "name": "count", "input": {"city": "Pune"}}
    api.will((200, message(text("Let me look."), call, stop="tool_use")), (200, message(text("Two."))))
    model = models.chat_model().bind_tools([count])
    question = HumanMessage("How many customers live in Pune?")
    reply = model.invoke([question])
    assert [(one["name"], one["args"]) for one in reply.tool_calls] == [("count", {"city": "Pune"})]
    result = ToolMessage(
        str(count.invoke(reply.tool_calls[0]["args"])), tool_call_id=reply.tool_calls[0]["id"]
    )
    assert model.invoke([question, reply, result]).content == "Two."
    assert api.requests[0]["tools"][0]["name"] == "count"
    sent = api.requests[1]["messages"][2]["content"][0]
    assert (sent["type"], sent["tool_use_id"], sent["content"]) == ("tool_result", "toolu_1", "2")


@pytest.mark.parametrize(
    "busy", [BUSY, (429, refusal("rate_limit_error", "Slow down"), {"retry-after": "0.05"})]
)
def test_two_refusals_and_an_answer_are_three_calls_with_the_waits_asked_for(api, waits, busy):
    api.will(busy, busy, OK)
    assert models.chat_model().invoke("Hello?").content == "Good day."
    assert len(api.requests) == 3
    assert waits == [0.05, 0.05]


def test_the_same_when_awaited(api):
    api.will(BUSY, BUSY, OK)
    assert asyncio.run(models.chat_model().ainvoke("Hello?")).content == "Good day."
    assert len(api.requests) == 3


def test_a_longer_wait_is_announced(api, waits, capsys):
    api.will((529, refusal("overloaded_error", "Overloaded"), {"retry-after": "20"}), OK)
    models.chat_model().invoke("Hello?")
    assert waits == [20]
    assert "next try in 20 s" in capsys.readouterr().out


@pytest.mark.parametrize("asked", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_nobody_waits_for_an_hour(api, waits, asked):
    api.will((429, refusal("rate_limit_error", "Daily limit"), {"retry-after": asked}))
    error = failure(models.chat_model())
    assert "asks to wait" in str(error)
    assert (error.status, len(api.requests), waits) == (429, 1, [])
    with pytest.raises(models.ModelUnavailable, match="asks to wait"):
        asyncio.run(models.chat_model().ainvoke("Hello?"))


def test_when_the_tries_are_used_up_finished_answers_are_kept(api, waits):
    model = models.chat_model()
    api.will(OK, BUSY)
    assert model.invoke("one").content == "Good day."
    error = failure(model, "two")
    assert (error.status, len(api.requests), len(waits)) == (529, 6, 4)
    assert "busy" in str(error) and "Overloaded" in str(error)
    assert model.invoke("one").content == "Good day."
    assert len(api.requests) == 6


def test_a_bad_key_is_explained_without_showing_it(api, caplog):
    caplog.set_level(logging.DEBUG)
    api.will((401, refusal("authentication_error", f"invalid x-api-key {KEY}")))
    error = failure(models.chat_model())
    assert error.status == 401 and len(api.requests) == 1
    assert "the environment variable ANTHROPIC_API_KEY" in str(error)
    assert KEY not in caplog.text


def test_the_key_is_taken_out_of_what_a_server_echoes(api):
    api.will((403, refusal("permission_error", f"key {KEY} may not use this model")))
    assert "<the key> may not use" in str(failure(models.chat_model()))


@pytest.mark.parametrize("key", ["sk ant", "sk-ant-\u2019x", "sk-ant-\x07"])
def test_a_key_that_cannot_be_one_is_said_before_it_is_sent(api, monkeypatch, key):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with pytest.raises(models.ModelUnavailable, match="copy it again") as caught:
        models.chat_model()
    assert key not in str(caught.value) and api.requests == []


def test_an_unknown_model_is_named(api):
    api.will((404, refusal("not_found_error", "model: claude-9")))
    error = failure(models.chat_model(model="claude-9"))
    assert error.status == 404
    assert "'claude-9'" in str(error) and api.url in str(error) and "COURSE_LLM" in str(error)


@pytest.mark.parametrize("status", [400, 402, 413])
def test_any_other_refusal_says_what_the_api_said(api, status):
    api.will((status, refusal("invalid_request_error", "Your credit balance is too low")))
    error = failure(models.chat_model())
    assert error.status == status and "credit balance" in str(error)


def test_a_prompt_that_is_too_long_keeps_its_reason(api):
    api.will((400, refusal("invalid_request_error", "prompt is too long: 300000 tokens > 200000")))
    assert "prompt is too long" in str(failure(models.chat_model()))


def test_nobody_there(api, waits, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://user:secret@127.0.0.1:{port}")
    error = failure(models.chat_model())
    assert error.status is None
    assert f"http://127.0.0.1:{port}" in str(error) and "ANTHROPIC_BASE_URL" in str(error)
    assert "secret" not in str(error)
    assert len(waits) == 4


@pytest.mark.parametrize("answer", [{"hello": "I am another program"}, ["a list"], b"<html>hello</html>"])
def test_a_server_that_is_not_the_api(api, answer):
    api.will((200, answer, {"content-type": "text/html"} if isinstance(answer, bytes) else {}))
    error = failure(models.chat_model())
    assert "ANTHROPIC_BASE_URL" in str(error)


def stream(*events: dict) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


START = {"type": "message_start", "message": message()}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": text("")}
WORD = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good day."}}
END = {"type": "content_block_stop", "index": 0}
STOP = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
LAST = {"type": "message_stop"}


def test_streaming(api):
    api.will((200, stream(START, BLOCK, WORD, END, STOP, LAST)))
    assert "".join(chunk.text for chunk in models.chat_model().stream("Hello?")) == "Good day."


def test_an_overload_in_the_middle_of_a_stream_is_explained(api):
    broken = stream(START, BLOCK, WORD, {**refusal("overloaded_error", "Overloaded"), "type": "error"})
    api.will((200, broken))
    pieces = []
    with pytest.raises(models.ModelUnavailable, match="busy"):
        for chunk in models.chat_model().stream("Hello?"):
            pieces.append(chunk.text)
    assert "".join(pieces) == "Good day."

    async def awaited():
        async for _ in models.chat_model().astream("Hello?"):
            pass

    with pytest.raises(models.ModelUnavailable, match="busy"):
        asyncio.run(awaited())


def test_a_stream_that_is_cut_off_is_explained(api):
    api.will((200, stream(START, BLOCK, WORD), {"content-length": "100000"}))
    with pytest.raises(models.ModelUnavailable, match="connection was lost"):
        list(models.chat_model().stream("Hello?"))


def test_callbacks_still_see_the_tokens(api):
    from langchain_core.callbacks import BaseCallbackHandler

    seen = []

    class Listener(BaseCallbackHandler):
        def on_llm_new_token(self, token, **_):
            seen.append(token)

    api.will((200, stream(START, BLOCK, WORD, END, STOP, LAST)))
    list(models.chat_model().stream("Hello?", config={"callbacks": [Listener()]}))
    assert any("Good day." in str(token) for token in seen)


def test_the_model_shows_no_key(api):
    model = models.chat_model()
    assert KEY not in repr(model) and KEY not in str(model)
