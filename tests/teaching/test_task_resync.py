"""The check of the re-sync: on right answers, differently written right ones, and wrong ones."""

from itertools import permutations

import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.docs.resync.check


def reference(seen, now):
    add = sorted(now.keys() - seen.keys())
    update = sorted(id for id in now.keys() & seen.keys() if now[id] != seen[id])
    return add, update, sorted(seen.keys() - now.keys())


def by_loops(seen, now):
    add, update = [], []
    for id, text in sorted(now.items()):
        if id not in seen:
            add.append(id)
        elif seen[id] != text:
            update.append(id)
    delete = [id for id in sorted(seen) if id not in now]
    return [add, update, delete]


def by_pairs(seen, now):
    fresh = {id for id, _ in now.items() - seen.items()}
    return sorted(fresh - set(seen)), sorted(fresh & set(seen)), sorted(set(seen) - set(now))


def changed(**lists):
    """Return the reference with some of its lists changed, each by `f(seen, now, right)`."""

    def plan(seen, now):
        right = dict(zip(("add", "update", "delete"), reference(seen, now), strict=True))
        return tuple(lists[name](seen, now, ids) if name in lists else ids for name, ids in right.items())

    return plan


def both(seen, now):
    return sorted(seen.keys() & now.keys())


def updates(differs):
    """Return an answer whose `update` holds the ids in both whose texts `differs` tells apart."""
    return changed(update=lambda seen, now, _: [id for id in both(seen, now) if differs(seen[id], now[id])])


def by_get(seen, now):
    add = sorted(id for id in now if not seen.get(id))
    update = sorted(id for id in now if seen.get(id) and seen[id] != now[id])
    return add, update, sorted(seen.keys() - now.keys())


def by_texts(seen, now):
    add = sorted(id for id, text in now.items() if text not in seen.values())
    return add, [], sorted(id for id, text in seen.items() if text not in now.values())


def by_count(seen, now):
    if len(seen) == len(now):
        return [], [], []
    return reference(seen, now)


def consumes(seen, now):
    add = sorted(id for id in now if id not in seen)
    update = sorted(id for id in now if id in seen and seen.pop(id) != now[id])
    return add, update, sorted(seen.keys() - now.keys())


def writes(seen, now):
    plan = reference(seen, now)
    seen.update(now)
    return plan


def late(seen, now):
    return sorted(seen.keys() - now.keys()), reference(seen, now)[1], sorted(now.keys() - seen.keys())


