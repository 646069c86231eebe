"""The rows of the course's shop: complete, consistent, and typed so that queries come out right."""

import sqlite3
from contextlib import closing
from datetime import date

import pytest

from course_utils import shop
from course_utils.shop import orders


def test_the_shop_has_the_promised_size(full):
    rows = shop.counts(full)
    assert (rows["customers"], rows["orders"], rows["suppliers"]) == (800, 5000, 8)
    assert rows["products"] >= 160 and rows["categories"] >= 12
    assert (rows["teams"], rows["staff"], rows["staff_notes"]) == (8, 24, 20)
    assert rows["reviews"] >= 50 and rows["refunds"] > 200


def test_every_table_is_strict(query):
    tables = query(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'"
    )
    assert len(tables) == 16
    assert {strict for _, strict in tables} == {1}


def test_an_order_is_the_sum_of_its_items(query):
    off = """
        SELECT o.id, o.amount, ROUND(SUM(i.qty * i.unit_price), 2) FROM orders o
        LEFT JOIN order_items i ON i.order_id = o.id
        GROUP BY o.id HAVING o.amount IS NOT ROUND(SUM(i.qty * i.unit_price), 2)
    """
    assert query(off) == []


def test_refunds_fit_their_orders(query):
    whole = "SELECT COUNT(*) FROM orders o WHERE status = 'refunded'"
    sums = """
        SELECT o.status, o.amount, SUM(r.amount), MIN(r.refunded_on) >= o.ordered_on, MAX(r.refunded_on)
        FROM orders o JOIN refunds r ON r.order_id = o.id GROUP BY o.id
    """
    rows = query(sums)
    refunded = [row for row in rows if row[0] == "refunded"]
    partial = [row for row in rows if row[0] == "paid"]
    assert len(refunded) + len(partial) == len(rows)
    assert len(refunded) == query(whole)[0][0] > 100
    assert all(amount == back for _, amount, back, *_ in refunded)
    assert len(partial) > 50 and all(0 < back < amount for _, amount, back, *_ in partial)
    assert all(later and last <= "2026-06-30" for *_, later, last in rows)


def test_nothing_is_sold_before_its_launch_or_after_its_end(query, full):
    with closing(shop.read_only(full)) as connection:
        last = shop.last_sale(connection)
    discontinued = {id for (id,) in query("SELECT id FROM products WHERE status = 'discontinued'")}
    assert set(last) == discontinued and last[7] == "2025-09-30"
    sold = query("""
        SELECT p.id, p.launched_on, MIN(o.ordered_on), MAX(o.ordered_on)
        FROM products p JOIN order_items i ON i.product_id = p.id JOIN orders o ON o.id = i.order_id
        GROUP BY p.id
    """)
    assert len(sold) > 150
    assert [row for row in sold if row[2] < row[1] or row[3] > last.get(row[0], "9999")] == []


def test_nobody_orders_before_joining(query):
    joined = "SELECT MIN(julianday(o.ordered_on) - julianday(c.joined_on)) FROM orders o"
    assert query(f"{joined} JOIN customers c ON c.id = o.customer_id")[0][0] >= 0


def test_orders_are_numbered_by_day_and_cover_two_years(query):
    days = [day for (day,) in query("SELECT ordered_on FROM orders ORDER BY id")]
    assert days == sorted(days)
    assert days[0] == "2024-07-01" and days[-1] == "2026-06-30"


def test_referrals_form_a_forest(query):
    parent = dict(query("SELECT id, referred_by FROM customers"))
    assert 100 < sum(by is not None for by in parent.values()) < 400
    for customer in parent:
        seen = set()
        while customer is not None:
            assert customer not in seen
            seen.add(customer)
            customer = parent[customer]


def test_some_customers_never_ordered_and_some_share_a_name(query):
    idle = query("SELECT COUNT(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)")[0][0]
    assert 20 < idle < 250
    assert query("SELECT name FROM customers GROUP BY name HAVING COUNT(*) > 1")


def test_business_grows_and_peaks_in_the_festival_months(query):
    month = dict(query("SELECT substr(ordered_on, 1, 7), COUNT(*) FROM orders GROUP BY 1"))
    assert len(month) == 24
    for year in ("2024", "2025"):
        ordinary = [month[f"{year}-08"], month[f"{year}-09"], month[f"{year}-12"]]
        assert min(month[f"{year}-10"], month[f"{year}-11"]) > 1.2 * max(ordinary)
    assert month["2025-10"] > 1.2 * month["2024-10"]


def test_regions_differ_in_revenue(query):
    paid = [total for (total,) in query("""
        SELECT SUM(o.amount) AS paid FROM orders o JOIN customers c ON c.id = o.customer_id
        WHERE o.status = 'paid' GROUP BY c.region ORDER BY paid DESC
    """)]  # fmt: skip
    assert len(paid) == 4 and paid[0] > 1.5 * paid[-1]


