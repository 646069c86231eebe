"""The check of the choice by a rule: on right answers, differently written right ones, and wrong ones."""

from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.search.choose_weight.check


def dev(run):
    return run["dev"]


def test_half(run):
    return run["test"]


test_half.__test__ = False


def both(run):
    return {pattern: values + run["test"][pattern] for pattern, values in run["dev"].items()}


def questions(half):
    return fmean(value for values in half.values() for value in values)


def patterns(half):
    return fmean(fmean(values) for values in half.values())


def floors(singles, best=max):
    return {pattern: best(fmean(single[pattern]) for single in singles) for pattern in singles[0]}


def made(
    half=dev,
    judged=None,
    floored=None,
    floor=floors,
    mean=questions,
    loses=None,
    none=lambda settings: None,
    key=None,
):
    """Return the right answer with some of its parts changed."""
    loses = loses or (lambda value, least: value < least - 1e-9)

    def choose(settings, singles):
        least = floor([(floored or half)(single) for single in singles.values()])
        stay = [
            name
            for name, run in settings.items()
            if not any(loses(fmean(half(run)[pattern]), least[pattern]) for pattern in least)
        ]
        if not stay:
            return none(settings)
        rank = {name: -round(mean((judged or half)(settings[name])), 9) for name in stay}
        return min(stay, key=(lambda name: key(rank[name], name)) if key else lambda name: (rank[name], name))

    return choose


reference = made()


def by_loops(settings, singles):
    best_name, best_mean = None, -1.0
    for name in sorted(settings):
        total, count, loses = 0.0, 0, False
        for pattern, values in settings[name]["dev"].items():
            total, count = total + sum(values), count + len(values)
            for single in singles.values():
                other = single["dev"][pattern]
                loses = loses or sum(values) / len(values) < sum(other) / len(other) - 1e-9
        if not loses and total / count > best_mean + 1e-9:
            best_name, best_mean = name, total / count
    return best_name


def with_pandas(settings, singles):
    def table(runs):
        rows = [
            (name, pattern, value)
            for name, run in runs.items()
            for pattern, values in run["dev"].items()
            for value in values
        ]
        return pd.DataFrame(rows, columns=["name", "pattern", "value"])

    if not settings:
        return None
    mine = table(settings).groupby(["name", "pattern"])["value"].mean().unstack()
    least = table(singles).groupby(["name", "pattern"])["value"].mean().unstack().max()
    stay = mine.index[(mine - least >= -1e-9).all(axis=1)]
    if stay.empty:
        return None
    means = table(settings).groupby("name")["value"].mean().loc[stay].round(9)
    return str(means.sort_index().idxmax())


def with_numpy(settings, singles):
    """A name from NumPy is a text too."""
    name = reference(settings, singles)
    return name and np.str_(name)


def by_question(singles):
    return {pattern: fmean(map(max, *(single[pattern] for single in singles))) for pattern in singles[0]}


