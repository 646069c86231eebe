"""Fusion by ranks and by scores: values worked by hand, what is refused, and what must never matter."""

import doctest
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.retrieval import fusion
from course_utils.retrieval.fusion import mix_scores, reciprocal_rank_fusion

BOTH = pytest.mark.parametrize("fuse", [reciprocal_rank_fusion, mix_scores])
LISTS = [[("a", 3.0), ("b", 2.0)], [("c", 9.0), ("a", 4.0)]]


def ids(found):
    return [id for id, _ in found]


def six(found):
    return [(id, round(score, 6)) for id, score in found]


def test_h01_weights_count():
    lists = [["a", "b"], ["c", "a"]]
    assert six(reciprocal_rank_fusion(lists, weights=(0.7, 0.3))) == [
        ("a", 0.016314),
        ("b", 0.011290),
        ("c", 0.004918),
    ]
    # with weight 0 the second list is left out, c with it
    assert six(reciprocal_rank_fusion(lists, weights=[1, 0])) == [("a", 0.016393), ("b", 0.016129)]


def test_h02_ranks_start_at_one_and_what_is_missing_gets_nothing():
    found = reciprocal_rank_fusion([["X", "a", "Y"], ["b", "c", "Y"]], k=60)
    assert found == [("Y", 2 / 63), ("X", 1 / 61), ("b", 1 / 61), ("a", 1 / 62), ("c", 1 / 62)]
    assert round(found[0][1], 6) == 0.031746


def test_h04_the_parts_of_a_record_count_once():
    # Parts are documents of their own; who wants records gives their ids, and each list counts one once.
    lists = [["A#1", "A#2", "A#3", "B"], ["B"]]
    records = [[id.partition("#")[0] for id in ranking] for ranking in lists]
    assert reciprocal_rank_fusion(records) == [("B", 1 / 62 + 1 / 61), ("A", 1 / 61)]
    assert ids(reciprocal_rank_fusion(lists)) == ["B", "A#1", "A#2", "A#3"]


def test_a_duplicate_keeps_its_best_rank_and_those_below_move_up():
    assert reciprocal_rank_fusion([["a", "b", "a", "a", "c"]]) == reciprocal_rank_fusion([["a", "b", "c"]])
    repeated = [("a", 3.0), ("b", 2.0), ("a", 1.0)]
    assert mix_scores([repeated]) == mix_scores([repeated[:2]]) == mix_scores([repeated[::-1]])


def test_k_says_how_much_the_top_stands_out():
    lists = [["a", "b", "c"], ["x", "b", "y"]]
    assert reciprocal_rank_fusion(lists, k=0.5, limit=1) == [("b", 2 / 2.5)]
    assert reciprocal_rank_fusion([["a", "b", "c"], ["x", "y", "z", "c"]], k=0.5, limit=1)[0][0] == "a"
    assert reciprocal_rank_fusion([["a", "b", "c"], ["x", "y", "z", "c"]], k=60, limit=1)[0][0] == "c"


def test_z_scores_by_hand():
    # list 1: mean 4, deviation 4, so a +2 and the others -.5; list 2: mean 15, deviation 5, so c +1, f -1
    lists = [[("a", 12), ("b", 2), ("c", 2), ("d", 2), ("e", 2)], [("c", 20.0), ("f", 10.0)]]
    # missing counts as the lowest: -1 for a, b, d and e in list 2, -.5 for f in list 1
    assert mix_scores(lists) == [("a", 1), ("c", 0.5), ("b", -1.5), ("d", -1.5), ("e", -1.5), ("f", -1.5)]
    weighted = mix_scores(lists, weights=[1, 4], limit=3)
    assert weighted == [("c", 3.5), ("a", -2), ("b", -4.5)]
    assert mix_scores(lists, weights=[0, 1]) == [("c", 1), ("f", -1)]


def test_scores_of_any_size_mix_as_their_shape_does():
    small, large = [[(id, factor * score) for id, score in LISTS[0]] for factor in (1e-9, 1e300)]
    assert ids(mix_scores([small, LISTS[1]])) == ids(mix_scores([large, LISTS[1]])) == ids(mix_scores(LISTS))
    assert dict(mix_scores([large]))["a"] == pytest.approx(1)
    moved = [(id, score - 100) for id, score in LISTS[0]]
    assert dict(mix_scores([moved, LISTS[1]])) == pytest.approx(dict(mix_scores(LISTS)))


