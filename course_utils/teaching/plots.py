"""Pictures of measured runs: where each method loses, what depth buys, what a gain costs in time.

Colours are those of Okabe and Ito (2002) and of cividis, which people who see fewer colours tell apart; lines
differ in dashes and markers too. Each function returns a matplotlib Figure that a notebook shows once.
"""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from course_utils.retrieval.evaluate import Run

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def heat_map(runs: Sequence["Run"], measure: str = "recall@5") -> "Figure":
    """Return a map of pattern x method: the mean of a measure, 0 dark to 1 bright, with its number.

    The last row is the mean over all questions. Raises ValueError for runs of different questions.
    """
    listed = _checked(runs)
    patterns = [*listed[0].patterns, None]
    table = [[run.mean(measure, pattern) for run in listed] for pattern in patterns]
    figure, axes = _empty(width=2.4 + 1.1 * len(listed), height=1.2 + 0.45 * len(patterns))
    image = axes.imshow(table, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            # At .47 the grey of cividis stands as far from black as from white.
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color="wk"[value > 0.465])
    names = [f"{pattern or 'all'} ({len(listed[0].of(pattern))})" for pattern in patterns]
    axes.set_yticks(range(len(patterns)), names)
    axes.set_xticks(range(len(listed)), [run.name for run in listed])
    axes.axhline(len(patterns) - 1.5, color="white", linewidth=2)
    axes.set(xlabel="method", ylabel="pattern (questions)")
    figure.colorbar(image, label=f"mean {measure}")
    return figure


def recall_by_depth(runs: Sequence["Run"], pattern: str | None = None, depth: int | None = None) -> "Figure":
    """Return a line per run: the mean recall@k for k from 1 to `depth`, by default as deep as all runs go."""
    listed = _checked(runs)
    most = min(run.k for run in listed) if depth is None else depth
    figure, axes = _empty()
    depths = range(1, most + 1)
    for run, colour, dash in zip(listed, cycle(COLOURS), cycle(_DASHES)):
        means = [run.mean(f"recall@{k}", pattern) for k in depths]
        axes.plot(depths, means, color=colour, linestyle=dash, linewidth=2, label=run.name)
    axes.set(xlim=(1, max(most, 2)), ylim=(0, 1.02), xlabel="depth k (documents looked at)")
    axes.set_ylabel(f"mean recall@k, {_asked(listed[0], pattern)}")
    axes.legend(frameon=False)
    return figure


def latency_and_gain(runs: Sequence["Run"], measure: str = "nDCG@10", pattern: str | None = None) -> "Figure":
    """Return a point per run: its median latency, and what it gains in a measure over the first run.

    The line to the right of a point ends at its 95th percentile. Milliseconds are on a logarithmic axis.
    """
    listed = _checked(runs)
    start = listed[0].mean(measure, pattern)
    figure, axes = _empty()
    axes.axhline(0, color="0.6", linewidth=1)
    for run, colour, marker in zip(listed, cycle(COLOURS), cycle(_MARKERS)):
        gain = run.mean(measure, pattern) - start
        # A logarithmic axis has no 0, and a clock may show it.
        median, late = (max(run.percentile(percent, pattern), 1e-3) for percent in (50, 95))
        axes.plot([median, late], [gain, gain], color=colour, linewidth=2)
        axes.plot([median], [gain], color=colour, marker=marker, markersize=9, linestyle="", label=run.name)
    axes.set_xscale("log", subs=[2, 5])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.margins(x=0.15, y=0.2)
    axes.set_xlabel(f"milliseconds a question (median to 95th percentile), {_asked(listed[0], pattern)}")
    axes.set_ylabel(f"mean {measure}: difference to {listed[0].name}")
    axes.legend(frameon=False)  # names beside the points would cover each other where gains are alike
    return figure


def _checked(runs: Sequence["Run"]) -> list["Run"]:
    """Return the runs; ValueError if there are none, or if they cannot stand side by side."""
    listed = list(runs)
    if not listed:
        raise ValueError("There is no run to draw. Make one with evaluate(retriever, questions).")
    names = [run.name for run in listed]
    if len(set(names)) < len(names):
        raise ValueError(f"Runs need different names, not {', '.join(names)}: evaluate(…, name=…).")
    for run in listed[1:]:
        if run.rankings.keys() != listed[0].rankings.keys():
            raise ValueError(f"{run.name} and {listed[0].name} were asked different questions.")
    return listed


def _asked(run: "Run", pattern: str | None) -> str:
    """Return "21 identifier questions", for a label."""
    return f"{len(run.of(pattern))} {f'{pattern} ' if pattern else ''}questions"


def _empty(width: float = 6.4, height: float = 4.2) -> tuple["Figure", "Axes"]:
    """Return a figure with axes that pyplot has forgotten again, so that it is not shown twice."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    plt.close(figure)
    return figure, axes
