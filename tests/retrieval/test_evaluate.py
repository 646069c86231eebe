"""evaluate, compare and why_missed: worked by hand on a few letters, and held to the shop's own index."""

from dataclasses import replace

import numpy as np
import pytest
from langchain_core.callbacks import CallbackManager
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever

from course_utils.retrieval import GUEST, Caller, DenseIndex, Filter, Range, same_rows
from course_utils.retrieval.evaluate import Run, Stages, as_asked, compare, evaluate, why_missed
from course_utils.retrieval.hybrid import HybridRetriever
from course_utils.shop.questions import Question


def ask(id, gold, pattern="concept", **more):
    return Question(id, f"{id}?", pattern, "dev", documents=tuple(gold), **more)


QUESTIONS = (
    ask("c1", ["a"]),
    ask("c2", ["b", "c"]),
    ask("i1", ["d"], "identifier"),
    Question("s1", "s1?", "aggregate", "dev", sql="SELECT 1", rows=((1,),)),
    Question("s2", "s2?", "relationship", "dev", sql="SELECT 2", rows=((2,),)),
    Question("v1", "v1?", "semi_structured", "dev", values=(("f.json", "/a", 1),)),
    Question("u1", "u1?", "unanswerable", "dev"),
)
LISTS = {"c1?": ["a", "x"], "c2?": ["x", "b", "x", "b", "y"], "i1?": []}


class Fixed:
    """A retriever that gives the list it was made with; counts how often it is asked."""

    def __init__(self, lists=LISTS):
        self.lists, self.asked = lists, []

    def ranking(self, text):
        self.asked.append(text)
        return [(id, 1.0) for id in self.lists[text]]


def run(name="fixed", lists=LISTS, questions=QUESTIONS, **more):
    return evaluate(Fixed(lists), questions, name=name, **more)


def test_the_means_by_hand():
    made = run()
    assert made.rankings == {"c1": ("a", "x"), "c2": ("x", "b", "y"), "i1": ()}
    assert made.values("recall@5") == {"c1": 1, "c2": 0.5, "i1": 0}
    assert made.values("recall@1", "concept") == {"c1": 1, "c2": 0}
    assert (made.mean(), made.mean("recall@5", "concept"), made.mean("MRR")) == (0.5, 0.75, 0.5)
    table = made.frame(timing=False)
    assert list(table.index) == ["concept", "identifier", "all"]
    assert list(table.columns) == [
        "questions", "recall@5", "recall@20", "candidate recall@50", "precision@5", "nDCG@10", "MRR",
        "calls", "tokens",
    ]  # fmt: skip
    ndcg = (1 + (1 / np.log2(3)) / (1 + 1 / np.log2(3))) / 2
    assert table.loc["concept"].tolist() == pytest.approx([2, 0.75, 0.75, 0.75, 0.2, ndcg, 0.75, 0, 0])
    assert table.loc["all"].tolist() == pytest.approx([3, 0.5, 0.5, 0.5, 2 / 15, ndcg * 2 / 3, 0.5, 0, 0])
    assert {"median ms", "p95 ms"} == set(made.frame()) - set(table)


def test_only_questions_with_gold_documents_are_scored_and_the_others_counted():
    retriever = Fixed()
    made = evaluate(retriever, QUESTIONS)
    assert made.left_out == {"answered by SQL": 2, "answered by values": 1, "unanswerable": 1}
    said = (
        "Left out, as they have no gold documents: 2 answered by SQL, 1 answered by values, 1 unanswerable."
    )
    assert said in made.notes() and said in repr(made) and said in made._repr_html_()
    assert set(retriever.asked) == {"c1?", "c2?", "i1?"}
    with pytest.raises(ValueError, match="4 of 4 questions have no gold documents: 2 answered by SQL"):
        evaluate(retriever, QUESTIONS[3:])
    with pytest.raises(ValueError, match="0 of 0"):
        evaluate(retriever, [])


def test_it_prints_as_a_table_with_its_definitions():
    # V06, V12: what a number means stands below it
    made = run(k=20)
    text, page = repr(made), made._repr_html_()
    for name in ("recall@5", "recall@20", "precision@5", "nDCG@10", "MRR"):
        assert name in text.splitlines()[0] and f"<th>{name}</th>" in page
    assert "candidate" not in text  # 20 were asked for, so nobody knows
    assert "fixed: means over questions, 20 documents asked for." in made.notes()
    assert "recall@5: gold documents among the first 5 / all gold documents of the question" in text
    assert "MRR: 1 / rank of the first gold document, 0 if there is none" in made.notes()
    assert text.splitlines()[2].split()[:3] == ["concept", "2", "0.750"]


