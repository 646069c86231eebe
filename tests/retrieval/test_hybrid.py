"""HybridRetriever: who found what at which rank, for one caller, and no failure hidden."""

import asyncio
import warnings
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

from course_utils.retrieval import GUEST, Caller, DenseIndex
from course_utils.retrieval.fusion import mix_scores, reciprocal_rank_fusion
from course_utils.retrieval.hybrid import HybridRetriever, RetrieverFailed, deepened

STAFF = Caller("revathi", "staff")


class Letters(Embeddings):
    """Counts letters: a vector that a reader can check."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [1.0 + text.lower().count(letter) for letter in "abcdefgh"]


class Plain(BaseRetriever):
    """One of LangChain's, with invoke alone: returns what it was given, or raises it."""

    found: Any
    asked: list = []

    def _get_relevant_documents(self, query, *, run_manager):
        self.asked.append(query)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


class Ranked(Plain):
    """One of the course's, with a ranking and a setting for how deep it looks."""

    k: int = 5

    def ranking(self, question):
        return [(one.id, one.metadata["score"]) for one in self.invoke(question)]

    def _get_relevant_documents(self, query, *, run_manager):
        return super()._get_relevant_documents(query, run_manager=run_manager)[: self.k]


def doc(name, text="text", /, **metadata):
    return Document(id=name, page_content=text, metadata={"audience": "public"} | metadata)


def listed(names, kind=Plain, /, **settings):
    """Return a retriever that finds these, with scores from the number of documents down to 1."""
    found = [doc(name, score=float(len(names) - place)) for place, name in enumerate(names)]
    return kind(found=found, asked=[], **settings)


def ids(found):
    return [document.id for document in found]


def places(found):
    return {document.id: document.metadata["found"] for document in found}


LETTERS = DenseIndex([doc("p:1", "bead"), doc("p:2", "cafe"), doc("p:3", "fade")], Letters())


@pytest.mark.parametrize("kind", [Plain, Ranked])
def test_h01_h02_each_result_says_from_which_list_at_which_rank(kind):
    hybrid = HybridRetriever({"words": listed("ab", kind), "meaning": listed("ca", kind)}, weights=[0.7, 0.3])
    found = hybrid.invoke("question")
    assert [(one.id, round(one.metadata["score"], 6)) for one in found] == [
        ("a", 0.016314),
        ("b", 0.011290),
        ("c", 0.004918),
    ]
    assert places(found) == {"a": {"words": 1, "meaning": 2}, "b": {"words": 2}, "c": {"meaning": 1}}
    assert hybrid.ranking("question") == [(one.id, one.metadata["score"]) for one in found]
    twice = HybridRetriever([listed("XaY", kind), listed("bcY", kind)], limit=1).invoke("question")
    assert ids(twice) == ["Y"] and round(twice[0].metadata["score"], 6) == 0.031746


def test_an_index_and_retrievers_of_others_together():
    dense = LETTERS.retriever(caller=GUEST)
    store = InMemoryVectorStore(Letters())
    store.add_documents([doc("p:2", "cafe"), doc("p:4", "decade")])
    hybrid = HybridRetriever([dense, store.as_retriever()], limit=9)
    found = hybrid.invoke("decade")
    first, second = ids(dense.invoke("decade")), ids(store.as_retriever().invoke("decade"))
    assert first == ["p:1", "p:3", "p:2"] and second == ["p:4", "p:2"]
    assert [(one.id, one.metadata["score"]) for one in found] == reciprocal_rank_fusion([first, second])
    assert places(found)["p:2"] == {"DenseRetriever": 3, "VectorStoreRetriever": 2}
    assert found[0].page_content == "cafe" and found[0].metadata["audience"] == "public"
    assert hybrid.ranking("decade") == [(one.id, one.metadata["score"]) for one in found]


