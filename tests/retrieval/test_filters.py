"""Filter: what matches, what never does, and that Python, columns and SQLite say the same."""

import datetime
import enum
import sqlite3
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from course_utils.retrieval import Caller, Documents, Filter, Range

STAFF = Caller("revathi", "staff")


class Tier(str, enum.Enum):  # noqa: UP042
    GOLD = "gold"


PRICES = [10, "N/A", None, 80]


def through(values, **conditions):
    """Return the values that a filter lets through, asked one by one and by columns."""
    one_by_one = [value for value in values if Filter(**conditions).matches({"x": value})]
    held = Documents(
        Document(id=f"t:{n}", page_content="t", metadata={"x": value, "audience": "public"})
        for n, value in enumerate(values)
    )
    by_column = [values[place] for place in np.flatnonzero(held.mask(STAFF, Filter(**conditions)))]
    assert repr(one_by_one) == repr(by_column)
    return one_by_one


@pytest.mark.parametrize(
    ("values", "condition", "left"),
    [
        # D03: numbers compare as numbers
        ([1234, 1345], Range(below=20), []),
        ([1234, 1345], Range(below=1300), [1234]),
        # D05: what is no number is in no range, from either side
        (PRICES, Range(below=50), [10]),
        (PRICES, Range(above=50), [80]),
        (PRICES, None, [None]),
        (["9", 9, 10, "10"], Range(at_least=10), [10]),
        ([1, 2, 3], Range(at_least=1, below=3), [1, 2]),
        ([1, 2, 3], Range(above=1, at_most=3), [2, 3]),
        ([1, 1.0, True, "1"], 1, [1, 1.0]),
        ([1, True, 0, False, "True"], True, [True]),
        (["Pune", "pune", "Pune "], "Pune", ["Pune"]),
        (["gold", "silver", "basic", None], {"gold", "silver"}, ["gold", "silver"]),
        (["gold", None], ["gold", None], ["gold", None]),
        (["gold"], [], []),
        ([float("nan"), 1.0, float("inf")], Range(at_least=0), [1.0, float("inf")]),
        ([float("nan")], 1.0, []),
        ([np.float32(2.5), np.int64(3), np.str_("a"), np.bool_(True)], Range(above=0), [2.5, 3]),
        ([np.str_("a"), np.bool_(True)], {"a", True}, ["a", True]),
        ([Decimal("2.50"), 10**400, -(10**400)], Range(at_most=2.5), [Decimal("2.50")]),
        ([[1], {"a": 1}, (1,), b"1", object], 1, []),
        ([[1], {"a": 1}, (1,), b"1"], Range(at_least=0), []),
        ([Fraction(10**400), Decimal("sNaN"), np.datetime64("2026-01-01"), 3], Range(above=0), [3]),
        ([Tier.GOLD, "gold", "Tier.GOLD"], "gold", [Tier.GOLD, "gold"]),
        (["gold", Tier.GOLD], Tier.GOLD, ["gold", Tier.GOLD]),
        ([2**53, 2**53 + 1], Range(above=2**53), [2**53 + 1]),
        ([2**53, 2**53 + 1], Range(at_least=2**53 + 1), [2**53 + 1]),
        ([0.1, 0.2], Range(at_most=Decimal("0.1")), [0.1]),
        # dates: text that is one, or a date
        (
            [
                "2025-12-31",
                "2026-01-01",
                "2026-03-31",
                "2026-04-01",
                "2026-02-30",
                "soon",
                "",
                None,
                20260201,
            ],
            Range("2026-01-01", "2026-03-31"),
            ["2026-01-01", "2026-03-31"],
        ),
        (["2026-01-01", "20260101", "2026-W01-4"], Range(at_most=datetime.date(2026, 6, 1)), ["2026-01-01"]),
        (
            [datetime.date(2026, 1, 5), "2026-01-05", "2026-1-5"],
            "2026-01-05",
            [datetime.date(2026, 1, 5), "2026-01-05"],
        ),
    ],
)
def test_what_matches(values, condition, left):
    assert [str(value) for value in through(values, x=condition)] == [str(value) for value in left]


