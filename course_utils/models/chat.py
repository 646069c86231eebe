"""Which chat model the course uses: replies written by its authors, or Claude where a key is set."""

from typing import TYPE_CHECKING

from .errors import USE_CLAUDE, ModelUnavailable
from .settings import find

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

DEFAULT_MODEL = "claude-sonnet-5-5"
SCRIPTED = "scripted"
_announced: set[str] = set()


def _announce(line: str) -> None:
    """Print `line` once in this process, so that nobody wonders who is speaking."""
    if line not in _announced:
        _announced.add(line)
        print(line, flush=True)


def chat_model(task: str = "chat", *, model: str | None = None) -> "BaseChatModel":
    """Return the chat model for `task`: scripted and offline, or Claude where ANTHROPIC_API_KEY is set.

    `task` picks the script `data/replies/<task>.yaml`; Claude needs none. `model` names a Claude model,
    else COURSE_LLM does, else it is claude-sonnet-5-5; "scripted" in either place keeps to the script
    although a key is set. Key and settings come from the environment or a `.env` and are read at each
    call. Which model is in use is printed once.

    Raises ScriptError for a script that is missing or malformed, ModelUnavailable where `model` names
    Claude and there is no usable key.
    """
    wanted = find("COURSE_LLM")
    key = find("ANTHROPIC_API_KEY")
    if SCRIPTED in {model, wanted and wanted.value} or (key is None and model is None):
        from .scripted import ScriptedChat

        chat = ScriptedChat.load(task)
        _announce("Offline scripted model: replies written by the authors")
        return chat
    name = model or (wanted.value if wanted else DEFAULT_MODEL)
    if key is None:
        raise ModelUnavailable(
            f"The model {name!r} needs a key, and no ANTHROPIC_API_KEY is set. {USE_CLAUDE} "
            "Without model=... the offline script is used."
        )
    from .claude import make

    chat = make(name, key, find("ANTHROPIC_BASE_URL"))
    _announce(f"Claude ({name}) through the Anthropic API")
    return chat
