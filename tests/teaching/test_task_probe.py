"""The probe: describes anything a learner wrote, and leaves no trace."""

import contextlib
import functools
import json
import logging
import sys
import warnings

import pytest

from course_utils.teaching import probe


def no_body():
    """Words."""


def dots(): ...


def passes():
    pass


def returns_none(sql, n=50):
    # a comment
    return None


def with_default(sql, n=[]):  # noqa: B006
    """Words."""
    ...


def says_hello():
    print("hello")


def raises():
    raise NotImplementedError


def yields():
    yield


async def awaits(): ...


def assigns(sql):
    sql = sql + ";"


@pytest.mark.parametrize(
    "function", [no_body, dots, passes, returns_none, with_default, lambda: None, lambda: ...]
)
def test_a_function_without_a_body_is_a_stub(function):
    assert probe.is_stub(function)


@pytest.mark.parametrize(
    "function",
    [
        says_hello,
        raises,
        yields,
        awaits,
        assigns,
        lambda: 1,
        lambda x: x,
        len,
        print,
        str,
        functools.partial(int),
    ],
)
def test_a_function_with_a_body_is_none(function):
    assert not probe.is_stub(function)


def test_a_wrapped_stub_is_a_stub():
    @functools.wraps(dots)
    def wrapper():
        return dots()

    assert probe.is_stub(wrapper)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ((1, "a", None, True), [1, "a", None, True]),
        ({"a": (1.5,)}, {"a": [1.5]}),
        ({1: 2}, {"not_json": "dict", "repr": "{1: 2}"}),
        ({3}, {"not_json": "set", "repr": "{3}"}),
        (b"x", {"not_json": "bytes", "repr": "b'x'"}),
        (float("nan"), {"not_json": "float", "repr": "nan"}),
    ],
)
def test_values_become_json_or_a_described_placeholder(value, shown):
    assert probe.plain(value) == shown


def test_placeholders_hold_no_addresses_and_are_bounded():
    assert probe.plain(object())["repr"] == "<object object at 0x…>"
    assert len(probe.plain("x" * 10**6)) <= probe.MAX_TEXT + 1
    assert len(json.dumps(probe.plain(list(range(10**5))))) < 1_000

    class Hostile:
        def __repr__(self):
            raise RuntimeError

    assert probe.plain(Hostile()) == {"not_json": "Hostile", "repr": "(cannot be shown)"}


def test_a_value_that_holds_itself_ends():
    endless = []
    endless.append(endless)
    assert len(json.dumps(probe.plain(endless))) < 1_000


def test_numpy_scalars_are_numbers():
    numpy = pytest.importorskip("numpy")
    assert probe.plain(numpy.float64(2.5)) == 2.5
    assert probe.plain(numpy.int64(3)) == 3


def test_a_call_names_the_error_the_line_and_the_causes():
    def fails(x):
        try:
            {}["key"]
        except KeyError as error:
            raise ValueError("no such <key>") from error

    raised = probe.called(fails, 1)["raised"]
    assert raised["type"] == "ValueError"
    assert raised["message"] == "no such <key>"
    assert (raised["line"], raised["code"]) == (5, 'raise ValueError("no such <key>") from error')
    assert raised["causes"] == ["'key'"]
    assert "Exception" in raised["bases"]


def fails_for(x):
    """Words."""
    return lambda one: one[x]


def in_a_list(x):
    """Words."""
    return [
        one["key"]
        for one in x
    ]  # fmt: skip


def in_a_lambda(x):
    return sorted(x, key=lambda one: one["key"])


def in_a_generator(x):
    found = (one["key"] for one in x)
    return sum(found)


def in_a_set_in_a_lambda(x):
    y = 0
    return list(map(lambda one: {it["key"] + y for it in [one]}, x))


def in_a_text(x):
    y = x
    return eval('[one["key"] for one in y]', {"y": y})


class Within:
    def __call__(self, x):
        return {one["key"]: 1 for one in x}


