"""The models: a chat model and an embedding model, both of which work offline."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .chat import chat_model
    from .embedding import embedder
    from .errors import ModelUnavailable, ScriptError, UnknownQuestion, WeightsError
    from .reranking import CrossEncoderReranker, MaxSim, Reranker, reranker
    from .scripted import ScriptedChat

_HOME = {
    "chat_model": "chat",
    "embedder": "embedding",
    "CrossEncoderReranker": "reranking",
    "MaxSim": "reranking",
    "Reranker": "reranking",
    "reranker": "reranking",
    "ScriptedChat": "scripted",
    "ModelUnavailable": "errors",
    "ScriptError": "errors",
    "UnknownQuestion": "errors",
    "WeightsError": "errors",
}
__all__ = [
    "CrossEncoderReranker",
    "MaxSim",
    "ModelUnavailable",
    "Reranker",
    "ScriptError",
    "ScriptedChat",
    "UnknownQuestion",
    "WeightsError",
    "chat_model",
    "embedder",
    "reranker",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used: the model libraries cost seconds."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