def test_what_comes_back_is_a_copy():
    plain = listed("ab")
    hybrid = HybridRetriever([LETTERS.retriever(caller=GUEST), plain])
    for one in hybrid.invoke("bead"):
        one.metadata["audience"] = "changed"
    assert LETTERS.documents["p:1"].metadata == {"audience": "public"}
    assert [one.metadata for one in plain.found] == [
        {"audience": "public", "score": 2.0},
        {"audience": "public", "score": 1.0},
    ]


def test_h05_the_metadata_of_the_better_rank_stay():
    better = Plain(found=[doc("a", "same", source="A"), doc("b")])
    worse = Plain(found=[*(doc(f"x:{n}") for n in range(8)), doc("a", "same", source="B")])
    for retrievers in ([better, worse], [worse, better]):
        first = HybridRetriever(retrievers).invoke("question")[0]
        assert (first.id, first.metadata["source"]) == ("a", "A")
        assert sorted(first.metadata["found"].values()) == [1, 9]
    tied = [Plain(found=[doc("a", source=source)]) for source in "BA"]
    assert HybridRetriever(tied).invoke("question")[0].metadata["source"] == "B"


def test_equal_texts_with_other_ids_stay_two():
    hybrid = HybridRetriever([Plain(found=[doc("a", "same")]), Plain(found=[doc("b", "same")])])
    assert ids(hybrid.invoke("question")) == ["a", "b"]


def test_h04_what_a_list_repeats_counts_once():
    again = Plain(found=[doc("a", n=1), doc("a", n=2), doc("a", n=3), doc("b")])
    found = HybridRetriever({"one": again, "two": listed("b")}).invoke("question")
    assert places(found) == {"b": {"one": 2, "two": 1}, "a": {"one": 1}} and found[1].metadata["n"] == 1
    assert [one.metadata["score"] for one in found] == [1 / 62 + 1 / 61, 1 / 61]


def test_h07_the_others_answer_under_a_warning_each_time():
    broken = Plain(found=RuntimeError("no model"))
    hybrid = HybridRetriever({"bm25": listed("ab", Ranked), "dense": broken})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # Python's own setting, which shows equal warnings once
        found = [hybrid.invoke("question") for _ in range(2)]
        ranking = hybrid.ranking("question")
    assert ids(found[0]) == ids(found[1]) == [id for id, _ in ranking] == ["a", "b"]
    assert [warning.category for warning in caught] == [RetrieverFailed] * 3
    assert str(caught[0].message) == (
        "dense failed with RuntimeError: no model. The results are of the others alone."
    )
    assert found[0][0].metadata["failed"] == ["dense"] and found[0][0].metadata["found"] == {"bm25": 1}
    assert "failed" not in HybridRetriever([listed("a")]).invoke("question")[0].metadata


@pytest.mark.parametrize("fuse", ["ranks", "scores"])
def test_a_failure_is_never_an_empty_result(fuse):
    broken, other = Plain(found=ConnectionError("refused")), Plain(found=KeyError("x"))
    with pytest.raises(
        RuntimeError, match="No retriever answered. one failed with ConnectionError: refused; two failed"
    ) as error:
        HybridRetriever({"one": broken, "two": other}, fuse=fuse).invoke("question")
    assert isinstance(error.value.__cause__, ConnectionError)
    # one that is not asked does not answer
    with pytest.raises(RuntimeError, match="No retriever answered"):
        HybridRetriever([broken, listed("a")], weights=[1, 0], fuse=fuse).ranking("question")
    for ask in ("invoke", "ranking"):
        with pytest.raises(ConnectionError):
            getattr(HybridRetriever([listed("a"), broken], fuse=fuse, on_failure="raise"), ask)("question")
    with pytest.warns(RetrieverFailed):
        assert ids(HybridRetriever([listed("ab"), broken], fuse=fuse).invoke("question")) == ["a", "b"]