def test_a_pattern_nobody_asked_and_a_depth_nobody_looked_at_are_errors():
    made = run(k=5)
    assert list(made.frame(timing=False)) == [
        "questions",
        "recall@5",
        "precision@5",
        "MRR",
        "calls",
        "tokens",
    ]
    with pytest.raises(ValueError, match="no question of pattern 'filter', only of concept, identifier"):
        made.mean("recall@5", "filter")
    with pytest.raises(ValueError, match="fixed was asked for 5 documents, too few for recall@6"):
        made.mean("recall@6")
    with pytest.raises(ValueError, match="no measure 'recal@5'"):
        made.mean("recal@5")
    for k in (0, True, 2.5):
        with pytest.raises(ValueError, match="k must be a whole number"):
            run(k=k)


def test_no_more_than_k_count_whatever_comes_back():
    made = run(lists={"c1?": ["x", "x", "a"], "c2?": ["x", "y", "b"], "i1?": ["d"]}, k=2)
    assert made.rankings == {"c1": ("x", "a"), "c2": ("x", "y"), "i1": ("d",)}
    assert made.values("MRR") == {"c1": 0.5, "c2": 0, "i1": 1}


def test_the_averages_and_the_f1_of_averages():
    made = run()
    found = made.averages(k=5)
    p, r = (1 / 5 + 1 / 5 + 0) / 3, (1 + 1 / 2 + 0) / 3
    assert found.pop("avg_latency") == pytest.approx(np.mean([a.milliseconds for a in made.answers]))
    assert found == pytest.approx({"avg_precision": p, "avg_recall": r, "f1": 2 * p * r / (p + r)})
    assert made.mean("F1@5") == pytest.approx((2 / 6 + 2 / 7) / 3) != found["f1"]
    nothing = run(lists=dict.fromkeys(LISTS, []))
    assert nothing.averages()["f1"] == 0


def test_latency_is_of_each_question_and_percentiles_are_values_that_occurred():
    answers = run().answers
    made = Run("x", 50, tuple(replace(answers[0], milliseconds=float(ms)) for ms in range(1, 41)))
    assert (made.percentile(50), made.percentile(95)) == (20, 38)
    assert made.frame()["p95 ms"].tolist() == [38, 38]
    assert all(answer.milliseconds >= 0 for answer in answers)


def test_the_first_question_warms_up_and_is_counted_once():
    retriever = Fixed()
    made = evaluate(retriever, QUESTIONS)
    assert retriever.asked == ["c1?", "c1?", "c2?", "i1?"] and len(made.answers) == 3
    retriever = Fixed()
    evaluate(retriever, QUESTIONS, warm_up=False)
    assert retriever.asked == ["c1?", "c2?", "i1?"]


# who is asked, and for how much


def doc(id, text="text", **metadata):
    return Document(id=id, page_content=text, metadata={"audience": "public"} | metadata)


