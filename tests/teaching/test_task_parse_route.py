"""The check of the route out of a reply: on right answers, others as right, and wrong ones."""

import difflib
import json
import re

import pytest
from checking import says

from course_utils.retrieval import routing_model
from course_utils.teaching import tasks
from course_utils.teaching.tasks import routing_judge_parse

CHECK = tasks.routing.parse_route.check
MARKS = " \t'\"`*."


def named(line):
    return line.lower().strip(MARKS).removeprefix("route:").strip(MARKS)


def reference(reply, routes):
    found = {named(line) for line in reply.splitlines()} & set(routes)
    return found.pop() if len(found) == 1 else "mixed"


def by_pattern(reply, routes):
    around = r"[ \t'\"`*.]*"
    names = "|".join(map(re.escape, routes))
    pattern = rf"^{around}(?:route:)?{around}({names}){around}$"
    found = {name.lower() for name in re.findall(pattern, reply, re.M | re.I)}
    return list(found)[0] if len(found) == 1 else "mixed"


def route_by_route(reply, routes):
    hits = [route for route in routes if any(named(line) == route for line in reply.split("\n"))]
    return hits[0] if hits and not hits[1:] else "mixed"


def within(reply, routes):
    return next((route for route in routes if route in reply.lower()), "mixed")


def words(reply, routes):
    found = set(re.findall(r"\w+", reply.lower())) & set(routes)
    return found.pop() if len(found) == 1 else "mixed"


def first_word(reply, routes):
    return next((word for word in re.findall(r"\w+", reply.lower()) if word in routes), "mixed")


def last_word(reply, routes):
    return next((word for word in re.findall(r"\w+", reply.lower())[::-1] if word in routes), "mixed")


def whole_reply(reply, routes):
    body = re.sub(r"^```\w*\n|\n```$", "", reply.strip())
    return named(body) if named(body) in routes else "mixed"


def first_line(reply, routes):
    return next((named(line) for line in reply.splitlines() if named(line) in routes), "mixed")


def last_line(reply, routes):
    return first_line("\n".join(reply.splitlines()[::-1]), routes)


def last_route(reply, routes):
    told = reference(reply, routes)
    return told if told in reply.lower() else routes[-1]


def index(reply, routes):
    if found := re.search(r"\d+", reply):
        number = int(found[0])
        return routes[number] if number < len(routes) else "mixed"
    return reference(reply, routes)


def index_from_one(reply, routes):
    if found := re.search(r"\d+", reply):
        number = int(found[0])
        return routes[number - 1] if number <= len(routes) else "mixed"
    return reference(reply, routes)


def index_out_of_range(reply, routes):
    found = re.search(r"\d+", reply)
    return routes[int(found[0]) - 1] if found else reference(reply, routes)


def empty_list_breaks(reply, routes):
    body = re.sub(r"```\w*", "", reply).strip()
    return json.loads(body)[-1] if body.startswith("[") else reference(reply, routes)


def nearest(reply, routes):
    told = reference(reply, routes)
    near = difflib.get_close_matches(named(reply), routes, n=1)
    return near[0] if told == "mixed" and near else told


def unknown_passes(reply, routes):
    told = reference(reply, routes)
    return named(reply) if told == "mixed" and re.fullmatch(r"[a-z]+", named(reply)) else told


def prose_alone(reply, routes):
    told = reference(reply, routes)
    return words(reply, routes) if told == "mixed" and "\n" not in reply and "," not in reply else told


def behind_any_colon(reply, routes):
    found = {line.lower().split(":")[-1].strip(MARKS) for line in reply.splitlines()}
    found |= {named(line) for line in reply.splitlines()}
    return (found & set(routes)).pop() if len(found & set(routes)) == 1 else "mixed"


def only_behind_a_colon(reply, routes):
    found = {line.lower().strip(MARKS).split(":")[-1].strip(MARKS) for line in reply.splitlines()}
    return (found & set(routes)).pop() if len(found & set(routes)) == 1 else "mixed"