@pytest.mark.parametrize("answer", [reference, by_loops, by_pairs])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # too much
        (changed(add=lambda seen, now, _: sorted(now)), 2, "embedded again for nothing"),
        (lambda seen, now: (sorted(now), [], sorted(seen)), 0, "embedded again for nothing"),
        (lambda seen, now: (sorted(now), [], reference(seen, now)[2]), 1, "embedded again for nothing"),
        (changed(update=lambda seen, now, _: both(seen, now)), 2, "embedded again for nothing"),
        (changed(add=lambda s, n, ids: sorted({*ids, *reference(s, n)[1]})), 2, "that is no new one"),
        (changed(update=lambda s, n, ids: sorted({*ids, *reference(s, n)[0]})), 2, "does not have yet"),
        (changed(update=lambda s, n, ids: sorted({*ids, *reference(s, n)[2]})), 2, "no text to embed"),
        (changed(delete=lambda s, n, ids: sorted({*ids, *reference(s, n)[1]})), 2, "still in the shop"),
        (changed(delete=lambda s, n, ids: sorted({*ids, *reference(s, n)[0]})), 2, "never had"),
        (changed(delete=lambda s, n, ids: ids * 2), 2, "more than once"),
        (changed(add=lambda s, n, ids: [*ids, "product:0"]), 2, "neither in the index nor in the shop"),
        (changed(add=lambda s, n, ids: sorted({*ids, *reference(s, n)[2]})), 2, "gone from the shop"),
        # too little
        (changed(update=lambda seen, now, _: []), 2, "missing from `update`"),
        (changed(delete=lambda seen, now, _: []), 2, "missing from `delete`"),
        (changed(add=lambda seen, now, _: []), 2, "missing from `add`"),
        (lambda seen, now: ([], [], []), 0, "missing from `add`"),
        (updates(lambda old, new: len(old) != len(new)), 2, "a text of the same length is not the same text"),
        (updates(lambda old, new: old.lower() != new.lower()), 2, "upper-case letter"),
        (updates(lambda old, new: new.startswith(old) and new != old), 2, "missing from `update`"),
        (updates(lambda old, new: old and new and old != new), 2, "was empty and no longer is"),
        (by_get, 1, "a text was empty and still is"),
        (by_texts, 0, "that is no new one"),
        (by_count, 0, "missing from"),
        (changed(update=lambda s, n, ids: ids if set(s.values()) != set(n.values()) else []), 2, "exchanged"),
        # the order of things, and what came in
        (late, 0, "have changed places"),
        (lambda seen, now: reference(seen, now)[::-1], 0, "have changed places"),
        (changed(add=lambda s, n, ids: ids[::-1]), 2, "`add` holds the right ids and is not sorted"),
        (
            lambda seen, now: (
                [id for id in now if id not in seen],
                [id for id in now if id in seen and now[id] != seen[id]],
                [id for id in seen if id not in now],
            ),
            2,
            "is not sorted",
        ),
        (consumes, 2, "changes a dict it was given"),
        (writes, 2, "changes a dict it was given"),
        (lambda seen, now: by_get(seen, now)[:2] + (seen.clear() or [],), 0, ""),
        # what comes back
        (lambda seen, now: dict(zip("aud", reference(seen, now), strict=True)), 0, "else than three lists"),
        (lambda seen, now: sum(reference(seen, now), []), 0, "else than three lists"),
        (lambda seen, now: reference(seen, now)[:2], 0, "else than three lists"),
        (lambda seen, now: tuple(map(set, reference(seen, now))), 0, "its type is set: `sorted(…)`"),
        (lambda seen, now: tuple(map(len, reference(seen, now))), 0, "its type is int."),
        (changed(add=lambda s, n, ids: {id: n[id] for id in ids}), 0, "`add` is no list, its type is dict"),
        (changed(add=lambda s, n, ids: [(id, n[id]) for id in ids]), 0, "`add` holds more than ids"),
        (lambda seen, now: reference(seen, now) if seen else None, 0, "forget `return`"),
        (
            lambda seen, now: reference(seen, now) if now else {}[0],
            0,
            "the shop is empty, `plan` stops with KeyError",
        ),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def in_the_order(*places, of=reference):
    return lambda seen, now: tuple(of(seen, now)[place] for place in places)


@pytest.mark.parametrize("places", [it for it in permutations(range(3)) if it not in {(0, 1, 2), (2, 1, 0)}])
def test_the_right_lists_in_another_order_are_called_that(places):
    in_place = sum(place == number for number, place in enumerate(places))
    order = "The three lists are right and in another order than add, update, delete."
    result = CHECK(in_the_order(*places))
    says(result, in_place)
    assert result.message == order
    unsorted = in_the_order(*places, of=lambda *both: [ids[::-1] for ids in reference(*both)])
    assert CHECK(unsorted).message == order


def test_two_lists_have_changed_places_whatever_the_third_one_holds():
    without = changed(update=lambda seen, now, _: [])
    says(CHECK(in_the_order(2, 1, 0, of=without)), 0, "`add` and `delete` have changed places")
    assert "changed places" not in CHECK(in_the_order(2, 0, 1)).message
    assert "changed places" not in CHECK(in_the_order(2, 0, 1, of=without)).message


def test_what_is_right_is_said():
    says(CHECK(changed(delete=lambda seen, now, _: [])), 2, "Right so far: `add`, `update`.")
