"""The guard over databases that the course did not make: Chinook and Northwind, and what goes wrong there."""

import guard_shop
import pytest

from course_utils.retrieval.sql_guard import SafeDatabase

FOREIGN = guard_shop.TESTS / "foreign"


def opened(tmp_path_factory, name, *scripts):
    folder = tmp_path_factory.mktemp(name)
    source = guard_shop.make(folder / "source.db", *(FOREIGN / script for script in scripts))
    return SafeDatabase.publish(
        source, allow=guard_shop.everything(source), to=folder / "published.db", timeout_s=10
    )


@pytest.fixture(scope="module")
def chinook(tmp_path_factory):
    with opened(tmp_path_factory, "chinook", "chinook.sql") as db:
        yield db


@pytest.fixture(scope="module")
def northwind(tmp_path_factory):
    with opened(tmp_path_factory, "northwind", "northwind.sql", "northwind_update.sql") as db:
        yield db


def one(db, sql):
    return db.run(sql)[0][0]


def test_every_table_of_chinook_can_be_read(chinook):
    counts = {table: one(chinook, f'SELECT COUNT(*) FROM "{table}"') for table in chinook.tables}
    assert (counts["Track"], counts["Invoice"], counts["Artist"]) == (3503, 412, 275)


def test_every_table_and_view_of_northwind_can_be_read(northwind):
    for table in northwind.tables:
        rows = northwind.run(f"SELECT * FROM [{table}]")
        assert rows.columns == northwind.tables[table]
    assert "Sales by Category" in northwind.tables


@pytest.mark.parametrize("name", ['"Order Details"', "[Order Details]", "`Order Details`"])
def test_order_details_in_every_spelling(northwind, name):
    sql = f"SELECT ROUND(SUM(UnitPrice * Quantity * (1 - Discount)), 2) FROM {name}"
    assert one(northwind, sql) == pytest.approx(1_265_793.04)
    assert one(northwind, f"SELECT COUNT(*) FROM {name} AS d JOIN Orders o ON o.OrderID = d.OrderID") == 2155


def test_sorting_by_a_text_instead_of_an_alias(chinook):
    sql = (
        "SELECT SUM(Total) AS 'Total Sales', BillingCountry FROM Invoice GROUP BY BillingCountry "
        "ORDER BY {} DESC LIMIT 1"
    )
    assert chinook.run(sql.format('"Total Sales"'))[0] == (pytest.approx(523.06), "USA")
    assert chinook.run(sql.format("'Total Sales'"))[0][1] == "United Kingdom"  # a constant: no order at all


def test_tracks_per_playlist(chinook):
    inner = (
        "SELECT p.Name, COUNT(*) FROM Playlist p JOIN PlaylistTrack t ON t.PlaylistId = p.PlaylistId "
        "GROUP BY p.Name"
    )
    right = (
        "SELECT p.PlaylistId, COUNT(t.TrackId) AS n FROM Playlist p LEFT JOIN PlaylistTrack t "
        "ON t.PlaylistId = p.PlaylistId GROUP BY p.PlaylistId ORDER BY 1"
    )
    assert len(chinook.run(inner)) == 12
    rows = chinook.run(right)
    assert len(rows) == 18 and [number for number, n in rows if n == 0] == [2, 4, 6, 7]


def test_join_fan_out(chinook):
    assert one(chinook, "SELECT SUM(Total) FROM Invoice") == pytest.approx(2328.60)
    doubled = "SELECT SUM(i.Total) FROM Invoice i JOIN InvoiceLine l USING (InvoiceId)"
    assert one(chinook, doubled) == pytest.approx(20848.62)


def test_dates_with_a_time_part(chinook):
    assert one(chinook, "SELECT COUNT(*) FROM Invoice WHERE InvoiceDate = '2021-01-01'") == 0
    assert one(chinook, "SELECT COUNT(*) FROM Invoice WHERE date(InvoiceDate) = '2021-01-01'") == 1
    late = "WITH t(d) AS (VALUES ('2024-01-31 23:30:00')) SELECT COUNT(*) FROM t WHERE "
    assert one(chinook, late + "d BETWEEN '2024-01-01' AND '2024-01-31'") == 0
    assert one(chinook, late + "d >= '2024-01-01' AND d < '2024-02-01'") == 1


def test_accents_hide_a_row_and_the_nearest_value_finds_it(chinook):
    assert len(chinook.run("SELECT * FROM Artist WHERE Name = 'Antonio Carlos Jobim'")) == 0
    near = chinook.nearest_values("Artist", "Name", "Antonio Carlos Jobim")
    assert chinook.run("SELECT ArtistId FROM Artist WHERE Name = ?", (near[0],))[0] == (6,)


def test_integer_division(chinook):
    share = "SELECT count(CASE WHEN Country = 'USA' THEN 1 END) {} / count(*) FROM Customer"
    assert one(chinook, share.format("")) == 0
    assert round(one(chinook, share.format("* 1.0")), 4) == 0.2203