def test_all_search_for_the_same_caller():
    guest, staff = LETTERS.retriever(caller=GUEST), LETTERS.retriever(caller=STAFF)
    assert HybridRetriever([guest, LETTERS.retriever(caller=Caller("unknown")), listed("a")]).caller == GUEST
    assert HybridRetriever([listed("a")]).caller is None

    class Wrapper(BaseRetriever):
        inner: Any

        def _get_relevant_documents(self, query, *, run_manager):
            return []

    nested = HybridRetriever([staff])
    for other in (staff, nested, Wrapper(inner=staff), Wrapper(inner=[listed("a"), nested])):
        for retrievers in ([guest, other], [other, listed("a"), guest]):
            with pytest.raises(ValueError, match="search for different callers"):
                HybridRetriever(retrievers)
    # nor can it be changed afterwards
    hybrid = HybridRetriever([guest, LETTERS.retriever(caller=GUEST)])
    mixed = hybrid.model_copy(update={"retrievers": (guest, staff)})
    with pytest.raises(ValueError, match="frozen"):
        hybrid.retrievers[1].caller = STAFF
    for ask in (mixed.invoke, mixed.ranking):
        with pytest.raises(ValueError, match="search for different callers"):
            ask("bead")


@pytest.mark.parametrize("kind", [Plain, Ranked])
def test_a_retriever_without_caller_opens_nothing(kind):
    marked = [
        doc(f"m:{audience}", audience=audience) for audience in ("staff", "partner", "public", "nobody")
    ]
    unmarked = Document(id="m:unmarked", page_content="text")
    odd = doc("m:odd", audience=["public"])
    other = kind(found=[*marked, odd, unmarked], **({"k": 9} if kind is Ranked else {}))
    for one in other.found:
        one.metadata["score"] = 1.0
    seen = {}
    for caller in (GUEST, STAFF):
        hybrid = HybridRetriever({"dense": LETTERS.retriever(caller=caller), "other": other}, limit=9)
        found = [one for one in hybrid.invoke("bead") if one.id.startswith("m:")]
        assert {one.id for one in found} == {id for id, _ in hybrid.ranking("bead") if id.startswith("m:")}
        seen[caller.role] = {id: told["other"] for id, told in places(found).items()}
    # ranks close up: where it stands does not tell that something was left out
    assert seen["guest"] == {"m:public": 1, "m:unmarked": 2}
    assert seen["staff"] == {"m:staff": 1, "m:partner": 2, "m:public": 3, "m:unmarked": 4}
    # nobody in particular asks: nothing is known to be hidden
    assert len(HybridRetriever([other], limit=9).invoke("bead")) == 6


def test_a_document_needs_an_id():
    nameless = Plain(found=[Document(page_content="Blue mug")], name="store")
    for ask in ("invoke", "ranking"):
        with pytest.raises(ValueError, match="store found a document without id.*'Blue mug'"):
            getattr(HybridRetriever([listed("a"), nameless]), ask)("question")


@pytest.mark.parametrize("kind", [Plain, Ranked])
def test_scores_are_mixed_as_z(kind):
    first = [doc("a", score=12.0), *(doc(name, score=2.0) for name in "bcde")]
    second = [doc("c", score=0.9), doc("f", score=0.5)]
    retrievers = [kind(found=first), kind(found=second)]
    pairs = [[(one.id, one.metadata["score"]) for one in found] for found in (first, second)]
    hybrid = HybridRetriever(retrievers, fuse="scores", weights=[1, 4], limit=3)
    assert hybrid.ranking("q") == mix_scores(pairs, weights=[1, 4], limit=3)
    found = hybrid.invoke("q")
    assert [(one.id, round(one.metadata["score"], 9)) for one in found] == [
        ("c", 3.5),
        ("a", -2),
        ("b", -4.5),
    ]
    assert found[0].metadata["found"] == {f"{kind.__name__} #1": 3, f"{kind.__name__} #2": 1}


def test_scores_that_cannot_be_mixed():
    none = Plain(found=[doc("a")], name="plain")
    distances = Plain(found=[doc("a", score=0.1), doc("b", score=0.7)], name="far")
    for retriever, said in ((none, "plain gives no scores"), (distances, "The scores of far rise")):
        hybrid = HybridRetriever([listed("ab"), retriever], fuse="scores")
        for ask in (hybrid.invoke, hybrid.ranking):
            with pytest.raises(ValueError, match=said):
                ask("question")
        assert ids(HybridRetriever([listed("ab"), retriever]).invoke("question")) == ["a", "b"]


