"""The measures: worked by hand, and equal to ir-measures (trec_eval) on random runs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course_utils.retrieval import metrics
from course_utils.retrieval.metrics import measure, randomisation_test

DEPTHS = (1, 3, 5, 10, 50)
NAMES = [f"{name}@{k}" for name in ("recall", "precision", "nDCG", "AP") for k in DEPTHS] + ["AP", "MRR"]
THEIRS = {"recall": "R", "precision": "P", "MRR": "RR"}
IDS = [f"d{number:02}" for number in range(12)]


def turned(id):
    """trec_eval puts the larger name first among ties, the course the smaller one: d03 becomes e96."""
    return f"e{99 - int(id[1:]):02}"


@st.composite
def a_question(draw):
    """(id, score) as they come, with ties and ids listed twice, or none; gold, of which some is nowhere."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(IDS), st.integers(0, 4)), max_size=25))
    gold = draw(st.sets(st.sampled_from([*IDS, "d90", "d91"]), min_size=1, max_size=9))
    return pairs, gold


@settings(deadline=None, max_examples=60)
@given(st.lists(a_question(), min_size=1, max_size=6))
@example([([], {"d01"})])  # no results
@example([([("d01", 2), ("d02", 2), ("d01", 1)], {"d02", "d90"})])  # a tie, a duplicate, gold that is nowhere
def test_the_values_are_those_of_ir_measures(questions):
    import ir_measures

    asked = {name: ir_measures.parse_measure(_theirs(name)) for name in NAMES}
    qrels = [ir_measures.Qrel(f"q{n}", turned(id), 1) for n, (_, gold) in enumerate(questions) for id in gold]
    # Of a document that comes twice ir-measures keeps the last score: the best one must come last.
    run = [
        ir_measures.ScoredDoc(f"q{n}", turned(id), score)
        for n, (pairs, _) in enumerate(questions)
        for id, score in sorted(pairs, key=lambda pair: pair[1])
    ]
    run.append(ir_measures.ScoredDoc("without gold", turned("d01"), 1))
    engine = ir_measures.pytrec_eval.evaluator(asked.values(), qrels)
    found = {(one.query_id, one.measure): one.value for one in engine.iter_calc(run)}
    means = engine.calc_aggregate(run)
    rankings = [
        [id for id, _ in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))] for pairs, _ in questions
    ]
    for name, one in asked.items():
        values = [measure(name).of(ids, gold) for ids, (_, gold) in zip(rankings, questions, strict=True)]
        for n, value in enumerate(values):
            assert value == pytest.approx(found[f"q{n}", one], abs=1e-9), (name, questions[n])
        assert sum(values) / len(values) == pytest.approx(means[one], abs=1e-9), name


def _theirs(name):
    word, _, k = name.partition("@")
    return THEIRS.get(word, word) + (f"@{k}" if k else "")


@given(st.lists(st.sampled_from(IDS), min_size=1, max_size=20, unique=True), a_question(), st.integers(1, 20))
def test_f1_is_that_of_ir_measures_on_the_first_k(ids, question, k):
    # SetF divides by what came back: the same, where k documents did.
    import ir_measures

    first, gold = ids[:k], question[1]
    run = {"q": {id: -rank for rank, id in enumerate(first)}}
    theirs = ir_measures.pytrec_eval.calc_aggregate([ir_measures.SetF], {"q": dict.fromkeys(gold, 1)}, run)
    assert metrics.f1(ids, gold, len(first)) == pytest.approx(theirs[ir_measures.SetF], abs=1e-9)


