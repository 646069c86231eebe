"""AdaptiveRetriever: the right source is asked; one that is late or broken is named and delays nobody."""

import threading
import warnings
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from course_utils.retrieval.caller import GUEST, Caller
from course_utils.retrieval.hybrid import RetrieverFailed
from course_utils.retrieval.retrieved import DataType, Decision
from course_utils.retrieval.routing import AdaptiveRetriever
from course_utils.retrieval.routing_labels import RelationshipDecision
from course_utils.retrieval.sql_errors import NoQuery
from course_utils.retrieval.text_to_sql import SQLRetriever

ROWS, JSON, PROSE, MIXED = DataType


class Fixed(BaseRetriever):
    """Returns what it was given, or raises it; waits first for an event, if it has one."""

    found: Any
    gate: Any = None
    asked: list = []
    caller: Any = None

    def _get_relevant_documents(self, query, *, run_manager):
        self.asked.append(query)
        if self.gate is not None:
            self.gate.wait(30)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def doc(name, **metadata):
    return Document(id=name, page_content="text", metadata={"score": 1.0} | metadata)


def three(**changed):
    made = {
        "structured": [doc("sql:1")],
        "semi_structured": [doc("tracking:1")],
        "unstructured": [doc("a:1")],
    }
    made |= changed
    return {
        name: found if isinstance(found, BaseRetriever) else Fixed(found=found, asked=[])
        for name, found in made.items()
    }


def always(route, kind=Decision):
    return lambda question: kind(route, "told so")