def test_every_list_is_as_deep_as_was_asked():
    names = [f"d:{number:03}" for number in range(120)]
    ranked, plain = listed(names, Ranked, k=2), listed(names[::-1])
    hybrid = HybridRetriever({"ranked": ranked, "plain": plain}, limit=120)
    assert max(told["ranked"] for told in places(hybrid.invoke("q")).values() if "ranked" in told) == 120
    hybrid = HybridRetriever({"ranked": ranked, "plain": plain}, depth=30, limit=7)
    deep = deepened(hybrid, 100)
    assert (len(hybrid.invoke("q")), len(deep.invoke("q")), len(deep.ranking("q"))) == (7, 100, 100)
    hybrid = HybridRetriever({"ranked": ranked, "plain": plain}, depth=3, limit=3)
    assert places(hybrid.invoke("q")) == {
        "d:000": {"ranked": 1}, "d:119": {"plain": 1}, "d:001": {"ranked": 2}
    }  # fmt: skip
    assert ranked.k == 2


def test_deepened():
    hybrid = HybridRetriever([listed("ab")], k=20, limit=3)
    assert (deepened(hybrid, 9).limit, deepened(hybrid, 9).k, hybrid.limit) == (9, 20, 3)
    dense = LETTERS.retriever(caller=GUEST, k=1)
    assert len(deepened(dense, 3).invoke("bead")) == 3 and dense.k == 1
    store = InMemoryVectorStore(Letters())
    store.add_documents([doc(f"p:{number}", "bead") for number in range(9)])
    retriever = store.as_retriever(search_kwargs={"k": 2, "filter": lambda one: one.id != "p:0"})
    assert len(deepened(retriever, 20).invoke("bead")) == 8 and len(retriever.invoke("bead")) == 2
    plain = listed("ab")
    assert deepened(plain, 9) is plain


def test_one_of_weight_zero_is_not_asked():
    one, other = listed("ab"), listed("ca")
    hybrid = HybridRetriever({"one": one, "other": other}, weights=[1, 0])
    assert places(hybrid.invoke("question")) == {"a": {"one": 1}, "b": {"one": 2}}
    assert (one.asked, other.asked) == (["question"], [])


def test_a_ranking_is_enough_where_no_document_is_wanted():
    class Ids(Ranked):
        def ranking(self, question):
            return [("a", 3.0), ("b", 2.0), ("a", 1.0)]

    # its invoke would raise; the repeated a counts with its first score, 3
    hybrid = HybridRetriever([Ids(found=AssertionError()), listed("b")], fuse="scores")
    assert hybrid.ranking("q") == mix_scores([[("a", 3.0), ("b", 2.0)], [("b", 1.0)]])
    hybrid = HybridRetriever([Ids(found=AssertionError()), listed("b")], k=1)
    assert hybrid.ranking("q") == [("b", 1 / 3 + 1 / 2), ("a", 1 / 2)]


def test_a_hybrid_within_a_hybrid():
    inner = HybridRetriever([listed("ab", Ranked), listed("ba")], limit=1, name="inner")
    hybrid = HybridRetriever([inner, listed("b")])
    assert places(hybrid.invoke("q")) == {"b": {"inner": 2, "Plain": 1}, "a": {"inner": 1}}
    assert hybrid.ranking("q") == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]