def test_a_list_without_spread_says_nothing():
    for flat in (
        [("z", 8.0)],
        [("z", 8.0), ("y", 8.0)],
        [("z", 0.1 + 0.2), ("y", 0.3)],
        [("z", 0), ("y", 0)],
    ):
        found = mix_scores([flat, LISTS[0]])
        assert found[0] == ("a", 1) and {score for _, score in found[1:]} == {-1}


def test_ties_go_by_id_even_if_rounding_tells_them_apart():
    filler = [f"f{number:02}" for number in range(40)]
    first = [*filler[:3], "z", *filler[4:]]  # z is fourth, a 36th: .4 / 64 = .6 / 96 on paper only
    second = [*filler[:35], "a"]
    assert 0.4 / 64 > 0.6 / 96
    found = reciprocal_rank_fusion([first, second], weights=[0.4, 0.6])
    pair = [(id, score) for id, score in found if id in {"a", "z"}]
    assert pair == [("a", 0.4 / 64), ("z", 0.4 / 64)]


def test_a_tiny_weight_still_decides_between_equals():
    assert ids(reciprocal_rank_fusion([["a"], ["b"], ["b"], ["a"]], weights=[1, 1, 1e-11, 0])) == ["b", "a"]


@BOTH
def test_nothing_in_is_nothing_out(fuse):
    assert (
        fuse([])
        == fuse([[]])
        == fuse([[], []])
        == fuse([[], []], weights=[1, 2])
        == fuse([], weights=[])
        == []
    )
    assert fuse([LISTS[0], []]) == fuse([LISTS[0]])
    assert fuse(iter([iter(LISTS[0])]), weights=iter([1])) == fuse([LISTS[0]])


@BOTH
@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1], "There are 2 rankings and 1 weights"),
        ([], "There are 2 rankings and 0 weights"),
        ([1, 1, 1], "There are 2 rankings and 3 weights"),
        ([1, -0.1], r"weights\[1\] must be a finite number of at least 0, not -0.1"),
        ([math.nan, 1], r"weights\[0\] must be a finite number.*nan"),
        ([1, math.inf], r"weights\[1\] must be a finite number.*inf"),
        (["1", 1], r"weights\[0\] must be a finite number.*'1'"),
        ([0, 0.0], "All weights are 0"),
    ],
)
def test_weights_that_cannot_be_used(fuse, weights, said):
    with pytest.raises(ValueError, match=said):
        fuse(LISTS, weights=weights)


@pytest.mark.parametrize("k", [0, -1, -0.5, math.nan, math.inf, None, "60", True])
def test_k_must_be_above_zero(k):
    for rankings in (LISTS, []):
        with pytest.raises(ValueError, match="k must be a number above 0, not"):
            reciprocal_rank_fusion(rankings, k=k)


@BOTH
def test_what_else_is_refused(fuse):
    for limit in (-1, 2.0, True, "5"):
        with pytest.raises(ValueError, match="limit must be a whole number, or None for all"):
            fuse(LISTS, limit=limit)
    for one in ("abc", ["product:1", "product:2"], LISTS[0]):
        with pytest.raises(TypeError, match="rankings must be a list of rankings"):
            fuse(one)
    with pytest.raises(TypeError, match="A ranking holds ids or .id, score., not"):
        fuse([[("a", 1.0, 2)]])


def test_documents_instead_of_ids_are_explained():
    from langchain_core.documents import Document

    with pytest.raises(TypeError, match="give .document.id for document in found."):
        reciprocal_rank_fusion([[Document(id="a", page_content="")]])


@pytest.mark.parametrize("score", [None, math.nan, math.inf, "3", True])
def test_a_score_that_is_no_number_is_named(score):
    with pytest.raises(ValueError, match="The score of 'b' must be a finite number"):
        mix_scores([[("a", 1.0), ("b", score)]])
    with pytest.raises(ValueError, match="The score of 'a' must be a finite number, not None"):
        mix_scores([["a", "b"]])
    # ranks need none
    assert ids(reciprocal_rank_fusion([[("a", 1.0), ("b", score)]])) == ["a", "b"]