@pytest.fixture
def gate():
    """What a source can hang on until the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("route", [ROWS, JSON, PROSE])
def test_a_single_route_asks_one_source(route):
    sources = three()
    got = AdaptiveRetriever(sources, classify=always(route)).retrieve("Where?")
    assert [(one.name, one.error, one.query) for one in got.sources] == [(route, "", "Where?")]
    assert {name for name, one in sources.items() if one.asked} == {route}
    assert got.decision == Decision(route, "told so")


def test_mixed_asks_all_and_invoke_says_where_each_document_is_from():
    found = AdaptiveRetriever(three(), classify=always(MIXED)).invoke("Where?")
    assert [(one.id, one.metadata["source"]) for one in found] == [
        ("sql:1", ROWS), ("tracking:1", JSON), ("a:1", PROSE),
    ]  # fmt: skip
    assert {one.metadata["route"] for one in found} == {"mixed"}
    assert all(one.metadata["score"] == 1.0 for one in found)


def test_the_documents_of_the_sources_are_not_changed():
    given = doc("a:1", source="the help centre")
    AdaptiveRetriever(three(unstructured=[given]), classify=always(PROSE)).invoke("Where?")
    assert given.metadata == {"score": 1.0, "source": "the help centre"}


def test_sources_are_asked_side_by_side():
    met = threading.Barrier(3, timeout=30)

    class Meets(Fixed):
        def _get_relevant_documents(self, query, *, run_manager):
            met.wait()  # passes only when all three are inside
            return self.found

    sources = {name: Meets(found=[doc(name)]) for name in (ROWS, JSON, PROSE)}
    got = AdaptiveRetriever(sources, classify=always(MIXED)).retrieve("Where?")
    assert not got.failed and len(got.documents) == 3


def test_a_late_source_is_named_and_the_others_answer(gate):
    sources = three(semi_structured=Fixed(found=[doc("late")], gate=gate))
    router = AdaptiveRetriever(sources, classify=always(MIXED), seconds={ROWS: 30, JSON: 0.05, PROSE: 30})
    got = router.retrieve("Where?")
    assert [one.id for one in got.documents] == ["sql:1", "a:1"]
    assert [(one.name, one.error) for one in got.failed] == [(JSON, "no answer within 0.05 s")]


def test_a_source_that_fails_is_named_and_invoke_warns_each_time():
    router = AdaptiveRetriever(three(structured=OSError("disk\ngone")), classify=always(MIXED))
    assert [one.error for one in router.retrieve("Where?").failed] == ["OSError: disk gone"]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        for _ in range(2):
            assert [one.id for one in router.invoke("Where?")] == ["tracking:1", "a:1"]
    assert [one.category for one in heard] == [RetrieverFailed] * 2
    assert "structured: OSError: disk gone" in str(heard[0].message)


def test_if_nobody_answers_invoke_raises_and_retrieve_reports():
    broken = three(**{name: ValueError(name) for name in (ROWS, JSON, PROSE)})
    router = AdaptiveRetriever(broken, classify=always(PROSE))
    assert len(router.retrieve("Where?").failed) == 3
    with pytest.raises(RuntimeError, match=r"No source answered.*ValueError: structured"):
        router.invoke("Where?")


@pytest.mark.parametrize("found, why", [(OSError("gone"), "failed"), ([], "found nothing")])
def test_a_chosen_source_that_fails_or_finds_nothing_is_followed_by_the_others(found, why):
    got = AdaptiveRetriever(three(unstructured=found), classify=always(PROSE)).retrieve("Where?")
    assert [one.name for one in got.sources] == [PROSE, ROWS, JSON]
    assert got.decision.route == MIXED
    assert f"told so; unstructured {why}: asking the others" == got.decision.note
    alone = AdaptiveRetriever(three(unstructured=found), classify=always(PROSE), fall_back=False)
    assert [one.name for one in alone.retrieve("Where?").sources] == [PROSE]


def test_no_rows_are_an_answer():
    got = AdaptiveRetriever(three(structured=[]), classify=always(ROWS)).retrieve("Who?")
    assert [one.name for one in got.sources] == [ROWS]
    assert got.decision.route == ROWS


@pytest.mark.parametrize("answer", ["raises", None, "structured", Decision("graph")])
def test_a_classifier_that_fails_or_names_no_route_leads_to_mixed(answer):
    def classify(question):
        if answer == "raises":
            raise KeyError("no such question")
        return answer

    got = AdaptiveRetriever(three(), classify=classify).retrieve("Where?")
    assert got.decision.route == MIXED and len(got.sources) == 3
    assert ("KeyError" if answer == "raises" else "no route") in got.decision.note


def test_a_route_without_a_retriever_asks_those_that_there_are():
    some = {name: one for name, one in three().items() if name != JSON}
    got = AdaptiveRetriever(some, classify=always(JSON)).retrieve("Where?")
    assert [one.name for one in got.sources] == [ROWS, PROSE]
    assert got.decision == Decision(MIXED, "told so; no retriever for semi_structured: asking all")


def test_relationships_go_to_a_graph_where_there_is_one_and_to_rows_otherwise():
    def decide(question):
        return RelationshipDecision(note="who with whom")

    graph = Fixed(found=[doc("path:1", cypher="MATCH (s:Staff) RETURN s")])
    got = AdaptiveRetriever(three() | {"relationship": graph}, classify=decide).retrieve("Who?")
    assert [(one.name, one.query) for one in got.sources] == [("relationship", "MATCH (s:Staff) RETURN s")]
    got = AdaptiveRetriever(three(), classify=decide).retrieve("Who?")
    assert [one.name for one in got.sources] == [ROWS]


def test_mixed_does_not_ask_the_graph():
    sources = three() | {"relationship": Fixed(found=[], asked=[])}
    AdaptiveRetriever(sources, classify=always(MIXED)).retrieve("Where?")
    assert sources["relationship"].asked == []


def test_a_source_says_what_it_ran():
    sources = three(structured=[doc("sql:1", sql="SELECT 1")])
    got = AdaptiveRetriever(sources, classify=always(ROWS)).retrieve("One?")
    assert got.sources[0].query == "SELECT 1"


def test_rules_decide_where_nothing_else_is_given():
    got = AdaptiveRetriever(three()).retrieve("How many orders were placed in May?")
    assert got.decision.route == ROWS and got.decision.note.startswith("rule ")


def test_all_retrievers_are_for_one_caller():
    staff = Caller("revathi", "staff")
    sources = three(structured=Fixed(found=[], caller=GUEST), unstructured=Fixed(found=[], caller=staff))
    with pytest.raises(ValueError, match="different callers"):
        AdaptiveRetriever(sources)
    hidden = [doc("a:staff", audience="staff"), doc("a:public", audience="public")]
    mine = three(structured=Fixed(found=[], caller=GUEST), unstructured=hidden)
    router = AdaptiveRetriever(mine, classify=always(MIXED))
    assert router.caller == GUEST
    assert [one.id for one in router.invoke("Where?")] == ["tracking:1", "a:public"]


@pytest.mark.parametrize(
    "sources, settings, says",
    [
        ({}, {}, "at least one of structured"),
        ({"relationship": Fixed(found=[])}, {}, "at least one of structured"),
        ({"sql": Fixed(found=[])}, {}, "no route 'sql'"),
        ({"mixed": Fixed(found=[])}, {}, "Mixed asks the others"),
        ({"structured": Fixed(found=[])}, {"seconds": 0}, "above 0"),
        ({"structured": Fixed(found=[])}, {"seconds": float("inf")}, "finite"),
        ({"structured": Fixed(found=[])}, {"seconds": {"unstructured": 2}}, "nothing of 'structured'"),
        ({"structured": "SELECT 1"}, {}, "BaseRetriever"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(sources, settings, says):
    with pytest.raises(ValueError, match=says):
        AdaptiveRetriever(sources, **settings)


def test_a_model_that_sees_no_query_has_not_failed_and_the_others_are_asked():
    rows = SQLRetriever(llm=lambda prompt: "NO QUERY: no table holds salaries.")
    sources = {"structured": rows, "unstructured": Fixed(found=[doc("a:1")], asked=[])}
    retrieved = AdaptiveRetriever(sources, classify=always(ROWS)).retrieve("What does Asha earn?")
    assert retrieved.failed == ()
    assert [source.name for source in retrieved.sources] == ["structured", "unstructured"]
    assert "no table holds salaries" in retrieved.sources[0].query
    assert "found nothing" in retrieved.decision.note
    with pytest.raises(NoQuery, match="no table holds salaries"):
        rows.invoke("What does Asha earn?")