class Letters:
    """Embeddings that count letters."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [1.0 + text.lower().count(letter) for letter in "abcdefgh"]


@pytest.fixture
def index():
    more = [doc(f"d{n:02}", "hhhh" * n) for n in range(70)]
    secret = doc("secret", "aaaa", audience="staff", price=5)
    return DenseIndex([doc("a", "aaa", price=9), doc("b", "b", price=1), secret, *more], Letters())


ASKED = (
    replace(ask("q1", ["a"]), question="aaaa"),
    replace(ask("q2", ["secret", "a"], audience="staff"), question="aaaa"),
    replace(ask("q3", ["b"], "filter", filter={"price": {"below": 5}}), question="aaaa"),
)


def test_a_factory_asks_for_the_caller_and_with_the_filter_of_each_question(index):
    roles = {"public": "guest", "staff": "staff"}
    made = evaluate(
        lambda q: index.retriever(
            caller=Caller("t", roles[q.audience]), filter=Filter.from_json(q.filter) if q.filter else None
        ),
        ASKED,
    )
    assert [made.rankings[id][:2] for id in ("q1", "q2")] == [("a", "d00"), ("secret", "a")]
    assert made.rankings["q3"] == ("b",) and made.name == "retriever"
    # the same, made by the course: of the index itself, and as a factory for anything built on it
    for same in (index, as_asked(index)):
        assert evaluate(same, ASKED).rankings == made.rankings
    assert evaluate(index, ASKED).name == "DenseIndex"


def test_a_retriever_is_asked_for_k_and_stays_as_it_was(index):
    retriever = index.retriever(caller=GUEST, k=3)
    made = evaluate(retriever, ASKED, k=60)
    assert {len(ids) for ids in made.rankings.values()} == {60} and retriever.k == 3
    assert made.name == "DenseRetriever"
    assert made.rankings["q1"] == tuple(id for id, _ in index.ranking("aaaa", caller=GUEST, k=60))


def test_a_hybrid_is_asked_for_more_without_another_constant_of_fusion(index):
    hybrid = HybridRetriever([index.retriever(caller=GUEST), index.retriever(caller=GUEST)])
    made = evaluate(hybrid, ASKED[:1], k=30)
    assert len(made.rankings["q1"]) == 30 and (hybrid.k, hybrid.limit) == (60, 5)
    assert made.rankings["q1"] == evaluate(index, ASKED[:1], k=30).rankings["q1"]


def test_several_indexes_become_one_retriever_for_the_caller_and_the_filter(index):
    seen = []

    def build(retrievers, **settings):
        seen.append({name: (one.caller.role, one.filter) for name, one in retrievers.items()} | settings)
        return HybridRetriever(retrievers, **settings)

    made = evaluate(as_asked({"x": index, "y": index}, build, k=5), ASKED, k=30, warm_up=False)
    narrow = Filter.from_json({"price": {"below": 5}})
    assert seen == [
        {"x": (role, filter), "y": (role, filter), "k": 5}
        for role, filter in (("guest", None), ("staff", None), ("guest", narrow))
    ]
    assert made.rankings == evaluate(index, ASKED, k=30).rankings


def test_another_text_may_be_asked():
    fixed = Fixed({"c1, whole": ["a"]})
    made = evaluate(fixed, QUESTIONS[:1], warm_up=False, text=lambda question: f"{question.id}, whole")
    assert fixed.asked == ["c1, whole"] and made.mean() == 1


def test_any_langchain_retriever_whose_documents_have_ids():
    class Plain(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [doc("x"), doc("a"), Document(page_content="no id")] if query == "c1?" else [doc("b")]

    found = evaluate(Plain(), QUESTIONS[1:3]).rankings
    assert found == {"c2": ("b",), "i1": ("b",)}
    with pytest.raises(TypeError, match="holds ids, not None"):
        evaluate(Plain(), QUESTIONS[:1])
    with pytest.raises(TypeError, match="A retriever is needed, or a function question -> retriever, not 5"):
        evaluate(5, QUESTIONS)


def test_questions_that_come_twice_are_refused():
    with pytest.raises(ValueError, match="Questions come twice: c1"):
        run(questions=(QUESTIONS[0], *QUESTIONS))


# what fails


class Broken(Fixed):
    def ranking(self, text):
        if text == "c2?":
            raise TimeoutError("no answer in 5 s")
        return super().ranking(text)


def test_a_question_that_fails_stops_the_run_and_is_named():
    with pytest.raises(TimeoutError) as caught:
        evaluate(Broken(), QUESTIONS, name="broken")
    assert caught.value.__notes__ == ["This was broken, asked c2: c2?"]


def test_v04_or_it_counts_as_0_and_the_run_says_so():
    lists = {"c1?": ["a"], "c2?": ["b"], "i1?": ["x"]}
    made = evaluate(Broken(lists), QUESTIONS, on_error="zero")
    assert made.values("recall@5") == {"c1": 1, "c2": 0, "i1": 0}
    assert made.mean("recall@5") == pytest.approx(1 / 3)  # not 1/2, the mean without it
    assert "1 of 3 failed and count as 0; the first is c2: TimeoutError: no answer in 5 s" in made.notes()
    assert not [line for line in run().notes() if "failed" in line]


def test_half_a_hybrid_is_not_measured(index):
    class Down(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            raise ConnectionError("down")

    hybrid = HybridRetriever([index.retriever(caller=GUEST), Down()])
    with pytest.warns(RuntimeWarning, match="Down failed"):
        assert hybrid.ranking("aaaa")
    with pytest.raises(RuntimeWarning, match="Down failed"):
        evaluate(hybrid, ASKED[:1])


# what it costs


class Asking(Fixed):
    """A retriever that calls a chat model, once for each letter of the question."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def ranking(self, text):
        for letter in text:
            self.model.invoke(letter)
        return super().ranking(text)


