"""The check of the two stages and their numbers: on right answers, others as right, and wrong ones."""

import pytest
from checking import says

from course_utils.retrieval import metrics
from course_utils.teaching import tasks

CHECK = tasks.rerank.two_numbers.check


def once(ids):
    return list(dict.fromkeys(ids))


def fates(top, before, gold):
    return {id: "found" if id in top else "reranker" if id in before else "candidates" for id in gold}


def reference(candidates, reranked, gold, k):
    if not gold:
        raise ValueError("without gold nothing can be measured")
    top = once(reranked)[:k]
    hits = len(gold & set(top))
    return {
        "candidate_recall": len(gold & set(candidates)) / len(gold),
        "recall": hits / len(gold),
        "precision": hits / k,
        "lost": fates(top, candidates, gold),
    }


def by_the_course(candidates, reranked, gold, k):
    return {
        "candidate_recall": metrics.recall(candidates, gold, k=max(len(candidates), 1)),
        "recall": metrics.recall(reranked, gold, k=k),
        "precision": metrics.precision(reranked, gold, k=k),
        "lost": fates(metrics.unique(reranked)[:k], candidates, gold),
    }


def by_loops(candidates, reranked, gold, k):
    if len(gold) == 0:
        raise ValueError
    places, top, lost = [], 0, {}
    for id in reranked:
        if id not in places and len(places) < k:
            places.append(id)
            top += id in gold
    before = 0
    for id in sorted(gold):
        before += id in candidates
        lost[id] = "reranker" if id in candidates else "candidates"
        if id in places:
            lost[id] = "found"
    n = len(gold)
    return {"precision": top / k, "recall": top / n, "candidate_recall": before / n, "lost": lost, "k": k}


def but(**changes):
    """Return an answer that is right but for these keys; each is a function of the arguments."""
    return lambda *args: reference(*args) | {key: of(*args) for key, of in changes.items()}


def hits(ids, gold):
    return sum(id in gold for id in ids)


def without(key):
    return lambda *args: {name: value for name, value in reference(*args).items() if name != key}


def only_the_lost(c, r, gold, k):
    return {id: word for id, word in fates(once(r)[:k], c, gold).items() if word != "found"}


def no_guard(c, r, gold, k):
    if not gold:
        return {"candidate_recall": 0.0, "recall": 0.0, "precision": 0.0, "lost": {}}
    return reference(c, r, gold, k)


def divides_by_zero(c, r, gold, k):
    """Recall of nothing is 0 / 0."""
    if not gold:
        return {"candidate_recall": len(gold) / len(gold)}
    return reference(c, r, gold, k)


def precise_by_found(c, r, gold, k):
    return reference(c, r, gold, k) | {"precision": hits(once(r)[:k], gold) / len(once(r)[:k])}


