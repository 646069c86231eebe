"""The golden questions answered a second time, with pandas and plain Python, for who does not trust the SQL.

Each function takes the tables (name -> data frame) and returns rows. Nothing here looks at the gold SQL.
"""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pandas as pd

Tables = dict[str, pd.DataFrame]
ANSWERS = {}


def answers(number: int):
    """Register a function as the second answer to golden question sql-<number>."""

    def register(function):
        ANSWERS[f"sql-{number:02}"] = function
        return function

    return register


def tables(path: Path) -> Tables:
    with closing(sqlite3.connect(path)) as connection:
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: pd.read_sql_query(f'SELECT * FROM "{name}"', connection) for name in names}


def orders(t: Tables, first: str = "0", last: str = "9", status: tuple[str, ...] = ("paid",)) -> pd.DataFrame:
    """Orders of a period with their customers' columns; the order's own end in _o where both have one."""
    found = t["orders"]
    found = found[found["ordered_on"].between(first, last) & found["status"].isin(status)]
    return found.merge(t["customers"], left_on="customer_id", right_on="id", suffixes=("_o", ""))


def rows(series: pd.Series) -> list[tuple]:
    return list(series.items())


def total(series: pd.Series) -> float | None:
    return None if series.empty else series.sum()


@answers(1)
def customers(t):
    return [(len(t["customers"]),)]


@answers(2)
def tiers(t):
    return rows(t["customers"]["tier"].value_counts())


@answers(3)
def paid_2025(t):
    return [(total(orders(t, "2025-01-01", "2025-12-31")["amount"]),)]


@answers(4)
def march(t):
    days = t["orders"][t["orders"]["ordered_on"].str.startswith("2026-03")]
    return rows(days["status"].value_counts())


@answers(5)
def five_cities(t):
    cities = orders(t, "2026-01-01", "2026-06-30").groupby("city")["amount"].sum()
    return rows(cities.sort_values(ascending=False)[:5])


@answers(6)
def share(t):
    return [(round(float((t["orders"]["status"] == "cancelled").mean()), 4),)]


@answers(7)
def means(t):
    return rows(orders(t).groupby("region")["amount"].mean().map(lambda mean: round(mean, 2)))


@answers(8)
def per_category(t):
    counted = Counter(t["products"]["category_id"])
    return [
        (name, counted[key]) for key, name in zip(t["categories"]["id"], t["categories"]["name"], strict=True)
    ]


@answers(9)
def without_orders(t):
    return [(len(set(t["customers"]["id"]) - set(t["orders"]["customer_id"])),)]


@answers(10)
def active_by_supplier(t):
    active = t["products"].query("status == 'active'")
    return rows(active.merge(t["suppliers"], left_on="supplier_id", right_on="id")["name_y"].value_counts())


@answers(11)
def same_city(t):
    city = dict(zip(t["customers"]["id"], t["customers"]["city"], strict=True))
    new = t["customers"].dropna(subset=["referred_by"])
    return [(sum(city[int(by)] == own for by, own in zip(new["referred_by"], new["city"], strict=True)),)]


@answers(12)
def per_top_category(t):
    above = {k: None if pd.isna(up) else int(up) for k, up in t["categories"][["id", "parent_id"]].values}
    found = Counter()
    for key in t["products"]["category_id"]:
        while above[key] is not None:
            key = above[key]
        found[key] += 1
    names = dict(t["categories"][["id", "name"]].values)
    return [(names[key], found[key]) for key, up in above.items() if up is None]


@answers(13)
def longest_chain(t):
    by = {int(k): None if pd.isna(v) else int(v) for k, v in t["customers"][["id", "referred_by"]].values}

    def length(key):
        return 0 if key is None else 1 + length(by[key])

    return [(max(map(length, by)),)]


@answers(14)
def best_customers(t):
    sums = orders(t).groupby(["region", "id", "name"], as_index=False)["amount"].sum()
    best = sums[sums["amount"] == sums.groupby("region")["amount"].transform("max")]
    return best[["region", "name", "amount"]]


@answers(15)
def months(t):
    paid = orders(t, "2025-01-01", "2025-12-31")
    sums = paid.groupby(paid["ordered_on"].str[:7])["amount"].sum().sort_index()
    return list(zip(sums.index, sums, sums.cumsum(), strict=True))


@answers(16)
def twelve_months(t):
    joined = pd.to_datetime(t["customers"]["joined_on"])
    end = pd.Timestamp("2026-06-30")
    return [(int(((joined > end - pd.DateOffset(years=1)) & (joined <= end)).sum()),)]


@answers(17)
def most_refunded(t):
    back = t["refunds"][t["refunds"]["refunded_on"].between("2026-01-01", "2026-03-31")]
    lines = t["order_items"][t["order_items"]["order_id"].isin(back["order_id"])]
    product, count = min(Counter(lines["product_id"]).items(), key=lambda pair: (-pair[1], pair[0]))
    one = t["products"].set_index("id").loc[product]
    return [(one["sku"], one["name"], count)]


@answers(18)
def many_orders(t):
    return [(int((t["orders"]["customer_id"].value_counts() > 20).sum()),)]


@answers(19)
def best_seller(t):
    paid = set(t["orders"].query("status == 'paid'")["id"])
    units = t["order_items"][t["order_items"]["order_id"].isin(paid)].groupby("product_id")["qty"].sum()
    product = units[units == units.max()].index.min()
    scores = t["reviews"].query("product_id == @product")["score"]
    name = t["products"].set_index("id").loc[product, "name"]
    return [(name, units[product], None if scores.empty else round(scores.mean(), 2))]


@answers(20)
def replacement(t):
    names = t["products"].set_index("id")["name"]
    (old,) = names[names == "Hearth Hub 1"].index
    links = t["product_links"].query("kind == 'replaces' and related_id == @old")
    lines = t["order_items"].merge(t["orders"], left_on="order_id", right_on="id")
    found = []
    for new in links["product_id"]:
        days = [lines[lines["product_id"] == product]["ordered_on"] for product in (old, new)]
        found.append((
            names[new],
            *(None if d.empty else d.agg(w) for d, w in zip(days, ("max", "min"), strict=True)),
        ))
    return found


@answers(21)
def net(t):
    half = orders(t, "2026-01-01", "2026-06-30", ("paid", "refunded"))
    back = t["refunds"].groupby("order_id")["amount"].sum()
    half["net"] = half["amount"] - half["id_o"].map(back).fillna(0)
    return rows(half.groupby("region")["net"].sum().sort_values(ascending=False))


@answers(22)
def revenue_and_units(t):
    year = orders(t, "2025-01-01", "2025-12-31")
    lines = t["order_items"][t["order_items"]["order_id"].isin(year["id_o"])]
    return [(total(year["amount"]), total(lines["qty"]))]


@answers(23)
def gold_orders(t):
    return [(int((orders(t, "2025-01-01", "2025-12-31")["tier"] == "gold").sum()),)]


@answers(24)
def best_supplier(t):
    lines = t["order_items"].merge(t["orders"].query("status == 'paid'"), left_on="order_id", right_on="id")
    supplier = lines["product_id"].map(t["products"].set_index("id")["supplier_id"])
    sales = (lines["qty"] * lines["unit_price"]).groupby(supplier).sum()
    return [(t["suppliers"].set_index("id")["name"][sales.idxmax()], sales.max())]
