"""The stories of the shop: each one is found by a query, in the course's shop and in others."""

from contextlib import closing

import pytest

from course_utils import shop

SPIKE = """
SELECT substr(r.refunded_on, 1, 4) || '-Q' || ((substr(r.refunded_on, 6, 2) + 2) / 3) AS quarter,
       COUNT(DISTINCT r.id) AS refunds
FROM refunds r JOIN order_items i ON i.order_id = r.order_id JOIN products p ON p.id = i.product_id
WHERE p.sku = ? GROUP BY quarter
"""
SPIKE_CAUSE = """
SELECT c.region, r.reason, r.refunded_on FROM refunds r
JOIN orders o ON o.id = r.order_id JOIN customers c ON c.id = o.customer_id
JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id
WHERE p.sku = 'SKU-77821' AND r.refunded_on BETWEEN '2026-02-01' AND '2026-03-31'
"""
UNITS = """
SELECT p.sku, SUM(i.qty) AS units FROM order_items i JOIN products p ON p.id = i.product_id
JOIN orders o ON o.id = i.order_id {} GROUP BY p.id ORDER BY units DESC LIMIT 2
"""
HUBS = """
SELECT MAX(o.ordered_on) FILTER (WHERE p.sku = 'SKU-77701'),
       MIN(o.ordered_on) FILTER (WHERE p.sku = 'SKU-77710'),
       COUNT(*) FILTER (WHERE p.sku = 'SKU-77701'), COUNT(*) FILTER (WHERE p.sku = 'SKU-77710')
FROM orders o JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id
"""
REGIONS = """
WITH back AS (SELECT order_id, SUM(amount) AS amount FROM refunds GROUP BY order_id)
SELECT c.region, SUM(o.amount) AS gross, SUM(o.amount - COALESCE(back.amount, 0)) AS net,
       SUM(o.amount) FILTER (WHERE o.status = 'paid') AS paid
FROM orders o JOIN customers c ON c.id = o.customer_id LEFT JOIN back ON back.order_id = o.id
WHERE o.status IN ('paid', 'refunded') AND o.ordered_on BETWEEN '2026-01-01' AND '2026-06-30'
GROUP BY c.region
"""


@pytest.fixture(scope="module", params=["course", 11, 77, "second"])
def query(request, full, tmp_path_factory):
    """Ask the course's shop, one from each of two other seeds, or the second shop."""
    if request.param == "course":
        path = full
    elif request.param == "second":
        path = shop.second()
    else:
        path = shop.build(tmp_path_factory.mktemp("seed") / "shop.db", seed=request.param)
    with closing(shop.read_only(path)) as connection:
        yield lambda sql, *values: connection.execute(sql, values).fetchall()


def test_refunds_of_the_plug_jump_in_one_quarter(query):
    quarters = dict(query(SPIKE, "SKU-77821"))
    jump = quarters.pop("2026-Q1")
    assert jump >= 5 and jump >= 3 * max(quarters.values(), default=0)


def test_the_jump_is_southern_and_has_one_reason(query):
    rows = query(SPIKE_CAUSE)
    pairing = [row for row in rows if row[1] == "will not pair (ERR_4471)"]
    assert len(pairing) >= 0.8 * len(rows)
    assert sum(region == "South" for region, *_ in pairing) >= 0.7 * len(pairing)
    everywhere = query(
        "SELECT MIN(refunded_on), MAX(refunded_on) FROM refunds WHERE reason LIKE '%ERR_4471%'"
    )[0]
    assert "2026-02-01" <= everywhere[0] <= everywhere[1] <= "2026-03-31"


def test_the_south_has_the_most_refunds_of_that_quarter(query):
    rows = query("""
        SELECT c.region, COUNT(*), SUM(r.amount) FROM refunds r
        JOIN orders o ON o.id = r.order_id JOIN customers c ON c.id = o.customer_id
        WHERE r.refunded_on BETWEEN '2026-01-01' AND '2026-03-31' GROUP BY c.region
    """)
    assert max(rows, key=lambda row: row[1])[0] == max(rows, key=lambda row: row[2])[0] == "South"


@pytest.mark.parametrize("look_alike", ["SKU-77812", "SKU-77827"])
def test_look_alikes_of_the_plug_have_no_refund(query, look_alike):
    assert query(SPIKE, look_alike) == []
    sold = "SELECT COUNT(*) FROM order_items i JOIN products p ON p.id = i.product_id WHERE p.sku = ?"
    assert query(sold, look_alike)[0][0] > 0


@pytest.mark.parametrize("only", ["", "WHERE o.status = 'paid'"])
def test_the_best_seller_has_poor_reviews(query, only):
    (first, most), (_, next_most) = query(UNITS.format(only))
    assert first == "YM-1460-A" and most > 1.3 * next_most
    score = "SELECT AVG(score) FROM reviews r JOIN products p ON p.id = r.product_id WHERE p.sku = ?"
    assert query(score, first)[0][0] < 2.5


def test_the_old_hub_gives_way_to_the_new_one(query):
    last_old, first_new, olds, news = query(HUBS)[0]
    assert last_old <= "2025-09-30" and first_new >= "2025-10-01"
    assert olds > 0 and news > 0
    assert query("""
        SELECT new.sku, old.status, new.launched_on FROM product_links l
        JOIN products new ON new.id = l.product_id JOIN products old ON old.id = l.related_id
        WHERE l.kind = 'replaces' AND old.sku = 'SKU-77701'
    """) == [("SKU-77710", "discontinued", "2025-10-01")]


def test_refunds_change_which_region_is_first(query):
    regions = {region: amounts for region, *amounts in query(REGIONS)}
    gross, net, paid = (max(regions, key=lambda region: regions[region][column]) for column in range(3))
    assert (gross, net, paid) == ("South", "West", "West")
    # Visible, not a matter of a few rupees.
    assert regions["South"][0] > 1.01 * regions["West"][0]
    assert regions["West"][1] > 1.01 * regions["South"][1]


def test_refunds_by_their_own_date_tell_the_same(query):
    back = dict(
        query("""
        SELECT c.region, SUM(r.amount) FROM refunds r JOIN orders o ON o.id = r.order_id
        JOIN customers c ON c.id = o.customer_id
        WHERE r.refunded_on BETWEEN '2026-01-01' AND '2026-06-30' GROUP BY c.region
    """)
    )
    net = {region: gross - back[region] for region, gross, *_ in query(REGIONS)}
    assert max(net, key=net.get) == "West"


def test_another_seed_gives_other_answers(full):
    with closing(shop.read_only(full)) as one, closing(shop.read_only(shop.second())) as two:
        top = UNITS.format("").replace("LIMIT 2", "LIMIT 20")
        assert one.execute(top).fetchall() != two.execute(top).fetchall()
        cities = "SELECT city, COUNT(*) FROM customers GROUP BY city ORDER BY city"
        assert one.execute(cities).fetchall() != two.execute(cities).fetchall()