def test_each_list_has_a_name_of_its_own():
    found = HybridRetriever([listed("a"), listed("a", name="mine"), listed("a")]).invoke("question")
    assert found[0].metadata["found"] == {"Plain #1": 1, "mine": 1, "Plain #3": 1}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"retrievers": []}, "at least 1 item"),
        ({"retrievers": ["bm25", "dense"]}, "instance of BaseRetriever"),
        ({"weights": [1]}, "There are 2 rankings and 1 weights"),
        ({"weights": [1, -1]}, r"weights\[1\] must be a finite number of at least 0"),
        ({"weights": [1, float("nan")]}, r"weights\[1\] must be a finite number"),
        ({"weights": [0, 0]}, "All weights are 0"),
        ({"k": 0}, "k must be a number above 0"),
        ({"k": float("nan")}, "k must be a number above 0"),
        ({"limit": 0}, "greater than or equal to 1"),
        ({"depth": 0}, "greater than or equal to 1"),
        ({"fuse": "scores please"}, "'ranks' or 'scores'"),
        ({"c": 60}, "Extra inputs are not permitted"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(ValidationError, match=said):
        HybridRetriever(**{"retrievers": [listed("a"), listed("b")]} | settings)


def test_nothing_found_is_no_error():
    for fuse in ("ranks", "scores"):
        hybrid = HybridRetriever([listed(""), listed("", Ranked)], fuse=fuse)
        assert hybrid.invoke("question") == hybrid.ranking("question") == []
    assert ids(HybridRetriever([listed(""), listed("a")]).invoke("question")) == ["a"]


def test_as_any_langchain_retriever():
    hybrid = HybridRetriever([LETTERS.retriever(caller=GUEST), listed("ab")], limit=2)
    assert [ids(found) for found in hybrid.batch(["bead", "cafe"])] == [["a", "p:1"], ["a", "p:2"]]
    assert ids(asyncio.run(hybrid.ainvoke("bead"))) == ["a", "p:1"]

    class Runs(BaseCallbackHandler):
        parents = {}

        def on_retriever_start(self, serialized, query, *, run_id, parent_run_id=None, **kwargs):
            self.parents[kwargs["name"]] = parent_run_id

    hybrid.invoke("bead", {"callbacks": [Runs()]})
    assert Runs.parents["HybridRetriever"] is None and Runs.parents["Plain"] is not None


def test_on_the_shops_documents_the_lists_are_those_of_the_retrievers():
    from course_utils.models import embedder
    from course_utils.shop import documents, questions

    index = DenseIndex(documents.load("products"), embedder())
    skus = {document.metadata["sku"]: document for document in index.documents.values()}

    class Codes(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [document for sku, document in skus.items() if sku.lower() in query.lower()]

    dense = index.retriever(caller=GUEST, k=50)
    hybrid = HybridRetriever({"codes": Codes(), "dense": dense})
    asked = [one.question for one in questions.load("dev") if any(sku in one.question for sku in skus)]
    assert len(asked) >= 3
    for question in asked:
        found = hybrid.invoke(question)
        lists = [ids(Codes().invoke(question)), ids(dense.invoke(question))]
        assert [(one.id, one.metadata["score"]) for one in found] == reciprocal_rank_fusion(lists, limit=5)
        for one in found:
            assert one.metadata["found"] == {
                name: ranking.index(one.id) + 1
                for name, ranking in zip(("codes", "dense"), lists, strict=True)
                if one.id in ranking
            }


def test_what_a_writer_takes_away_after_the_ranking_is_not_shown():
    index = DenseIndex([doc("p:1", "bead"), doc("p:2", "cafe"), doc("p:3", "fade")], Letters())

    class Beside(Letters):
        """Stands for a writer that comes while the question becomes a vector."""

        def embed_query(self, text):
            index.embeddings = Letters()
            index.delete(["p:1"])
            index.add_documents([doc("p:3", "fade", audience="staff"), doc("p:4", "bead")])
            return super().embed_query(text)

    hybrid = HybridRetriever([index.retriever(caller=GUEST), listed(["p:1"])])
    index.embeddings = Beside()
    found = hybrid.invoke("bead")
    # p:4 was ranked, but it was not there when the search began; p:1 is the other retriever's
    assert {one.id: one.metadata["found"] for one in found} == {
        "p:1": {"Plain": 1},
        "p:2": {"DenseRetriever": 2},
    }
