"""What a router confuses, what its mistakes cost, and the decision matrix."""

import math

import pytest

from course_utils.retrieval.decisions import RETRIEVAL_DECISIONS, decision_table, decisions_html
from course_utils.retrieval.retrieved import DataType, Decision
from course_utils.retrieval.routing_evaluate import confusion, regret
from course_utils.shop.questions import Question

ROWS, JSON, PROSE, MIXED = DataType
ASKED = [
    Question("q1", "How many?", "aggregate", "dev", sql="SELECT 1"),
    Question("q2", "How?", "concept", "dev", documents=("article:a",)),
    Question("q3", "How is the best one?", "multi_hop", "dev", documents=("article:a",)),
    Question("q4", "Where?", "semi_structured", "dev", values=(("tracking.json", "/0", 1),)),
    Question("q5", "What for?", "unanswerable", "dev"),
    Question(
        "q6",
        "and then?",
        "follow_up",
        "dev",
        sql="SELECT 1",
        previous={"question": "How many?", "answer": "2"},
    ),
]


def test_confusion_by_route_and_pattern():
    seen = []

    def classify(question):
        seen.append(question)
        return Decision(ROWS if "many" in question else MIXED)

    found = confusion(classify, ASKED)
    assert len(found.routed) == 5 and found.accuracy == pytest.approx(3 / 5)
    assert seen[-1] == "How many?\nand then?"  # a follow-up comes with the question before it
    table = found.by_route()
    assert list(table.index) == ["structured", "semi_structured", "unstructured", "mixed"]
    assert table.loc["structured", "structured"] == 2
    assert table.loc["unstructured", "mixed"] == 1 and table.loc["unstructured", "accuracy"] == 0
    assert found.by_pattern().loc["multi_hop", "accuracy"] == 1
    assert [one.question.id for one in found.wrong()] == ["q2", "q4"]  # mixed is wrong for a single route
    assert "accuracy: 0.600 (3 of 5)" in repr(found) and "<table" in found._repr_html_()


def test_no_questions_have_no_accuracy():
    assert math.isnan(confusion(lambda question: Decision(ROWS), []).accuracy)


def test_regret_by_hand():
    scores = {
        "q1": {"structured": 1.0, "unstructured": 0.0, "mixed": 1.0},
        "q2": {"structured": 0.0, "unstructured": 0.8, "mixed": 0.6},
        "q3": {"structured": 0.5, "unstructured": 0.5, "mixed": 0.5},
    }
    found = regret(scores, {"q1": "mixed", "q2": Decision(ROWS), "q3": PROSE, "unasked": "mixed"})
    assert found.lost == {"q1": 0.0, "q2": 0.8, "q3": 0.0}
    assert (found.mean, found.score, found.best) == pytest.approx((0.8 / 3, 0.5, 2.3 / 3))
    assert found.always == pytest.approx({"mixed": 0.7, "structured": 0.5, "unstructured": 1.3 / 3})
    assert found.worst() == [("q2", 0.8)]


@pytest.mark.parametrize(
    "scores, chosen, says",
    [
        ({}, {}, "no scores"),
        ({"q1": {"structured": 1}}, {}, "No route was chosen for q1"),
        ({"q1": {"structured": 1}}, {"q1": "mixed"}, "no score there"),
        ({"q1": {"structured": math.nan}}, {"q1": "structured"}, "count a failure as 0"),
    ],
)
def test_regret_needs_a_score_for_each_choice(scores, chosen, says):
    with pytest.raises(ValueError, match=says):
        regret(scores, chosen)


def test_the_matrix_is_whole_and_shows_itself():
    table = decision_table()
    assert len(table) == len(RETRIEVAL_DECISIONS) >= 10
    assert table.map(lambda cell: bool(cell.strip())).all().all()
    assert table["example"].is_unique
    shown = decisions_html()
    assert all(one.example.split("?")[0] in shown for one in RETRIEVAL_DECISIONS)
    assert "<th>Method</th>" in shown
