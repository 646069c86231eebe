"""Reranking: the same documents in another order, and what happens when the reranker does not do its part."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from course_utils.retrieval import (
    GUEST,
    BM25Index,
    Caller,
    HybridRetriever,
    NotScored,
    RerankerFailed,
    RerankingRetriever,
    deepened,
    reranked,
)
from course_utils.retrieval.evaluate import Stages, evaluate, why_missed
from course_utils.shop.questions import Question


class Fixed(BaseRetriever):
    """Returns the same documents to every question, as many as it is asked for."""

    documents: list[Document]
    k: int = 3

    def _get_relevant_documents(self, query, *, run_manager=None):
        return self.documents[: self.k]


class Scores:
    """Gives the texts scores from a table, or raises what stands there."""

    name = "table"

    def __init__(self, table):
        self.table, self.seen = table, []

    def scores(self, question, texts):
        self.seen.append((question, list(texts)))
        if isinstance(self.table, Exception):
            raise self.table
        return [self.table[text] for text in texts] if isinstance(self.table, dict) else self.table


def docs(*names, **metadata):
    return [Document(id=f"d:{name}", page_content=name, metadata=metadata) for name in names]


def names(found):
    return [document.page_content for document in found]


def test_candidates_in_the_rerankers_order_with_the_rank_they_had():
    model = Scores({"a": 0.1, "b": 0.9, "c": 0.5, "d": 0.7})
    one = RerankingRetriever(Fixed(documents=docs("a", "b", "c", "d", city="Pune")), model, candidates=4, k=3)
    found = one.invoke("which?")
    assert names(found) == ["b", "d", "c"]
    assert [document.metadata["rank_before"] for document in found] == [2, 4, 3]
    assert [document.metadata["score"] for document in found] == [0.9, 0.7, 0.5]
    assert {document.metadata["city"] for document in found} == {"Pune"}
    assert model.seen == [("which?", ["a", "b", "c", "d"])]
    assert one.ranking("which?") == [("d:b", 0.9), ("d:d", 0.7), ("d:c", 0.5)]


def test_the_base_is_asked_for_the_candidates_and_never_for_fewer_than_k():
    model = Scores(dict.fromkeys("abcdef", 1.0))
    one = RerankingRetriever(Fixed(documents=docs(*"abcdef")), model, candidates=4, k=2)
    assert names(one.invoke("")) == ["a", "b"] and model.seen[-1][1] == list("abcd")
    assert names(deepened(one, 6).invoke("")) == list("abcdef")


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        ([], []),
        ([1.0, 1.0, 1.0], [0, 1, 2]),
        ([0.2, math.nan, 0.9], [2, 0, 1]),
        ([math.nan, -5.0, math.nan, -9.0], [1, 3, 0, 2]),
    ],
)
def test_r07_nan_stands_last_and_equals_keep_their_order(scores, order):
    assert reranked(scores) == order


def test_r07_a_candidate_without_a_score_comes_last_and_a_warning_says_so():
    one = RerankingRetriever(Fixed(documents=docs("a", "b", "c")), Scores([0.2, math.nan, 0.9]))
    for _ in range(2):  # each time, not once a process
        with pytest.warns(NotScored, match="1 of 3 candidates"):
            found = one.invoke("q")
        assert names(found) == ["c", "a", "b"]


def test_r06_nothing_is_lost_where_one_of_three_is_scored():
    one = RerankingRetriever(Fixed(documents=docs("a", "b", "c")), Scores([math.nan, math.nan, 0.5]))
    with pytest.warns(NotScored):
        assert names(one.invoke("q")) == ["c", "a", "b"]


@given(st.lists(st.sampled_from([0.0, -1.0, 2.5, math.nan]), max_size=8), st.integers(1, 9))
def test_the_result_holds_candidates_each_once(scores, k):
    listed = docs(*map(str, range(len(scores))))
    base = Fixed(documents=[*listed, *listed[:2]], k=20)
    one = RerankingRetriever(base, Scores(scores), candidates=20, k=k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotScored)
        found = [document.id for document in one.invoke("q")]
    assert len(found) == min(k, len(scores)) == len(set(found))
    assert set(found) <= {document.id for document in listed}
    known = [scores[int(id[2:])] for id in found if not math.isnan(scores[int(id[2:])])]
    assert known == sorted(known, reverse=True)


@pytest.mark.parametrize(
    "table",
    [RuntimeError("no model"), [0.1, 0.2], [0.1, 0.2, "high"], [0.1, 0.2, None], [0.1, 0.2, math.inf], None],
)
def test_a_reranker_that_fails_leaves_the_order_of_the_search_and_says_so(table):
    base = Fixed(documents=docs("a", "b", "c"))
    one = RerankingRetriever(base, Scores(table), k=2)
    for _ in range(2):
        with pytest.warns(RerankerFailed, match="table failed with .* The order is the search's"):
            found = one.invoke("q")
        assert names(found) == ["a", "b"] and found[0].metadata["failed"] == ["table"]
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        RerankingRetriever(base, Scores(table), on_failure="raise").invoke("q")


def test_nothing_found_is_nothing_to_rerank():
    model = Scores(RuntimeError("asked"))
    assert RerankingRetriever(Fixed(documents=[]), model).invoke("q") == [] and model.seen == []


def test_documents_of_the_base_are_not_changed():
    listed = docs("a", "b")
    RerankingRetriever(Fixed(documents=listed), Scores([1, 2])).invoke("q")
    assert [document.metadata for document in listed] == [{}, {}]


@pytest.mark.parametrize("bad", [{"k": 0}, {"candidates": 0}, {"limit": 3}, {"on_failure": "ignore"}])
def test_settings_that_mean_nothing_are_refused(bad):
    with pytest.raises(ValueError):
        RerankingRetriever(Fixed(documents=[]), Scores([]), **bad)


def test_what_is_no_reranker_is_refused_with_what_would_be_one():
    with pytest.raises(ValueError, match=r"scores\(question, texts\)"):
        RerankingRetriever(Fixed(documents=[]), max)


@pytest.fixture
def index():
    listed = [("a", "hub hub hub"), ("b", "hub light"), ("c", "light")]
    kept = [Document(id=f"d:{n}", page_content=text, metadata={"audience": "public"}) for n, text in listed]
    return BM25Index([*kept, Document(id="d:s", page_content="hub", metadata={"audience": "staff"})])


def test_it_searches_for_the_caller_of_its_base(index):
    hybrid = HybridRetriever({"bm25": index.retriever(caller=GUEST)})
    model = Scores({"hub hub hub": 1, "hub light": 2})
    one = RerankingRetriever(hybrid, model)
    assert one.caller == GUEST and [id for id, _ in one.ranking("hub")] == ["d:b", "d:a"]
    assert one.invoke("hub")[0].metadata["found"] == {"bm25": 2}
    staff = index.retriever(caller=Caller("x", "staff"))
    with pytest.raises(ValueError, match="different callers"):
        HybridRetriever([one, staff])


def test_measured_and_missed(index):
    question = Question(
        id="q", question="hub", pattern="concept", split="dev", documents=("d:b", "d:a", "d:c", "d:s"),
        audience="public",
    )  # fmt: skip
    one = RerankingRetriever(index.retriever(caller=GUEST), Scores({"hub hub hub": 1, "hub light": 2}), k=1)
    run = evaluate(one, [question], k=10)
    assert run.rankings == {"q": ("d:b", "d:a")}
    assert Stages.of(one, question).reranked == ["d:b", "d:a"]
    stages = [fate.stage for fate in why_missed(question, one, k=1)]
    assert stages == ["found", "cut by the reranker", "not among the candidates", "filtered out"]


def test_a_run_is_not_measured_on_a_reranker_that_failed(index):
    question = Question(
        id="q", question="hub", pattern="concept", split="dev", documents=("d:b",), audience="public"
    )
    with pytest.raises(RerankerFailed):
        evaluate(RerankingRetriever(index.retriever(caller=GUEST), Scores(None)), [question])
