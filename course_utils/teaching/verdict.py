"""What a check says: the judge's Verdict and the Result a learner sees."""

import math
from dataclasses import dataclass
from typing import Any

from course_utils.teaching.panel import box, number, prose

PASSED, NOT_YET, NOT_ATTEMPTED = "passed", "not yet", "not attempted"


@dataclass(frozen=True)
class Verdict:
    """What a judge says: points earned, one of the three states, the misconception in words.

    `hint` is the number (from 1) of the hint that helps next, or None.
    """

    points: float
    state: str
    message: str
    hint: int | None = None


class Result(float):
    """The points of one check, clamped to [0, out_of]; a panel in a notebook, a plain number as text."""

    state: str
    message: str
    out_of: float

    def __new__(cls, points: float = 0.0, *, out_of: float = math.inf, **_: Any) -> "Result":
        points = float(points)
        return super().__new__(cls, 0.0 if math.isnan(points) else min(max(points, 0.0), out_of))

    def __init__(
        self,
        points: float = 0.0,
        *,
        out_of: float = math.inf,
        state: str = NOT_ATTEMPTED,
        message: str = "",
        title: str = "",
        following: str = "",
    ) -> None:
        self.out_of, self.state, self.message = out_of, state, message
        self.title, self.following = title, following

    def _heading(self) -> str:
        of = "" if math.isinf(self.out_of) else f" of {number(self.out_of)}"
        points = "point" if self.out_of == 1 else "points"
        return f"{self.state.capitalize()}: {number(self)}{of} {points}"

    def _repr_html_(self) -> str:
        blocks = [
            f'<span style="opacity:0.85">{prose(self.title)}</span>' if self.title else "",
            prose(self.message),
            prose(f"Next: {self.following}") if self.following else "",
        ]
        return box(self.state, self._heading(), blocks)

    def __repr__(self) -> str:
        return float.__repr__(self)

    def __str__(self) -> str:
        lines = [self._heading(), self.title, self.message, self.following and f"Next: {self.following}"]
        return "\n".join(line for line in lines if line)
