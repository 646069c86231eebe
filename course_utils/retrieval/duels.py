"""Two runs on the same questions: who wins which, and whether chance could have done it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from .metrics import NOISE, measure, randomisation_test
from .runs import Run, Table

if TYPE_CHECKING:
    import pandas


class Duel(NamedTuple):
    """Two runs, question by question: the ids that `run` won against `against`, that tied, that it lost."""

    run: str
    against: str
    means: tuple[float, float]
    wins: tuple[str, ...]
    ties: tuple[str, ...]
    losses: tuple[str, ...]
    p: float


@dataclass(frozen=True, repr=False)
class Duels(Table):
    """Every pair of runs on one measure; prints as a table. `duels[0].losses` are ids of questions."""

    measure: str
    duels: tuple[Duel, ...]

    def __getitem__(self, place: int) -> Duel:
        return self.duels[place]

    def __len__(self) -> int:
        return len(self.duels)

    def frame(self) -> "pandas.DataFrame":
        """Return a row per pair."""
        import pandas

        head = ["run", "against", "mean", "mean against", "difference", "wins", "ties", "losses", "p"]
        rows = [
            (d.run, d.against, *d.means, d.means[0] - d.means[1], *map(len, (d.wins, d.ties, d.losses)), d.p)
            for d in self.duels
        ]
        return pandas.DataFrame(rows, columns=head).set_index("run")

    def notes(self) -> list[str]:
        """Return what was compared, and how p is meant."""
        told = [f"{self.measure}: {measure(self.measure).meaning}"]
        told.append("p: two-sided, paired randomisation test; how often chance gives such a difference.")
        if len(self) > 1:
            told.append("Each p is of one pair alone: among many pairs, some fall below .05 by chance.")
        return told


def compare(runs: Iterable[Run], on: str = "nDCG@10", *, pattern: str | None = None, seed: int = 0) -> Duels:
    """Return each run against each one before it, question by question, on one measure.

    pattern: only its questions. p is by `metrics.randomisation_test`, with `seed`. Raises ValueError for
    fewer than two runs, equal names, and runs that were not asked the same questions with the same gold.
    """
    listed = list(runs)
    if len(listed) < 2 or len({run.name for run in listed}) < len(listed):
        names = ", ".join(run.name for run in listed)
        raise ValueError(f"compare takes two or more runs with different names, not {names or 'nothing'}.")
    golds = [{answer.question.id: answer.gold for answer in run.answers} for run in listed]
    for run, gold in zip(listed, golds, strict=True):
        if odd := sorted(id for id in gold | golds[0] if gold.get(id) != golds[0].get(id)):
            raise ValueError(
                f"{listed[0].name} and {run.name} were not asked the same questions with the same gold: "
                f"{', '.join(odd[:5])}."
            )
    values = {run.name: run.values(on, pattern) for run in listed}
    pairs = combinations(values, 2)
    return Duels(on, tuple(_duel(run, against, values, seed) for against, run in pairs))


def _duel(run: str, against: str, values: Mapping[str, Mapping[str, float]], seed: int) -> Duel:
    gaps = {id: value - values[against][id] for id, value in values[run].items()}
    means = tuple(sum(values[name].values()) / len(gaps) for name in (run, against))
    wins = tuple(id for id, gap in gaps.items() if gap > NOISE)
    losses = tuple(id for id, gap in gaps.items() if gap < -NOISE)
    ties = tuple(id for id in gaps if id not in {*wins, *losses})
    return Duel(run, against, means, wins, ties, losses, randomisation_test(list(gaps.values()), seed=seed))
