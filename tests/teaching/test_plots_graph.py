"""The picture of a walk of two hops: who is in it, what is thick, what is orange."""

import pytest

from course_utils.teaching.plots import COLOURS
from course_utils.teaching.plots_graph import two_hops

ROWS = [
    ("mug", "Ann", "pan"),
    ("mug", "Ann", "pan"),
    ("mug", "Bob", "pan"),
    ("mug", "Bob", "lid"),
]


def names(figure):
    return {text.get_text() for text in figure.axes[0].texts}


def test_every_name_and_one_line_for_each_pair():
    figure = two_hops(ROWS)
    assert {"mug", "Ann", "Bob", "pan", "lid"} <= names(figure)
    assert len(figure.axes[0].lines) == 2 + 3


def test_parallel_edges_are_thicker_and_what_two_share_is_orange():
    lines = two_hops(ROWS).axes[0].lines[2:]
    drawn = [(line.get_color(), round(line.get_linewidth() / 1.2)) for line in lines]
    assert drawn == [(COLOURS[1], 2), (COLOURS[1], 1), (COLOURS[0], 1)]


def test_what_most_customers_share_comes_first_and_the_rest_is_left_out():
    assert "lid" not in names(two_hops(ROWS, most=1))


@pytest.mark.parametrize(("rows", "says"), [([], "no rows"), ([("a", str(n), "b") for n in range(13)], "13")])
def test_what_cannot_be_drawn_is_told(rows, says):
    with pytest.raises(ValueError, match=says):
        two_hops(rows)
