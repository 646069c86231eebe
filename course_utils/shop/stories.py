"""The stories that the shop's numbers tell, as the few facts that the generator must keep true.

1. Refund spike: the Aurora Smart Plug (SKU-77821) comes back in February and March 2026, mostly from
   the South, because it "will not pair (ERR_4471)". Its look-alikes have no refund at all.
2. Best seller with poor reviews: nothing sells more units than Yoga Mat Lite (YM-1460-A).
3. Replacement: Hearth Hub 1 sells until 2025-09-30; Hearth Hub 2 takes over the day after.
4. Order of regions: in the first half of 2026 the South has the highest order value (paid and
   refunded together); once refunds are subtracted the West is first.
"""

from datetime import date

from .dice import Dice, Quota

FIRST_DAY = date(2024, 7, 1).toordinal()
LAST_DAY = date(2026, 6, 30).toordinal()

PLUG, LOOK_ALIKES = "SKU-77821", ("SKU-77812", "SKU-77827")
BEST_SELLER = "YM-1460-A"
OLD_HUB, NEW_HUB = "SKU-77701", "SKU-77710"

SPIKE_REASON = "will not pair (ERR_4471)"
_SPIKE_ORDERS = range(date(2026, 1, 24).toordinal(), date(2026, 3, 22).toordinal())
_SPIKE_REFUNDS = (date(2026, 2, 1).toordinal(), date(2026, 3, 31).toordinal())
_HALF_2026, _JUNE_2026 = date(2026, 1, 1).toordinal(), date(2026, 6, 1).toordinal()


class Spike:
    """Story 1: which orders of the window are for the plug, and which of those come back."""

    def __init__(self) -> None:
        regions = ("North", "West", "South", "East")
        # A campaign in the South sells many plugs there, from a faulty batch.
        self._sold = {region: Quota(32 if region == "South" else 5) for region in regions}
        self._back = {region: Quota(75 if region == "South" else 20) for region in regions}

    def sells(self, region: str, day: int) -> bool:
        """Return whether this order contains the plug because of the campaign."""
        return day in _SPIKE_ORDERS and self._sold[region].due()

    def covers(self, day: int) -> bool:
        """Return whether plugs ordered on this day may be from the faulty batch."""
        return day in _SPIKE_ORDERS

    def returns(self, region: str) -> bool:
        """Return whether this order of a plug comes back."""
        return self._back[region].due()

    def refund_day(self, day: int, dice: Dice) -> int:
        """Return the day of the refund, in February or March 2026."""
        first, last = _SPIKE_REFUNDS
        return min(max(day + dice.between(4, 11), first + dice.below(5)), last)


class Balance:
    """Story 4: steers the regions South and West through the first half of 2026. Amounts in paise."""

    LEAD = 4  # per cent by which the South's order value is ahead of the West's
    WEST_BACK = 40  # per mille of the West's order value that goes back, at most
    SOUTH_BACK = (115, 125)  # the same for the South, from February on: at least and at most
    SOUTH_JANUARY = 50

    def __init__(self) -> None:
        self._sold = {"South": 0, "West": 0}
        self._back = {"South": 0, "West": 0}

    def _steers(self, region: str, day: int) -> bool:
        return day >= _HALF_2026 and region in self._sold

    def region(self, region: str, day: int, amount: int) -> str:
        """Return the region, South or West, that keeps the lead nearest to what the story wants.

        In June an order large enough to upset the lead (in a small shop, few others follow) goes East.
        """
        if not self._steers(region, day):
            return region
        lead = self._sold["South"] * 100 - self._sold["West"] * (100 + self.LEAD)
        off = {"South": abs(lead + amount * 100), "West": abs(lead - amount * (100 + self.LEAD))}
        better = min(off, key=off.__getitem__)
        if day >= _JUNE_2026 and off[better] > max(abs(lead), 2 * self._sold["West"]):
            return "East"
        return better

    def note(self, region: str, day: int, amount: int, back: int) -> None:
        """Enter an order that was paid, and how much of it went back."""
        if self._steers(region, day):
            self._sold[region] += amount
            self._back[region] += back

    def allows(self, region: str, day: int, amount: int, back: int) -> bool:
        """Return whether `back` of this order may go back: the West must not lose its lead by it."""
        if region != "West" or not self._steers(region, day):
            return True
        return (self._back["West"] + back) * 1000 <= self.WEST_BACK * (self._sold["West"] + amount)

    def returns(self, region: str, day: int, amount: int, dice: Dice) -> bool:
        """Return whether all of this order goes back; about one in twenty does."""
        if region != "South" or not self._steers(region, day):
            return dice.chance(5) and self.allows(region, day, amount, amount)
        back, sold = (self._back["South"] + amount) * 1000, self._sold["South"] + amount
        least, most = self.SOUTH_BACK
        if day < _SPIKE_REFUNDS[0]:
            least = self.SOUTH_JANUARY
        if back <= least * sold:
            return dice.chance(45)
        return dice.chance(5) and back <= most * sold