def test_reviews_are_by_buyers_of_the_product(query):
    """A review of a product that was no longer sold in these two years has no buyer to be from."""
    strangers = query("""
        SELECT r.id FROM reviews r WHERE EXISTS (
            SELECT 1 FROM order_items i JOIN orders o ON o.id = i.order_id
            WHERE i.product_id = r.product_id AND o.ordered_on < r.created_on
              AND o.status IN ('paid', 'refunded'))
        AND NOT EXISTS (
            SELECT 1 FROM order_items i JOIN orders o ON o.id = i.order_id
            WHERE i.product_id = r.product_id AND o.customer_id = r.customer_id
              AND o.ordered_on < r.created_on)
    """)
    assert strangers == []


def test_prices_are_numbers_and_compare_as_numbers(query):
    """Stored as text, 999 would be more than 10000."""
    assert query("SELECT DISTINCT typeof(price) FROM products") == [("real",)]
    prices = [price for (price,) in query("SELECT price FROM products ORDER BY price")]
    assert prices == sorted(prices)
    assert query("SELECT MAX(price) FROM products") == [(max(prices),)]
    assert query("SELECT COUNT(*) FROM products WHERE price > 900") == [(sum(p > 900 for p in prices),)]


@pytest.mark.parametrize("price", ["899,00", "cheap"])
def test_a_price_as_text_is_refused(tmp_path, tiny, change, price):
    copy = tmp_path / "copy.db"
    copy.write_bytes(tiny.read_bytes())
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in REAL column"):
        change(copy, f"UPDATE products SET price = '{price}' WHERE id = 1")


def test_dates_have_one_format_everywhere(query):
    found = query("""
        SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table' AND c.name LIKE '%\\_on' ESCAPE '\\'
    """)
    assert len(found) >= 8
    for table, column in found:
        for (day,) in query(f"SELECT DISTINCT {column} FROM {table}"):
            assert date.fromisoformat(day).isoformat() == day


@pytest.mark.parametrize("day", ["2026-03-31 23:30:00", "2026-03-31T16:35:36Z", "31.03.2026", "2026-3-31"])
def test_another_date_format_is_refused(tmp_path, tiny, change, day):
    copy = tmp_path / "copy.db"
    copy.write_bytes(tiny.read_bytes())
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        change(copy, f"UPDATE orders SET ordered_on = '{day}' WHERE id = 4")


def test_the_last_day_of_a_period_counts(query):
    """Text with a time after the date would be beyond '2026-03-31' and drop out of the quarter."""
    days = [date.fromisoformat(day) for (day,) in query("SELECT ordered_on FROM orders")]
    quarter = sum(date(2026, 1, 1) <= day <= date(2026, 3, 31) for day in days)
    border = sum(day == date(2026, 3, 31) for day in days)
    between = "SELECT COUNT(*) FROM orders WHERE ordered_on BETWEEN '2026-01-01' AND '2026-03-31'"
    assert border > 0
    assert query(between) == [(quarter,)]
    assert query("SELECT COUNT(*) FROM orders WHERE ordered_on = '2026-03-31'") == [(border,)]
    assert query("SELECT COUNT(*) FROM orders WHERE ordered_on >= date('2026-06-30', '-91 days')")[0][
        0
    ] == sum(day >= date(2026, 3, 31) for day in days)


def test_a_join_with_items_repeats_the_order_amount(query):
    """The fan-out that a careless revenue query falls for is there to be found."""
    (revenue,) = query("SELECT SUM(amount) FROM orders WHERE status = 'paid'")[0]
    (fanned,) = query(
        "SELECT SUM(o.amount) FROM orders o JOIN order_items i ON i.order_id = o.id WHERE o.status = 'paid'"
    )[0]
    (by_items,) = query("""
        SELECT SUM(i.qty * i.unit_price) FROM orders o JOIN order_items i ON i.order_id = o.id
        WHERE o.status = 'paid'
    """)[0]
    assert by_items == pytest.approx(revenue)
    assert fanned > 1.5 * revenue


def test_the_noise_in_orders_does_not_hide_their_number():
    from course_utils.shop.dice import Dice

    days = list(orders._days(1000, Dice(1, "orders")))
    assert len(days) == 1000 and days == sorted(days)
    assert days[0] == orders.FIRST_DAY and days[-1] == orders.LAST_DAY


def test_staff_and_teams_make_one_company(query):
    assert query("SELECT COUNT(*) FROM staff WHERE manager_id IS NULL") == [(1,)]
    reached = query("""
        WITH RECURSIVE under (id) AS (
            SELECT id FROM staff WHERE manager_id IS NULL
            UNION SELECT s.id FROM staff s JOIN under ON s.manager_id = under.id)
        SELECT COUNT(*) FROM under
    """)
    assert reached == [(24,)]
    assert query("SELECT COUNT(DISTINCT team_id) FROM staff") == [(8,)]
    alone = """
        SELECT name FROM staff WHERE id NOT IN (SELECT staff_id FROM team_links)
        AND id NOT IN (SELECT works_with FROM team_links)
    """
    assert query(alone) == []


def test_foreign_keys_and_the_file_are_whole(query):
    assert query("PRAGMA foreign_key_check") == []
    assert query("PRAGMA integrity_check") == [("ok",)]