def test_all_conditions_hold_together():
    filter = Filter(city="Pune", tier={"gold", "silver"}) & Filter(price=Range(below=100))
    assert filter.matches({"city": "Pune", "tier": "gold", "price": 99.5, "more": 1})
    for change in ({"city": "Delhi"}, {"tier": "basic"}, {"price": 100}, {"price": None}):
        assert not filter.matches({"city": "Pune", "tier": "gold", "price": 99.5} | change)
    assert not filter.matches({"city": "Pune", "tier": "gold"})
    assert Filter().matches({}) and Filter({"odd key": 1}).matches({"odd key": 1})
    assert not (Filter(price=Range(above=1)) & Filter(price=Range(below=1))).matches({"price": 1})


def test_it_is_a_value():
    assert Filter(a=1, b={"x", "y"}) == Filter(b=["y", "x"], a=1.0) and Filter(a=1) != Filter(a=True)
    assert len({Filter(a=1), Filter(a=1)}) == 1
    assert (
        repr(Filter(city="Pune", price=Range(at_least=1, below=9)))
        == "Filter(city: 'Pune', price: >= 1 and < 9)"
    )
    with pytest.raises(TypeError):
        Filter(a=1) & {"a": 1}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Range, "needs a bound"),
        (
            lambda: Range(at_least="cheap"),
            "at_least must be a number or a date such as 2026-03-31, not 'cheap'",
        ),
        (lambda: Range(at_least=True), "at_least must be a number or a date"),
        (lambda: Range(at_most=float("nan")), "at_most must be"),
        (lambda: Range(at_least=1, below="2026-01-01"), "all numbers or all dates"),
        (lambda: Range("2026-02-30"), "at_least must be"),
        (lambda: Filter(city=object()), "city must be text, a number"),
        (lambda: Filter(city={"a": 1}), "city must be text, a number"),
        (lambda: Filter(city=["a", ["b"]]), "city must be text, a number"),
    ],
)
def test_a_condition_that_means_nothing_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.filterwarnings("ignore:.*langchain-community.*:DeprecationWarning")
def test_the_same_filter_works_in_langchains_stores():
    from langchain_community.vectorstores import FAISS

    rows = [(1, "Asha", "Pune", "gold"), (2, "Ravi", "Delhi", "silver"), (3, "Meena", "Pune", "silver")]
    documents = [
        Document(
            id=f"customer:{id}",
            page_content=f"{name} lives in {city}.",
            metadata={"id": id, "city": city, "tier": tier},
        )
        for id, name, city, tier in rows
    ]
    memory = InMemoryVectorStore(DeterministicFakeEmbedding(size=64))
    memory.add_documents(documents)
    community = FAISS.from_documents(documents, DeterministicFakeEmbedding(size=64))
    for filter, ids in ((Filter(city="Pune"), [1, 3]), (Filter(city="Pune", tier="gold"), [1])):
        for hits in (
            memory.similarity_search("who lives in Pune?", k=3, filter=filter),
            community.similarity_search("who lives in Pune?", k=3, filter=filter.matches),
        ):
            assert sorted(hit.metadata["id"] for hit in hits) == ids


def test_as_sql_it_reads_like_sql():
    where = Filter(city="Pune", tier={"gold", "silver"}, referred_by=None, price=Range(below=100)).sql()
    assert where.sql == (
        "typeof(city) = 'text' AND city = :p1 AND typeof(tier) = 'text' AND tier IN (:p2, :p3) "
        "AND referred_by IS NULL AND typeof(price) IN ('integer', 'real') AND price < :p4"
    )
    assert where.params == {"p1": "Pune", "p2": "gold", "p3": "silver", "p4": 100}
    days = Filter(created_on=Range("2026-01-01", below="2026-02-01")).sql()
    assert days.sql == "date(created_on) = created_on AND created_on >= :p1 AND created_on < :p2"
    assert Filter().sql() == ("TRUE", {}) and Filter(city=[]).sql().sql == "FALSE"


