"""The check of the search with two fields: on right answers, others as right, and wrong ones."""

import pytest
from checking import says
from langchain_core.documents import Document

from course_utils.retrieval.filters import Filter
from course_utils.teaching import tasks
from course_utils.teaching.tasks.docs_judge_find import _SEARCHES, SHOPS, ranked

CHECK = tasks.docs.two_fields.check


def ids(found):
    return [document.metadata["id"] for document in found]


def fits(city, tier):
    return lambda d: d.metadata["city"] == city and d.metadata["tier"] == tier


def reference(store, question, city, tier, k=3):
    return ids(store.similarity_search(question, k=k, filter=fits(city, tier)))


def by_filter(store, question, city, tier, k=3):
    return ids(store.similarity_search(question, k, filter=Filter(city=city, tier=tier)))


def by_retriever(store, question, city, tier, k=3):
    retriever = store.as_retriever(search_kwargs={"k": k, "filter": fits(city, tier)})
    return ids(retriever.invoke(question))


def by_scores(store, question, city, tier, k=3):
    found = store.similarity_search_with_score(question, k=len(store.store), filter=lambda d: True)
    found = [d for d, _ in found if (d.metadata["city"], d.metadata["tier"]) == (city, tier)]
    return tuple(ids(found)[:k])


def searching(test, k=lambda k: k, order=ids):
    """Return an answer that filters by `test(document, city, tier)`."""

    def find(store, question, city, tier, k_=3, **options):
        k_ = options.get("k", k_)
        return order(store.similarity_search(question, k=k(k_), filter=lambda d: test(d, city, tier)))

    return find


def right(d, city, tier):
    return fits(city, tier)(d)


def after_the_ranking(factor):
    def find(store, question, city, tier, k=3):
        found = store.similarity_search(question, k=factor * k)
        return ids([d for d in found if fits(city, tier)(d)][:k])

    return find


def one_field_before(key, factor):
    """Return an answer whose store filters by one of the fields; the other is tested after the cut."""

    def find(store, question, city, tier, k=3):
        asked = {"city": city, "tier": tier}
        found = store.similarity_search(
            question, k=factor * k, filter=lambda d: d.metadata[key] == asked[key]
        )
        return ids([d for d in found if fits(city, tier)(d)][:k])

    return find


def cut_at(most):
    def find(store, question, city, tier, k=3):
        found = store.similarity_search(question, k=most)
        return ids([d for d in found if fits(city, tier)(d)][:k])

    return find


def k_forgotten(store, question, city, tier, k=3):
    return ids(store.similarity_search(question, filter=fits(city, tier))[:k])


def k_of_its_own(own):
    return lambda store, question, city, tier, k=3: reference(store, question, city, tier, own)[:k]


def pune_gold(store, question, city, tier, k=3):
    return ids(store.similarity_search(question, k=k, filter=fits("Pune", "gold")))


def one_question(store, question, city, tier, k=3):
    return reference(store, "who lives in Pune?", city, tier, k)


def in_order_of_arrival(store, question, city, tier, k=3):
    every = [Document(page_content=it["text"], metadata=it["metadata"]) for it in store.store.values()]
    return ids([d for d in every if fits(city, tier)(d)][:k])


def empties_the_store(store, question, city, tier, k=3):
    every = store.similarity_search(question, k=1000)
    store.delete([d.id for d in every if not fits(city, tier)(d)])
    return ids(store.similarity_search(question, k=k))


def a_dict_as_filter(store, question, city, tier, k=3):
    return ids(store.similarity_search(question, k=k, filter={"city": city, "tier": tier}))


def filtered_by(filter):
    """Return an answer that gives the store `filter(city, tier)`."""

    def find(store, question, city, tier, k=3):
        return ids(store.similarity_search(question, k=k, filter=filter(city, tier)))

    return find


def by_retriever_and_dict(store, question, city, tier, k=3):
    retriever = store.as_retriever(search_kwargs={"k": k, "filter": {"city": city}})
    return ids(retriever.invoke(question))


def raises_when_nobody_fits(store, question, city, tier, k=3):
    found = reference(store, question, city, tier, k)
    return found if found else {}[city]


