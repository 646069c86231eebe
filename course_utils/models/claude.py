"""Claude through the Anthropic API: LangChain's ChatAnthropic, with errors a learner can act on.

Imported only where a key is set: the libraries cost 3.5 s of CPU.
"""

import email.utils
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
from langchain_anthropic import ChatAnthropic
from langchain_core.caches import InMemoryCache
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from .errors import GO_ON, ModelUnavailable, shorten
from .settings import Setting

RETRIES = 4
SECONDS = anthropic.Timeout(120.0, connect=10.0)
LONGEST_WAIT = 60.0
MAX_TOKENS = 8192
_BUSY = {429, 529}
Stop = list[str] | None
Next = Callable[[anthropic.APIRequest], Any]

# A call that was answered is not paid for twice: running a cell again, or the rest of a list after an
# error in the middle, keeps what is finished and gives the same text.
_finished = InMemoryCache(maxsize=1000)


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Return what a retry-after header asks for, given in seconds or as a date; None if neither."""
    try:
        return float(retry_after or "")
    except ValueError:
        date = email.utils.parsedate_tz(retry_after or "")
        return email.utils.mktime_tz(date) - time.time() if date else None


class _Patience(anthropic.Middleware):
    """Between two tries, wait as long as the API asks, but say so, and not for more than a minute.

    The waiting itself is the anthropic client's (429, 529, 5xx, lost connections; `retry-after` counts,
    else 0.5, 1, 2, 4 s); it has no upper limit of its own.
    """

    def _look(self, response: Any, retries_taken: int) -> None:
        wait = seconds_to_wait(response.headers.get("retry-after"))
        if response.status_code not in _BUSY or wait is None or retries_taken >= RETRIES:
            return
        if wait > LONGEST_WAIT:
            raise ModelUnavailable(
                "The Anthropic API is busy or its limit for this key is reached "
                f"(HTTP {response.status_code}); it asks to wait {wait:.0f} s. "
                f"Run the cell again after that. {GO_ON}",
                response.status_code,
            )
        if wait >= 5:
            print(f"The Anthropic API is busy: next try in {wait:.0f} s.", flush=True)

    def handle(self, request: anthropic.APIRequest, call_next: Next) -> Any:
        response = call_next(request)
        self._look(response, request.retries_taken)
        return response

    async def handle_async(self, request: anthropic.APIRequest, call_next: Next) -> Any:
        response = await call_next(request)
        self._look(response, request.retries_taken)
        return response


class Claude(ChatAnthropic):
    """ChatAnthropic whose failures are ModelUnavailable, in words, without the key in them."""

    key_found_in: str = ""

    @cached_property
    def _client(self) -> anthropic.Client:
        return super()._client.with_options(timeout=SECONDS, middleware=[_Patience()])

    @cached_property
    def _async_client(self) -> anthropic.AsyncClient:
        return super()._async_client.with_options(timeout=SECONDS, middleware=[_Patience()])

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (anthropic.APIError, httpx2.HTTPError) as error:
            # The libraries' own traceback is a hundred lines long; __context__ still holds the cause.
            raise self._explain(error) from None

    def _address(self) -> str:
        """Return the API's address without a password that may stand in it."""
        url = urlsplit(self.anthropic_api_url or "")
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"

    def _explain(self, error: Exception) -> ModelUnavailable:
        status = getattr(error, "status_code", None)
        kind = getattr(error, "type", None)
        said = getattr(error, "api_message", None) or getattr(error, "message", None) or str(error)
        said = shorten(said.replace(self.anthropic_api_key.get_secret_value(), "<the key>"), 300)
        address = self._address()
        if status == 401 or kind == "authentication_error":
            what = f"The key was refused (HTTP 401). It was found in {self.key_found_in}: copy it again."
        elif status == 403:
            what = f"The key in {self.key_found_in} may not use the model {self.model!r} (HTTP 403): {said}"
        elif status == 404:
            what = (
                f"{address} does not know the model {self.model!r} (HTTP 404): {said}. The name comes from "
                "chat_model(model=...) or COURSE_LLM; unset, it is the course's default. If the name is "
                "right, look at ANTHROPIC_BASE_URL: it ends before /v1."
            )
        elif status in _BUSY or kind in {"overloaded_error", "rate_limit_error"}:
            what = (
                f"The Anthropic API is busy or its limit for this key is reached (HTTP {status}): {said}. "
                f"{RETRIES + 1} tries were made at most, waiting as asked. Run the cell again in a minute; "
                "answers that had already come are kept until the notebook is restarted."
            )
        elif isinstance(error, anthropic.APITimeoutError):
            what = f"{address} did not answer in time, {RETRIES + 1} times over. Is the network there?"
        elif isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError):
            cause = shorten(str(error.__cause__ or said), 200)
            what = (
                f"{address} could not be reached, or the connection was lost: {cause}. Is the network there? "
                "Is ANTHROPIC_BASE_URL, if it is set, the right address?"
            )
        else:
            code = f" (HTTP {status})" if status else ""
            what = f"The Anthropic API did not carry out the request{code}: {said}"
        return ModelUnavailable(f"{what} {GO_ON}", status)

    def _format_output(self, data: Any, **kwargs: Any) -> ChatResult:
        if not isinstance(getattr(data, "content", None), list):
            raise ModelUnavailable(
                f"{self._address()} answered, but not with a message as the Anthropic API does: is another "
                f"program there? ANTHROPIC_BASE_URL says where to ask. {GO_ON}"
            )
        return super()._format_output(data, **kwargs)

    # LangChain looks for `run_manager` in these signatures before it passes one.
    def _generate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        with self._explained():
            return super()._generate(messages, stop, run_manager, **kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        with self._explained():
            return await super()._agenerate(messages, stop, run_manager, **kwargs)

    def _stream(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        with self._explained():
            yield from super()._stream(messages, stop, run_manager, **kwargs)

    async def _astream(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        with self._explained():
            async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
                yield chunk


def make(model: str, key: Setting, base_url: Setting | None) -> Claude:
    """Return Claude under the name `model`; no request is made yet.

    Temperature is 0 where the model takes one; newer models, the default among them, refuse any.
    """
    if not (key.value.isascii() and key.value.isprintable()) or " " in key.value:
        raise ModelUnavailable(
            f"The key in {key.where} holds a space or a character that no key has: copy it again. {GO_ON}"
        )
    chat = Claude(
        model=model,
        api_key=key.value,
        base_url=base_url.value if base_url else None,
        max_tokens=MAX_TOKENS,
        max_retries=RETRIES,
        timeout=SECONDS.read,
        cache=_finished,
        key_found_in=key.where,
    )
    if (chat.profile or {}).get("temperature"):
        chat.temperature = 0
    return chat
