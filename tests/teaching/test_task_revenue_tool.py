"""The check of the tool with parameters: on right answers, differently written right ones, and wrong ones."""

import re

import pytest
from checking import says

from course_utils.teaching import tasks

SQL = tasks.sql


REVENUE = (
    "SELECT COALESCE(SUM(o.amount), 0) FROM orders o JOIN customers c ON c.id = o.customer_id "
    "WHERE c.city = ? AND o.status = 'paid' AND substr(o.ordered_on, 1, 7) = ?"
)


def check_month(month):
    if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
        raise ValueError("month must look like 2026-03")


def revenue(city, month, db):
    check_month(month)
    return float(db.run(REVENUE, (city, month)).rows[0][0])


def revenue_by_dates(city, month, db):
    import datetime

    try:
        first = datetime.datetime.strptime(month, "%Y-%m").date()
        assert first.strftime("%Y-%m") == month
    except (ValueError, AssertionError):
        raise ValueError(f"the month must look like 2026-03, not {month!r}") from None
    following = (first + datetime.timedelta(days=32)).replace(day=1)
    sql = (
        "SELECT SUM(amount) FROM orders WHERE status = ? AND ordered_on >= ? AND ordered_on < ? "
        "AND customer_id IN (SELECT id FROM customers WHERE city = ?)"
    )
    [(total,)] = list(db.run(sql, ("paid", first.isoformat(), following.isoformat(), city)))
    return round(total or 0.0, 2)


def revenue_with(sql, take=lambda value: float(value)):
    def tool(city, month, db):
        check_month(month)
        return take(db.run(sql, (city, month, month)[: sql.count("?")]).rows[0][0])

    return tool


def revenue_pasted(city, month, db):
    check_month(month)
    sql = REVENUE.replace("c.city = ?", f"c.city = '{city}'").replace("= ?", f"= '{month}'")
    return float(db.run(sql).rows[0][0])


def revenue_quoted(city, month, db):
    return revenue_pasted(city.replace("'", "''"), month, db)


def revenue_unchecked(city, month, db):
    return float(db.run(REVENUE, (city, month)).rows[0][0])


def revenue_summed_in_python(city, month, db):
    check_month(month)
    rows = db.run(
        "SELECT o.amount, o.ordered_on, c.city, o.status "
        "FROM orders o JOIN customers c ON c.id = o.customer_id"
    )
    return sum(row[0] for row in rows if row[1][:7] == month and row[2] == city and row[3] == "paid")


def revenue_wrong_error(city, month, db):
    year, number = month.split("-")
    if not 1 <= int(number) <= 12 or len(month) != 7:
        raise ValueError("month must look like 2026-03")
    return revenue_unchecked(city, month, db)


def refuses_everything(city, month, db):
    raise ValueError("month must look like 2026-03")


def revenue_choosy(city, month, db):
    check_month(month)
    if not db.run("SELECT 1 FROM customers WHERE city = ? LIMIT 1", (city,)).rows:
        raise ValueError("no such city")
    return float(db.run(REVENUE, (city, month)).rows[0][0])


def revenue_tells_in_text(city, month, db):
    try:
        return revenue(city, month, db)
    except ValueError as error:
        return str(error)


def revenue_type_error(city, month, db):
    if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
        raise TypeError("month must look like 2026-03")
    return revenue_unchecked(city, month, db)


JOINED = "FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city = ? AND o.status = 'paid'"
START, NEXT = "? || '-01'", "date(? || '-01', '+1 month')"


