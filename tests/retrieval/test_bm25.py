"""BM25Index and BM25Retriever: two engines with one answer, no false match, filtered first, for a caller."""

import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from pydantic import ValidationError

from course_utils.retrieval import GUEST, Caller, Filter, Range
from course_utils.retrieval.analyse import terms
from course_utils.retrieval.bm25 import BM25Index, BM25Retriever, idf

STAFF, PARTNER = Caller("revathi", "staff"), Caller("sparsh", "partner")
ENGINES = ("scipy", "rank_bm25")
ROLES = {"public": "guest", "partner": "partner", "staff": "staff"}


def doc(name, text="text", /, **metadata):
    return Document(id=name, page_content=text, metadata={"audience": "public"} | metadata)


def docs(*texts):
    return [doc(f"d:{n}", text) for n, text in enumerate(texts, start=1)]


def ids(found):
    return [document.id for document in found]


def found(texts, question, engine, k=5):
    return [id for id, _ in BM25Index(docs(*texts), engine=engine).ranking(question, caller=GUEST, k=k)]


def by_hand(texts, question, k1, b):
    """Return the positive scores by position, from the formula alone; a text without words does not count."""
    counts = {place: count for place, text in enumerate(texts) if (count := Counter(terms(text)))}
    scores = Counter()
    for term in terms(question):
        n = sum(term in count for count in counts.values())
        weight = math.log(1 + (len(counts) - n + 0.5) / (n + 0.5))
        for place, count in counts.items():
            long = 1 - b + b * count.total() * len(counts) / sum(map(Counter.total, counts.values()))
            scores[place] += weight * count[term] * (k1 + 1) / (count[term] + k1 * long)
    return {place: score for place, score in scores.items() if score > 0}


@pytest.fixture(scope="module")
def shop():
    from course_utils.shop import documents

    every = documents.load()
    return {engine: BM25Index(every, engine=engine) for engine in ENGINES}


# The cases of area bm25 in cases/public_cases.json


@pytest.mark.parametrize("engine", ENGINES)
def test_b02_a_term_in_half_of_the_documents_counts(engine):
    index = BM25Index(docs("steel kettle", "wool blanket"), engine=engine)
    ((id, score),) = index.ranking("kettle", caller=GUEST)
    assert id == "d:1" and score == pytest.approx(math.log(2))


@pytest.mark.parametrize("engine", ENGINES)
def test_b03_a_term_in_every_document_is_no_handicap(engine):
    # "a" itself is a stop word, so x stands for it
    found = BM25Index(docs("x b", "x b", "x c"), engine=engine).ranking("x", caller=GUEST)
    assert [id for id, _ in found] == ["d:1", "d:2", "d:3"] and min(score for _, score in found) > 0
    index = BM25Index(docs("x b", "x b", "x c", "c"), engine=engine)
    assert [id for id, _ in index.ranking("x", caller=GUEST)] == ["d:1", "d:2", "d:3"]


@pytest.mark.parametrize("engine", ENGINES)
def test_b04_an_empty_corpus_finds_nothing(engine):
    index = BM25Index([], engine=engine)
    assert index.search("mug", caller=GUEST) == [] and len(index) == 0
    index.add_documents([doc("a", "mug", audience="staff")])
    assert index.search("mug", caller=GUEST) == []
    index.delete(["a", "unknown"])
    assert index.search("mug", caller=STAFF) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("texts", [["", ""], ["the", "of a"], [" -- "]])
@pytest.mark.filterwarnings("error")
def test_b05_documents_without_words_find_nothing(engine, texts):
    assert found(texts, "mug", engine) == []
    assert found([*texts, "blue mug"], "mug", engine) == [f"d:{len(texts) + 1}"]


@pytest.mark.parametrize("engine", ENGINES)
def test_b06_k_may_be_larger_than_the_corpus(engine):
    assert found(["blue mug", "mug"], "mug", engine, k=5) == ["d:2", "d:1"]
    assert found(["mug"], "mug", engine, k=10**9) == ["d:1"]


