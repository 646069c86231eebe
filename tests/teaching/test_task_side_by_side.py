"""The check of the sources side by side: on right answers, others as right, and wrong ones."""

from itertools import zip_longest

import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.routing.side_by_side.check


def gathered(retrievers, question):
    """Return what each source gave, and the words of each error."""
    given, failed = {}, {}
    for name, retrieve in retrievers.items():
        try:
            given[name] = retrieve(question)
        except Exception as error:
            failed[name] = str(error)
    return given, failed


def reference(retrievers, question):
    given, failed = gathered(retrievers, question)
    ids = [id for found in given.values() for id in found]
    return {"documents": list(dict.fromkeys(ids)), "failed": failed}


def by_threads(retrievers, question):
    from concurrent.futures import ThreadPoolExecutor

    told = {"failed": {}, "documents": []}
    with ThreadPoolExecutor() as pool:
        running = [(name, pool.submit(retrieve, question)) for name, retrieve in retrievers.items()]
    for name, future in running:
        if error := future.exception():
            told["failed"][name] = f"{type(error).__name__}: {error}"
            continue
        for id in future.result():
            if id not in told["documents"]:
                told["documents"].append(id)
    return told


def documents(make):
    """Return an answer that differs in its documents alone."""

    def ask_all(retrievers, question):
        given, failed = gathered(retrievers, question)
        return {"documents": make(list(given.values())), "failed": failed}

    return ask_all


def failures(make):
    """Return an answer that differs in what failed alone."""

    def ask_all(retrievers, question):
        told = reference(retrievers, question)
        return told | {"failed": make(told["failed"], retrievers)}

    return ask_all


def flat(found):
    return [id for ids in found for id in ids]


def once(ids):
    return list(dict.fromkeys(ids))


def stops(retrievers, question):
    ids, failed, name = [], {}, ""
    try:
        for name in retrievers:
            ids += retrievers[name](question)
    except Exception as error:
        failed[name] = str(error)
    return {"documents": once(ids), "failed": failed}


def all_or_nothing(retrievers, question):
    told = reference(retrievers, question)
    return told | ({"documents": []} if told["failed"] else {})


def unguarded(retrievers, question):
    return {"documents": once(flat(retrieve(question) for retrieve in retrievers.values())), "failed": {}}


def raises_when_all_fail(retrievers, question):
    told = reference(retrievers, question)
    if len(told["failed"]) == len(retrievers):
        raise RuntimeError("no source answered")
    return told


def only_time_outs(retrievers, question):
    ids, failed = [], {}
    for name, retrieve in retrievers.items():
        try:
            ids += retrieve(question)
        except TimeoutError as error:
            failed[name] = str(error)
    return {"documents": once(ids), "failed": failed}


def error_as_document(retrievers, question):
    told = reference(retrievers, question)
    return told | {"documents": [*told["documents"], *told["failed"].values()]}


def asks_twice(retrievers, question):
    gathered(retrievers, question)
    return reference(retrievers, question)


def empty_fails(retrievers, question):
    given, failed = gathered(retrievers, question)
    empty = {name: "found nothing" for name, ids in given.items() if not ids}
    return {"documents": once(flat(given.values())), "failed": failed | empty}


def errors_themselves(retrievers, question):
    told = reference(retrievers, question)
    return told | {"failed": {name: RuntimeError(words) for name, words in told["failed"].items()}}


@pytest.mark.parametrize("answer", [reference, by_threads])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # all answer
        (documents(flat), 0, "comes again"),
        (documents(lambda found: once(flat(found[::-1]))), 0, "from the last to the first"),
        (documents(lambda found: found[0] if found else []), 0, "only the first source"),
        (documents(lambda found: once(found[-1]) if found else []), 0, "only the last source is read"),
        (
            documents(lambda found: once(id for ids in zip_longest(*found) for id in ids if id)),
            0,
            "their ranks are not comparable",
        ),
        (documents(lambda found: sorted(set(flat(found)))), 0, "the ids are sorted"),
        (documents(lambda found: once(flat(found)[::-1])[::-1]), 0, "stands at its last"),
        (documents(lambda found: set(flat(found))), 0, "a set has no order"),
        (documents(lambda found: found), 0, "`append` adds what a source gave"),
        (documents(lambda found: once(flat(found))[:2]), 0, "ids are missing"),
        (lambda retrievers, q: reference(retrievers, ""), 0, "something else than the question"),
        (asks_twice, 0, "asked more than once"),
        (lambda retrievers, q: reference(retrievers, q)["documents"], 0, "a value of type list"),
        (lambda retrievers, q: {"failed": {}}, 0, "no key `documents`"),
        # some fail
        (unguarded, 1, "A source that fails is told in `failed`"),
        (stops, 1, "one failure ends one call only"),
        (all_or_nothing, 2, "the answers of the others are thrown away"),
        (only_time_outs, 1, "whatever it raises"),
        (error_as_document, 2, "what is no id of a source"),
        # what failed
        (failures(lambda failed, _: {}), 2, "its silence reads as"),
        (failures(lambda failed, _: list(failed)), 2, "not a dict from names to texts"),
        (failures(lambda failed, _: {n: w for n, w in failed.items() if w}), 2, "says nothing of it"),
        (failures(lambda failed, _: dict(list(failed.items())[-1:])), 2, "leaves out a source that raised"),
        (failures(lambda failed, _: dict.fromkeys(failed, "failed")), 2, "does not say why"),
        (failures(lambda failed, _: {w: n for n, w in failed.items()}), 2, "leaves out a source"),
        (failures(lambda failed, all: dict.fromkeys(all, "") | failed), 2, "to find nothing is an answer"),
        (empty_fails, 2, "to find nothing is an answer, and not a failure"),
        (errors_themselves, 2, "something else than texts"),
        (lambda retrievers, q: {"documents": reference(retrievers, q)["documents"]}, 2, "no key `failed`"),
        (raises_when_all_fail, 2, "Where all fail, `ask_all` stops with RuntimeError"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    message = CHECK(raises_when_all_fail).message
    assert message.startswith("Right so far: sources that all answer, `documents` where some fail. ")
