"""What can go wrong with a model, in words that say what to do next."""

from collections.abc import Sequence

GO_ON = (
    "To go on without a key: set COURSE_LLM=scripted (or remove the key) and make the model again "
    "with chat_model(...)."
)
USE_CLAUDE = (
    "To ask anything you like, use Claude: set the environment variable ANTHROPIC_API_KEY, or write the line "
    "ANTHROPIC_API_KEY=... into a file called .env in the course's folder, then make the model again with "
    "chat_model(...). Nothing more needs installing; COURSE_LLM names another model than the default."
)
_SHOWN = 8


def shorten(text: str, width: int = 200) -> str:
    """Return `text` on one line of at most `width` characters."""
    line = " ".join(text[: 2 * width + 1].split())
    return line if len(line) <= width else line[: width - 1] + "…"


class ScriptError(ValueError):
    """A file of scripted replies does not follow its format."""


class UnknownQuestion(LookupError):
    """The offline script has no reply to this question.

    `task` names the script, `question` is what was asked, `known` are the questions it can answer,
    nearest first.
    """

    def __init__(self, task: str, question: str, known: Sequence[str]) -> None:
        self.task, self.question, self.known = task, question, tuple(known)
        asked = f'has no reply to "{shorten(question)}"' if question.strip() else "was asked no question"
        lines = [f"The offline script {task!r} {asked}. It knows, nearest first:"]
        lines += [f"  - {shorten(text)}" for text in self.known[:_SHOWN]]
        if len(self.known) > _SHOWN:
            lines.append(f"  and {len(self.known) - _SHOWN} more")
        super().__init__("\n".join([*lines, USE_CLAUDE]))

    def __reduce__(self) -> tuple:
        return type(self), (self.task, self.question, self.known)


class ModelUnavailable(RuntimeError):
    """A model that was asked for cannot answer; the message says why and what to do.

    `status` is the HTTP status of the refusal, None where there was no answer at all.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class WeightsError(RuntimeError):
    """The weights of an embedding model are missing, or are not the ones that were expected."""
