"""The file format of scripted replies: `data/replies/<task>.yaml`, checked as it is read."""

import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictStr,
    ValidationError,
    model_validator,
)

from .errors import ScriptError, shorten

_QUOTES = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # C where PyYAML was built with it
    """YAML in which a key written twice is an error: plain YAML drops the first without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        names = [(key.value, key.start_mark) for key, _ in node.value]
        for number, (name, mark) in enumerate(names):
            if name in [earlier for earlier, _ in names[:number]]:
                raise yaml.MarkedYAMLError(problem=f"the key {name!r} is written twice", problem_mark=mark)
        return super().construct_mapping(node, deep)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Strict):
    """A tool call inside a reply."""

    name: StrictStr = Field(min_length=1)
    args: dict[StrictStr, JsonValue] = {}


class Answer(_Strict):
    """One reply: text, tool calls, or both. A plain string in the file is a reply of text alone."""

    text: StrictStr = ""
    tool_calls: list[Call] = []

    @model_validator(mode="after")
    def _says_something(self) -> "Answer":
        if not self.model_fields_set:
            raise ValueError("a reply needs `text`, `tool_calls`, or both")
        return self


def _as_mapping(answer: Any) -> Any:
    return {"text": answer} if isinstance(answer, str) else answer


class Entry(_Strict):
    """A question, its other wordings, and its replies: the first, the one after one failure, and so on."""

    question: StrictStr
    also: list[StrictStr] = []
    answers: list[Annotated[Answer, BeforeValidator(_as_mapping)]] = Field(min_length=1)

    @property
    def wordings(self) -> tuple[str, ...]:
        return (self.question, *self.also)


class Script(_Strict):
    """A whole file."""

    task: StrictStr
    replies: list[Entry] = Field(min_length=1)


def fold(question: str) -> str:
    """Return the form in which questions are compared: case, spacing, final punctuation do not count.

    >>> fold("  Total paid  per City ?")
    'total paid per city'
    """
    text = unicodedata.normalize("NFKC", question).translate(_QUOTES)
    return " ".join(text.casefold().split()).rstrip(" ?!.:;…")


def _problem(error: Any, raw: Any) -> str:
    """Return one line on one fault: where in the file, in which question, what is wrong."""
    where, question = "", ""
    for part in error["loc"]:
        where += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if where else part
    match error["loc"]:
        case ("replies", int(number), *_) if isinstance(raw["replies"][number], dict):
            question = f' (question "{shorten(str(raw["replies"][number].get("question")), 60)}")'
    found = shorten(repr(error["input"]), 60)
    return f"  {where or 'the file'}{question}: {error['msg']}; found {found}"


def parse(text: str, file: Path, task: str) -> tuple[Entry, ...]:
    """Return the entries of a script; raises ScriptError that names the file, the entry and the fault."""
    try:
        raw = yaml.load(text, Loader=_Loader)
        script = Script.model_validate(raw)
    except yaml.YAMLError as error:
        raise ScriptError(f"{file} is not valid YAML: {error}") from None
    except ValidationError as error:
        lines = [_problem(one, raw) for one in error.errors()[:5]]
        lines.append("  (counted from 1; text that looks like a number, a date or yes/no needs quotes)")
        raise ScriptError("\n".join([f"{file} is not a script of replies:", *lines])) from None
    if script.task != task:
        raise ScriptError(f"{file} says `task: {script.task}`; after its name it should be `task: {task}`.")
    seen: dict[str, int] = {}
    for number, entry in enumerate(script.replies, 1):
        for wording in entry.wordings:
            if not (folded := fold(wording)):
                raise ScriptError(f"{file}: replies[{number}] has a question without a word: {wording!r}.")
            if folded in seen:
                raise ScriptError(
                    f'{file}: the question "{shorten(wording)}" of replies[{number}] is already in '
                    f"replies[{seen[folded]}]. Case, spacing and final punctuation do not tell two apart."
                )
            seen[folded] = number
    return tuple(script.replies)


def read(file: Path, task: str) -> tuple[Entry, ...]:
    """Return the entries of the script `file` for `task`, read anew when the file has changed."""
    try:
        stat = file.stat()
    except FileNotFoundError:
        tasks = ", ".join(sorted(path.stem for path in file.parent.glob("*.yaml"))) or "none"
        raise ScriptError(
            f"There is no offline script for the task {task!r}: {file} does not exist. Scripts: {tasks}."
        ) from None
    return _read(file, task, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=32)
def _read(file: Path, task: str, _mtime_ns: int, _size: int) -> tuple[Entry, ...]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScriptError(f"{file} is not UTF-8: {error}") from None
    return parse(text, file, task)
