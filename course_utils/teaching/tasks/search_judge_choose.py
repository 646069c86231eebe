"""Judge of the choice by a rule of exercise 03: the floor, the mean, and what the rule may look at."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from course_utils.teaching.tasks.search_judge_shared import Asked, Calls, Case, changed, of_part, verdict
from course_utils.teaching.verdict import Verdict

Half = dict[str, list[float]]
Run = dict[str, Half]
Runs = Mapping[str, Run]

_NOISE = 1e-9


def _run(**half: list[float]) -> Run:
    """Return a run with the same values in both halves."""
    return {"dev": half, "test": half}


# Each is better on one pattern, and dense on average: the floor is 3/4, 1 and 1/2.
_SINGLES = {
    "bm25": _run(concept=[0, 0.5, 0, 0.5], identifier=[1, 1], filter=[0.5]),
    "dense": _run(concept=[1, 0.5, 1, 0.5], identifier=[0, 0.5], filter=[0.5]),
}
_ALL = {"concept": [1, 1, 1, 1], "identifier": [1, 1], "filter": [1]}
# What loses nowhere, from the floor itself upwards: 5.5, 5.75, 6, 6 and 6.5 of 7. By the patterns' means
# _FILTER would be ahead of _CONCEPT.
_FLOOR_RUN = _run(concept=[1, 1, 0.5, 0.5], identifier=[1, 1], filter=[0.5])
_ABOVE = _run(concept=[1, 1, 0.75, 0.5], identifier=[1, 1], filter=[0.5])
_BETTER = _run(concept=[1, 1, 1, 0.5], identifier=[1, 1], filter=[0.5])
_FILTER = _run(concept=[1, 1, 0.5, 0.5], identifier=[1, 1], filter=[1])
_CONCEPT = _run(concept=[1, 1, 1, 1], identifier=[1, 1], filter=[0.5])
# What loses on one pattern, and has a better mean than the floor.
_NO_CONCEPT = _run(concept=[1, 0.5, 0.5, 0.75], identifier=[1, 1], filter=[1])
_NO_IDENTIFIER = _run(concept=[1, 1, 1, 1], identifier=[0.5, 1], filter=[1])
_NO_FILTER = _run(concept=[1, 1, 1, 1], identifier=[1, 1], filter=[0])
# Four questions with a filter: a setting between the two single methods on concept, and still ahead.
_WITH_FILTER = {
    "bm25": _run(concept=[0, 0.5, 0, 0.5], filter=[0.5, 0.5, 0.5, 0.5]),
    "dense": _run(concept=[1, 0.5, 1, 0.5], filter=[0.5, 0.5, 0.5, 0.5]),
}
# Each wins questions of the same pattern: the better mean is 1/2, that of the better values 3/4.
_EACH_WINS = {"bm25": _run(concept=[1, 0, 0.5, 0]), "dense": _run(concept=[0, 1, 0.5, 0.5])}
_EVEN = _run(concept=[0.5, 0.5, 0.5, 0.5])
# Less than half a hundredth below the floor of concept, and ahead of _FLOOR_RUN over all questions.
_JUST_BELOW = _run(concept=[1, 1, 0.5, 0.484], identifier=[1, 1], filter=[1])
# Less than half a hundredth above _BETTER over all questions.
_JUST_BETTER = _run(concept=[1, 1, 1, 0.528], identifier=[1, 1], filter=[0.5])
# Single methods that find nothing, and everything, on test: the floor on dev stays what it is.
_LOW_TEST = {
    name: {"dev": run["dev"], "test": {pattern: [0.0] * len(values) for pattern, values in _ALL.items()}}
    for name, run in _SINGLES.items()
}
_HIGH_TEST = {name: {"dev": run["dev"], "test": _ALL} for name, run in _SINGLES.items()}
_STEADY = _run(concept=[1, 1, 0.5, 0.5], filter=[0.5, 0.5, 0.5, 0.5])
_TILTED = _run(concept=[1, 0, 0.5, 0], filter=[1, 1, 1, 1])
_LATE = {"dev": {"concept": [0.5, 0.5, 0.5, 1], "identifier": [1, 1], "filter": [1]}, "test": _ALL}
_EARLY = {"dev": _ALL, "test": _FLOOR_RUN["test"]}
# Equal on paper, and in floating point not if they are added one by one.
_UP, _DOWN = [1 / 3, 2 / 3, 0.2, 0.5, 1.0], [1.0, 2 / 3, 0.2, 0.5, 1 / 3]
_CASES = (
    Case(
        "floor",
        "With one setting that loses on concept",
        ({"ranks": _NO_CONCEPT, "scores": _FLOOR_RUN}, _SINGLES),
    ),
    Case(
        "floor",
        "With one setting that loses on identifier",
        ({"ranks": _FLOOR_RUN, "scores": _NO_IDENTIFIER}, _SINGLES),
    ),
    Case(
        "floor",
        "With one setting that loses on filter",
        ({"weights 1/9": _NO_FILTER, "weights 3/7": _FLOOR_RUN}, _SINGLES),
    ),
    Case(
        "floor",
        "With a setting that is ahead by far on filter alone",
        ({"three lists": _TILTED, "two lists": _STEADY}, _WITH_FILTER),
    ),
    Case("floor", "With a setting that is just as good as the floor", ({"scores": _FLOOR_RUN}, _SINGLES)),
    Case("floor", "With single methods that win on different questions", ({"scores": _EVEN}, _EACH_WINS)),
    Case(
        "floor",
        "With a setting that is .004 below the floor on concept",
        ({"ranks": _FLOOR_RUN, "scores": _JUST_BELOW}, _SINGLES),
    ),
    Case("mean", "With two settings that lose nowhere", ({"k=60": _BETTER, "k=5": _FLOOR_RUN}, _SINGLES)),
    Case(
        "mean",
        "With two settings, one better on many questions, one on few",
        ({"k=20": _FILTER, "k=5": _CONCEPT}, _SINGLES),
    ),
    Case(
        "mean",
        "With four settings that lose nowhere",
        ({"b": _FLOOR_RUN, "a": _FILTER, "c": _CONCEPT, "d": _FILTER}, _SINGLES),
    ),
    Case("mean", "With two other settings that lose nowhere", ({"k=1": _ABOVE, "k=60": _FILTER}, _SINGLES)),
    Case("mean", "With two means that differ by .004", ({"k=20": _BETTER, "k=60": _JUST_BETTER}, _SINGLES)),
    Case(
        "half",
        "With single methods that are worse on test",
        ({"ranks": _NO_CONCEPT, "scores": _FLOOR_RUN}, _LOW_TEST),
    ),
    Case("half", "With single methods that are better on test", ({"scores": _FLOOR_RUN}, _HIGH_TEST)),
    Case(
        "half",
        "With a setting that loses on dev and shines on test",
        ({"late": _LATE, "steady": _FLOOR_RUN}, _SINGLES),
    ),
    Case(
        "half",
        "With a setting that is better on dev and worse on test",
        ({"early": _EARLY, "steady": _CONCEPT}, _SINGLES),
    ),
    Case(
        "half",
        "With a setting that is far better on dev and a little worse on test",
        (
            {"early": _EARLY, "steady": {"dev": _FLOOR_RUN["dev"], "test": _BETTER["test"]}},
            _SINGLES,
        ),
    ),
    Case(
        "none",
        "With settings that all lose on some pattern",
        ({"ranks": _NO_CONCEPT, "scores": _NO_IDENTIFIER}, _SINGLES),
    ),
    Case("none", "With no setting at all", ({}, _SINGLES)),
    Case(
        "ties",
        "With two settings of equal means",
        ({"weights 3/7": _BETTER, "weights 1/9": _BETTER, "weights 5/5": _FLOOR_RUN}, _SINGLES),
    ),
    Case(
        "noise",
        "With a mean that equals the floor but for rounding",
        (
            {"ranks": _run(concept=_DOWN)},
            {"bm25": _run(concept=_UP), "dense": _run(concept=[0.0, 0.5, 0.0, 0.0, 0.0])},
        ),
    ),
    Case(
        "noise",
        "With two means that are equal but for rounding",
        (
            {"k=60": _run(concept=_UP), "k=20": _run(concept=_DOWN)},
            {"bm25": _run(concept=[0, 0, 0, 0, 0]), "dense": _run(concept=[0, 0, 0, 0, 0.5])},
        ),
    ),
)
_RIGHT = {
    "floor": "no setting gets past the floor that loses somewhere",
    "mean": "the best mean wins",
    "rest": "the dev half, ties, rounding and None are right",
}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _questions(half: Half) -> float:
    return _mean([value for values in half.values() for value in values])


def _patterns(half: Half) -> float:
    return _mean([_mean(values) for values in half.values()])


def _floor(singles: list[Half], *, best: Callable[[list[float]], float] = max) -> dict[str, float]:
    return {pattern: best([_mean(half[pattern]) for half in singles]) for pattern in singles[0]}


def _floor_of(place: int, singles: list[Half]) -> dict[str, float]:
    return {pattern: _mean(values) for pattern, values in singles[place].items()}


def _floor_by_question(singles: list[Half]) -> dict[str, float]:
    return {
        pattern: _mean([max(values) for values in zip(*(half[pattern] for half in singles), strict=True)])
        for pattern in singles[0]
    }


def _no_floor(singles: list[Half]) -> dict[str, float]:
    return {pattern: 0.0 for pattern in singles[0]}


def _dev(run: Run) -> Half:
    return run["dev"]


def _test(run: Run) -> Half:
    return run["test"]


def _both(run: Run) -> Half:
    return {pattern: values + run["test"][pattern] for pattern, values in run["dev"].items()}


def _lost(setting: Half, floor: Mapping[str, float], noise: float = _NOISE) -> list[str]:
    return [pattern for pattern, least in floor.items() if _mean(setting[pattern]) < least - noise]


def _choose(
    settings: Runs,
    singles: Runs,
    *,
    half: Callable[[Run], Half] = _dev,
    judged: Callable[[Run], Half] | None = None,
    floored: Callable[[Run], Half] | None = None,
    floor: Callable[[list[Half]], dict[str, float]] = _floor,
    mean: Callable[[Half], float] = _questions,
    noise: float = _NOISE,
    best: Callable[..., str] = min,
) -> str | None:
    """Return the reference, or what another half, floor, mean or tolerance gives.

    judged, floored: the half for the mean, and for the floor itself, if it is another one.
    """
    least = floor([(floored or half)(run) for run in singles.values()])
    stay = [name for name, run in settings.items() if not _lost(half(run), least, noise)]
    if not stay:
        return None
    means = {name: mean((judged or half)(settings[name])) for name in stay}
    return best(name for name in stay if means[name] >= max(means.values()) - _NOISE)


_FLOOR = {
    "A setting that is just on the floor is thrown out: equal is not below.": partial(_choose, noise=-_NOISE),
    "A setting is chosen that loses on a pattern: the floor holds on every single one, neither on average "
    "nor on some.": partial(_choose, floor=_no_floor),
    "The floor is the first single method's: on each pattern the better one of the two sets it.": partial(
        _choose, floor=partial(_floor_of, 0)
    ),
    "The floor is the second single method's, perhaps as the better one on average: on each pattern the "
    "better one of the two sets it.": partial(_choose, floor=partial(_floor_of, 1)),
    "The floor is the worse of the two single methods: the better one is asked for.": partial(
        _choose, floor=partial(_floor, best=min)
    ),
    "The floor is the mean of the two single methods: the better one is asked for.": partial(
        _choose, floor=partial(_floor, best=_mean)
    ),
    "The floor is taken question by question, as if one method won them all: it is the mean of one method, "
    "the one that is better on the pattern.": partial(_choose, floor=_floor_by_question),
    "A setting that is below the floor by a few thousandths gets past it: means are not rounded to two "
    "digits, and only less than 1e-9 is forgiven.": partial(_choose, noise=0.005),
}
_MEAN = {
    "The patterns' means are averaged: then one question of a rare pattern counts as much as many of a "
    "frequent one. The mean is over all questions.": partial(_choose, mean=_patterns),
    "The means are rounded to a few digits before they are compared: equal are those that differ by less "
    "than 1e-9.": partial(_choose, mean=lambda half: round(_questions(half), 2)),
    "The lowest mean wins: the highest should.": partial(_choose, mean=lambda half: -_questions(half)),
    "The first setting that stays is taken: among those that stay the best mean decides.": (
        lambda settings, singles: next(iter(settings))
    ),
    "The first name is taken: the name decides only where the means are equal.": partial(
        _choose, mean=lambda half: 0.0
    ),
    "The last setting that stays is taken: among those that stay the best mean decides.": (
        lambda settings, singles: list(settings)[-1]
    ),
    "One pattern's mean decides: the mean over all questions should.": partial(
        _choose, mean=lambda half: _mean(half["concept"])
    ),
}
_HALF = {
    "The floor looks at the test half of the single methods: all of the rule belongs to dev.": (
        partial(_choose, floored=_test)
    ),
    "The choice is made on the test half. Then nothing is left that could judge it: dev chooses, test "
    "judges, once.": partial(_choose, half=_test),
    "The choice is made on both halves together. Then nothing is left that could judge it: dev chooses, test "
    "judges, once.": partial(_choose, half=_both),
    "The floor is held on dev, and the best is then chosen on test: all of it belongs to dev.": partial(
        _choose, judged=_test
    ),
    "The floor is held on dev, and the best is then chosen on both: all of it belongs to dev.": (
        partial(_choose, judged=_both)
    ),
}


class ChooseWeight:
    """choose(settings, singles): a point each for the floor, the mean, and the rest of the rule."""

    def inputs(self) -> dict[str, Any]:
        """Return the runs."""
        return {"cases": [case.sent() for case in _CASES]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Compare the chosen names, part by part."""
        calls: Calls = list(zip(_CASES, report["calls"], strict=True))
        rest = [pair for part in ("none", "ties", "noise") for pair in of_part(calls, part)]
        troubles = {
            "floor": _trouble(_FLOOR, of_part(calls, "floor")),
            "mean": _trouble(_MEAN, of_part(calls, "mean")),
            "rest": _trouble(_HALF, of_part(calls, "half")) or _trouble({}, rest) or changed("choose", calls),
        }
        passed = "A rule written down before, and dev alone has spoken: the test half can still judge."
        return verdict(troubles, _RIGHT, passed, {"floor": 2, "mean": 2, "rest": 3})


