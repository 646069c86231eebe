"""A task of an exercise: its check, its hints and its solution; and what a check says, a Result."""

import difflib
import importlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from course_utils.teaching import notebook, probe
from course_utils.teaching.firstlook import first_look
from course_utils.teaching.panel import Panel, note, number
from course_utils.teaching.verdict import NOT_ATTEMPTED, PASSED, Result, Verdict

_MISSING = object()


class Judge(Protocol):
    """The judging half of a task; only it knows what is right."""

    def inputs(self) -> dict[str, Any]:
        """Return what travels to the probe, as JSON."""

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the probe's report on `inputs` with the reference."""


@dataclass(frozen=True)
class Task:
    """One task. Its probe and judge are found by name: `<group>_probes.<name>`, `<group>_judges.<name>`.

    `asks` is the name the learner defines; `number` is its place in the exercise, from 1; `hints` are
    a ladder of three: where to look, how, nearly the code.
    """

    group: str
    name: str
    number: int
    title: str
    points: float
    asks: str
    statement: str
    hints: tuple[str, str, str]
    notebook: str
    after: str = ""

    @property
    def id(self) -> str:
        """The identifier that cells carry in their metadata and progress keeps: "sql.limit_guard"."""
        return f"{self.group}.{self.name}"

    @property
    def heading(self) -> str:
        """Its number and title, for people."""
        return f"Task {self.number}: {self.title}"

    def check(self, value: Any = _MISSING, *, keep: bool = True) -> Result:
        """Judge `value` and return the Result; never raises for anything a learner wrote.

        What the learner's code prints is swallowed, nothing reaches stderr, and the result is kept
        as progress unless `keep` is False, as in a demonstration.
        """
        from course_utils.teaching import progress

        with probe.quiet():
            verdict = self._called_wrongly() if value is _MISSING else self._verdict(value)
        result = self.result(verdict)
        if keep:
            progress.record(self, result)
        return result

    def check_named(self, name: str, value: Any) -> Result:
        """Check what `value()` returns; a name it does not find gets a panel. Notebook cells use this."""
        try:
            found = value()
        except NameError:
            what = (
                f"the cell of Task {self.number}" if name == self.asks else f"the cell that defines `{name}`"
            )
            message = f"`{name}` is not defined yet: run {what} first, then this cell again."
            return self.result(Verdict(0, NOT_ATTEMPTED, message))
        return self.check(found)

    def inputs(self) -> dict[str, Any]:
        """Return what the probe needs, from the judge, as JSON carries it."""
        return json.loads(json.dumps(self._judge().inputs()))

    def judge(self, report: Any, inputs: Mapping[str, Any]) -> Verdict:
        """Judge a probe's report; one that is malformed earns nothing, whoever sent it."""
        try:
            return first_look(report, self.asks) or self._judge().judge(report, inputs)
        except Exception as error:  # the report comes from a process that ran a learner's code
            return self._could_not_run(error)

    def result(self, verdict: Verdict) -> Result:
        """Return the Result of a verdict, with this task's points and next step."""
        return Result(
            verdict.points,
            out_of=self.points,
            state=verdict.state,
            message=verdict.message,
            title=self.heading,
            following=self._next_step(verdict),
        )

    def hint(self, n: int = 1) -> Panel:
        """Return hint `n`, counted from 1."""
        count = len(self.hints)
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= count:
            call = f"tasks.{self.id}.hint"
            return note(self.heading, f"There are {count} hints here: `{call}(1)` to `{call}({count})`.")
        more = f"\nNot enough? `tasks.{self.id}.hint({n + 1})`" if n < count else ""
        return note(f"{self.heading} · hint {n} of {count}", self.hints[n - 1] + more)

    def solution(self) -> Panel:
        """Return the solution's cells from `solutions/`, or a word that this copy has none."""
        cells = notebook.solution_cells(self.notebook, self.id)
        if not cells:
            return note(
                f"{self.heading} · solution",
                "This copy of the course comes without the solution of this task. "
                f"`tasks.{self.id}.hint({len(self.hints)})` is the closest step; your teacher has the rest.",
            )
        why = "One way to do it; another that passes the check is as good."
        return note(f"{self.heading} · solution", why, code="\n\n".join(cells))

    def _repr_html_(self) -> str:
        return note(f"{self.heading} ({self._worth()})", self.statement)._repr_html_()

    def __repr__(self) -> str:
        return f"{self.heading} ({self._worth()})\n{self.statement}"

    def _worth(self) -> str:
        return f"{number(self.points)} {'point' if self.points == 1 else 'points'}"

    def _judge(self) -> Judge:
        return getattr(importlib.import_module(f"course_utils.teaching.tasks.{self.group}_judges"), self.name)

    def _verdict(self, value: Any) -> Verdict:
        try:
            inputs = self.inputs()
        except Exception as error:
            return self._could_not_run(error)
        return self.judge(json.loads(json.dumps(probe.report(self.id, value, inputs))), inputs)

    def _called_wrongly(self) -> Verdict:
        return Verdict(
            0, NOT_ATTEMPTED, f"Pass what you wrote to the check: `tasks.{self.id}.check({self.asks})`."
        )

    @staticmethod
    def _could_not_run(error: Exception) -> Verdict:
        return Verdict(
            0,
            NOT_ATTEMPTED,
            f"The check itself could not run, which says nothing about your answer: "
            f"{type(error).__name__}: {error}",
        )

    def _next_step(self, verdict: Verdict) -> str:
        if verdict.state == PASSED:
            return self.after
        if verdict.state == NOT_ATTEMPTED and verdict.hint is None:
            return ""
        hint = f"`tasks.{self.id}.hint({verdict.hint or 1})`"
        if verdict.state == NOT_ATTEMPTED:
            return f"write your answer in the cell above, run it, then run this cell again. Stuck? {hint}"
        return f"change it and run both cells again. Stuck? {hint}"


class Group:
    """The tasks of one exercise as attributes: `tasks.sql.limit_guard`."""

    def __init__(self, name: str, tasks: Iterable[Task]) -> None:
        self._name = name
        self._tasks = {task.name: task for task in tasks}
        self.__dict__.update(self._tasks)

    def __iter__(self):
        return iter(self._tasks.values())

    def __len__(self) -> int:
        return len(self._tasks)

    def __getattr__(self, name: str) -> Task:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(unknown(f"tasks.{self._name}", name, self._tasks))

    def __dir__(self) -> list[str]:
        return sorted(self._tasks)

    def __repr__(self) -> str:
        return "\n".join(f"tasks.{task.id}  {task.heading}" for task in self)


def group(name: str, notebook: str, entries: Iterable[Mapping[str, Any]]) -> Group:
    """Return a group of tasks numbered in order; each passed one points to the one after it."""
    entries = list(entries)
    made = []
    for index, entry in enumerate(entries):
        last = index + 1 == len(entries)
        after = "`progress.show()` lists what you have passed."
        if not last:
            after = f"Task {index + 2}, {entries[index + 1]['title']}."
        made.append(Task(group=name, number=index + 1, notebook=notebook, after=after, **entry))
    return Group(name, made)


def unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a name that is not there: the nearest first, else all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    rest = f"Did you mean {where}.{near[0]}?" if near else f"There is: {', '.join(known)}."
    return f"{where} has no {name!r}. {rest}"