def naive(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def exact(settings, singles):
    """Nothing is forgiven: sums that are equal on paper differ."""
    least = {p: max(naive(one["dev"][p]) for one in singles.values()) for p in singles["bm25"]["dev"]}
    stay = [
        name
        for name, run in settings.items()
        if all(naive(run["dev"][pattern]) >= least[pattern] for pattern in least)
    ]
    means = {name: naive([v for values in settings[name]["dev"].values() for v in values]) for name in stay}
    return min(stay, key=lambda name: (-means[name], name), default=None)


def forgiving_the_floor(settings, singles):
    stay = {name: run for name, run in settings.items() if reference({name: run}, singles)}
    means = {name: naive([v for values in run["dev"].values() for v in values]) for name, run in stay.items()}
    return min(stay, key=lambda name: (-means[name], name), default=None)


def falls_back(settings, singles):
    return max(singles, key=lambda name: questions(dev(singles[name])))


def on_average(settings, singles):
    least = max(questions(dev(one)) for one in singles.values())
    stay = {name: run for name, run in settings.items() if questions(dev(run)) >= least - 1e-9}
    return made(floor=lambda one: floors(one, lambda means: 0))(stay, singles)


def on_any(settings, singles):
    least = floors([dev(one) for one in singles.values()])
    stay = {
        name: run
        for name, run in settings.items()
        if any(fmean(dev(run)[pattern]) >= least[pattern] - 1e-9 for pattern in least)
    }
    return made(floor=lambda one: floors(one, lambda means: 0))(stay, singles)


def removes(settings, singles):
    name = reference(settings, singles)
    for run in settings.values():
        run.pop("test", None)
    return name


def first_of_nothing(settings, singles):
    stay = {name: run for name, run in settings.items() if reference({name: run}, singles)}
    return max(sorted(stay), key=lambda name: round(questions(dev(stay[name])), 9))


@pytest.mark.parametrize("answer", [reference, by_loops, with_pandas, with_numpy])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the floor
        (made(floor=lambda one: floors(one, lambda means: 0)), 1, "neither on average nor on some"),
        (made(floor=lambda one: floors(one[:1])), 1, "the first single method's"),
        (made(floor=lambda one: floors(one[1:])), 1, "the second single method's"),
        (made(floor=lambda one: floors([max(one, key=questions)])), 1, "the better one on average"),
        (made(floor=lambda one: floors(one, min)), 1, "the worse of the two"),
        (made(floor=lambda one: floors(one, fmean)), 1, "the mean of the two single"),
        (made(floor=by_question), 2, "taken question by question"),
        (made(loses=lambda value, least: round(value, 2) < round(least, 2)), 2, "by a few thousandths"),
        (on_average, 1, "neither on average nor on some"),
        (on_any, 1, "neither on average nor on some"),
        (made(loses=lambda value, least: value <= least), 0, "equal is not below"),
        # the mean
        (made(mean=patterns), 2, "The patterns' means are averaged"),
        (made(mean=lambda half: round(questions(half), 2)), 2, "rounded to a few digits"),
        (made(mean=lambda half: -questions(half)), 1, "The lowest mean wins"),
        (made(mean=lambda half: 0), 2, "The first name is taken"),
        (made(key=lambda rank, name: 0), 1, "The first setting that stays"),
        (made(mean=lambda half: fmean(half["concept"])), 2, "One pattern's mean decides"),
        # the half, ties, rounding, None
        (made(half=test_half), 2, "made on the test half"),
        (made(half=both), 2, "on both halves together"),
        (made(floored=test_half), 2, "The floor looks at the test half"),
        (made(floored=both), 2, "The floor looks at the test half"),
        (made(judged=test_half), 2, "chosen on test"),
        (made(judged=both), 2, "chosen on both"),
        (made(key=lambda rank, name: (rank, [-ord(char) for char in name])), 2, "comes before it"),
        (made(key=lambda rank, name: rank), 2, "comes before it"),
        (made(none=lambda settings: min(settings, default=None)), 2, "None is asked for"),
        (made(none=lambda settings: "bm25"), 2, "falling back to one"),
        (made(none=lambda settings: ""), 2, "the name of no setting"),
        (first_of_nothing, 2, "is there something to choose from?"),
        (exact, 2, "less than 1e-9 is equal to it"),
        (forgiving_the_floor, 2, "Means nearer than 1e-9 are equal"),
        (removes, 2, "`choose` changes"),
        # more than one
        (made(half=test_half, mean=patterns), 1, "The patterns' means are averaged"),
        (made(floor=lambda one: floors(one, min), mean=patterns), 0, "the worse of the two"),
        (falls_back, 0, "a single method"),
        (lambda settings, singles: settings.get("nothing"), 0, "forget `return`"),
        (lambda settings, singles: list(settings), 0, "one name is asked for"),
        (lambda settings, singles: (reference(settings, singles), 0.5), 0, "one name is asked for"),
        (lambda settings, singles: settings.get(reference(settings, singles)), 0, "a value of type dict"),
        (lambda settings: list(settings)[0], 0, "TypeError"),
    ],
)  # fmt: skip
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(CHECK(made(half=both)), 2, "Right so far: no setting gets past the floor that loses somewhere; the")


def test_the_example_of_the_statement():
    def run(**half):
        return {"dev": half, "test": half}

    singles = {"bm25": run(concept=[0, 0], identifier=[1]), "dense": run(concept=[1, 0], identifier=[0])}
    settings = {"ranks": run(concept=[0, 0], identifier=[1]), "scores": run(concept=[1, 0], identifier=[1])}
    assert reference(settings, singles) == by_loops(settings, singles) == "scores"