def _trouble(wrong: Mapping[str, Callable[..., Any]], calls: Calls) -> str:
    trouble = Asked("choose", _choose, wrong, _shape, lambda got, want: got == want, _other).trouble(calls)
    if trouble and any("raised" in call for case, call in calls if case.part == "none"):
        return f"{trouble} `min` and `max` of nothing raise ValueError: is there something to choose from?"
    return trouble


def _shape(call: Mapping[str, Any]) -> str:
    got = call["returned"]
    if got is None or isinstance(got, str):
        return ""
    if isinstance(got, list):
        return "a list or a tuple comes back: one name is asked for, without its mean."
    return f"a value of type {call['type']} comes back, not the name of a setting or None."


def _other(got: str | None, want: str | None, case: Case) -> str:
    settings, singles = case.args
    if got is None:
        if case.part == "noise":
            return "None comes back: a mean that misses the floor by less than 1e-9 is equal to it."
        return "None comes back, although a setting loses nowhere."
    if got in singles:
        return f"{got!r} comes back, a single method: falling back to one is up to whoever gets None."
    if got not in settings:
        return f"{got!r} comes back, which is the name of no setting."
    floor = _floor([_dev(run) for run in singles.values()])
    if lost := _lost(_dev(settings[got]), floor):
        rule = " Where every setting loses somewhere, None is asked for." if want is None else ""
        return f"{got!r} comes back, which on dev is below the floor on {' and '.join(lost)}.{rule}"
    best = max(_questions(_dev(run)) for run in settings.values() if not _lost(_dev(run), floor))
    if _questions(_dev(settings[got])) < best - _NOISE:
        return f"{got!r} comes back, and another one that loses nowhere has a higher mean over all questions."
    equal = " Means nearer than 1e-9 are equal." if case.part == "noise" else ""
    return f"{got!r} comes back, and another one with an equal mean has a name that comes before it.{equal}"