@pytest.mark.parametrize("answer", [reference, by_filter, by_retriever, by_scores])
def test_right(answer):
    says(CHECK(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the filter
        (searching(lambda d, city, tier: d.metadata["city"] == city), 0, "another tier come back"),
        (searching(lambda d, city, tier: d.metadata["tier"] == tier), 0, "another city come back"),
        (
            searching(lambda d, city, tier: d.metadata["city"] == city or d.metadata["tier"] == tier),
            0,
            "come back",
        ),
        (searching(lambda d, city, tier: True), 0, "come back"),
        (searching(lambda d, city, tier: city in str(d.metadata) and right(d, "Pune", tier)), 0, ""),
        (
            searching(lambda d, city, tier: city in d.metadata["city"] and d.metadata["tier"] == tier),
            1,
            "a part of a name is another city's name",
        ),
        (
            searching(lambda d, city, tier: city in d.page_content and d.metadata["tier"] == tier),
            1,
            "ask the metadata",
        ),
        (pune_gold, 0, "Pune and silver"),
        (lambda store, question, city, tier, k=3: [1], 0, "Pune and silver"),
        (lambda store, question, city, tier, k=3: [], 0, "somebody who fits does not come back"),
        (a_dict_as_filter, 0, "'dict' object is not callable"),
        # when it filters, and how many come back
        (after_the_ranking(1), 1, "a filter after the cut"),
        (after_the_ranking(2), 1, "a filter after the cut"),
        (after_the_ranking(10), 1, "a filter after the cut"),
        (searching(right, k=lambda k: 4), 1, "4 ids come back; at most 3 may"),
        (searching(right, k=lambda k: 3), 1, "3 ids come back; at most 2 may"),
        (searching(right, k=lambda k: min(k, 3)), 1, "does k reach the store"),
        (searching(right, k=lambda k: 1000), 1, "at most 3 may"),
        (k_forgotten, 1, "10 customers fit and 4 came back: does k reach the store"),
        (k_of_its_own(1), 1, "does k reach the store"),
        (k_of_its_own(5), 1, "does k reach the store"),
        *((cut_at(most), 1, "a filter after the cut") for most in (3, 4, 20, 40, 60, 90, 120, 150)),
        *((after_the_ranking(factor), 1, "a filter after the cut") for factor in (20, 50, 100)),
        *((one_field_before("city", factor), 1, "a filter after the cut") for factor in (1, 5, 20)),
        *((one_field_before("tier", factor), 1, "a filter after the cut") for factor in (1, 5, 20, 40)),
        # the order, the question, the store
        (searching(right, order=lambda found: sorted(ids(found))), 1, "their order is not"),
        (searching(right, order=lambda found: ids(found)[::-1]), 1, "their order is not"),
        (one_question, 1, "and for this question"),
        (in_order_of_arrival, 1, "the store has better ones"),
        (empties_the_store, 0, "the store holds something else after the call"),
        (raises_when_nobody_fits, 0, "Delhi and gold with no k given: `find` stops with KeyError"),
        # what comes back
        (searching(right, order=lambda found: found), 0, "documents come back"),
        (searching(right, order=lambda found: [d.id for d in found]), 0, "the ids are texts"),
        (searching(right, order=lambda found: [d.page_content for d in found]), 0, "the ids are texts"),
        (searching(right, order=lambda found: set(ids(found))), 0, "a set comes back"),
        (searching(right, order=lambda found: [(id, 1.0) for id in ids(found)]), 0, "leave the scores out"),
        (searching(right, order=lambda found: ids(found) or None), 0, "forget `return`"),
        (searching(right, order=lambda found: ids(found)[0] if found else 0), 0, "not a list of ids"),
        (searching(right, order=lambda found: ids(found) * 2), 0, "more than once"),
        (searching(right, order=lambda found: [99]), 0, "that no customer has"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_a_filter_after_the_ranking_is_right_on_three_customers():
    says(CHECK(after_the_ranking(1)), 1, "The three customers are right.")


@pytest.mark.parametrize(
    "answer",
    [
        a_dict_as_filter,
        by_retriever_and_dict,
        filtered_by(lambda city, tier: city == "Pune"),
        filtered_by(lambda city, tier: lambda metadata: metadata["city"] == city),
        filtered_by(lambda city, tier: lambda metadata: metadata.get("city") == city),
        filtered_by(lambda city, tier: lambda city, tier: True),
        filtered_by(lambda city, tier: lambda: True),
    ],
)
def test_what_the_filter_of_this_store_is(answer):
    says(CHECK(answer), 0, ". This store's `filter` is a function, called with a Document.")


@pytest.mark.parametrize(
    "answer",
    [
        lambda store, question, city, tier, k=3: store(question),
        lambda store, question, city, tier, k=3: [d["id"] for d in store.similarity_search(question, k=k)],
        lambda store, question, city, tier, k=3: ids(store.similarity_search()),
        filtered_by(lambda city, tier: lambda d: d.metadata["town"] == city),
        filtered_by(lambda city, tier: lambda d: d.metadata("city") == city),
    ],
)
def test_other_errors_have_nothing_to_do_with_what_a_filter_is(answer):
    message = CHECK(answer).message
    assert "Error" in message
    assert "This store's `filter`" not in message


def test_the_passed_message_holds_for_every_way_that_passes():
    """Who looks at all customers and filters then has passed, and no filter has decided first."""
    for answer in (reference, cut_at(10_000)):
        says(CHECK(answer), 2, "Both fields are exact, and nobody who fits is lost.")


def test_one_customer_alone_fits_and_is_the_last_whatever_is_tested_first():
    (search,) = [it for it in _SEARCHES if it.k == 1]
    every = ranked(search)
    (only,) = [it for it in every if (it["city"], it["tier"]) == (search.city, search.tier)]
    assert [it for it in every if it["city"] == search.city][29:] == [only]
    assert [it for it in every if it["tier"] == search.tier][-1] == only
    assert every.index(only) > 170
    says(CHECK(cut_at(150)), 1, "a filter after the cut")


def test_the_large_store_has_fewer_fits_than_a_cut_would_find():
    """The customers that fit stand far enough down for a wide cut, too."""
    lost = 0
    for search in _SEARCHES:
        every = ranked(search)
        k = search.k or 3
        fit = [it for it in every if (it["city"], it["tier"]) == (search.city, search.tier)]
        cut = [it for it in every[: 10 * k] if it in fit]
        lost += len(cut) < min(k, len(fit))
    assert len({it["id"] for it in SHOPS["large"]}) == len(SHOPS["large"]) == 180
    assert lost >= 2


def test_a_message_names_no_id():
    for answer in (after_the_ranking(1), one_question, searching(right, k=lambda k: 4)):
        message = CHECK(answer).message
        assert not [it for it in SHOPS["large"] if f" {it['id']}," in message or it["text"] in message]
