"""The three routers on the golden questions: confusion by route and pattern, accuracy, time a question.

    python benchmarks/routes.py [--split dev|test] [--model] [--wrong]

Nothing is fitted to golden questions; the rules were written with the dev half in view. The neighbours are
also shown without the rules, without rules and wording, without the expected shares, and as plain neighbours
by cosine, so that each part shows what it is worth. `--model` asks the chat model too: offline that is the
authors' script, which knows the dev half only and measures no model. Cross-validation on the labelled
questions is printed last. Times are medians, the look-up of a stored vector included.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from course_utils.retrieval.retrieved import DataType, Decision
from course_utils.retrieval.routing_evaluate import confusion
from course_utils.retrieval.routing_labels import load_examples
from course_utils.retrieval.routing_model import ModelClassifier
from course_utils.retrieval.routing_neighbours import SHARES, NeighbourClassifier
from course_utils.retrieval.routing_rules import RuleClassifier
from course_utils.shop import questions


class Plain:
    """The most frequent route among the k labelled questions with the highest cosine, for comparison."""

    def __init__(self, fitted: NeighbourClassifier, k: int = 9) -> None:
        self.fitted, self.k = fitted, k

    def __call__(self, question: str) -> Decision:
        cosines = self.fitted._unit @ np.asarray(self.fitted.embedder.embed_query(question))
        near = [self.fitted.examples[n].route for n in np.argsort(-cosines, kind="stable")[: self.k]]
        return Decision(max(dict.fromkeys(near), key=near.count))


def timed(classify: Callable[[str], Decision], spent: list[float]) -> Callable[[str], Decision]:
    """Return the classifier with the milliseconds of each call added to `spent`."""

    def call(question: str) -> Decision:
        begin = time.perf_counter()
        decision = classify(question)
        spent.append((time.perf_counter() - begin) * 1000)
        return decision

    return call


def crossed(folds: int = 8, **settings) -> float:
    """Return the accuracy on labelled questions left out of the fit, weighted to the expected shares."""
    examples = load_examples()
    dice = np.random.default_rng(1).integers(0, folds, len(examples))
    right: dict[DataType, list[bool]] = {route: [] for route in DataType}
    for fold in range(folds):
        kept = [one for one, at in zip(examples, dice, strict=True) if at != fold]
        classify = NeighbourClassifier(examples=kept, **settings)
        for one, at in zip(examples, dice, strict=True):
            if at == fold:
                right[one.route].append(classify(one.text).route == one.route)
    return sum(SHARES[route] * statistics.mean(right[route]) for route in DataType)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=questions.SPLITS, default="dev", help="test: final figures only")
    parser.add_argument("--model", action="store_true", help="ask the chat model too")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong (never for test)")
    options = parser.parse_args()
    asked = questions.load(options.split)
    neighbours = NeighbourClassifier()
    routers = {
        "rules": RuleClassifier(),
        "neighbours": neighbours,
        "neighbours without the rules": NeighbourClassifier(ruled=0),
        "neighbours, embedding alone": NeighbourClassifier(wording=0, ruled=0),
        "neighbours, equal votes": NeighbourClassifier(shares=None),
        "nearest 9 by cosine": Plain(neighbours),
    }
    if options.model:
        routers["model"] = ModelClassifier()
    for name, classify in routers.items():
        spent: list[float] = []
        found = confusion(timed(classify, spent), asked)
        print(f"\n{name}, {options.split} half, {statistics.median(spent):.2f} ms a question\n\n{found!r}")
        for one in found.wrong() if options.wrong and options.split != "test" else ():
            print(f"  {one.gold} -> {one.decision.route}: {one.question.question}")
    print(f"\ncross-validation on {len(neighbours.examples)} labelled questions: {crossed():.3f};", end=" ")
    print(
        f"without the rules {crossed(ruled=0):.3f}; embedding alone {crossed(wording=0, ruled=0):.3f};",
        end=" ",
    )
    print(f"equal votes {crossed(shares=None):.3f}")


if __name__ == "__main__":
    main()
