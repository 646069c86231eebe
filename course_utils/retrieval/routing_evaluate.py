"""How good a router is: which routes it confuses, and what its mistakes cost in answers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from .retrieved import DataType, Decision
from .routing_labels import Classifier, route_of, text_of

if TYPE_CHECKING:
    import pandas

    from course_utils.shop.questions import Question


@dataclass(frozen=True)
class Routed:
    """A question that has a true route, that route, and what a router decided."""

    question: "Question"
    gold: DataType
    decision: Decision

    @property
    def right(self) -> bool:
        """Whether it is the true route; mixed for a question with a single true route is not."""
        return self.decision.route == self.gold


@dataclass(frozen=True, repr=False)
class Confusion:
    """What a router decided on questions with a true route. Prints as two tables and the accuracy."""

    routed: tuple[Routed, ...]

    @property
    def accuracy(self) -> float:
        """The share that got the true route, NaN for no questions."""
        return sum(one.right for one in self.routed) / len(self.routed) if self.routed else float("nan")

    def wrong(self) -> tuple[Routed, ...]:
        """Return the questions that went elsewhere, with the decisions' notes."""
        return tuple(one for one in self.routed if not one.right)

    def by_route(self) -> "pandas.DataFrame":
        """Return a row for each true route, a column for each decided one, with counts and accuracy."""
        return self._table(lambda one: str(one.gold), list(map(str, DataType)), "true route")

    def by_pattern(self) -> "pandas.DataFrame":
        """Return a row for each pattern, a column for each decided route, with counts and accuracy."""
        from course_utils.shop.questions import PATTERNS

        return self._table(lambda one: one.question.pattern, list(PATTERNS), "pattern")

    def _table(self, key: Callable[[Routed], str], order: list[str], name: str) -> "pandas.DataFrame":
        import pandas

        rows = {}
        for label in order:
            some = [one for one in self.routed if key(one) == label]
            if some:
                counts = {str(r): sum(one.decision.route == r for one in some) for r in DataType}
                share = sum(one.right for one in some) / len(some)
                rows[label] = counts | {"questions": len(some), "accuracy": share}
        columns = [*map(str, DataType), "questions", "accuracy"]
        return pandas.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis(name)

    def _total(self) -> str:
        return f"accuracy: {self.accuracy:.3f} ({len(self.routed) - len(self.wrong())} of {len(self.routed)})"

    def __repr__(self) -> str:
        tables = [table.round(3).to_string() for table in (self.by_route(), self.by_pattern())]
        return "\n\n".join([*tables, self._total()])

    def _repr_html_(self) -> str:
        tables = [table.round(3).to_html() for table in (self.by_route(), self.by_pattern())]
        return "".join([*tables, f"<p>{self._total()}</p>"])


def confusion(classify: Classifier, questions: Iterable["Question"]) -> Confusion:
    """Return what a router decides on golden questions; those without a true route are left out.

    A follow-up is classified with the question before it. A router that raises is not caught here: a
    measurement that hides failures measures something else.
    """
    known = [(question, gold) for question in questions if (gold := route_of(question)) is not None]
    return Confusion(tuple(Routed(question, gold, classify(text_of(question))) for question, gold in known))


@dataclass(frozen=True)
class Regret:
    """What a router's choices lost. `lost`: question id -> best score of any route minus that of the chosen.

    mean: over all questions, those without loss included. score, best: the mean score of the chosen routes,
    and of the best ones. always: route -> mean score if every question were sent there (only routes that
    have a score for each question).
    """

    lost: Mapping[str, float]
    mean: float
    score: float
    best: float
    always: Mapping[str, float]

    def worst(self, count: int = 5) -> list[tuple[str, float]]:
        """Return the questions that lost most, with their loss, ties by id; none that lost nothing."""
        order = sorted(self.lost.items(), key=lambda one: (-one[1], one[0]))
        return [one for one in order[:count] if one[1] > 0]


def regret(scores: Mapping[str, Mapping[str, float]], chosen: Mapping[str, str | Decision]) -> Regret:
    """Return the regret of `chosen` (question id -> route or Decision), given the score of each route.

    scores: question id -> route -> how good the answer from there is, higher better, on one scale for all
    routes (recall of the gold documents, or 1 and 0 for right and wrong rows). A wrong route whose answer is
    as good costs nothing: regret tells mistakes that hurt from those that do not.

    >>> regret({"q1": {"structured": 1.0, "unstructured": 0.25}}, {"q1": "unstructured"}).mean
    0.75

    Raises ValueError for no questions, a question without a choice, and a choice without a finite score.
    """
    if not scores:
        raise ValueError("There are no scores: give question id -> route -> score.")
    lost, got, best = {}, [], []
    for id, routes in scores.items():
        if id not in chosen:
            raise ValueError(f"No route was chosen for {id}: classify every question that has scores.")
        choice = chosen[id]
        name = str(choice.route if isinstance(choice, Decision) else choice)
        table = {str(route): float(score) for route, score in routes.items()}
        if name not in table:
            known = ", ".join(table) or "none"
            raise ValueError(f"{id} went to {name}, which has no score there; scored are: {known}.")
        if bad := [route for route, score in table.items() if not isfinite(score)]:
            raise ValueError(f"The score of {bad[0]} for {id} is {table[bad[0]]}; count a failure as 0.")
        got.append(table[name])
        best.append(max(table.values()))
        lost[id] = best[-1] - got[-1]
    count = len(scores)
    shared = set.intersection(*({str(route) for route in routes} for routes in scores.values()))
    always = {
        route: sum(float(dict((str(r), s) for r, s in routes.items())[route]) for routes in scores.values())
        / count
        for route in sorted(shared)
    }
    return Regret(lost, sum(lost.values()) / count, sum(got) / count, sum(best) / count, always)