@pytest.mark.parametrize("bound", [np.int64(3), np.float32(3), np.int8(3), Decimal(3), Fraction(3), 3, 3.0])
def test_any_kind_of_bound_is_a_number_in_sql(bound):
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1), (5), (100);")
    where = Filter(x=Range(below=bound)).sql()
    assert connection.execute(f"SELECT x FROM t WHERE {where.sql}", where.params).fetchall() == [(1,)]
    assert Range(below=bound) == Range(below=3)


def test_what_json_describes_wrongly_is_said():
    assert Filter.from_json({"price": {"below": 3}, "tier": ["gold"]}) == Filter(
        price=Range(below=3), tier="gold"
    )
    for wrong, said in (
        ({"price": {"lt": 5}}, "price: a range has the bounds at_least, above, at_most, below, not lt"),
        ([], "an object of conditions"),
        (None, "an object of conditions"),
        ({1: 2}, "A key of the metadata is a text, not 1"),
    ):
        with pytest.raises(ValueError, match=said):
            Filter.from_json(wrong)


def test_a_name_that_is_always_there_is_refused_in_sql():
    for name in ("rowid", "OID", "_rowid_"):
        with pytest.raises(ValueError, match="No column"):
            Filter({name: 1}).sql()


@pytest.mark.parametrize(
    "name", ["cast", "current_date", "true", "table", "odd key", "x; DROP TABLE t", 'say "x"', "größe", "1st"]
)
def test_an_odd_column_is_quoted_and_a_missing_one_is_an_error(name):
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ([{name}])")
    connection.execute("INSERT INTO t VALUES ('here')")
    where = Filter({name: "here"}).sql()
    assert connection.execute(f"SELECT COUNT(*) FROM t WHERE {where.sql}", where.params).fetchone() == (1,)
    missing = Filter({f"{name}x": f"{name}x"}).sql()
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(f"SELECT COUNT(*) FROM t WHERE {missing.sql}", missing.params)
    with pytest.raises(ValueError, match="No column"):
        Filter({"a]b": 1}).sql()


DAYS = st.dates(datetime.date(1, 1, 1)).map(str)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
VALUES = st.none() | st.sampled_from(["", "a", "N/A", "10", "1.0", "2026-02-30", "2026-1-1"]) | DAYS | NUMBERS
RANGES = st.one_of(
    *(
        st
        .fixed_dictionaries({}, optional=dict.fromkeys(("at_least", "at_most", "above", "below"), kind))
        .filter(bool)
        .map(lambda given: Range(**given))
        for kind in (NUMBERS, DAYS)
    )
)
CONDITIONS = VALUES | st.lists(VALUES, max_size=4) | RANGES


@settings(deadline=None)
@given(st.lists(VALUES, max_size=12), CONDITIONS)
def test_python_columns_and_sqlite_agree(values, condition):
    left = through(values, x=condition)
    connection = sqlite3.connect(":memory:")
    for kind in ("", "TEXT", "INTEGER", "REAL"):  # a column of that affinity changes what is stored
        connection.executescript(f"DROP TABLE IF EXISTS t; CREATE TABLE t (n INTEGER PRIMARY KEY, x {kind});")
        connection.executemany("INSERT INTO t (x) VALUES (?)", [(value,) for value in values])
        kept = [value for (value,) in connection.execute("SELECT x FROM t ORDER BY n")]
        where = Filter(x=condition).sql()
        found = connection.execute(f"SELECT x FROM t WHERE {where.sql} ORDER BY n", where.params).fetchall()
        if not kind:
            assert [value for (value,) in found] == left
        assert [value for (value,) in found] == through(kept, x=condition)
