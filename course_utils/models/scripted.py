"""The offline chat model: replies that the course's authors wrote, found by the question."""

import difflib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from course_utils import places

from .errors import ScriptError, UnknownQuestion
from .script import Answer, Entry, fold, read

Stop = list[str] | None


def _texts(message: BaseMessage) -> Iterator[str]:
    """Yield the message's whole text, then, of a list of blocks, each block's own, newest first."""
    content = message.content
    if isinstance(content, str):
        yield content
        return
    blocks = [block if isinstance(block, str) else block.get("text") for block in content]
    texts = [text for text in blocks if isinstance(text, str)]
    yield "\n".join(texts)
    yield from reversed(texts)


class ScriptedChat(BaseChatModel):
    """A LangChain chat model that replies from a script and never guesses.

    The reply belongs to the newest human message whose text is a question of the script (case, spacing
    and final punctuation aside); its number is how many AI messages stand after that message, and the
    last reply repeats. The same messages always get the same reply. Token usage is left out: nothing
    was counted, since nothing was computed.

    Raises UnknownQuestion where no human message is in the script.
    """

    task: str
    entries: tuple[Entry, ...]

    @classmethod
    def load(cls, task: str) -> "ScriptedChat":
        """Return the model for `data/replies/<task>.yaml`; raises ScriptError."""
        if not re.fullmatch(r"[\w-]+", task):
            raise ScriptError(f"A task is a plain name such as text_to_sql, not {task!r}.")
        return cls(task=task, entries=read(places.data() / "replies" / f"{task}.yaml", task))

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": "scripted", "task": self.task}

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that the script answers, in the order of the file."""
        return tuple(entry.question for entry in self.entries)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with these tools; the script decides when one is called."""
        formatted = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=formatted, tool_choice=tool_choice, **kwargs)

    def _unknown(self, messages: list[BaseMessage]) -> UnknownQuestion:
        asked = [next(_texts(message)) for message in messages if isinstance(message, HumanMessage)]
        question = asked[-1] if asked else ""
        folded = fold(question[:500])

        def likeness(known: str) -> float:
            return difflib.SequenceMatcher(None, folded, fold(known)[:500]).ratio()

        return UnknownQuestion(self.task, question, sorted(self.questions, key=likeness, reverse=True))

    def _reply(self, messages: list[BaseMessage], tools: Sequence[Any]) -> tuple[Answer, list[dict]]:
        """Return the scripted reply to `messages`, and its tool calls as keyword arguments."""
        known = {fold(wording): entry for entry in self.entries for wording in entry.wordings}
        answered = 0
        for message in reversed(messages):
            if isinstance(message, AIMessage):
                answered += 1
            elif isinstance(message, HumanMessage):
                entry = next((known[key] for text in _texts(message) if (key := fold(text)) in known), None)
                if entry is not None:
                    break
        else:
            raise self._unknown(messages)
        answer = entry.answers[min(answered, len(entry.answers) - 1)]
        if answer.tool_calls and not tools:
            names = ", ".join(call.name for call in answer.tool_calls)
            raise ValueError(
                f'The script {self.task!r} answers "{entry.question}" by calling {names}, but the model was '
                "given no tools. Give it some with chat_model(...).bind_tools([...])."
            )
        # The number of messages makes the id unique in a conversation and the same at each run.
        calls = [
            {"name": call.name, "args": deepcopy(call.args), "id": f"call_{len(messages)}_{number}"}
            for number, call in enumerate(answer.tool_calls, 1)
        ]
        return answer, calls

    def _about(self) -> dict[str, str]:
        return {"model_name": "scripted", "task": self.task}

    def _generate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        answer, calls = self._reply(messages, kwargs.get("tools") or ())
        message = AIMessage(
            content=answer.text,
            tool_calls=[tool_call(**call) for call in calls],
            response_metadata=self._about(),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer, calls = self._reply(messages, kwargs.get("tools") or ())
        for word in re.findall(r"\s*\S+\s*", answer.text) or [answer.text]:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
        last = AIMessageChunk(
            content="",
            tool_call_chunks=[
                tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=number)
                for number, call in enumerate(calls)
            ],
            response_metadata=self._about(),
            chunk_position="last",
        )
        yield ChatGenerationChunk(message=last)
