"""The customers: made-up people in sixteen cities, some of whom brought others along."""

import csv
from array import array
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from .dice import Dice, Weighted

CITIES = {
    "North": {"Delhi": 50, "Jaipur": 20, "Lucknow": 18, "Chandigarh": 12},
    "West": {"Mumbai": 42, "Pune": 30, "Ahmedabad": 18, "Nagpur": 10},
    "South": {"Bengaluru": 40, "Chennai": 26, "Hyderabad": 24, "Kochi": 10},
    "East": {"Kolkata": 52, "Bhubaneswar": 20, "Guwahati": 16, "Patna": 12},
}
FIRST_JOIN = date(2023, 1, 2).toordinal()
LAST_JOIN = date(2026, 6, 20).toordinal()
# How eagerly people buy; the keenest become gold customers. 0: has an account and never orders.
_EAGER = Weighted({0: 7, 1: 48, 2: 26, 4: 12, 7: 7})
_TIER = {0: "basic", 1: "basic", 2: "silver", 4: "silver", 7: "gold"}

Row = tuple[int, str, str, str, str, str, str, int | None]


class Pool:
    """Who can order: for each region the customers in the order in which they joined.

    Numbers only (8 bytes an entry), so that 80,000 customers fit into two megabytes.
    """

    def __init__(self) -> None:
        self._ids = {region: array("i") for region in CITIES}
        self._joined = {region: array("i") for region in CITIES}
        self._open = dict.fromkeys(CITIES, 0)

    def add(self, region: str, customer: int, day: int, eager: int) -> None:
        """Let a customer order from `day` on, `eager` times as often as the least eager."""
        self._ids[region].extend([customer] * eager)
        self._joined[region].extend([day] * eager)

    def pick(self, region: str, day: int, dice: Dice) -> int:
        """Return a customer of the region who has joined by `day`; days must not go backwards."""
        joined, count = self._joined[region], self._open[region]
        while count < len(joined) and joined[count] <= day:
            count += 1
        self._open[region] = count
        return self._ids[region][dice.below(count)]


def customers(count: int, dice: Dice, folder: Path, pool: Pool) -> Iterator[Row]:
    """Yield `count` rows of the table customers, oldest first, and enter each one in the pool."""
    firsts, lasts = _names(folder / "people.csv")
    regions = Weighted({"North": 26, "West": 30, "South": 28, "East": 16})
    cities = {region: Weighted(weights) for region, weights in CITIES.items()}
    days = LAST_JOIN - FIRST_JOIN
    for number in range(1, count + 1):
        if number <= len(CITIES):  # one buyer in each region from the first day on
            region, eager, day = list(CITIES)[number - 1], 1, FIRST_JOIN
        else:
            region, eager = regions.pick(dice), _EAGER.pick(dice)
            day = FIRST_JOIN + (days * (number - 1) + dice.below(days)) // count
        first = firsts[dice.below(len(firsts))]
        # One in five has moved here from another region, name and all.
        home = regions.pick(dice) if dice.chance(20) else region
        last = lasts[home][dice.below(len(lasts[home]))]
        tier = _TIER[eager] if dice.chance(85) else "silver"
        referred_by = dice.between(1, number - 1) if number > 1 and dice.chance(28) else None
        pool.add(region, number, day, eager)
        yield (
            number, f"{first} {last}", f"{first}.{last}{number}@mail.example".lower(),
            cities[region].pick(dice), region, tier, date.fromordinal(day).isoformat(), referred_by,
        )  # fmt: skip


def _names(file: Path) -> tuple[list[str], dict[str, list[str]]]:
    firsts: list[str] = []
    lasts: dict[str, list[str]] = {region: [] for region in CITIES}
    with file.open(encoding="utf-8-sig", newline="") as handle:
        for row in csv.DictReader(handle):
            (firsts if row["kind"] == "first" else lasts[row["region"]]).append(row["name"])
    return firsts, lasts
