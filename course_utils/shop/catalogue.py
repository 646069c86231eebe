"""What the shop can sell on a day, how popular each product is, and at what price it goes."""

import sqlite3
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date

from .dice import Dice, Weighted
from .sources import BadSource
from .stories import BEST_SELLER, LOOK_ALIKES, NEW_HUB, OLD_HUB, PLUG

HOME, CLOTHING, FITNESS, DEVICES = "Home", "Clothing", "Fitness", "Connected devices"
PRICE_RISE = date(2025, 4, 1).toordinal()  # before this day list prices were 4 per cent lower
SELL_OUT = date(2025, 12, 31).toordinal()  # when a discontinued product without a successor was gone
# Per cent of the usual sales, by top category and month; the festival months lift the whole shop too.
_SEASON = {
    HOME: {10: 130, 11: 120, 4: 85},
    CLOTHING: {10: 150, 11: 130, 12: 130, 5: 85},
    FITNESS: {1: 170, 2: 130, 6: 115, 10: 70, 11: 75},
    DEVICES: {8: 110, 10: 115, 11: 125},
}
_QTY = Weighted({1: 76, 2: 17, 3: 5, 4: 2})
_QTY_OF = {PLUG: Weighted({1: 35, 2: 33, 3: 20, 4: 12}), BEST_SELLER: Weighted({1: 58, 2: 29, 3: 13})}
_LINES = Weighted({1: 46, 2: 31, 3: 16, 4: 7})


@dataclass(frozen=True, eq=False)
class Product:
    """A product as the till sees it: price in paise, first and last day of sale as ordinals."""

    id: int
    sku: str
    paise: int
    group: str
    first: int
    last: int


Line = tuple[Product, int, int]  # product, quantity, paise for one


class Catalogue:
    """The products, with how often each is bought: chosen by the dice once per shop."""

    def __init__(self, connection: sqlite3.Connection, dice: Dice) -> None:
        self.products = _products(connection)
        self.by_sku = {product.sku: product for product in self.products}
        missing = {PLUG, *LOOK_ALIKES, BEST_SELLER, OLD_HUB, NEW_HUB} - self.by_sku.keys()
        if missing:
            raise BadSource(f"products.csv lacks SKUs that the stories need: {sorted(missing)}.")
        self._weights = {product: _appeal(product, dice) for product in self.products}
        self._weights |= {self.by_sku[sku]: 55 for sku in (PLUG, OLD_HUB, NEW_HUB)}
        self._weights[self.by_sku[BEST_SELLER]] = sum(self._weights.values()) * 6 // 100
        by_id = {product.id: product for product in self.products}
        self._extras: dict[Product, list[Product]] = {}
        for of, extra in connection.execute(
            "SELECT product_id, related_id FROM product_links WHERE kind = 'accessory' ORDER BY 1, 2"
        ):
            self._extras.setdefault(by_id[of], []).append(by_id[extra])
        self._changes = sorted({p.first for p in self.products} | {p.last + 1 for p in self.products})
        self._shelf: Weighted[Product] | None = None
        self._shelf_for: tuple[int, int] | None = None

    def basket(self, day: int, month: int, dice: Dice, first: Product | None = None) -> list[Line]:
        """Return one to four lines of different products that were on sale that day."""
        shelf = self._on(day, month)
        products = [first or shelf.pick(dice)]
        extras = self._extras.get(products[0])
        if extras and dice.chance(22):
            extra = extras[dice.below(len(extras))]
            if extra.first <= day <= extra.last:
                products.append(extra)
        lines = 1 if first and dice.chance(60) else _LINES.pick(dice)
        for _ in range(lines - len(products)):
            product = shelf.pick(dice)
            if product not in products:
                products.append(product)
        products.sort(key=lambda product: product.id)
        return [(p, _QTY_OF.get(p.sku, _QTY).pick(dice), _price(p, day, month, dice)) for p in products]

    def _on(self, day: int, month: int) -> Weighted[Product]:
        """Return the shelf of a day; a new one only when the month or the range changes."""
        key = (month, bisect_right(self._changes, day))
        if key != self._shelf_for:
            self._shelf_for = key
            self._shelf = Weighted({
                p: w * _SEASON[p.group].get(month, 100)
                for p, w in self._weights.items()
                if p.first <= day <= p.last
            })
        return self._shelf


def _appeal(product: Product, dice: Dice) -> int:
    rupees = product.paise // 100
    reach = 150 if rupees < 500 else 100 if rupees < 1500 else 55 if rupees < 4000 else 22
    return dice.between(30, 120) * reach // 100 + 1


def _price(product: Product, day: int, month: int, dice: Dice) -> int:
    percent = 96 if day < PRICE_RISE else 100
    if month in (10, 11):
        percent -= 10 if dice.chance(35) else 0
    else:
        percent -= 5 if dice.chance(10) else 0
    # Any reduced price is a whole number of rupees.
    return product.paise if percent == 100 else (product.paise * percent + 5000) // 10000 * 100


def _products(connection: sqlite3.Connection) -> list[Product]:
    return [
        Product(
            id,
            sku,
            round(price * 100),
            group,
            date.fromisoformat(launched).toordinal(),
            _last_day(successor, status),
        )
        for id, sku, price, group, launched, status, successor in connection.execute(_RANGE)
    ]


_RANGE = """
WITH RECURSIVE tree (id, top) AS (
    SELECT id, name FROM categories WHERE parent_id IS NULL
    UNION ALL SELECT c.id, tree.top FROM categories c JOIN tree ON c.parent_id = tree.id
)
SELECT p.id, p.sku, p.price, tree.top, p.launched_on, p.status,
       (SELECT MIN(new.launched_on) FROM product_links l JOIN products new ON new.id = l.product_id
        WHERE l.kind = 'replaces' AND l.related_id = p.id)
FROM products p JOIN tree ON tree.id = p.category_id
ORDER BY p.id
"""


def _last_day(successor: str | None, status: str) -> int:
    if status == "active":
        return date.max.toordinal() - 1
    return date.fromisoformat(successor).toordinal() - 1 if successor else SELL_OUT


def last_sale(connection: sqlite3.Connection) -> dict[int, str]:
    """Return for each discontinued product's id the last day on which it may be sold, 'YYYY-MM-DD'.

    That is the day before its first replacement is launched or, without one, 2025-12-31.
    """
    return {
        id: date.fromordinal(_last_day(successor, status)).isoformat()
        for id, *_, status, successor in connection.execute(_RANGE)
        if status == "discontinued"
    }