def without_mixed(reply, routes):
    found = {named(line) for line in reply.splitlines()} & set(routes) - {"mixed"}
    return found.pop() if len(found) == 1 else "mixed"


def any_mark(reply, routes):
    return reference(reply.replace("!", ""), routes)


def no_spaces(reply, routes):
    return reference(reply.replace(" ", ""), routes)


def twice_is_two(reply, routes):
    found = [named(line) for line in reply.splitlines() if named(line) in routes]
    return found[0] if len(found) == 1 else "mixed"


def set_in_lists(reply, routes):
    fixed = ["structured", "semi_structured", "unstructured", "mixed"]
    return reference(reply, fixed)


@pytest.mark.parametrize("answer", [reference, by_pattern, route_by_route])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        (lambda reply, routes: "mixed", 0, "mixed comes back"),
        (lambda reply, routes: routes[0], 0, "is a part of the one in the reply"),
        (within, 0, "whose name is a part of the one in the reply"),
        (lambda reply, routes: [reference(reply, routes)], 0, "a value of type list"),
        (lambda reply, routes: routes.index(reference(reply, routes)), 0, "a value of type int"),
        (lambda reply, routes: "rows", 0, "neither a route of the list nor mixed"),
        # names alone
        (lambda reply, routes: reply.strip() if reply.strip() in routes else "mixed", 1, "does not count"),
        (
            lambda r, routes: "mixed" if "Route" in r and "\n" not in r else reference(r, routes),
            2,
            "does not",
        ),
        (lambda r, routes: reference(r, routes) if r.islower() else r.strip(), 0, "as the model wrote it"),
        (set_in_lists, 1, "the routes of this call stand in `routes`"),
        # prose around
        (words, 1, "A name inside a sentence names nothing"),
        (first_word, 1, "Prose may name a route to rule it out"),
        (last_word, 1, "Prose may name a route to rule it out"),
        (whole_reply, 2, "though one line holds the name of a route and no more"),
        (twice_is_two, 2, "named twice is still one route"),
        # no route, or several
        (first_line, 2, "and the first of them is taken"),
        (last_line, 2, "and the last of them is taken"),
        (last_route, 2, "the last route of the list comes back"),
        (index, 2, "counted from 0"),
        (index_from_one, 2, "For 0 that is the place -1"),
        (empty_list_breaks, 2, "With an empty list: `parse_route` stops with IndexError"),
        (nearest, 2, "a part of a name is taken for the name"),
        (unknown_passes, 2, "though it is no route of the list"),
        (prose_alone, 2, "nobody knows whether it was meant"),
        (behind_any_colon, 2, "whatever stands before a colon is taken for a label"),
        (only_behind_a_colon, 2, "whatever stands before a colon is taken for a label"),
        (without_mixed, 2, "mixed is named too, and is a route like any other"),
        (any_mark, 2, "none of those that do not count"),
        (no_spaces, 2, "inside it they do"),
        (lambda r, routes: reference(r, routes) if r else None, 2, "forget `return`"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_a_number_above_the_list_is_an_index_error_away():
    def only_seven(reply, routes):
        return index_out_of_range(reply, routes) if reply == "7" else reference(reply, routes)

    says(CHECK(only_seven), 2, "With the number 7: `parse_route` stops with IndexError")


def test_what_is_right_is_said():
    assert CHECK(first_line).message.startswith("Right so far: names alone, prose around. ")


def test_no_message_prints_the_answer():
    for answer in (within, words, first_word, index, last_route):
        message = CHECK(answer).message
        assert not re.search(r"\b(?:should be|expected|return) `?(?:un|semi_)?structured", message)


def test_the_course_never_names_another_route():
    """The twin is stricter, since it takes no prose; a route that it names is the one asked for here."""
    for case in routing_judge_parse._CASES:
        told = routing_model.parse_route(case.reply).route
        if case.routes == routing_judge_parse._ROUTES and told != "mixed":
            assert told == case.right
