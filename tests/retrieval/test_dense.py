"""DenseIndex and DenseRetriever: exact, filtered first, for a caller, and in step with what it holds."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from pydantic import ValidationError

from course_utils.retrieval import (
    GUEST,
    Caller,
    DenseIndex,
    DenseRetriever,
    Filter,
    Range,
    dense,
    row_document,
)

STAFF, PARTNER = Caller("revathi", "staff"), Caller("sparsh", "partner")


class Letters(Embeddings):
    """Counts letters: a vector that a reader can check. Remembers what it was given."""

    def __init__(self):
        self.documents, self.questions = [], []

    def _vector(self, text):
        return [1.0 + text.lower().count(letter) for letter in "abcdefgh"]

    def embed_documents(self, texts):
        self.documents += texts
        return [self._vector(text) for text in texts]

    def embed_query(self, text):
        self.questions.append(text)
        return self._vector(text)


def doc(name, text="text", /, **metadata):
    return Document(id=name, page_content=text, metadata={"audience": "public"} | metadata)


def ids(found):
    return [document.id for document in found]


def brute(documents, vectors, query, keep, k):
    unit = np.asarray(vectors, dtype=np.float64)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    scores = (unit.astype(np.float32).astype(np.float64) * (query / np.linalg.norm(query))).sum(axis=1)
    pairs = [(-round(score, 6), d.id) for d, score in zip(documents, scores, strict=True) if keep(d)]
    return [id for _, id in sorted(pairs)[:k]]


def test_the_seed_lessons_filter_on_tiny():
    rows = [(1, "Asha", "Pune", "gold"), (2, "Ravi", "Delhi", "silver"), (3, "Meena", "Pune", "silver")]
    index = DenseIndex(
        [
            doc(f"customer:{id}", f"Customer {name} lives in {city}.", id=id, city=city, tier=tier)
            for id, name, city, tier in rows
        ],
        DeterministicFakeEmbedding(size=64),
    )
    found = index.search("who lives in Pune?", caller=STAFF, k=3, filter=Filter(city="Pune"))
    assert sorted(document.metadata["id"] for document in found) == [1, 3]
    gold = index.search("who lives in Pune?", caller=STAFF, k=3, filter=Filter(city="Pune", tier="gold"))
    assert [document.metadata["id"] for document in gold] == [1]


def test_a_filter_that_leaves_five_of_ten_thousand_returns_all_five():
    dice = np.random.default_rng(5)
    vectors = dice.normal(size=(10_000, 16))
    rare = {int(place) for place in dice.choice(10_000, 5, replace=False)}
    documents = [doc(f"product:{n}", kind="rare" if n in rare else "plain") for n in range(10_000)]
    index = DenseIndex(documents, vectors=vectors)
    far = -vectors[list(rare)].sum(axis=0)  # they are the last that anybody would find without the filter
    for k in (5, 20):
        found = index.ranking(far, caller=GUEST, k=k, filter=Filter(kind="rare"))
        assert {id for id, _ in found} == {f"product:{n}" for n in rare}
    assert len(index.ranking(far, caller=GUEST, k=3, filter=Filter(kind="rare"))) == 3


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_faiss_and_brute_force_agree_ties_and_all(data):
    size = data.draw(st.integers(1, 60))
    # Few different values: many vectors are equal, or differ in length only.
    values = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)
    vectors = np.array(data.draw(st.lists(values, min_size=size, max_size=size)))
    audiences = data.draw(
        st.lists(st.sampled_from(["public", "partner", "staff"]), min_size=size, max_size=size)
    )
    documents = [doc(f"d:{n}", audience=audience, n=n) for n, audience in enumerate(audiences)]
    query, k = np.array(data.draw(values)), data.draw(st.integers(1, 70))
    most = data.draw(st.integers(0, size))
    index = DenseIndex(documents, vectors=vectors)
    for caller in (GUEST, PARTNER, STAFF):
        got = index.ranking(query, caller=caller, k=k, filter=Filter(n=Range(below=most)))
        keep = lambda d, caller=caller: d.metadata["audience"] in caller.audiences and d.metadata["n"] < most  # noqa: E731
        assert [id for id, _ in got] == brute(documents, vectors, query, keep, k)


def test_faiss_and_brute_force_agree_on_every_golden_question():
    from course_utils.models import embedder
    from course_utils.shop import documents, questions

    every, embed = documents.load(), embedder()
    vectors = embed.array([document.page_content for document in every])
    index = DenseIndex(every, embed)
    roles = {"public": "guest", "partner": "partner", "staff": "staff"}
    asked = questions.load(None)
    for question, query in zip(asked, embed.array([one.question for one in asked]), strict=True):
        caller = Caller("judge", roles[question.audience])
        filter = Filter.from_json(question.filter)
        keep = lambda d, filter=filter, sees=caller.audiences: filter(d) and d.metadata["audience"] in sees  # noqa: E731
        got = index.ranking(question.question, caller=caller, k=10, filter=filter)
        assert [id for id, _ in got] == brute(every, vectors, query.astype(np.float64), keep, 10), question.id


def test_length_does_not_count():
    # E02: the inner product of raw vectors would put the long one first, with 10
    index = DenseIndex([doc("a"), doc("b")], vectors=np.array([[1, 0], [10, 10]]))
    assert index.ranking(np.array([1.0, 0.0]), caller=GUEST) == [("a", 1.0), ("b", 0.707107)]


def test_the_cosine_is_at_most_one():
    # E03: float32 makes 1.0000001 of equal vectors
    vectors = np.random.default_rng(3).normal(size=(200, 384)).astype(np.float32)
    index = DenseIndex([doc(f"d:{n}") for n in range(200)], vectors=vectors)
    for n, vector in enumerate(vectors):
        assert index.ranking(vector, caller=GUEST, k=1) == [(f"d:{n}", 1.0)]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64, list])
def test_any_kind_of_number_gives_the_same_ranking(kind):
    # E08
    vectors = np.random.default_rng(4).integers(-9, 9, size=(30, 8))
    given = vectors.tolist() if kind is list else vectors.astype(kind)
    documents = [doc(f"d:{n}") for n in range(30)]
    expected = DenseIndex(documents, vectors=vectors.astype(np.float32)).ranking(vectors[7], caller=GUEST)
    assert DenseIndex(documents, vectors=given).ranking(vectors[7].tolist(), caller=GUEST) == expected


def test_equal_texts_stay_two_documents_in_order_of_their_ids():
    # D07
    index = DenseIndex([doc("product:9", "Blue mug"), doc("product:1", "Blue mug")], Letters())
    assert ids(index.search("mug", caller=GUEST)) == ["product:1", "product:9"]


def test_questions_are_embedded_as_questions():
    # E06: a model with a prefix for questions gets it for questions and for nothing else
    letters = Letters()
    DenseIndex([doc("a", "face")], letters).search("cab", caller=GUEST)
    assert (letters.documents, letters.questions) == (["face"], ["cab"])


def test_nobody_sees_more_than_their_audiences():
    documents = [doc(f"a:{audience}", audience=audience) for audience in ("public", "partner", "staff")]
    index = DenseIndex(documents, Letters())
    seen = {
        role: sorted(ids(index.search("text", caller=Caller("x", role), k=9)))
        for role in ("guest", "customer", "partner", "staff")
    }
    assert seen == {
        "guest": ["a:public"],
        "customer": ["a:public"],
        "partner": ["a:partner", "a:public"],
        "staff": ["a:partner", "a:public", "a:staff"],
    }
    # A filter narrows and never widens.
    for wish in (Filter(audience="staff"), Filter(audience=["staff", "public"])):
        assert "a:staff" not in ids(index.search("text", caller=PARTNER, k=9, filter=wish))


@pytest.mark.parametrize("caller", [None, "staff", {"user": "x", "role": "staff"}, True])
def test_who_asks_cannot_be_left_out(caller):
    index = DenseIndex([doc("a")], Letters())
    with pytest.raises(TypeError):
        index.search("x")
    with pytest.raises(TypeError, match="caller must be a Caller"):
        index.search("x", caller=caller)
    with pytest.raises(ValidationError):
        DenseRetriever(index=index)
    with pytest.raises(ValidationError):
        DenseRetriever(index=index, caller=caller)


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([Document(page_content="x", metadata={"audience": "public"})], r"documents\[0\] has no id"),
        ([doc("a"), doc("a")], "'a' comes twice"),
        ([Document(id="a", page_content="x")], r"'a' does not say who may see it.*partner, public, staff"),
        ([doc("a", audience="everyone")], "is 'everyone', expected one of"),
        ([doc("a", audience=["public"])], "does not say who may see it"),
        ([doc("a", score=4)], "'a' has a score in its metadata, where a search puts its own"),
        ([doc("a", found="in a box")], "'a' has a found in its metadata, where a search puts its own"),
    ],
)
def test_a_document_without_id_or_audience_is_not_let_in(documents, said):
    with pytest.raises(ValueError, match=said):
        DenseIndex(documents, Letters())
    index = DenseIndex([doc("old")], Letters())
    with pytest.raises(ValueError, match=said):
        index.add_documents(documents)
    assert list(index.documents) == ["old"]


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1, 0], [0, 0]], "vector of b has no direction"),
        ([[1, 0], [float("nan"), 1]], "vector of b has no direction"),
        ([[1, float("inf")], [0, 1]], "vector of a has no direction"),
        ([[1, 0]], r"shape \(2, any\) are needed, found \(1, 2\)"),
    ],
)
def test_a_vector_without_direction_is_named(vectors, said):
    with pytest.raises(ValueError, match=said):
        DenseIndex([doc("a"), doc("b")], vectors=vectors)
    index = DenseIndex([doc("a")], vectors=[[1, 0]])
    with pytest.raises(ValueError, match=r"shape \(1, 2\) are needed, found \(1, 3\)"):
        index.ranking(np.ones(3), caller=GUEST)
    with pytest.raises(ValueError, match="the question has no direction"):
        index.ranking(np.zeros(2), caller=GUEST)


def test_a_question_that_cannot_be_asked_says_why():
    index = DenseIndex([doc("a", price=1.0, city="Pune")], Letters())
    for k in (0, -1, True, 2.0, "5", None):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            index.search("x", caller=GUEST, k=k)
    with pytest.raises(
        ValueError, match=r"No document has 'citty'.* Did you mean city\? The keys are: audience, city"
    ):
        index.search("x", caller=GUEST, filter=Filter(citty="Pune"))
    with pytest.raises(TypeError, match="filter must be a Filter"):
        index.search("x", caller=GUEST, filter={"city": "Pune"})
    with pytest.raises(ValueError, match="no embeddings"):
        DenseIndex([doc("a")], vectors=[[1, 2]]).search("x", caller=GUEST)
    with pytest.raises(ValueError, match="Give embeddings, or vectors"):
        DenseIndex([doc("a")])


def test_nothing_in_it_is_no_error():
    for index in (DenseIndex(), DenseIndex([], Letters())):
        assert index.search("x", caller=GUEST, filter=Filter(city="Pune")) == []
        index.delete(["a"])
        assert len(index) == 0
    index = DenseIndex([doc("a")], Letters())
    index.delete(["a"])
    assert index.search("x", caller=STAFF) == []
    index.add_documents([doc("b", "bead")])
    assert ids(index.search("bead", caller=GUEST)) == ["b"]
    assert index.search("x", caller=GUEST, filter=Filter(audience="staff")) == []


def test_what_comes_back_is_a_copy_with_a_score():
    index = DenseIndex([doc("a", "bead", city="Pune")], Letters())
    (found,) = index.search("bead", caller=GUEST)
    assert (found.id, found.page_content, found.metadata) == (
        "a",
        "bead",
        {"audience": "public", "city": "Pune", "score": 1.0},
    )
    found.metadata["city"] = "changed"
    assert index.documents["a"].metadata == {"audience": "public", "city": "Pune"}


def test_only_new_texts_are_embedded():
    letters = Letters()
    index = DenseIndex([doc("a", "bead"), doc("b", "cafe")], letters)
    letters.documents.clear()
    index.add_documents(
        [doc("c", "fade"), doc("a", "bead", price=5.0), doc("b", "decade")], ids=["c", "a", "b"]
    )
    assert letters.documents == ["fade", "decade"]
    assert ids(index.search("bead", caller=GUEST, filter=Filter(price=5.0))) == ["a"]
    assert ids(index.search("decade", caller=GUEST, k=1)) == ["b"]
    assert ids(index.search("fade", caller=GUEST, k=1)) == ["c"]
    index.delete(["a", "unknown"])
    assert sorted(index.documents) == ["b", "c"] and ids(index.search("decade", caller=GUEST, k=1)) == ["b"]
    with pytest.raises(ValueError, match="ids must be those of the documents"):
        index.add_documents([doc("d")], ids=["e"])


def test_a_failed_embedding_leaves_the_index_as_it_was():
    class Broken(Letters):
        def embed_documents(self, texts):
            if "broken" in texts:
                raise RuntimeError("no model")
            return super().embed_documents(texts)

    index = DenseIndex([doc("a", "bead")], Broken())
    with pytest.raises(RuntimeError):
        index.add_documents([doc("a", "broken"), doc("b", "cafe")])
    assert list(index.documents) == ["a"] and index.documents["a"].page_content == "bead"
    assert ids(index.search("bead", caller=GUEST)) == ["a"]


def test_as_a_langchain_retriever():
    index = DenseIndex([doc("a", "bead", price=9.5), doc("b", "cafe", price=80.0)], Letters())
    retriever = index.retriever(caller=GUEST, k=1, filter=Filter(price=Range(below=50)))
    (found,) = retriever.invoke("cafe")
    assert found.id == "a" and retriever.ranking("cafe") == [("a", found.metadata["score"])]
    assert ids(retriever.batch(["cafe", "bead"])[1]) == ["a"]
    for k in (0, -3):
        with pytest.raises(ValidationError, match="k must be at least 1"):
            index.retriever(caller=GUEST, k=k)


class During(Letters):
    """An embedding during whose work something happens to the index."""

    def __init__(self):
        super().__init__()
        self.event = lambda: None

    def embed_query(self, text):
        event, self.event = self.event, lambda: None
        event()
        return super().embed_query(text)


@pytest.mark.parametrize(
    "event",
    [
        lambda index: index.delete(["a:old"]),
        lambda index: index.add_documents([doc("a:public", "cafe", audience="staff")]),
        lambda index: index.add_documents([doc("b", "cafe", audience="staff")]),
        lambda index: index.delete(["a:old", "a:public", "a:secret"]),
    ],
)
def test_a_change_during_a_search_shows_nothing_that_is_not_for_the_caller(event):
    embedding = During()
    index = DenseIndex(
        [doc("a:old", "bead"), doc("a:public", "cafe"), doc("a:secret", "cab", audience="staff")], embedding
    )
    embedding.event = lambda: event(index)
    found = index.search("cafe", caller=GUEST, k=9)
    assert {document.metadata["audience"] for document in found} <= {"public"}


def test_searches_and_a_writer_at_once_see_whole_states_only():
    documents = [doc(f"d:{n}", audience="public" if n % 2 else "staff", n=n) for n in range(200)]
    vectors = np.random.default_rng(9).normal(size=(200, 8))
    index = DenseIndex(documents, vectors=vectors)
    index.embeddings = DeterministicFakeEmbedding(size=8)
    wrong, done = [], threading.Event()

    def read():
        while not done.is_set():
            found = index.search(vectors[0], caller=GUEST, k=50)
            wrong.extend(d.id for d in found if d.metadata["audience"] != "public" or not d.metadata["n"] % 2)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(60):
        index.delete([f"d:{n}"])
        index.add_documents([doc(f"e:{n}", audience="staff" if n % 2 else "public", n=n + 1)])
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_change_leaves_the_index_as_it_was(monkeypatch, error):
    index = DenseIndex([doc("a", "bead"), doc("b", "cafe")], Letters())

    def stop(*_):
        raise error

    with monkeypatch.context() as during:
        during.setattr(dense._Shelf, "filled", stop)
        with pytest.raises(error):
            index.add_documents([doc("c", "hh"), doc("z", "the staff text", audience="staff")])
        with pytest.raises(error):
            index.delete(["a"])
    assert sorted(ids(index.search("bead", caller=STAFF, k=9))) == ["a", "b"]
    index.add_documents([doc("c", "hh")])
    assert ids(index.search("hh", caller=GUEST, k=1)) == ["c"]


def test_documents_are_copied_in_and_out():
    mine = doc("a", "bead", tags=["x"])
    index = DenseIndex([mine, doc("s", "cab", audience="staff")], Letters())
    mine.metadata["audience"] = "staff"
    mine.page_content = "hhhh"
    index.documents["s"].metadata["audience"] = "public"
    found = index.search("bead", caller=GUEST, k=9)
    assert ids(found) == ["a"] and found[0].page_content == "bead"
    found[0].metadata["tags"].append("y")
    assert index.documents["a"].metadata["tags"] == ["x"]
    index.add_documents([doc("a", "hhhh")])
    assert index.ranking("hhhh", caller=GUEST, k=1) == [("a", 1.0)]


def test_errors_tell_no_key_of_what_the_caller_may_not_see():
    index = DenseIndex([doc("a", price=1.0), doc("s", audience="staff", salary_band=3)], Letters())
    for key in ("salary", "salary_band"):
        with pytest.raises(
            ValueError, match=f"No document has '{key}'.* The keys are: audience, price.$"
        ) as told:
            index.search("x", caller=GUEST, filter=Filter({key: 3}))
        assert "Did you mean" not in str(told.value)
    assert ids(index.search("x", caller=STAFF, filter=Filter(salary_band=3))) == ["s"]


def test_a_made_retriever_cannot_be_aimed_at_another_caller():
    retriever = DenseIndex([doc("a")], Letters()).retriever(caller=GUEST)
    with pytest.raises(ValidationError):
        retriever.caller = STAFF
    assert retriever.model_copy(update={"k": 9}).k == 9


@pytest.mark.parametrize(("made", "said"), [([], "and 0"), ([[1.0]] * 3, "and 3"), (None, "and none")])
def test_a_model_that_gives_another_number_of_vectors_is_named(made, said):
    class Odd(Letters):
        def embed_documents(self, texts):
            return made

    index = DenseIndex([doc("z", "x")], Letters())
    index.embeddings = Odd()
    with pytest.raises(ValueError, match=f"2 texts went to the embedding model, {said} vectors"):
        index.add_documents([doc("a", "b"), doc("c", "d")])
    assert list(index.documents) == ["z"]


def test_very_long_and_very_short_vectors_have_directions_too():
    vectors = np.array([[1e200, 0], [1e-200, 1e-200]])
    index = DenseIndex([doc("a"), doc("b")], vectors=vectors)
    assert index.ranking(np.array([1e-300, 0]), caller=GUEST) == [("a", 1.0), ("b", 0.707107)]
    with pytest.raises(ValueError, match="real numbers"):
        DenseIndex([doc("a")], vectors=np.array([[1 + 1j, 2]]))
    with pytest.raises(TypeError, match="ids must be a list of ids"):
        index.delete("a")
    assert len(index.ranking(np.array([1, 0]), caller=GUEST, k=np.int64(1))) == 1


def test_a_rows_own_audience_counts():
    row = {"id": 3, "title": "Gold refunds", "body": "Up to 45 days.", "audience": "staff"}
    assert row_document("article", row, text=["title", "body"]).metadata["audience"] == "staff"
    with pytest.raises(ValueError, match="for the audience 'staff' and cannot be given out as 'public'"):
        row_document("article", row, text="title", audience="public")
    empty = {"id": 1, "name": "Mug", "description": float("nan")}
    assert row_document("product", empty).page_content == "Mug."
    assert row_document("product", empty | {"description": "  "}).page_content == "Mug."


def test_a_row_becomes_a_text_and_typed_metadata():
    # D02
    row = {"id": 7, "name": "Mug", "description": None, "price": 9.5, "category": "kitchen"}
    made = row_document("product", row)
    assert (made.id, made.page_content) == ("product:7", "Mug.")
    assert made.metadata == {"id": 7, "price": 9.5, "category": "kitchen", "audience": "public"}
    assert type(made.metadata["price"]) is float
    both = row_document("product", row | {"description": "Holds tea."}, audience="staff")
    assert both.page_content == "Mug. Holds tea." and both.metadata["audience"] == "staff"
    with pytest.raises(ValueError, match="The row has no 'titel', only id, name"):
        row_document("product", row, text=["titel"])


def test_numbers_are_compared_and_sorted_as_numbers():
    # D08: as text, 25 would stand before 3
    index = DenseIndex([doc("a", price=25), doc("b", price=3)], Letters())
    left = [index.search("x", caller=GUEST, filter=Filter(price=Range(below=most))) for most in (3, 25, 26)]
    assert [len(found) for found in left] == [0, 1, 2] and ids(left[1]) == ["b"]
    assert sorted(document.metadata["price"] for document in left[2]) == [3, 25]


def test_an_exact_code_is_for_a_filter():
    # E09: the model's own vectors put a look-alike first, on the shop's products
    from course_utils.models import embedder
    from course_utils.shop import documents

    index = DenseIndex(documents.load("products"), embedder())
    asked = "SKU-77812"
    first, *_ = index.search(asked, caller=GUEST)
    assert first.metadata["sku"] != asked
    found = index.search(asked, caller=GUEST, filter=Filter(sku=asked))
    assert [document.metadata["sku"] for document in found] == [asked]