RANKING, GOLD = ["x", "a", "y", "b", "z"], {"a", "b", "c"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recall@1", 0),
        ("recall@2", 1 / 3),
        ("recall@5", 2 / 3),
        ("candidate recall@50", 2 / 3),
        ("precision@2", 1 / 2),
        ("precision@5", 2 / 5),
        ("precision@10", 2 / 10),  # five empty places
        ("F1@2", 2 / 5),  # of 1/2 and 1/3
        ("F1@5", 1 / 2),  # of 2/5 and 2/3
        ("nDCG@2", (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        ("nDCG@5", (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2)),
        ("MRR", 1 / 2),
        ("mrr@1", 0),
        ("AP", (1 / 2 + 2 / 4) / 3),
        ("ap@2", (1 / 2) / 3),
    ],
)
def test_by_hand(name, value):
    assert measure(name).of(RANKING, GOLD) == pytest.approx(value, abs=1e-12)


def test_f1_is_the_harmonic_mean():
    p, r = metrics.precision(RANKING, GOLD, 5), metrics.recall(RANKING, GOLD, 5)
    assert metrics.f1(RANKING, GOLD, 5) == pytest.approx(2 * p * r / (p + r), abs=1e-12)
    assert metrics.f1(["x"], GOLD, 5) == 0  # where the harmonic mean would divide by 0


def test_v06_recall_and_reciprocal_rank_part_where_one_of_three_is_first():
    first = ["a", "x", "y"]
    assert metrics.recall(first, GOLD, 1) == pytest.approx(0.333, abs=1e-3)
    assert metrics.reciprocal_rank(first, GOLD, 1) == 1.0
    assert (
        measure("recall@1").meaning == "gold documents among the first 1 / all gold documents of the question"
    )
    assert measure("MRR").meaning == "1 / rank of the first gold document, 0 if there is none"


def test_v12_average_precision_is_over_the_gold_documents_and_says_so():
    ranking, gold = ["x", "a"], {"a"}  # relevance [0, 1]
    assert metrics.precision(ranking, gold, 2) == 0.5
    assert metrics.average_precision(ranking, gold) == 0.5  # over the ranks it would be 0.25
    assert measure("AP").meaning == "precision@r summed over the ranks r of gold documents / all gold ones"


@pytest.mark.parametrize("name", [*NAMES, "F1@1", "F1@5"])
def test_a_duplicate_counts_once_and_frees_its_place(name):
    of = measure(name).of
    twice = ["x", "x", "a", "a", "a", "y", "x", "b", "z", "b"]
    assert of(twice, GOLD) == of(RANKING, GOLD)
    assert of(["a", "a", "a"], {"a", "b", "c"}) == of(["a"], {"a", "b", "c"})
    assert of(RANKING, ["a", "b", "c", "c", "a"]) == of(RANKING, GOLD)  # gold as a list with duplicates
    assert 0 <= of(["a"] * 9, {"a"}) <= 1


@pytest.mark.parametrize("name", [*NAMES, "F1@5"])
def test_no_results_are_0_and_no_gold_is_an_error(name):
    of = measure(name).of
    assert of([], GOLD) == of((), GOLD) == of(["x"], GOLD) == 0.0
    for nothing in ([], set(), ()):
        with pytest.raises(ValueError, match="There is no gold document"):
            of(RANKING, nothing)


def test_all_gold_first_is_1():
    for k in DEPTHS:
        assert metrics.ndcg(["c", "a", "b", "x"], GOLD, k) == pytest.approx(1, abs=1e-12)
    assert metrics.average_precision(["c", "a", "b", "x"], GOLD) == 1


def test_the_arguments_are_left_as_they_were():
    ranking, gold = ["a", "a", "b"], ["b", "b"]
    for name in (*NAMES, "F1@5"):
        measure(name).of(ranking, gold)
    assert (ranking, gold) == (["a", "a", "b"], ["b", "b"])


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "5"])
def test_k_is_a_whole_number_from_1(k):
    for function in (metrics.recall, metrics.precision, metrics.f1, metrics.ndcg, metrics.reciprocal_rank):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            function(RANKING, GOLD, k)


@pytest.mark.parametrize(
    ("ranking", "gold", "said"),
    [
        ([("a", 0.9), ("b", 0.8)], GOLD, r"holds ids, not \('a', 0.9\).*give \[id for id, score in pairs\]"),
        ("abc", GOLD, "is a list of ids, not the text 'abc'"),
        (["a", None], GOLD, "holds ids, not None"),
        (RANKING, "a", r'is a set of ids, \{"a"\}'),
    ],
)
def test_what_would_score_0_without_a_word_is_refused(ranking, gold, said):
    with pytest.raises(TypeError, match=said):
        metrics.recall(ranking, gold, 5)


@pytest.mark.parametrize(
    "name", ["recall", "precision", "hits@5", "recall@0", "recall@", "MRR@x", "", "AP10"]
)
def test_an_unknown_measure_lists_the_known_ones(name):
    with pytest.raises(ValueError, match="only recall@k, precision@k, F1@k, nDCG@k, MRR, AP"):
        measure(name)


def test_a_measure_has_one_name():
    assert [measure(name).name for name in ("candidate recall@50", "NDCG@10", "f1@5", "mrr")] == [
        "recall@50",
        "nDCG@10",
        "F1@5",
        "MRR",
    ]
    assert (measure("nDCG@10").cutoff, measure("MRR").cutoff) == (10, None)


def test_the_randomisation_test_by_hand():
    # +++ is one pattern of eight, --- as far from 0: 2 / 8
    assert randomisation_test([1, 1, 1]) == 0.25
    # sums of 2, 1, -1 with all signs: 4 2 2 0 0 -2 -2 -4; six are as far from 0 as 2
    assert randomisation_test([2, 1, -1]) == 0.75
    assert randomisation_test([*[0] * 20, 1, 1, 1]) == 0.25  # ties say nothing, and three are tried out
    assert randomisation_test([]) == randomisation_test([0.0, 0.0]) == 1.0
    assert randomisation_test([0.5, -0.5]) == 1.0


@pytest.mark.parametrize("size", [5, 12])
def test_the_exact_p_is_that_of_scipy(size):
    from scipy.stats import permutation_test

    differences = np.random.default_rng(size).normal(0.4, 1, size).round(1)
    theirs = permutation_test(
        (differences,), lambda x, axis: np.mean(x, axis=axis), permutation_type="samples", vectorized=True
    )
    assert randomisation_test(differences) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_the_drawn_p_is_near_the_exact_one_and_the_same_each_time():
    differences = np.random.default_rng(8).normal(0.3, 1, 16).round(1)
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product((-1, 1), repeat=16)]
    exact = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9)
    assert exact > 0.02  # or nearness would say little
    drawn = randomisation_test(differences)
    assert drawn == pytest.approx(exact, abs=0.01)
    assert drawn == randomisation_test(differences) != randomisation_test(differences, seed=1)
    assert randomisation_test(differences) == randomisation_test(-differences)
    assert randomisation_test(np.ones(60)) == 1 / 20_001  # never 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_v04_a_score_that_is_no_number_is_not_paired_silently(bad):
    with pytest.raises(ValueError, match="not a number"):
        randomisation_test([1.0, bad, 0.5])