@pytest.mark.parametrize("answer", [revenue, revenue_by_dates])
def test_revenue_tool_right(answer):
    says(SQL.revenue_tool.check(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        (revenue_pasted, 2, "part of the SQL"),
        (revenue_quoted, 2, "inside the text of the SQL"),
        (revenue_unchecked, 2, "It accepts the month"),
        (revenue_wrong_error, 2, "say what is expected"),
        (revenue_type_error, 2, "TypeError"),
        (revenue_with(REVENUE.replace(" AND o.status = 'paid'", "")), 2, "paid only"),
        (revenue_with(REVENUE.replace("COALESCE(SUM(o.amount), 0)", "COUNT(*)")), 2, "orders are counted"),
        (revenue_with(REVENUE.replace("c.city = ?", "c.city <> ?")), 1, "does not give the paid revenue"),
        (
            revenue_with(
                REVENUE.replace("COALESCE(SUM(o.amount), 0)", "SUM(o.amount)"), take=lambda value: value
            ),
            1,
            "SUM over no rows is NULL",
        ),
        (
            revenue_with(
                REVENUE.replace(
                    "customers c ON c.id = o.customer_id",
                    "customers c ON c.id = o.customer_id JOIN order_items i ON i.order_id = o.id",
                )
            ),
            2,
            "fan-out",
        ),
        (
            revenue_with(
                f"SELECT COALESCE(SUM(o.amount), 0) {JOINED} AND o.ordered_on BETWEEN {START} AND {NEXT}"
            ),
            2,
            "BETWEEN includes both ends",
        ),
        (
            revenue_with(
                f"SELECT COALESCE(SUM(o.amount), 0) {JOINED} AND o.ordered_on >= {START} "
                f"AND o.ordered_on < date({NEXT}, '-1 day')"
            ),
            2,
            "last day of the month",
        ),
        (
            revenue_with(
                f"SELECT COALESCE(SUM(o.amount), 0) {JOINED} AND o.ordered_on BETWEEN {START} AND ? || '-30'"
            ),
            2,
            "31st",
        ),
        (revenue_with(REVENUE, take=str), 0, "type str"),
        (revenue_summed_in_python, None, "first 50"),
        (lambda city, month, db: 0.0, 0, "does not give"),
        (revenue_choosy, 2, "A city that is not in the shop stops it with ValueError: no such city"),
        (revenue_tells_in_text, 2, "It returns a text for the month"),
        (revenue_with(REVENUE.replace("'paid'", "'Paid'")), 0, "though something was sold"),
        (revenue_with(REVENUE.replace("o.amount", "o.amnt")), 0, "Did you mean amount?"),
        (lambda city, month, db: db.run(REVENUE.replace(" = ?", " = 1", 1), (city))[0][0], 0, "(value,)"),
        (refuses_everything, 0, "ValueError: month"),
    ],
)
def test_revenue_tool_wrong(answer, points, fragment):
    says(SQL.revenue_tool.check(answer), points, fragment)


def test_revenue_tool_typed_in_numbers_fail_on_the_second_shop():
    from course_utils.teaching.tasks import sql_gold

    shop = sql_gold.shops()["shop"]

    def remembers(city, month, db):
        check_month(month)
        return sql_gold.value(shop, REVENUE, (city, month))

    says(SQL.revenue_tool.check(remembers), 2, "on a second shop", "Does it use the db that it is given")


def test_revenue_tool_cases_are_telling():
    """Each usual mistake changes at least one sum, on each of the two shops."""
    from course_utils.teaching.tasks import sql_gold, sql_judge_revenue

    inputs = SQL.revenue_tool.inputs()
    for name, path in inputs["shops"].items():
        sums = [case for case in inputs["cases"] if case["kind"] == "sum" and case["shop"] == name]
        for sql, mistake in sql_judge_revenue._OTHER_SUMS:
            pairs = [
                [sql_gold.value(path, query, (case["city"], case["month"])) for query in (sql, REVENUE)]
                for case in sums
            ]
            assert any(abs(wrong - right) > 0.01 for wrong, right in pairs), (name, mistake)


def test_messages_and_hints_never_hold_a_reference_number():
    """The right numbers of the data tasks stand in nothing that a learner is shown."""
    from course_utils.teaching.tasks import sql_gold

    inputs = SQL.revenue_tool.inputs()
    sums = [
        sql_gold.value(inputs["shops"][case["shop"]], REVENUE, (case["city"], case["month"]))
        for case in inputs["cases"]
        if case["kind"] == "sum"
    ]
    totals = {form for total in sums if total for form in (str(total), f"{total:.2f}", f"{total:,.2f}")}
    assert totals
    shown = [task.statement + " ".join(task.hints) for task in SQL]
    wrong = (lambda city, month, db: 1.0, revenue_pasted, revenue_unchecked, revenue_summed_in_python)
    shown += [str(SQL.revenue_tool.check(answer)) for answer in wrong]
    assert not [total for total in totals if total in " ".join(shown)]