@pytest.mark.parametrize("answer", [reference, by_the_course, by_loops])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the ceiling
        (
            but(candidate_recall=lambda c, r, g, k: hits(once(c)[:k], g) / len(g)),
            2,
            "only the first k candidates are looked at",
        ),
        (
            but(candidate_recall=lambda c, r, g, k: hits(once(r)[:k], g) / len(g)),
            2,
            "before the reranker touches it",
        ),
        (
            but(candidate_recall=lambda c, r, g, k: hits(once(r), g) / len(g)),
            2,
            "fewer than the candidates",
        ),
        (but(candidate_recall=lambda c, r, g, k: hits(c, g) / len(g)), 2, "counted twice"),
        (
            but(candidate_recall=lambda c, r, g, k: hits(once(c), g) / (len(once(c)) or 1)),
            2,
            "divides by the number of candidates",
        ),
        (but(candidate_recall=lambda c, r, g, k: hits(once(c), g) / k), 2, "does not know k at all"),
        (but(candidate_recall=lambda c, r, g, k: any(id in g for id in c)), 2, "is no number"),
        (but(candidate_recall=lambda c, r, g, k: 1 if g & set(c) else 0), 2, "as soon as one gold id"),
        (but(candidate_recall=lambda c, r, g, k: 100 * hits(once(c), g) / len(g)), 2, "in percent"),
        (but(candidate_recall=lambda c, r, g, k: 0.5), 2, "not the share of the gold ids"),
        (without("candidate_recall"), 2, "no key `candidate_recall`"),
        # recall and precision
        (but(recall=lambda c, r, g, k: hits(once(r)[:k], g) / k), 2, "divides by k: that is precision"),
        (but(recall=lambda c, r, g, k: hits(once(r), g) / len(g)), 2, "all reranked ids are looked at"),
        (
            but(recall=lambda c, r, g, k: hits(once(r)[:k], g) / (len(g & set(c)) or 1)),
            2,
            "where the first stage has lost half",
        ),
        (but(recall=lambda c, r, g, k: hits(once(c)[:k], g) / len(g)), 2, "no reranker"),
        (but(recall=lambda c, r, g, k: hits(r[:k], g) / len(g)), 2, "counted twice"),
        (but(recall=lambda c, r, g, k: len(set(r[:k]) & g) / len(g)), 2, "do not move up"),
        (
            but(recall=lambda c, r, g, k: hits(once(r)[:k], g) / min(k, len(g) or 1)),
            2,
            "more gold ids than k",
        ),
        (but(recall=lambda c, r, g, k: float(hits(once(r)[:k], g) > 0)), 2, "as soon as one gold id"),
        (but(recall=lambda c, r, g, k: round(hits(once(r)[:k], g) / len(g), 2)), 2, "rounded"),
        (precise_by_found, 2, "a place that stays empty holds no gold id"),
        (
            but(precision=lambda c, r, g, k: hits(once(r)[:k], g) / (len(once(r)[:k]) or 1)),
            2,
            "a place that stays empty holds no gold id",
        ),
        (but(precision=lambda c, r, g, k: hits(once(r)[:k], g) / len(g)), 2, "that is recall"),
        (but(precision=lambda c, r, g, k: hits(once(r), g) / k), 2, "all reranked ids are looked at"),
        (but(precision=lambda c, r, g, k: hits(once(r), g) / (len(once(r)) or 1)), 2, "over all reranked"),
        (but(precision=lambda c, r, g, k: hits(r[:k], g) / k), 2, "counted twice"),
        (but(precision=lambda c, r, g, k: len(set(r[:k]) & g) / k), 2, "do not move up"),
        (but(precision=lambda c, r, g, k: hits(once(c)[:k], g) / k), 2, "no reranker"),
        (but(precision=lambda c, r, g, k: str(hits(once(r)[:k], g) / k)), 2, "is no number"),
        (without("precision"), 2, "no key `precision`"),
        # where it was lost
        (but(lost=lambda c, r, g, k: fates(once(c)[:k], c, g)), 2, "goes by the first k candidates"),
        (but(lost=lambda c, r, g, k: fates(r, c, g)), 2, "stands behind place k"),
        (but(lost=lambda c, r, g, k: fates(once(r)[:k], c[:k], g)), 2, "had it in its hands"),
        (but(lost=lambda c, r, g, k: fates(r[:k], c, g)), 2, "move up"),
        (but(lost=only_the_lost), 2, "leaves gold ids out"),
        (but(lost=lambda c, r, g, k: fates(once(r)[:k], c, {*c, *g})), 2, "ids that are not gold"),
        (but(lost=lambda c, r, g, k: "reranker"), 2, "not a dict"),
        (but(lost=lambda c, r, g, k: dict.fromkeys(g, "lost")), 2, "a word that is none of"),
        (but(lost=lambda c, r, g, k: dict.fromkeys(g, "found")), 2, "blames nobody"),
        (but(lost=lambda c, r, g, k: dict.fromkeys(g, ["found"])), 2, "a word that is none of"),
        (without("lost"), 2, "no key `lost`"),
        (no_guard, 2, "0 would blame the search"),
        (divides_by_zero, 2, "should raise ValueError; it stops with ZeroDivisionError"),
        # more than one, or no dict at all
        (
            but(
                recall=lambda c, r, g, k: hits(r[:k], g) / len(g),
                candidate_recall=lambda c, r, g, k: hits(c, g) / len(g),
            ),
            1,
            "counted twice",
        ),
        (lambda *args: tuple(reference(*args).values()), 0, "a tuple comes back, not a dict"),
        (lambda *args: {"r": 1.0}, 0, "none of the four keys"),
        (lambda *args: reference(*args)["recall"], 0, "a value of type float"),
        (lambda c, r, g, k: reference(c, r, g, k) if r else None, 0, "forget `return`"),
        (lambda c, r, g, k: reference(c, r, g, k) if len(r) > 3 else r[9], 0, "IndexError"),
        (lambda *args: dict.fromkeys(("candidate_recall", "recall", "precision"), 0.0), 0, "is wrong"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    assert CHECK(without("lost")).message.startswith("Right so far: `candidate_recall`, `recall` and ")
    assert CHECK(no_guard).message.startswith("Right so far: `candidate_recall`")


def test_an_error_where_nothing_was_found_costs_one_point():
    def stops(candidates, reranked, gold, k):
        right = reference(candidates, reranked, gold, k)
        return right if reranked else right["no such key"]

    says(CHECK(stops), 2, "Where nothing was found, `measure` stops with KeyError")