def test_the_examples_in_the_text_are_right():
    done = doctest.testmod(fusion, optionflags=doctest.ELLIPSIS)
    assert (done.failed, done.attempted) == (0, 2)


# What must hold for any lists. Few ids, so that lists share and repeat them; few scores, so that they tie.
NAMES = st.sampled_from([f"d:{number}" for number in range(12)])
RANKING = st.lists(st.tuples(NAMES, st.integers(-3, 3).map(float)), max_size=15)
RANKINGS = st.lists(RANKING, max_size=5)
WHOLE = st.integers(0, 9)
quick = settings(deadline=None, max_examples=80)


def exact(rankings, k, weights):
    """Return the same in fractions, where a tie is a tie, as {id: Fraction}."""
    scores = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, id in enumerate(dict.fromkeys(ids(ranking)), start=1):
            if weight:
                scores[id] = scores.get(id, 0) + Fraction(weight) / (k + rank)
    return scores


@quick
@given(st.data(), RANKINGS, st.integers(1, 100))
def test_the_order_is_that_of_exact_fractions_ties_and_all(data, rankings, k):
    weights = data.draw(
        st.lists(WHOLE, min_size=len(rankings), max_size=len(rankings)).filter(any) | st.none()
    )
    if not rankings:
        weights = None
    expected = exact(rankings, k, weights or [1] * len(rankings))
    found = reciprocal_rank_fusion(rankings, k=k, weights=weights)
    assert ids(found) == sorted(expected, key=lambda id: (-expected[id], id))
    assert dict(found) == pytest.approx({id: float(score) for id, score in expected.items()}, rel=1e-12)
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


@BOTH
@quick
@given(data=st.data(), rankings=RANKINGS, weight=st.floats(0.01, 100))
def test_the_order_of_lists_does_not_matter_with_equal_weights(fuse, data, rankings, weight):
    shuffled = data.draw(st.permutations(rankings))
    assert fuse(shuffled) == fuse(rankings)
    equal = [weight] * len(rankings)
    assert fuse(shuffled, weights=equal) == fuse(rankings, weights=equal)


@BOTH
@quick
@given(data=st.data(), rankings=RANKINGS.filter(len))
def test_lists_and_weights_moved_together_change_nothing(fuse, data, rankings):
    weights = data.draw(st.lists(WHOLE, min_size=len(rankings), max_size=len(rankings)).filter(any))
    places = data.draw(st.permutations(range(len(rankings))))
    moved = fuse([rankings[place] for place in places], weights=[weights[place] for place in places])
    assert moved == fuse(rankings, weights=weights)


@BOTH
@quick
@given(data=st.data(), rankings=RANKINGS.filter(len), scale=st.floats(1e-6, 1e6))
def test_the_scale_of_weights_does_not_change_the_order(fuse, data, rankings, scale):
    weights = data.draw(st.lists(WHOLE, min_size=len(rankings), max_size=len(rankings)).filter(any))
    scaled = fuse(rankings, weights=[scale * weight for weight in weights])
    found = fuse(rankings, weights=weights)
    assert ids(scaled) == ids(found)
    for (_, one), (_, other) in zip(scaled, found, strict=True):
        assert one == pytest.approx(scale * other, rel=1e-9, abs=1e-9 * scale)


@BOTH
@quick
@given(rankings=RANKINGS, limit=st.integers(0, 20))
def test_limit_cuts_only(fuse, rankings, limit):
    assert fuse(rankings, limit=limit) == fuse(rankings)[:limit]


@BOTH
@quick
@given(rankings=RANKINGS)
def test_every_document_comes_back_once_and_nothing_given_is_changed(fuse, rankings):
    before = [list(ranking) for ranking in rankings]
    found = fuse(rankings)
    assert sorted(ids(found)) == sorted({id for ranking in rankings for id in ids(ranking)})
    assert rankings == before
