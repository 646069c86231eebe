"""The fixed query tools: right rows, checked values, bound to who asks, and logged."""

import datetime
import logging
from functools import lru_cache

import golden_pandas
import numpy as np
import pytest
import sql_shops

from course_utils.retrieval import (
    Caller,
    Rows,
    SafeDatabase,
    orders_of,
    refunds_by_region,
    revenue_by_city,
    same_rows,
    top_products,
)
from course_utils.retrieval.query_tools import period, quarter_days

STAFF = Caller("revathi.menon", "staff")
SIZES = ["course", "second", "tiny"]


@lru_cache
def tables(size):
    return golden_pandas.tables(sql_shops.path(size))


@pytest.mark.parametrize("size", SIZES)
def test_refunds_by_region_against_pandas(size):
    t = tables(size)
    back = t["refunds"][t["refunds"]["refunded_on"].between("2026-01-01", "2026-03-31")]
    back = back.merge(t["orders"], left_on="order_id", right_on="id", suffixes=("", "_o"))
    back = back.merge(t["customers"], left_on="customer_id", right_on="id", suffixes=("", "_c"))
    sums = back.groupby("region")["amount"].agg(["count", "sum"])
    expected = [(r, *sums.loc[r]) if r in sums.index else (r, 0, 0) for r in set(t["customers"]["region"])]
    got = refunds_by_region("2026-Q1", sql_shops.safe(size))
    assert isinstance(got, Rows) and same_rows(got, expected), same_rows(got, expected).why


@pytest.mark.parametrize("size", SIZES)
def test_revenue_by_city_against_pandas(size):
    t = tables(size)
    paid = golden_pandas.orders(t, "2026-01-01", "2026-03-31")
    expected = (
        paid.groupby("city")["amount"].agg(["count", "sum"]).sort_values("sum", ascending=False).reset_index()
    )
    assert same_rows(
        revenue_by_city("2026-01-01", "2026-03-31", sql_shops.safe(size)), expected, ordered=True
    )


@pytest.mark.parametrize("size", SIZES)
def test_top_products_against_pandas(size):
    t = tables(size)
    paid = set(golden_pandas.orders(t, "2025-07-01", "2026-06-30")["id_o"])
    lines = t["order_items"][t["order_items"]["order_id"].isin(paid)]
    lines = lines.assign(value=lines["qty"] * lines["unit_price"])
    sums = lines.groupby("product_id")[["qty", "value"]].sum().reset_index()
    best = sums.sort_values(["qty", "product_id"], ascending=[False, True])[:7]
    best = best.merge(t["products"], left_on="product_id", right_on="id")[["sku", "name", "qty", "value"]]
    got = top_products("2025-07-01", "2026-06-30", 7, sql_shops.safe(size))
    assert same_rows(got, best, ordered=True), same_rows(got, best, ordered=True).why


def test_orders_of_against_pandas():
    own = (
        tables("course")["orders"]
        .query("customer_id == 23")
        .sort_values(["ordered_on", "id"], ascending=False)
    )
    got = orders_of(23, sql_shops.safe(), caller=STAFF)
    assert [row[:4] for row in got] == list(
        own[["id", "ordered_on", "status", "amount"]].itertuples(index=False)
    )[:50]
    assert got.columns == ("order_id", "ordered_on", "status", "amount", "pieces")


def test_the_first_and_the_last_day_count_and_the_next_does_not():
    db = sql_shops.safe("tiny")
    assert list(revenue_by_city("2026-01-12", "2026-03-31", db)) == [("Pune", 3, 650.0)]
    assert list(revenue_by_city("2026-01-13", "2026-03-30", db)) == [("Pune", 1, 100.0)]
    assert list(revenue_by_city(datetime.date(2026, 3, 31), datetime.date(2026, 3, 31), db)) == [
        ("Pune", 1, 300.0)
    ]


def test_a_day_with_a_time_is_in_its_period():
    script = """CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT, region TEXT);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id, status TEXT, amount REAL, ordered_on TEXT);
        INSERT INTO customers VALUES (1, 'Pune', 'West');
        INSERT INTO orders VALUES (1, 1, 'paid', 5.0, '2024-01-31 23:30:00');
        INSERT INTO orders VALUES (2, 1, 'paid', 7.0, '2024-02-01');"""
    db = sql_shops.made("times", script)
    assert list(revenue_by_city("2024-01-01", "2024-01-31", db)) == [("Pune", 1, 5.0)]


def test_a_region_without_refunds_is_there_with_nothing():
    assert list(refunds_by_region("2026-Q1", sql_shops.safe("tiny"))) == [
        ("North", 1, 75.5),
        ("West", 0, 0.0),
    ]
    assert list(refunds_by_region("2020-Q1", sql_shops.safe("tiny"))) == [("North", 0, 0.0), ("West", 0, 0.0)]


