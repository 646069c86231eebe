"""The orders of two years, one after the other in the order of their days, with items and refunds."""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date
from itertools import accumulate
from typing import NamedTuple

from .catalogue import CLOTHING, DEVICES, FITNESS, HOME, Catalogue, Line
from .customers import Pool
from .dice import Dice, Weighted
from .stories import FIRST_DAY, LAST_DAY, LOOK_ALIKES, PLUG, SPIKE_REASON, Balance, Spike

# Per cent of an average month: the festival season is in October and November.
_MONTH = (0, 108, 90, 95, 95, 90, 92, 88, 100, 112, 178, 160, 108)
_WEEKDAY = (95, 92, 93, 97, 105, 118, 112)  # Monday to Sunday
# Which share of the orders comes from which region, by half-year.
_REGIONS = {
    (2024, 2): {"North": 31, "West": 33, "South": 22, "East": 14},
    (2025, 1): {"North": 29, "West": 32, "South": 25, "East": 14},
    (2025, 2): {"North": 27, "West": 31, "South": 27, "East": 15},
    (2026, 1): {"North": 21, "West": 33, "South": 33, "East": 13},
}
_REASONS = {"changed my mind": 26, "arrived damaged": 18, "arrived too late": 16, "not as described": 12}
_REASONS_OF = {
    HOME: Weighted(_REASONS | {"parts missing": 16}),
    CLOTHING: Weighted(_REASONS | {"wrong size": 70}),
    FITNESS: Weighted(_REASONS | {"poor quality": 30}),
    DEVICES: Weighted(_REASONS | {"stopped working": 30, "does not fit my home": 14}),
}


class Sale(NamedTuple):
    """One order: its row of `orders`, its rows of `order_items`, its refund (amount, reason, day) or None."""

    order: tuple[int, int, str, str, float]
    items: list[tuple[int, int, int, float]]
    refund: tuple[float, str, str] | None


def sales(count: int, dice: Dice, catalogue: Catalogue, pool: Pool) -> Iterator[Sale]:
    """Yield `count` orders with ids from 1, days never going backwards; nothing is kept in memory."""
    mix = {half: Weighted(shares) for half, shares in _REGIONS.items()}
    spike, balance = Spike(), Balance()
    plug, never_back = catalogue.by_sku[PLUG], {catalogue.by_sku[sku] for sku in LOOK_ALIKES}
    for number, day in enumerate(_days(count, dice), start=1):
        today = date.fromordinal(day)
        region = mix[today.year, 1 if today.month < 7 else 2].pick(dice)
        campaign = spike.sells(region, day)
        basket = catalogue.basket(day, today.month, dice, first=plug if campaign else None)
        products = {product for product, _, _ in basket}
        amount = sum(qty * paise for _, qty, paise in basket)
        from_batch = plug in products and spike.covers(day) and not products & never_back
        status = "paid" if from_batch else _status(day, dice)
        refund: tuple[int, str, int] | None = None  # paise, reason, day
        if from_batch:
            if spike.returns(region):
                status, refund = "refunded", (amount, SPIKE_REASON, spike.refund_day(day, dice))
            balance.note(region, day, amount, refund[0] if refund else 0)
        elif status == "paid":
            region = balance.region(region, day, amount)
            if not products & never_back:
                if balance.returns(region, day, amount, dice):
                    status, refund = "refunded", (amount, _reason(basket, dice), _later(day, dice))
                elif dice.chance(3):
                    part, why = _part(basket, dice)
                    if balance.allows(region, day, amount, part):
                        refund = part, why, _later(day, dice)
            balance.note(region, day, amount, refund[0] if refund else 0)
        yield Sale(
            (number, pool.pick(region, day, dice), today.isoformat(), status, amount / 100),
            [(number, product.id, qty, paise / 100) for product, qty, paise in basket],
            refund and (refund[0] / 100, refund[1], date.fromordinal(refund[2]).isoformat()),
        )


def _days(count: int, dice: Dice) -> Iterator[int]:
    """Yield the day of each order, rising; growth, season, weekday and noise say how many fall where."""
    span = range(FIRST_DAY, LAST_DAY + 1)
    weights = []
    for day in span:
        month, weekday = date.fromordinal(day).month, date.fromordinal(day).weekday()
        growth = 1000 + 900 * (day - FIRST_DAY) // len(span)
        weights.append(growth * _MONTH[month] * _WEEKDAY[weekday] * dice.between(75, 125))
    sums = list(accumulate(weights))
    for number in range(count):
        # One throw in each of `count` equal slices of the total, so the days come out in order.
        place = (sums[-1] * number + dice.below(sums[-1])) // count
        yield FIRST_DAY + bisect_right(sums, place)


def _status(day: int, dice: Dice) -> str:
    if day > LAST_DAY - 14 and dice.chance(45):
        return "pending"
    return "cancelled" if dice.chance(5) else "paid"


def _reason(basket: list[Line], dice: Dice) -> str:
    product, _, _ = basket[dice.below(len(basket))]
    return _REASONS_OF[product.group].pick(dice)


def _part(basket: list[Line], dice: Dice) -> tuple[int, str]:
    """Return a partial refund: one line of several, or a fifth of the price of a damaged single one."""
    product, qty, paise = line = basket[dice.below(len(basket))]
    if len(basket) > 1:
        return qty * paise, _reason([line], dice)
    return max(qty * paise // 500 * 100, 100), "arrived damaged"


def _later(day: int, dice: Dice) -> int:
    return min(day + dice.between(3, 18), LAST_DAY)