def test_calls_and_tokens_are_those_the_models_report():
    used = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    model = GenericFakeChatModel(messages=iter(lambda: AIMessage("x", usage_metadata=used), None))
    made = evaluate(Asking(model), QUESTIONS)
    assert CallbackManager.configure().handlers == []  # nothing is counted any more
    assert [(a.calls, a.tokens) for a in made.answers] == [(3, 30)] * 3  # the warm-up is no one's
    assert made.frame()[["calls", "tokens"]].loc["all"].tolist() == [3, 30]
    silent = GenericFakeChatModel(messages=iter(lambda: AIMessage("x"), None))
    made = evaluate(Asking(silent), QUESTIONS)
    assert [(a.calls, a.tokens) for a in made.answers] == [(3, None)] * 3
    assert repr(made).splitlines()[2].split()[-2:] == ["3.0", "-"]  # unknown is not 0
    assert repr(run()).splitlines()[2].split()[-2:] == ["0.0", "0"]


def test_a_call_that_fails_is_a_call():
    model = GenericFakeChatModel(messages=iter([]))
    made = evaluate(Asking(model), QUESTIONS, on_error="zero")
    assert [(a.calls, a.tokens) for a in made.answers] == [(1, None)] * 3


# gold that does not fit


def test_v07_gold_may_be_replaced_and_the_run_says_so():
    made = run(gold={"c1": ["x"], "s1": ["a"]}, lists=LISTS | {"s1?": ["a"]})
    assert made.values("MRR") == {"c1": 0.5, "c2": 0.5, "i1": 0, "s1": 1}
    assert "Gold replaced for: c1, s1." in made.notes()
    assert made.left_out["answered by SQL"] == 1
    assert run(gold={"c1": []}).left_out["without any gold"] == 1  # a bad question, left out and counted
    with pytest.raises(ValueError, match="gold is given for questions that are not asked: zz"):
        run(gold={"zz": ["a"]})
    with pytest.raises(TypeError, match="The gold of c1 is a text"):
        run(gold={"c1": "article:abc"})  # else a set of letters, and 0 without a word


def test_v08_rows_are_a_multiset_unless_the_question_asks_for_an_order():
    gold = [("Pune", 3), ("Goa", 1), ("Goa", 1)]
    assert same_rows([(1, "Goa"), (3, "Pune"), (1, "Goa")], gold)
    assert not same_rows([(1, "Goa"), (3, "Pune")], gold)
    assert not same_rows(gold[::-1], gold, ordered=True)


def test_v10_gold_of_another_version_of_the_documents_stops_the_run():
    said = r"gold of 2 questions is not in the collection \(c2: c; i1: d\).*other documents"
    with pytest.raises(ValueError, match=said):
        run(collection={"a", "b", "x", "y"})
    held = {id: doc(id) for id in "abcdxy"}
    assert run(collection=held).rankings == run().rankings
    assert run(collection={"a", "b", "x"}, gold={"c2": ["b"], "i1": ["x"]}).replaced == ("c2", "i1")


def test_v11_questions_and_gold_that_are_paired_wrongly_are_refused():
    # as Cranfield: 225 topics numbered 1, 2, 4, 8 … 365, judged as 1 to 225
    class Topic:
        pattern, sql, values = "trec", None, ()

        def __init__(self, id, number, judged):
            self.id, self.question, self.documents = id, f"about {number}", judged.get(number, ())

    numbers = np.linspace(1, 365, 225).astype(int).tolist()
    judged = {n: (f"about {numbers[n - 1]}",) for n in range(1, 226)}

    class Echo:
        def ranking(self, text):
            return [(text, 1.0)]

    by_number = [Topic(str(n), n, judged) for n in numbers]
    by_position = [Topic(str(n), n, {n: judged[place]}) for place, n in enumerate(numbers, start=1)]
    with pytest.raises(ValueError, match="86 of 225 questions have no gold documents: 86 without any gold"):
        evaluate(Echo(), by_number)
    assert evaluate(Echo(), by_position).mean("recall@1") == 1
    few = [*by_position[:80], *(Topic(f"{n}", n, {}) for n in range(400, 420))]
    assert evaluate(Echo(), few).left_out == {"without any gold": 20}
    with pytest.raises(ValueError, match="21 of 101"):
        evaluate(Echo(), [*few, Topic("420", 420, {})])


