"""Random numbers that come out the same on every platform and in every Python."""

import hashlib
import random
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


class Dice:
    """A seeded source of chance for one part of the shop.

    Uses nothing but `random.Random.random()`, the one method whose sequence Python promises to keep.
    Each part (customers, orders, …) has its own dice: a change in one leaves the others as they were.
    """

    def __init__(self, seed: int, part: str) -> None:
        digest = hashlib.sha256(f"{seed}:{part}".encode()).digest()
        self._next = random.Random(int.from_bytes(digest[:8], "big")).random

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        return int(self._next() * n)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self._next() * (high - low + 1))

    def chance(self, percent: float) -> bool:
        """Return True in `percent` of 100 throws."""
        return self._next() * 100 < percent


class Weighted(Generic[T]):
    """Values to pick from, each as often as its whole-number weight says."""

    def __init__(self, weights: Mapping[T, int]) -> None:
        self._values = [value for value, weight in weights.items() if weight]
        self._sums = list(accumulate(weight for weight in weights.values() if weight))

    def pick(self, dice: Dice) -> T:
        """Return one value."""
        return self._values[bisect_right(self._sums, dice.below(self._sums[-1]))]


class Quota:
    """Says yes to a fixed share of the times it is asked, evenly: 30 -> at the 2nd, 5th, 9th, 12th ask.

    Chance alone could leave a story out of a small shop; a quota cannot.
    """

    def __init__(self, percent: int) -> None:
        self._percent = percent
        self._sum = 50

    def due(self) -> bool:
        """Return whether this time is one of the share."""
        self._sum += self._percent
        if self._sum < 100:
            return False
        self._sum -= 100
        return True
