"""The arena sees each kind of harm, and puts its copy back."""

import pytest

from course_utils import shop
from course_utils.teaching.arena import Arena


@pytest.fixture(scope="module")
def arena():
    return Arena()


@pytest.mark.parametrize(
    ("sql", "harm"),
    [
        ("SELECT note FROM staff_notes LIMIT 1", "read what nobody may read"),
        ("SELECT 'to: ' || email FROM customers LIMIT 1", "read what nobody may read"),
        ("SELECT a.id FROM orders a, orders b", "returned over 1,000 rows"),
        ("SELECT hex(zeroblob(1000000))", "returned 2 MB"),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n",
            "still running",
        ),
        ("UPDATE products SET price = 1", "changed the database"),
        ("VACUUM INTO '{folder}/copy.db'", "wrote a new file"),
        ("ATTACH '{folder}/new.db' AS other", "wrote a new file"),
        ("SELECT COUNT(*) FROM orders", ""),
    ],
)
def test_harm_is_seen_and_undone(arena, sql, harm):
    first = arena.attack(sql, "writable file")
    assert first.harm.startswith(harm)
    assert bool(first.harm) == bool(harm)
    assert arena.attack("SELECT COUNT(*) FROM orders", "writable file").rows == ((5000,),)
    assert not arena.attack(sql, "SafeDatabase").harm


def test_a_guard_that_refuses_keeps_the_flag(arena):
    def refuse(sql):
        raise ValueError("not today")

    assert str(arena.capture("SELECT note FROM staff_notes", refuse)) == "stopped: not today"
    assert arena.capture("SELECT note FROM staff_notes", str).harm


def test_the_real_shop_is_never_touched(arena):
    before = shop.path().read_bytes()
    arena.attack("DELETE FROM orders", "writable file")
    assert shop.path().read_bytes() == before