@pytest.mark.parametrize(
    ("function", "name", "line"),
    [
        (in_a_list, "in_a_list", 4),
        (in_a_lambda, "in_a_lambda", 2),
        (in_a_generator, "in_a_generator", 2),
        (in_a_set_in_a_lambda, "in_a_set_in_a_lambda", 3),
        (in_a_text, "in_a_text", 3),
        (Within(), "__call__", 2),
        (lambda x: in_a_lambda(x), "in_a_lambda", 2),
        # the function that made it is over: its name is known, its first line is not
        (fails_for("key"), "fails_for", None),
        (lambda x: fails_for("key")(x[0]), "fails_for", None),
        # no function at all
        (lambda x: x[0]["key"], "", None),
        (lambda x: [one["key"] for one in x], "", None),
    ],
)
def test_an_error_names_a_function_that_somebody_has_named(function, name, line):
    raised = probe.called(function, [{}])["raised"]
    assert (raised["function"], raised["line"]) == (name, line)
    assert raised["code"]


def test_a_named_function_within_another_is_its_own():
    def outer(x):
        def inner(one):
            return any(it["key"] for it in [one])

        return inner(x)

    raised = probe.called(outer, {})["raised"]
    assert (raised["function"], raised["line"]) == ("inner", 2)


def test_a_call_survives_recursion_exit_and_hostile_errors():
    def endless():
        return endless()

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def mute():
        raise Mute

    assert probe.called(endless)["raised"]["type"] == "RecursionError"
    assert probe.called(sys.exit, 0)["raised"]["type"] == "SystemExit"
    assert probe.called(mute)["raised"]["message"] == "(its message cannot be shown)"


def test_a_keyboard_interrupt_stops_the_check():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe.called(interrupted)


def test_changed_arguments_are_noticed():
    def spoils(rows):
        rows.clear()

    assert probe.called(spoils, [1])["changed_arguments"] is True
    assert "changed_arguments" not in probe.called(len, [1])


def test_inputs_are_a_copy():
    inputs = {"cases": [{"args": [["SELECT 1"]]}]}

    def spoils(sql, n=50):
        sql.append("x")
        return ""

    probe.report("sql.limit_guard", spoils, inputs)
    assert inputs == {"cases": [{"args": [["SELECT 1"]]}]}


def test_coroutines_and_generators_are_named_without_a_warning(recwarn):
    async def late():
        return 1

    def many():
        yield 1

    assert probe.called(late)["type"] == "coroutine"
    assert probe.called(many)["type"] == "generator"
    assert not recwarn


def test_what_is_printed_warned_and_logged_is_swallowed(capfd):
    def loud(sql, n=50):
        print("hello" * 1000)
        print("trouble", file=sys.stderr)
        warnings.warn("old", stacklevel=1)
        logging.getLogger("course").error("loud")
        return sql

    found = probe.report("sql.limit_guard", loud, {"cases": [{"args": ["SELECT 1"]}]})
    assert capfd.readouterr() == ("", "")
    assert found["printed"].startswith("hello")
    assert len(found["printed"]) <= probe.MAX_PRINTED
    assert logging.root.manager.disable == logging.NOTSET


def test_a_guard_is_entered_around_each_call():
    entered = []

    @contextlib.contextmanager
    def limit():
        entered.append(1)
        if len(entered) == 2:
            raise TimeoutError("2 seconds are over")
        yield

    inputs = {"cases": [{"args": ["a"]}, {"args": ["b"]}, {"args": ["c"]}]}
    calls = probe.report("sql.limit_guard", lambda sql, n=50: sql, inputs, guard=limit)["calls"]
    assert [call.get("returned") for call in calls] == ["a", None, "c"]
    assert calls[1]["raised"]["type"] == "TimeoutError"


def test_an_unknown_task_has_no_probe():
    with pytest.raises(LookupError, match=r"sql\.nothing"):
        probe.report("sql.nothing", None, {})
