"""same_rows: what counts as the same result, and what is said where it is not."""

import datetime
import decimal
import time

import numpy as np
import pandas as pd
import pytest
import sql_shops

from course_utils.retrieval import Rows, SQLRetriever, same_rows

GOLD = [("Pune", 63, 1144329.5), ("Delhi", 85, 2337171.5), ("Patna", 20, None)]


def why(got, expected=GOLD, **how):
    found = same_rows(got, expected, **how)
    assert not found.equal and not bool(found)
    return found.why


@pytest.mark.parametrize(
    "got",
    [
        GOLD,
        GOLD[::-1],
        [(c, a, b) for a, b, c in GOLD],
        [(b, c, a) for a, b, c in GOLD],
        [(a, float(b), c) for a, b, c in GOLD],
        [(a, b, None if c is None else c + 4e-7) for a, b, c in GOLD],
        [(a, b, None if c is None else decimal.Decimal(str(c))) for a, b, c in GOLD],
        [{"city": a, "n": b, "total": c} for a, b, c in GOLD],
        pd.DataFrame(GOLD, columns=["a", "b", "c"]),
        pd.DataFrame(GOLD, columns=["a", "b", "c"])[["c", "a", "b"]],
        Rows(("x", "y", "z"), tuple(GOLD), False, 0.0),
    ],
)
def test_the_same(got):
    assert same_rows(got, GOLD) and same_rows(got, GOLD).why == ""


def test_order_counts_only_if_asked_for():
    assert same_rows(GOLD, GOLD, ordered=True) and same_rows([r[::-1] for r in GOLD], GOLD, ordered=True)
    assert why(GOLD[::-1], ordered=True).startswith("wrong order")


def test_duplicates_count():
    assert why([*GOLD, GOLD[0]]).startswith("repeated rows: 4 rows")
    assert "should come several times" in why(GOLD, [*GOLD, GOLD[0]])
    assert same_rows([GOLD[0]] * 2, [GOLD[0]] * 2)


def test_missing_and_extra():
    assert why(GOLD[:2]).startswith("missing rows: 2 rows are too few, and those are right")
    assert why([]).startswith("missing rows: the result is empty")
    assert why([*GOLD, ("Kochi", 1, 2.0)]).startswith("extra rows: 4 rows are too many")
    assert why(GOLD, []).startswith("extra rows: the result has 3 rows where nothing should be found")
    assert why([("Kochi", 1, 2.0), *GOLD[:1]]).startswith("missing rows: 2 rows are not the number")


def test_columns():
    assert why([(*r, 1) for r in GOLD]) == "extra column: the result has 4, which is not the number asked for"
    assert why([r[:2] for r in GOLD]).startswith("missing column: the result has 2")
    assert why([(b, a, c) for a, b, c in GOLD], column_order=True)
    assert why(
        pd.DataFrame(GOLD, columns=["x", "y", "z"]), pd.DataFrame(GOLD, columns=["x", "y", "q"]), names=True
    )
    one, two = pd.DataFrame({"min": [1], "max": [9]}), pd.DataFrame({"max": [1], "min": [9]})
    assert why(one, two).startswith("wrong values")  # the names say which is which
    assert same_rows(one, two.rename(columns={"min": "high", "max": "low"}))


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ([(1.0,)], [(1.00001,)]),
        ([(10_000_000.0,)], [(10_000_000.01,)]),
        ([("5",)], [(5,)]),
        ([("Pune",)], [("pune",)]),
        ([("Pune ",)], [("Pune",)]),
        ([(None,)], [(0,)]),
        ([(None,)], [("",)]),
        ([(1, 2), (2, 1)], [(1, 1), (2, 2)]),
        ([("a", 1), ("b", 2)], [("a", 2), ("b", 1)]),
    ],
)
def test_not_the_same(got, expected):
    assert why(got, expected).startswith("wrong values")


def test_none_nan_and_dates():
    frame = pd.DataFrame({"day": pd.to_datetime(["2026-03-31", None]), "n": [1.5, np.nan], "s": ["x", None]})
    assert same_rows(frame, [("2026-03-31", 1.5, "x"), (None, None, None)])
    assert same_rows([(datetime.date(2026, 3, 31),)], [("2026-03-31 00:00:00",)])
    assert same_rows([(datetime.datetime(2026, 3, 31, 12),)], [("2026-03-31 12:00:00",)])
    assert not same_rows([(datetime.datetime(2026, 3, 31, 12),)], [("2026-03-31",)])
    assert same_rows([(True, np.int64(3))], [(1, 3)])


def test_tolerance_is_absolute_and_can_be_chosen():
    assert same_rows([(2.346,)], [(2.35,)], tolerance=0.005) and not same_rows(
        [(2.34,)], [(2.35,)], tolerance=0.005
    )
    near = [("a", 0.9999998), ("a", 1.0000002)]
    assert same_rows(near, [("a", 1.0), ("a", 1.0)])


def test_adding_up_in_another_order_is_no_difference():
    assert same_rows([(sum([0.1] * 10) * 1e7,)], [(1e7,)])


def test_a_cut_result_proves_nothing():
    assert why(Rows(("a",), ((1,),), True, 0.0), [(1,)]).startswith("cut off")


def test_a_result_of_the_retriever():
    result = SQLRetriever(sql_shops.safe("tiny")).ask("How many customers live in each city?")
    assert same_rows(result, [(2, "Pune"), (1, "Delhi")])


def test_no_reason_gives_the_answer_away():
    secret = [("Nagpur", 4711.25), ("Kochi", 815.5)]
    for got in (
        [],
        [("Pune", 1.0)],
        [("Pune", 1.0)] * 2,
        [("Pune", 1.0)] * 3,
        [(1,)],
        [("Nagpur", 1.0), ("Kochi", 815.5)],
    ):
        assert not any(word in why(got, secret) for word in ("Nagpur", "Kochi", "4711", "815"))


def test_empty_results_are_equal_and_what_is_no_result_is_explained():
    assert same_rows([], []) and same_rows(Rows(("a",), (), False, 0.0), [])
    with pytest.raises(TypeError, match="not int"):
        same_rows(42, [(42,)])


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ([(1, 1)] * 3000, [(1, 2)] * 3000),
        ([tuple(range(12))] * 50, [tuple(range(1, 13))] * 50),
        ([(n * 1.1, n) for n in range(5000)], [(n * 1.1 + (n % 7 == 0), n) for n in range(5000)]),
        ([(n % 2,) * 9 for n in range(60)], [(n % 2,) * 8 + (0,) for n in range(60)]),
    ],
)
def test_a_large_difference_is_found_in_time(got, expected):
    started = time.monotonic()
    assert not same_rows(got, expected)
    assert time.monotonic() - started < 20