@pytest.mark.parametrize("engine", ENGINES)
def test_b08_what_shares_no_term_is_not_returned(engine):
    assert found(["bolt", "screw", "nail", "nut"], "nut", engine, k=2) == ["d:4"]
    for question in ("washer", "", "the", "?!"):
        assert found(["bolt", "screw", "nail", "nut"], question, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("question", ["blue", "Blue", "(blue)", "BLUE?", "“blue”"])
def test_b09_punctuation_is_no_part_of_a_word(engine, question):
    assert found(["The mug is blue.", "The mug is red."], question, engine) == ["d:1"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "question", ["KB-2040-B", "kb2040b", "2040", "kb 2040 b", "KB_2040", "Is it the KB2040-b?"]
)
def test_b10_a_code_or_its_part_finds_it_and_not_its_neighbour(engine, question):
    texts = [
        "Pehra keypad (KB-2041-B) with keys that stay dark.",
        "Pehra keypad (KB-2040-B), backlit, long text.",
    ]
    assert found(texts, question, engine) == ["d:2"]
    assert found([*texts, "KB-2041-B KB-2041-B KB-2041-B"], question, engine) == ["d:2"]


# The score


def test_three_documents_by_hand():
    # N = 3, mean length 3; kettle in two: ln(1 + 1.5 / 2.5) = .4700; steel in one: ln(1 + 2.5 / 1.5) = .9808
    index = BM25Index(docs("steel kettle", "kettle kettle wool red", "wool blanket blue"), k1=1.5, b=0.75)
    (first, one), (second, two) = index.ranking("steel kettle", caller=GUEST)
    assert (first, second) == ("d:1", "d:2")
    assert one == pytest.approx((0.4700 + 0.9808) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 3)), abs=1e-4)
    assert two == pytest.approx(0.4700 * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 4 / 3)), abs=1e-4)


def test_no_weight_is_negative_and_rarer_is_heavier():
    weights = idf(1000, np.arange(1, 1001))
    assert weights.min() > 0 and (np.diff(weights) < 0).all()
    assert idf(1000, 5) == pytest.approx(5.204, abs=5e-4)