def test_a_refund_belongs_to_the_quarter_of_its_own_day():
    script = """CREATE TABLE customers (id INTEGER PRIMARY KEY, region TEXT);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, ordered_on TEXT);
        CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER, amount REAL, refunded_on TEXT);
        INSERT INTO customers VALUES (1, 'West');
        INSERT INTO orders VALUES (1, 1, '2025-12-31'), (2, 1, '2026-03-30');
        INSERT INTO refunds VALUES (1, 1, 5.0, '2026-01-01'), (2, 2, 7.0, '2026-04-01');"""
    db = sql_shops.made("quarters", script)
    found = {quarter: list(refunds_by_region(quarter, db)) for quarter in ("2025-Q4", "2026-Q1", "2026-Q2")}
    assert found == {
        "2025-Q4": [("West", 0, 0.0)],
        "2026-Q1": [("West", 1, 5.0)],
        "2026-Q2": [("West", 1, 7.0)],
    }


def test_quarters():
    assert [quarter_days(f"2025-Q{n}") for n in (1, 2, 3, 4)] == [
        ("2025-01-01", "2025-04-01"),
        ("2025-04-01", "2025-07-01"),
        ("2025-07-01", "2025-10-01"),
        ("2025-10-01", "2026-01-01"),
    ]
    assert period("2024-02-28", "2024-02-28") == {"start": "2024-02-28", "after": "2024-02-29"}


@pytest.mark.parametrize(
    "quarter", ["Q1 2026", "2026-Q5", "2026q1", "2026-Q1' OR 1=1 --", "", None, 2026, "2０26-Q1"]
)
def test_a_quarter_of_another_form_is_refused(quarter):
    with pytest.raises(ValueError, match="^quarter must look like 2026-Q1, not "):
        refunds_by_region(quarter, sql_shops.safe("tiny"))


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("2026-01-32", "2026-02-01", "start must be a day that exists, not '2026-01-32'"),
        ("2026-01-01", "31.01.2026", "end must look like 2026-01-31, not '31.01.2026'"),
        ("2026-1-1", "2026-01-31", "start must look like"),
        ("20260101", "2026-01-31", "start must look like"),
        ("2026-0１-01", "2026-01-31", "start must look like"),
        (None, "2026-01-31", "start must look like"),
        ("2026-02-01", "2026-01-31", "start must not be after end, but 2026-02-01 is after 2026-01-31"),
    ],
)
def test_bad_dates_are_refused(start, end, said):
    for ask in (revenue_by_city, top_products):
        with pytest.raises(ValueError, match=said):
            ask(start, end, db=sql_shops.safe("tiny"))


@pytest.mark.parametrize("limit", [0, 51, -1, "5", 2.5, True, None])
def test_a_limit_outside_1_to_50_is_refused(limit):
    with pytest.raises(ValueError, match="limit must be a whole number from 1 to 50, not"):
        top_products("2026-01-01", "2026-01-31", limit, sql_shops.safe("tiny"))


@pytest.mark.parametrize("number", [0, -1, "1 OR 1=1", 1.5, None, 2**70])
def test_a_customer_id_that_is_none_is_refused(number):
    with pytest.raises(ValueError, match="customer_id must be a whole number of at least 1"):
        orders_of(number, sql_shops.safe("tiny"), caller=STAFF)


def test_a_customer_sees_own_orders_and_no_others():
    db = sql_shops.safe("tiny")
    for user in (1, "1", np.int64(1)):
        assert [row[0] for row in orders_of(1, db, caller=Caller(user, "customer"))] == [2, 1]
    assert len(orders_of(np.int64(2), db, caller=STAFF)) == 1
    refusals = set()
    for caller, number in [
        (Caller(1, "customer"), 2),
        (Caller(1, "customer"), 999),
        (Caller("1", "guest"), 1),
    ]:
        with pytest.raises(PermissionError) as refused:
            orders_of(number, db, caller=caller)
        refusals.add(str(refused.value))
    with pytest.raises(PermissionError):
        orders_of(1, db)
    (words,) = refusals  # existing or not: the same
    assert not any(digit in words for digit in "1239")


def test_nothing_is_read_for_a_caller_who_may_not():
    class Untouched:
        def run(self, *_):
            raise AssertionError("the database was asked")

    with pytest.raises(PermissionError):
        orders_of(2, Untouched(), caller=Caller(1, "customer"))


def test_an_unknown_role_is_refused():
    with pytest.raises(ValueError, match="role must be one of staff, partner, customer, guest"):
        Caller("me", "admin")


def test_rows_are_capped():
    db = SafeDatabase(sql_shops.path("course"), max_rows=5)
    assert len(orders_of(23, db, caller=STAFF)) == 5 and orders_of(23, db, caller=STAFF).truncated


def test_each_call_is_one_line_with_the_user_and_without_content(caplog):
    db = sql_shops.safe("tiny")
    with caplog.at_level(logging.INFO, "course_utils.tools"):
        orders_of(1, db, caller=Caller(1, "customer"))
        with pytest.raises(PermissionError):
            orders_of(2, db, caller=Caller(1, "customer"))
        with pytest.raises(ValueError):
            refunds_by_region("x\nuser='root' role=staff", db, caller=STAFF)
    first, second, third = [r.getMessage() for r in caplog.records if r.name == "course_utils.tools"]
    assert first.startswith(
        "user=1 role=customer tool=orders_of values=(customer_id=1) outcome='rows' rows=2 ms="
    )
    assert 'outcome="refused: a customer may ask' in second and "rows=0" in second
    assert third.startswith("user='revathi.menon' role=staff") and "\n" not in third
    assert "250" not in first
