"""The answers of one retriever to questions with known answers, and the table they make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .metrics import measure

if TYPE_CHECKING:
    import pandas

SHOWN = ("recall@5", "recall@20", "candidate recall@50", "precision@5", "nDCG@10", "MRR")
_DIGITS = {"median ms": 1, "p95 ms": 1, "calls": 1, "tokens": 0}  # 3 for all other numbers


class Table:
    """Something that prints as its frame with lines of text below it."""

    def __repr__(self) -> str:
        return "\n".join([self._shown().to_string(), *self.notes()])

    def _repr_html_(self) -> str:
        from html import escape

        return self._shown().to_html(border=0) + "".join(f"<p>{escape(line)}</p>" for line in self.notes())

    def _shown(self) -> "pandas.DataFrame":
        """Return the frame with its numbers as text; "-" is a value that nobody knows."""
        shown = self.frame().astype(object)
        for name in shown:
            shown[name] = [_cell(name, value) for value in shown[name]]
        return shown


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, (str, int)):
        return value
    if value != value:
        return "-"
    return "<.001" if name == "p" and value < 0.001 else f"{value:.{_DIGITS.get(name, 3)}f}"


@dataclass(frozen=True)
class Answer:
    """What came back for one question: at most k ids, best first, each once; and what that took.

    calls and tokens: of chat models; tokens is None where a model did not say. error: why nothing came back.
    """

    question: Any
    gold: frozenset[str]
    ranking: tuple[str, ...]
    milliseconds: float
    calls: int = 0
    tokens: int | None = 0
    error: str = ""


@dataclass(frozen=True, repr=False)
class Run(Table):
    """The answers of one retriever, asked for k documents; prints as a table by pattern, with definitions.

    left_out: how many questions have no gold documents, by reason. replaced: the ids with other gold.
    """

    name: str
    k: int
    answers: tuple[Answer, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()

    @property
    def rankings(self) -> dict[str, tuple[str, ...]]:
        """The ranking of each question, by the question's id."""
        return {answer.question.id: answer.ranking for answer in self.answers}

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of its questions, in the order of their first question."""
        return tuple(dict.fromkeys(answer.question.pattern for answer in self.answers))

    @property
    def _shown_measures(self) -> list[str]:
        return [name for name in SHOWN if (measure(name).cutoff or 0) <= self.k]

    def of(self, pattern: str | None = None) -> tuple[Answer, ...]:
        """Return the answers to the questions of a pattern, or to all; ValueError where there are none."""
        found = tuple(answer for answer in self.answers if pattern in {None, answer.question.pattern})
        if not found:
            known = ", ".join(self.patterns)
            raise ValueError(f"{self.name} was asked no question of pattern {pattern!r}, only of {known}.")
        return found

    def values(self, name: str = "recall@5", pattern: str | None = None) -> dict[str, float]:
        """Return question id -> value of a measure of `metrics.measure`; ValueError if it looks below k."""
        asked = measure(name)
        if asked.cutoff is not None and asked.cutoff > self.k:
            raise ValueError(f"{self.name} was asked for {self.k} documents, too few for {name}: give k.")
        return {a.question.id: asked.of(a.ranking, a.gold) for a in self.of(pattern)}

    def mean(self, name: str = "recall@5", pattern: str | None = None) -> float:
        """Return the mean of a measure over the questions of a pattern, or over all."""
        found = self.values(name, pattern)
        return sum(found.values()) / len(found)

    def averages(self, k: int = 5) -> dict[str, float]:
        """Return avg_precision and avg_recall at k, avg_latency in ms, and f1 of these two averages.

        That is not the mean of F1@k, for which there is `mean("F1@5")`.
        """
        precision, recall = self.mean(f"precision@{k}"), self.mean(f"recall@{k}")
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        latency = sum(a.milliseconds for a in self.answers) / len(self.answers)
        return {"avg_precision": precision, "avg_recall": recall, "avg_latency": latency, "f1": f1}

    def percentile(self, percent: float, pattern: str | None = None) -> float:
        """Return the milliseconds that so many per cent of the questions did not exceed (nearest rank)."""
        import numpy as np

        return float(
            np.percentile([a.milliseconds for a in self.of(pattern)], percent, method="inverted_cdf")
        )

    def frame(self, *, timing: bool = True) -> "pandas.DataFrame":
        """Return a row per pattern and one for all questions; without the milliseconds if not `timing`.

        "all" is the mean over all questions, not over patterns. calls and tokens are those of a question.
        """
        import pandas

        rows = {}
        for label, pattern in [*((p, p) for p in self.patterns), ("all", None)]:
            asked = self.of(pattern)
            row: dict[str, Any] = {"questions": len(asked)}
            row |= {name: self.mean(name, pattern) for name in self._shown_measures}
            if timing:
                row |= {"median ms": self.percentile(50, pattern), "p95 ms": self.percentile(95, pattern)}
            tokens = [float("nan") if a.tokens is None else a.tokens for a in asked]
            row |= {"calls": sum(a.calls for a in asked) / len(asked), "tokens": sum(tokens) / len(asked)}
            rows[label] = row
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("pattern")

    def notes(self) -> list[str]:
        """Return what the table does not show: who was left out, what failed, and what each measure means."""
        told = [f"{self.name}: means over questions, {self.k} documents asked for."]
        if self.left_out:
            told.append(f"Left out, as they have no gold documents: {listed(self.left_out)}.")
        if failed := [a for a in self.answers if a.error]:
            first = f"{failed[0].question.id}: {failed[0].error}"
            told.append(f"{len(failed)} of {len(self.answers)} failed and count as 0; the first is {first}")
        if self.replaced:
            told.append(f"Gold replaced for: {', '.join(self.replaced)}.")
        told += [f"{name}: {measure(name).meaning}" for name in self._shown_measures]
        return [*told, "ms: of the search alone; calls, tokens: of chat models, the mean of a question"]


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())
