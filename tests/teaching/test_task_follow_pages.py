"""The check of the pages: on right answers, others as right, and wrong ones."""

import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.routing.follow_pages.check
COMES_NOT = TimeoutError, RuntimeError


def walker(*, errors=COMES_NOT, failed=False, most=10, loops=True, loop=False, long=False, keep=True):
    """Return an answer; the words say what it catches, and what flag it gives at which end."""

    def collect(get, path):
        items, asked = [], []
        while path is not None:
            if loops and path in asked:
                return items, loop
            if len(asked) == most:
                return items, long
            asked.append(path)
            try:
                page = get(path)
            except errors:
                return items if keep else [], failed
            items += page["items"]
            path = page["next"]
        return items, True

    return collect


def by_recursion(get, path, seen=()):
    if path is None:
        return [], True
    if path in seen or len(seen) >= 10:
        return [], False
    try:
        page = get(path)
    except Exception:
        return [], False
    rest, whole = by_recursion(get, page["next"], (*seen, path))
    return [*page["items"], *rest], whole


def by_for(get, path):
    pages = {}
    for _ in range(10):
        if path is None or path in pages:
            break
        try:
            pages[path] = get(path)
        except (TimeoutError, RuntimeError):
            break
        path = pages[path]["next"]
    return [item for page in pages.values() for item in page["items"]], path is None


def first_only(get, path):
    return get(path)["items"], True


def appends(get, path):
    items = []
    while path:
        page = get(path)
        items.append(page["items"])
        path = page["next"]
    return items, True


def until_empty(get, path):
    items = []
    while path:
        page = get(path)
        if not page["items"]:
            return items, True
        items += page["items"]
        path = page["next"]
    return items, True


def replaces(get, path):
    while path:
        page = get(path)
        items, path = page["items"], page["next"]
    return items, True


def asks_for_none(get, path):
    items = []
    try:
        while True:
            page = get(path)
            items += page["items"]
            path = page["next"]
    except Exception:
        return items, True


def tries_again(get, path):
    items = []
    while path is not None:
        try:
            page = get(path)
        except (TimeoutError, RuntimeError):
            continue
        items += page["items"]
        path = page["next"]
    return items, True


def tries_twice(get, path):
    def stubborn(path):
        try:
            return get(path)
        except COMES_NOT:
            return get(path)

    return walker()(stubborn, path)


def asks_and_throws_away(get, path):
    """See a loop only after the page was asked for again."""
    items, asked = [], []
    while path is not None and len(asked) < 10:
        try:
            page = get(path)
        except COMES_NOT:
            return items, False
        if path in asked:
            return items, False
        items += page["items"]
        asked.append(path)
        path = page["next"]
    return items, path is None


def each_page_once(get, path):
    items, pages = [], []

    def new(path):
        page = get(path)
        items.extend([] if page["items"] in pages else page["items"])
        pages.append(page["items"])
        return page

    return items, walker()(new, path)[1]


def twice(get, path):
    """See a loop only after the page was read again."""
    items, asked = [], []
    while path is not None and len(asked) < 10:
        try:
            page = get(path)
        except COMES_NOT:
            return items, False
        items += page["items"]
        if path in asked:
            return items, False
        asked.append(path)
        path = page["next"]
    return items, path is None


def changed(make):
    return lambda get, path: make(*walker()(get, path))


@pytest.mark.parametrize(
    "answer",
    [walker(), by_recursion, by_for, walker(errors=Exception), changed(lambda items, all: [items, all])],
)
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # whole lists
        (first_only, 0, "only the items of the first page"),
        (appends, 0, "`append` adds a page as one item"),
        (until_empty, 0, "a page without items is not the end"),
        (replaces, 0, "each page takes their place"),
        (asks_for_none, 0, "asked for the page None"),
        (changed(lambda items, all: items), 0, "Items alone do not say"),
        (changed(lambda items, all: (all, items)), 0, "the flag comes first"),
        (changed(lambda items, all: (items, not all)), 0, "the flag says that they are not"),
        (changed(lambda items, all: ([], all)), 0, "no items come back"),
        (changed(lambda items, all: (items[::-1], all)), 0, "in their order"),
        (changed(lambda items, all: (items + ["x"], all)), 0, "more items come back"),
        (changed(lambda items, all: {"items": items}), 0, "a value of type dict"),
        (changed(lambda items, all: (list(dict.fromkeys(items)), all)), 0, "comes back once"),
        (each_page_once, 0, "items are missing at the end"),
        # pages that do not come
        (walker(errors=()), 2, "gets nothing of what had come"),
        (walker(errors=TimeoutError), 2, "with RuntimeError, `collect` stops with RuntimeError"),
        (walker(keep=False), 2, "what came before is thrown away"),
        (walker(failed=True), 2, "A count of it would be wrong"),
        (changed(lambda items, all: (items, all or not items)), 2, "complete, and empty"),
        (tries_twice, 2, "is asked for again. `get` has tried often enough"),
        (tries_again, 1, "the same page is asked for again and again"),
        # loops and long lists
        (walker(loops=False, most=None), 2, "round in a circle"),
        (walker(loops=False), 2, "items come back more than once"),
        (asks_and_throws_away, 2, "look whether it was there before you ask"),
        (twice, 2, "items come back more than once"),
        (walker(most=None), 2, "With eleven pages, 11 pages are asked for"),
        (walker(most=9), 2, "items are missing at the end"),
        (walker(most=11), 2, "11 pages are asked for, and at most 10"),
        (walker(loop=True), 2, "its last page was never seen"),
        (walker(long=True), 2, "there is an eleventh page"),
        (changed(lambda items, all: (items, all and len(items) < 20)), 2, "the tenth was the last"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_a_loop_without_an_end_that_swallows_everything_still_ends():
    def stubborn(get, path):
        items = []
        for _ in range(500):
            try:
                page = get(path)
            except BaseException:
                continue
            items += page["items"]
            path = page["next"] or path
        return items, True

    says(CHECK(stubborn), 0, "again and again")


def test_what_is_right_is_said():
    assert CHECK(walker(failed=True)).message.startswith(
        "Right so far: pages that all come, loops and long lists. "
    )