# compare

BETTER = {"c1?": ["a"], "c2?": ["b", "c"], "i1?": ["d"]}


def test_wins_ties_and_losses_by_hand():
    one, two = run("one"), run("two", {"c1?": ["x", "a"], "c2?": ["x", "b"], "i1?": ["d"]})
    (duel,) = compare([one, two], "MRR").duels
    assert (duel.run, duel.against, duel.wins, duel.ties, duel.losses) == (
        "two",
        "one",
        ("i1",),
        ("c2",),
        ("c1",),
    )
    assert duel.means == pytest.approx((2 / 3, 1 / 2))
    assert duel.p == 1.0  # differences 1 and -1/2: two of four patterns of signs are as far, two farther
    concept = compare([one, two], "MRR", pattern="concept")[0]
    assert (concept.wins, concept.ties, concept.losses, concept.p) == ((), ("c2",), ("c1",), 1.0)


def test_every_pair_is_compared_the_later_against_the_earlier():
    runs = [run("one"), run("two", BETTER), run("three", BETTER)]
    found = compare(runs, "recall@5")
    assert [(d.run, d.against, len(d.wins)) for d in found.duels] == [
        ("two", "one", 2),
        ("three", "one", 2),
        ("three", "two", 0),
    ]
    assert found[2].p == 1 and found[0].p == 0.5 and len(found) == 3
    text = repr(found)
    assert "recall@5: gold documents among the first 5" in text and "Each p is of one pair alone" in text
    assert text.splitlines()[2].split() == ["two", "one", "1.000", "0.500", "0.500", "2", "1", "0", "0.500"]
    assert "<td>0.500</td>" in found._repr_html_()


def test_the_test_has_a_fixed_seed():
    many = [ask(f"q{n}", ["a"]) for n in range(60)]
    dice = np.random.default_rng(4)
    lists = [{q.question: (["a"] if dice.random() < share else []) for q in many} for share in (0.5, 0.6)]
    runs = [run(str(n), one, many) for n, one in enumerate(lists)]
    p = compare(runs, "recall@5")[0].p
    assert 0.001 < p < 0.5 and p == compare(runs, "recall@5")[0].p != compare(runs, "recall@5", seed=1)[0].p
    sure = compare([
        run("none", {q.question: [] for q in many}, many),
        run("all", {q.question: ["a"] for q in many}, many),
    ])
    assert sure[0].p < 0.001 and repr(sure).splitlines()[2].endswith("<.001")


def test_runs_that_cannot_be_compared_say_why():
    with pytest.raises(ValueError, match="two or more runs with different names, not fixed"):
        compare([run()])
    with pytest.raises(ValueError, match="different names, not fixed, fixed"):
        compare([run(), run()])
    with pytest.raises(
        ValueError, match="one and two were not asked the same questions with the same gold: c1"
    ):
        compare([run("one"), run("two", questions=QUESTIONS[1:])])
    with pytest.raises(ValueError, match="the same gold: c2"):
        compare([run("one"), run("two", gold={"c2": ["b"]})])


# why_missed

STAGES = Stages(
    collection=set("abcdefgh"),
    allowed=set("abcdefg"),
    candidates=["a", "b", "c", "d", "e", "f"],
    reranked=["f", "b", "c", "d", "a"],
)


@pytest.mark.parametrize(
    ("id", "stage", "why"),
    [
        ("zz", "not in the collection", "so no search can find it"),
        ("h", "filtered out", "before any ranking"),
        ("g", "not among the candidates", "of which there are 6"),
        ("a", "cut by the reranker", "rank 1 before it, rank 5 after, where 2 are shown"),
        ("e", "cut by the reranker", "rank 5 before it, none after, where 2 are shown"),
        ("f", "found", "rank 1"),
        ("b", "found", "rank 2"),
    ],
)
def test_where_a_gold_document_is_lost(id, stage, why):
    (fate,) = why_missed(ask("q", [id]), STAGES, k=2)
    assert (fate.document, fate.stage, fate.why) == (id, stage, why)
    assert str(fate) == f"{id}: {stage}, {why}"


