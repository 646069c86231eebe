"""The plots show what the runs say, in colours and shapes that everybody tells apart, with labels."""

import subprocess
import sys

import matplotlib
import pytest

from course_utils import places
from course_utils.retrieval.evaluate import Answer, Run
from course_utils.shop.questions import Question
from course_utils.teaching import plots

matplotlib.use("Agg")


def run(name, ranks, milliseconds=10.0, k=10):
    """Return a run in which the gold document of each question is at a rank; by pattern, 0 for nowhere."""
    answers = []
    for pattern, each in ranks.items():
        for number, rank in enumerate(each):
            asked = Question(f"{pattern}{number}", "?", pattern, "dev", documents=("gold",))
            ids = tuple("gold" if place == rank else f"x{place}" for place in range(1, k + 1))
            answers.append(Answer(asked, frozenset(asked.documents), ids, milliseconds * (number + 1)))
    return Run(name, k, tuple(answers))


RUNS = [
    run("bm25", {"concept": [7, 0, 3], "identifier": [1]}, 1.0),
    run("dense", {"concept": [1, 2, 0], "identifier": [0]}, 30.0),
    run("hybrid", {"concept": [1, 2, 3], "identifier": [1]}, 40.0, k=8),
]


def luminance(colour):
    parts = matplotlib.colors.to_rgb(colour)
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_heat_map_shows_the_means():
    axes, bar = plots.heat_map(RUNS, "recall@5").axes
    shown = axes.images[0].get_array().tolist()
    assert shown == [pytest.approx(row) for row in ([1 / 3, 2 / 3, 1], [1, 0, 1], [0.5, 0.5, 1])]
    written = " ".join(text.get_text() for text in axes.texts)
    assert written == "0.33 0.67 1.00 1.00 0.00 1.00 0.50 0.50 1.00"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["bm25", "dense", "hybrid"]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "concept (3)",
        "identifier (1)",
        "all (4)",
    ]
    for some in (RUNS, RUNS[2:]):  # the same colour means the same in every map
        assert plots.heat_map(some).axes[0].images[0].get_clim() == (0, 1)
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == (
        "method",
        "pattern (questions)",
        "mean recall@5",
    )


def test_every_number_of_the_heat_map_can_be_read():
    values = [n / 20 for n in range(21)]
    fives = [run(str(n), {"concept": [1] * n + [0] * (20 - n)}) for n in range(21)]
    axes = plots.heat_map(fives).axes[0]
    colour_of = axes.images[0].get_cmap()
    texts = axes.texts[:21]
    assert [float(text.get_text()) for text in texts] == pytest.approx(values)
    for value, text in zip(values, texts, strict=True):
        assert contrast(colour_of(value), text.get_color()) >= 4.5, value  # WCAG 2.2, 1.4.3
    # told apart without any colour: from dark to bright
    greys = [luminance(colour_of(value)) for value in values]
    assert greys == sorted(greys) and len(set(greys)) == 21


def test_recall_grows_with_depth_as_the_rankings_say():
    axes = plots.recall_by_depth(RUNS).axes[0]
    assert [line.get_label() for line in axes.lines] == ["bm25", "dense", "hybrid"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["bm25", "dense", "hybrid"]
    first = axes.lines[0]
    assert list(first.get_xdata()) == list(range(1, 9))  # as deep as all were asked
    assert list(first.get_ydata()) == pytest.approx([0.25, 0.25, 0.5, 0.5, 0.5, 0.5, 0.75, 0.75])
    assert axes.get_xlabel() == "depth k (documents looked at)"
    assert axes.get_ylabel() == "mean recall@k, 4 questions"
    only = plots.recall_by_depth(RUNS[:1], pattern="concept", depth=3).axes[0]
    assert list(only.lines[0].get_ydata()) == pytest.approx([0, 0, 1 / 3])
    assert only.get_ylabel() == "mean recall@k, 3 concept questions"
    with pytest.raises(ValueError, match="asked for 8 documents, too few"):
        plots.recall_by_depth(RUNS, depth=9)


def test_latency_stands_against_the_gain_over_the_first():
    axes = plots.latency_and_gain(RUNS, "recall@5").axes[0]
    points = {
        line.get_label(): line for line in axes.lines if line.get_label() in {"bm25", "dense", "hybrid"}
    }
    found = {name: (float(p.get_xdata()[0]), float(p.get_ydata()[0])) for name, p in points.items()}
    assert found == {"bm25": (1, 0), "dense": (30, 0), "hybrid": (40, 0.5)}
    ends = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2][1:]
    assert ends == [[1, 3], [30, 90], [40, 120]]  # to the 95th percentile
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["bm25", "dense", "hybrid"]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "milliseconds a question (median to 95th percentile), 4 questions"
    assert axes.get_ylabel() == "mean recall@5: difference to bm25"


def test_a_clock_that_shows_0_is_drawn_all_the_same():
    figure = plots.latency_and_gain([run("a", {"concept": [1]}, 0.0)], "MRR")
    figure.canvas.draw()
    assert figure.axes[0].lines[-1].get_xdata()[0] > 0


def test_lines_and_points_differ_in_more_than_colour():
    seven = [run(str(n), {"concept": [1]}) for n in range(7)]
    lines = plots.recall_by_depth(seven).axes[0].lines
    assert len({line.get_color() for line in lines}) == 7
    assert len({line.get_linestyle() for line in lines[:4]}) == 4
    points = [
        line for line in plots.latency_and_gain(seven, "MRR").axes[0].lines if line.get_marker() != "None"
    ]
    assert len({line.get_marker() for line in points}) == len({line.get_color() for line in points}) == 7
    # eight are still drawn, though a colour comes again
    assert len(plots.recall_by_depth([*seven, run("8", {"concept": [1]})]).axes[0].lines) == 8


@pytest.mark.parametrize("draw", [plots.heat_map, plots.recall_by_depth, plots.latency_and_gain])
def test_a_figure_is_shown_once_and_drawn_whole(draw):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    figure = draw(RUNS, "MRR") if draw is not plots.recall_by_depth else draw(RUNS)
    assert plt.get_fignums() == before  # pyplot would show it a second time at the end of the cell
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.width > 2 and box.height > 2


@pytest.mark.parametrize("draw", [plots.heat_map, plots.recall_by_depth, plots.latency_and_gain])
def test_what_cannot_be_drawn_says_why(draw):
    with pytest.raises(ValueError, match="There is no run to draw"):
        draw([])
    with pytest.raises(ValueError, match="Runs need different names, not bm25, bm25"):
        draw([RUNS[0], RUNS[0]])
    with pytest.raises(ValueError, match="other and bm25 were asked different questions"):
        draw([RUNS[0], run("other", {"concept": [1]})])


def test_matplotlib_is_loaded_when_something_is_drawn():
    code = "import sys, course_utils.teaching.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=places.root(), capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "False"
