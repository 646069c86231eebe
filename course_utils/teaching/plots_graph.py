"""Pictures of a walk through a graph: what was bought, who bought it, and what else they bought."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from course_utils.teaching.plots import COLOURS, _empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 12  # names in one column: more cannot be read


def two_hops(rows: Iterable[tuple[str, str, str]], most: int = 8) -> "Figure":
    """Return a picture of (thing, customer, other thing) rows in three columns, an edge for each pair.

    Only the `most` other things with most different customers are drawn, those with equally many by name.
    The width of an edge is how often its pair stands in the rows: parallel edges make it thicker. An other
    thing that two customers share, where walks converge, is drawn in orange. Raises ValueError for no rows,
    or for more than 12 customers or others, which nobody could read.
    """
    found = list(rows)
    customers = sorted({customer for _, customer, _ in found})
    shared = Counter(other for _, other in {(customer, other) for _, customer, other in found})
    others = sorted(shared, key=lambda other: (-shared[other], other))[:most]
    if not found:
        raise ValueError("There are no rows to draw: the walk found nothing.")
    if max(len(customers), most) > _MOST:
        raise ValueError(f"{len(customers)} customers and {most} others cannot be read: at most {_MOST}.")
    starts = sorted({thing for thing, _, _ in found})
    columns = (starts, customers, others)
    at = {
        (x, name): 1 - (y + 0.5) / len(column)
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }
    # An edge to the left stands in one row for each other thing: it is drawn once.
    first = {(0, start, customer): 1 for start, customer, _ in found}
    second = Counter((1, customer, other) for _, customer, other in found if other in others)
    figure, axes = _empty(width=9, height=0.45 * max(map(len, columns)) + 1)
    for (x, left, right), times in (first | second).items():
        ends = (at[x, left], at[x + 1, right])
        several = x and shared[right] > 1
        axes.plot(
            [x, x + 1], ends, color=COLOURS[1 if several else 0], linewidth=1.2 * times, alpha=0.7, zorder=1
        )
    for (x, name), y in at.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "0.4"}
        axes.text(x, y, name, ha="center", va="center", fontsize=9, bbox=box, zorder=2)
    for x, heading in enumerate(("bought", "by", "who also bought")):
        axes.text(x, 1.03, heading, ha="center", fontsize=10, fontweight="bold")
    axes.set(xlim=(-0.4, 2.4), ylim=(0, 1.08))
    axes.axis("off")
    return figure