WORDS = ["mug", "kettle", "ERR_4471", "ERR_4472", "err 4471", "red", "the", "1.5 l"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(st.data())
@pytest.mark.filterwarnings("error")
def test_both_engines_agree_with_the_formula_and_each_other(data):
    texts, question = (
        data.draw(TEXTS),
        data.draw(st.lists(st.sampled_from(WORDS[:4]), max_size=4).map(" ".join)),
    )
    k1, b = data.draw(st.sampled_from([0.9, 1.5, 3.0])), data.draw(st.sampled_from([0, 0.4, 1]))
    audiences = data.draw(st.lists(st.sampled_from(list(ROLES)), min_size=len(texts), max_size=len(texts)))
    k, most = data.draw(st.integers(1, 14)), data.draw(st.integers(0, 12))
    every = [
        doc(f"d:{n}", text, audience=audience, n=n)
        for n, (text, audience) in enumerate(zip(texts, audiences, strict=True))
    ]
    for caller in (GUEST, PARTNER, STAFF):
        seen = [document for document in every if document.metadata["audience"] in caller.audiences]
        scores = by_hand([document.page_content for document in seen], question, k1, b)
        expected = {seen[at].id: score for at, score in scores.items() if seen[at].metadata["n"] < most}
        best = sorted(expected, key=lambda id: (-round(expected[id], 9), id))[:k]
        for engine in ENGINES:
            index = BM25Index(every, engine=engine, k1=k1, b=b)
            got = index.ranking(question, caller=caller, k=k, filter=Filter(n=Range(below=most)))
            assert [id for id, _ in got] == best
            assert [score for _, score in got] == pytest.approx([expected[id] for id in best], abs=1e-8)


def test_both_engines_agree_on_every_golden_question_of_dev(shop):
    from course_utils.shop import questions

    for question in questions.load("dev"):
        caller, filter = Caller("judge", ROLES[question.audience]), Filter.from_json(question.filter)
        fast, slow = (
            shop[engine].ranking(question.question, caller=caller, k=50, filter=filter) for engine in ENGINES
        )
        assert [id for id, _ in fast] == [id for id, _ in slow], question.id
        assert [score for _, score in fast] == pytest.approx([score for _, score in slow], abs=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_texts_come_in_order_of_their_ids_also_at_the_cut(engine):
    index = BM25Index([doc(f"d:{n}", "red mug") for n in (9, 3, 7, 1, 5)] + [doc("e", "mug")], engine=engine)
    assert [id for id, _ in index.ranking("mug", caller=GUEST, k=3)] == ["e", "d:1", "d:3"]


def test_k_finds_the_first_of_all(shop):
    index, question = shop["scipy"], "hub without power, battery inside"
    every = index.ranking(question, caller=STAFF, k=10_000)
    assert len(every) > 100
    for k in (1, 5, 50):
        assert index.ranking(question, caller=STAFF, k=k) == every[:k]


# Codes in the shop


def test_in_the_shop_no_other_code_comes_before_a_spelling_of_the_one_asked_for(shop):
    index = shop["scipy"]
    held = {id: set(terms(document.page_content)) for id, document in index.documents.items()}
    pattern = re.compile(r"\b[A-Z]{2,3}[-_]\d{4,5}(?:-[A-Z])?\b")
    codes = {code for document in index.documents.values() for code in pattern.findall(document.page_content)}
    assert len(codes) > 150
    for code in codes:
        number, whole, spaced = (
            re.search(r"\d+", code)[0],
            re.sub("[-_]", "", code),
            re.sub("[-_]", " ", code),
        )
        with_number = {id for id, words in held.items() if number in words}
        for asked in {
            code,
            code.lower(),
            code.replace("_", "-"),
            whole,
            whole.title(),
            spaced,
            spaced.lower(),
        }:
            best = [id for id, _ in index.ranking(asked, caller=STAFF, k=2_000)]
            assert whole.lower() in held[best[0]], (code, asked)
            assert set(best[: len(with_number)]) == with_number, (code, asked)


# Who sees what


@pytest.mark.parametrize("engine", ENGINES)
def test_nobody_sees_more_than_their_audiences(engine):
    index = BM25Index([doc(f"a:{audience}", audience=audience) for audience in ROLES], engine=engine)
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
    for wish in (Filter(audience="staff"), Filter(audience=["staff", "public"])):
        assert "a:staff" not in ids(index.search("text", caller=PARTNER, k=9, filter=wish))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_caller_may_not_see_changes_nothing_not_even_a_score(engine):
    public = docs(
        "ERR_4471 on the plug", "err or not, the plug is amber", "a long text about the plug and its ring"
    )
    hidden = [doc(f"s:{n}", "plug ERR_9999 amber amber", audience="staff") for n in range(5)]
    alone, both = (BM25Index(every, engine=engine) for every in (public, public + hidden))
    for question in ("plug amber", "err 9999", "ERR_4471", "ring"):
        assert both.ranking(question, caller=GUEST) == alone.ranking(question, caller=GUEST)
    assert both.ranking("err 9999", caller=STAFF)[0][0] == "s:0"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_that_leaves_the_last_ones_returns_them(engine):
    every = [doc(f"d:{n}", "mug " * (1 + n % 7), kind="plain") for n in range(300)]
    index = BM25Index([*every, doc("r:1", "a mug among much else", kind="rare")], engine=engine)
    assert "r:1" not in ids(index.search("mug", caller=GUEST, k=20))
    before = dict(index.ranking("mug", caller=GUEST, k=999))["r:1"]
    assert index.ranking("mug", caller=GUEST, k=20, filter=Filter(kind="rare")) == [("r:1", before)]


@pytest.mark.parametrize("caller", [None, "staff", {"role": "staff"}, True])
def test_who_asks_cannot_be_left_out(caller):
    index = BM25Index(docs("mug"))
    with pytest.raises(TypeError):
        index.search("mug")
    with pytest.raises(TypeError, match="caller must be a Caller"):
        index.search("mug", caller=caller)
    with pytest.raises(ValidationError):
        BM25Retriever(index=index)
    with pytest.raises(ValidationError):
        BM25Retriever(index=index, caller=caller)


# What it says, what it holds


def test_a_question_that_cannot_be_asked_says_why():
    index = BM25Index([doc("a", price=1.0, city="Pune")])
    for k in (0, -1, True, 2.0, "5", None):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            index.search("x", caller=GUEST, k=k)
    with pytest.raises(ValueError, match=r"No document has 'citty'.* Did you mean city\?"):
        index.search("x", caller=GUEST, filter=Filter(citty="Pune"))
    with pytest.raises(TypeError, match="filter must be a Filter"):
        index.search("x", caller=GUEST, filter={"city": "Pune"})
    with pytest.raises(TypeError, match="A text is needed, not list"):
        index.search(["mug"], caller=GUEST)


@pytest.mark.parametrize(
    "values", [{"k1": 0}, {"k1": -1}, {"k1": math.inf}, {"b": -0.1}, {"b": 1.1}, {"b": math.nan}]
)
def test_values_out_of_range_are_refused(values):
    with pytest.raises(ValueError, match="k1 must be above 0 and b from 0 to 1"):
        BM25Index(**values)


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="engine must be one of scipy, rank_bm25, not 'lucene'"):
        BM25Index(engine="lucene")


def test_a_document_without_id_or_audience_is_not_let_in():
    index = BM25Index(docs("mug"))
    for bad, said in (
        (Document(page_content="x"), "has no id"),
        (Document(id="a", page_content="x"), "who may see it"),
    ):
        with pytest.raises(ValueError, match=said):
            index.add_documents([bad])
    assert list(index.documents) == ["d:1"]


@pytest.mark.parametrize("engine", ENGINES)
def test_after_changes_it_is_as_if_made_anew(engine):
    index = BM25Index(docs("red mug", "steel kettle", "wool blanket"), engine=engine)
    assert [id for id, _ in index.ranking("mug", caller=GUEST)] == ["d:1"]
    assert index.add_documents([doc("d:2", "blue mug"), doc("e", "mug mug")], ids=["d:2", "e"]) == [
        "d:2",
        "e",
    ]
    assert [id for id, _ in index.ranking("mug", caller=GUEST)] == ["e", "d:1", "d:2"]
    index.delete(["d:1", "unknown"])
    anew = BM25Index([doc("d:2", "blue mug"), doc("d:3", "wool blanket"), doc("e", "mug mug")], engine=engine)
    for question in ("mug", "kettle", "red", "blue blanket"):
        assert index.ranking(question, caller=GUEST) == anew.ranking(question, caller=GUEST)
    with pytest.raises(ValueError, match="ids must be those of the documents"):
        index.add_documents([doc("f")], ids=["g"])


def test_it_follows_the_shop(shop):
    from course_utils.shop import documents

    assert not documents.sync(shop["scipy"])


def test_what_comes_back_is_a_copy_with_a_score():
    index = BM25Index([doc("a", "bead", city="Pune")])
    (found,) = index.search("bead", caller=GUEST)
    ((_, score),) = index.ranking("bead", caller=GUEST)
    assert found.metadata == {"audience": "public", "city": "Pune", "score": score} and type(score) is float
    found.metadata["city"] = "changed"
    assert index.documents["a"].metadata == {"audience": "public", "city": "Pune"}


def test_another_analyser_is_used_for_documents_and_questions():
    index = BM25Index(docs("The mug is blue.", "blue mug"), analyse=str.split)
    assert [id for id, _ in index.ranking("blue", caller=GUEST)] == ["d:2"]
    assert index.ranking("Blue", caller=GUEST) == []
    with pytest.raises(TypeError, match="analyse must return a list of terms, not one text"):
        BM25Index(docs("The mug is blue."), analyse=str.lower)


def test_a_failed_analysis_leaves_the_index_as_it_was():
    def analyse(text):
        if "broken" in text:
            raise RuntimeError("no words")
        return text.split()

    index = BM25Index(docs("mug"), analyse=analyse)
    with pytest.raises(RuntimeError):
        index.add_documents([doc("d:1", "kettle"), doc("d:2", "broken")])
    assert index.documents["d:1"].page_content == "mug"
    assert [id for id, _ in index.ranking("mug kettle", caller=GUEST)] == ["d:1"]


def test_as_a_langchain_retriever():
    index = BM25Index([
        doc("a", "red bead", price=9.5),
        doc("b", "red red cafe", price=80.0),
        doc("c", "red"),
    ])
    retriever = index.retriever(caller=GUEST, k=1, filter=Filter(price=Range(below=500)))
    (found,) = retriever.invoke("red cafe")
    assert found.id == "b" and retriever.ranking("red cafe") == [("b", found.metadata["score"])]
    assert ids(retriever.batch(["red cafe", "bead"])[1]) == ["a"]
    assert [id for id, _ in retriever.model_copy(update={"k": 9}).ranking("red")] == ["b", "a"]
    for k in (0, -3):
        with pytest.raises(ValidationError, match="greater than or equal to 1"):
            index.retriever(caller=GUEST, k=k)


def test_a_search_beside_a_writer_sees_one_state():
    def analyse(text):
        if text == "kettle":
            index.delete(["d:1"])
            index.add_documents([doc("d:3", "steel kettle")])
        return text.split()

    index = BM25Index(docs("steel kettle", "wool blanket"), analyse=analyse)
    assert ids(index.search("kettle", caller=GUEST)) == ["d:1"]
    assert ids(index.search("steel", caller=GUEST)) == ["d:3"]


@pytest.mark.parametrize("gone", ["d:1", None])
def test_delete_takes_a_list(gone):
    index = BM25Index(docs("steel kettle"))
    with pytest.raises(TypeError, match="must be a list of ids"):
        index.delete(gone)
    assert len(index) == 1
