"""A router without a model call: the labelled questions nearest to a question vote for its route."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .retrieved import DataType, Decision
from .routing_labels import Example, load_examples
from .routing_rules import RULES
from .routing_space import Wording, discriminant

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

# Chosen by cross-validation on the examples and on the dev half of the golden questions.
K = 41
WORDING = 1.4
RULED = 0.5
SHRINK = 1.0
# How often each route is the true one on the dev half; the examples are more even than life.
SHARES: Mapping[DataType, float] = {
    DataType.STRUCTURED: 0.24,
    DataType.SEMI_STRUCTURED: 0.11,
    DataType.UNSTRUCTURED: 0.59,
    DataType.MIXED: 0.06,
}
SHOWN = 3  # neighbours that a note names


class Neighbour(NamedTuple):
    """A labelled question, how far it is from the one asked, and the cosine of the two embeddings."""

    example: Example
    distance: float
    cosine: float


class NeighbourClassifier:
    """Votes of the nearest labelled questions: `NeighbourClassifier()("How many hubs did we sell?")`.

    embedder: a LangChain embedding model (default: the course's, which has the examples' vectors stored).
    examples: labelled questions (default: data/routes.yaml). k: how many vote. shares: how often each route
    is expected; a vote counts expected share / share of the examples (None: each vote counts 1). wording:
    the weight of the words beside the embedding. ruled: that of the rule of `RuleClassifier` that fits, which
    is one more thing to be alike in. Both 0: the embedding alone. shrink: see `discriminant`.

    Plain neighbours are near in topic: a question about kettles finds other questions about kettles,
    whatever is asked of them. So a question is its embedding, its words ("how many", "per city") and its
    rule, and distances are measured after Fisher's linear discriminant analysis (Fisher 1936; here for
    several groups, with a shrunk covariance). It keeps the directions, one fewer than routes, in which routes
    differ most compared with questions of the same route, and learns from the examples alone.

    The confidence is the share of the votes; the note names those of the winning voters whose embeddings
    are most alike. Raises ValueError for fewer than two routes or settings out of range, and TypeError for
    a question that is no text.
    """

    def __init__(
        self,
        embedder: "Embeddings | None" = None,
        examples: Iterable[Example] | None = None,
        *,
        k: int = K,
        shares: Mapping[DataType, float] | None = SHARES,
        wording: float = WORDING,
        ruled: float = RULED,
        shrink: float = SHRINK,
    ) -> None:
        self.examples = tuple(load_examples() if examples is None else examples)
        routes = [one.route for one in self.examples]
        self.routes = tuple(route for route in DataType if route in routes)
        if len(self.routes) < 2:
            raise ValueError(
                f"{len(routes)} examples of {len(self.routes)} route(s) decide nothing: give labelled "
                "questions of at least two routes."
            )
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ValueError(f"k must be a whole number of at least 1, not {k!r}.")
        if not shrink > 0 or not (wording >= 0 and ruled >= 0):
            raise ValueError(
                "shrink must be above 0, wording and ruled at least 0, "
                f"not {shrink!r}, {wording!r} and {ruled!r}."
            )
        if shares is not None and (missing := [one for one in self.routes if not shares.get(one, 0) > 0]):
            raise ValueError(f"shares must be above 0 for each route of the examples; {missing[0]} has none.")
        if embedder is None:
            from course_utils import models

            embedder = models.embedder(collection="routes")
        self.embedder, self.k, self.wording, self.ruled = embedder, k, wording, ruled
        self.votes = {
            route: 1.0 if shares is None else shares[route] * len(routes) / routes.count(route)
            for route in self.routes
        }
        texts = [one.text for one in self.examples]
        self._words = Wording(texts)
        self._unit = _vectors(embedder, texts)
        vectors = self._whole(self._unit, texts)
        labels = np.array([self.routes.index(route) for route in routes])
        self._centre, self._axes = discriminant(vectors, labels, shrink)
        self._points = (vectors - self._centre) @ self._axes

    def _whole(self, unit: np.ndarray, texts: list[str]) -> np.ndarray:
        """Return embeddings (texts, size) with wording and rules beside them."""
        return np.hstack([unit, self.wording * self._words.vectors(texts), self.ruled * _rules(texts)])

    def nearest(self, question: str) -> list[Neighbour]:
        """Return the k nearest labelled questions, nearest first, ties in the order of the examples."""
        if not isinstance(question, str):
            raise TypeError(f"question must be a text, not {type(question).__name__}.")
        unit = _vectors(self.embedder, [question])
        vector = self._whole(unit, [question])[0]
        away = np.linalg.norm(self._points - (vector - self._centre) @ self._axes, axis=1)
        cosines = self._unit @ unit[0]
        order = np.argsort(away, kind="stable")[: self.k]
        return [Neighbour(self.examples[n], float(away[n]), float(cosines[n])) for n in order]

    def __call__(self, question: str) -> Decision:
        near = self.nearest(question)
        votes = dict.fromkeys((one.example.route for one in near), 0.0)  # of equals the nearer one first
        for one in near:
            votes[one.example.route] += self.votes[one.example.route]
        route = max(votes, key=votes.__getitem__)
        voters = sorted((one for one in near if one.example.route == route), key=lambda one: -one.cosine)
        shown = ", ".join(repr(" / ".join(one.example.text.splitlines())) for one in voters[:SHOWN])
        note = f"{len(voters)} of {len(near)} nearest labelled questions are {route}, such as {shown}"
        return Decision(route, note, votes[route] / sum(votes.values()))


def _rules(texts: list[str]) -> np.ndarray:
    """Return (texts, rules + 1): 1 for the first rule that fits, in the last column where none does."""
    fitting = [[n for n, rule in enumerate(RULES) if rule.fits(text)] for text in texts]
    return np.eye(len(RULES) + 1)[[found[0] if found else len(RULES) for found in fitting]]


def _vectors(embedder: Any, texts: list[str]) -> np.ndarray:
    """Return the vectors of questions at length 1, (texts, size); a zero vector stays zero."""
    if hasattr(embedder, "array"):
        table = np.asarray(embedder.array(texts, query=True), dtype=np.float64)
    else:
        table = np.asarray([embedder.embed_query(text) for text in texts], dtype=np.float64)
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return np.divide(table, length, out=np.zeros_like(table), where=length > 0)