def test_without_a_reranker_it_is_ranked_below_k():
    plain = replace(STAGES, reranked=None)
    assert [(f.stage, f.why) for f in why_missed(ask("q", ["c", "b"]), plain, k=2)] == [
        ("ranked below k", "rank 3 where 2 are shown"),
        ("found", "rank 2"),
    ]
    # What is not known is put down to the next stage.
    assert why_missed(ask("q", ["h"]), Stages(candidates=["a"]))[0].stage == "not among the candidates"
    # A reranker that keeps nothing is not the same as none.
    assert why_missed(ask("q", ["a"]), Stages(["a"], reranked=[]))[0].stage == "cut by the reranker"
    with pytest.raises(ValueError, match="s1 has no gold documents: answered by SQL"):
        why_missed(QUESTIONS[3], plain)


def test_the_stages_of_an_index(index):
    question = replace(ask("q", ["a", "secret", "b", "d01", "zz"]), question="aaaa")
    stages = {fate.document: f"{fate.stage}, {fate.why}" for fate in why_missed(question, index)}
    assert stages == {
        "a": "found, rank 1",
        "secret": "filtered out, it is for the audience staff, and the caller is a guest",
        "b": "found, rank 3",
        "d01": "found, rank 4",
        "zz": "not in the collection, so no search can find it",
    }
    cheap = index.retriever(caller=Caller("t", "staff"), filter=Filter(price=Range(below=6)))
    found = why_missed(question, cheap, k=1)
    assert [fate.stage for fate in found] == [
        "filtered out",
        "found",
        "ranked below k",
        "filtered out",
        "not in the collection",
    ]
    assert "by Filter(price" in found[0].why
    far = replace(question, documents=("d69", "d40"))
    assert [fate.stage for fate in why_missed(far, index)] == ["not among the candidates", "ranked below k"]


class Upside(BaseRetriever):
    """A reranker that turns the candidates round, built as the course's own."""

    base: BaseRetriever
    reranker: str = "turned round"
    candidates: int = 6
    k: int = 2

    def ranking(self, question):
        return self.base.model_copy(update={"k": self.candidates}).ranking(question)[::-1][: self.k]

    def _get_relevant_documents(self, query, *, run_manager):
        raise NotImplementedError


def test_the_stages_of_a_reranked_search_and_of_a_hybrid(index):
    question = replace(ask("q", ["a", "d03", "d30", "secret"]), question="aaaa")
    found = why_missed(question, lambda q: Upside(base=as_asked(index)(q)), k=2)
    assert [(fate.stage, fate.why) for fate in found] == [
        ("cut by the reranker", "rank 1 before it, rank 6 after, where 2 are shown"),
        ("found", "rank 1"),
        ("not among the candidates", "of which there are 6"),
        ("filtered out", "it is for the audience staff, and the caller is a guest"),
    ]
    hybrid = HybridRetriever([
        index.retriever(caller=GUEST),
        index.retriever(caller=GUEST, filter=Filter(price=9)),
    ])
    found = {fate.document: fate.stage for fate in why_missed(question, hybrid, k=1)}
    assert found == {"a": "found", "d03": "ranked below k", "d30": "ranked below k", "secret": "filtered out"}


def test_the_rankings_of_runs_are_stages():
    question = ask("c2", ["b", "c"])
    wide, narrow = run("wide", BETTER), run("narrow", {"c1?": [], "c2?": ["c"], "i1?": []})
    stages = Stages(candidates=wide.rankings["c2"], reranked=narrow.rankings["c2"])
    assert [fate.stage for fate in why_missed(question, stages)] == ["cut by the reranker", "found"]


def test_the_shops_own_questions_end_to_end():
    from course_utils.models import embedder
    from course_utils.shop import documents, questions

    every, asked = documents.load(), questions.load("dev")
    index = DenseIndex(every, embedder())
    made = evaluate(index, asked, name="dense", collection=index.documents)
    assert len(made.answers) + sum(made.left_out.values()) == len(asked)
    assert {answer.question.id for answer in made.answers} == {q.id for q in asked if q.documents}
    assert 0.3 < made.mean("recall@5") < made.mean("recall@50") < 1  # neither all nor nothing
    for answer in made.answers:
        fates = why_missed(answer.question, index, k=5)
        found = sum(fate.stage == "found" for fate in fates)
        assert found / len(fates) == pytest.approx(made.values("recall@5")[answer.question.id])
        assert not [fate for fate in fates if fate.stage in {"not in the collection", "filtered out"}]
