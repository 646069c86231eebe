"""The whole path: rewritten, split, sent to the source that fits, put into words; and what fails is told."""

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from course_utils import models
from course_utils.retrieval import (
    GUEST,
    BM25Index,
    Caller,
    CarrierClient,
    DataType,
    Decision,
    JSONRetriever,
    MultiSourceSynthesizer,
    RerankingRetriever,
    SQLRetriever,
)
from course_utils.retrieval.analyse import codes
from course_utils.retrieval.assistant import ShopAssistant, prose_indexes, prose_retriever
from course_utils.retrieval.routing import AdaptiveRetriever
from course_utils.shop import questions

STAFF = Caller("judge", "staff")
GOLDEN = {question.id: question for question in questions.load()}


class Fixed(BaseRetriever):
    """Finds the same whatever is asked, and remembers what was asked."""

    found: list
    asked: list = []

    def _get_relevant_documents(self, query, *, run_manager=None):
        self.asked.append(query)
        return self.found


def document(id, text):
    return Document(id=id, page_content=text, metadata={"audience": "public"})


def to(route):
    return lambda question: Decision(route)


@pytest.fixture(scope="module")
def assistant(running):
    """Return the assistant for a caller, on the real shop, with every model scripted."""
    indexes = prose_indexes()
    sql = SQLRetriever()

    def make(caller, **settings):
        sources = {
            "structured": sql,
            "semi_structured": JSONRetriever(CarrierClient(running.url), caller=caller),
            "unstructured": prose_retriever(indexes, caller),
        }
        return ShopAssistant(AdaptiveRetriever(sources), **settings)

    return make


def test_a_follow_up_is_asked_as_the_question_that_it_means():
    prose = Fixed(found=[document("article:a#1", "A strip of 5 m can be cut as well.")])
    adaptive = AdaptiveRetriever({"unstructured": prose}, classify=to(DataType.UNSTRUCTURED))
    one = GOLDEN["fol-05"]
    retrieved = ShopAssistant(adaptive).retrieve(one.question, one.previous)
    assert prose.asked == [retrieved.question]
    assert retrieved.question != one.question


def test_a_rewrite_that_failed_is_told_and_both_turns_are_asked():
    prose = Fixed(found=[document("article:a#1", "text")], asked=[])
    adaptive = AdaptiveRetriever({"unstructured": prose}, classify=to(DataType.UNSTRUCTURED))

    def rewriter(question, previous):
        from course_utils.retrieval import Rewritten

        return Rewritten(question, f"{previous['question']} {question}", "Not rewritten: no network.")

    previous = {"question": "What does a lamp cost?", "answer": "499 rupees."}
    retrieved = ShopAssistant(adaptive, rewriter=rewriter).retrieve("and two?", previous)
    assert prose.asked == ["What does a lamp cost? and two?"]
    assert "no network" in retrieved.decision.note


def test_the_second_look_up_uses_what_the_first_found(assistant):
    one = GOLDEN["hop-01"]
    retrieved = assistant(GUEST, planner=models.chat_model("decompose")).retrieve(one.question)
    answering, *led = retrieved.sources
    assert "Hearth Hub 2" in answering.query
    assert "Hearth Hub 2" not in one.question
    assert set(one.documents) & {found.id for found in answering.documents[:5]}
    assert led
    assert "in 2 steps" in retrieved.decision.note


def test_a_question_in_one_part_is_asked_whole(assistant):
    one = GOLDEN["ide-01"]
    with_plan = assistant(GUEST, planner=models.chat_model("decompose")).retrieve(one.question)
    assert [s.documents for s in with_plan.sources] == [
        s.documents for s in assistant(GUEST).retrieve(one.question).sources
    ]


def test_t05_a_number_is_counted_by_sql_and_not_read_from_five_texts(assistant):
    one = GOLDEN["agg-05"]
    (source,) = assistant(GUEST).retrieve(one.question).sources
    assert source.name == "structured"
    assert source.query.lstrip().upper().startswith(("SELECT", "WITH"))


def test_an_answer_names_the_record_it_stands_in(assistant):
    answer = assistant(GUEST).answer(GOLDEN["semi-03"].question)
    assert answer.ok
    assert answer.ids[0].startswith("carrier:")
    assert "10,000" in answer.text or "10000" in answer.text


@pytest.mark.parametrize("one", questions.load(None, "unanswerable"), ids=lambda one: one.id)
def test_what_the_shop_does_not_know_is_not_answered(assistant, one):
    """The replies are the authors'; what is tested is that no route turns them into something else."""
    role = "guest" if one.audience == "public" else one.audience
    answer = assistant(Caller("judge", role)).answer(one.question)
    assert answer.outcome == "unknown"
    assert answer.sources == ()
    assert answer.missing == ()
    assert answer.text == "That is not in the shop's data."


def test_a_carrier_that_died_is_named_and_the_others_answer(service):
    prose = Fixed(found=[document("article:parcels#1", "An express parcel may weigh ten kilograms.")])
    client = CarrierClient(service.url, attempts=1)
    sources = {"semi_structured": JSONRetriever(client, caller=STAFF), "unstructured": prose}
    adaptive = AdaptiveRetriever(sources, classify=to(DataType.MIXED))
    service.stop()
    try:
        retrieved = ShopAssistant(adaptive).retrieve(GOLDEN["semi-03"].question)
    finally:
        service.start()
    assert [source.name for source in retrieved.failed] == ["semi_structured"]
    assert [found.id for found in retrieved.documents] == ["article:parcels#1"]
    reply = '"An express parcel may weigh ten kilograms."'
    answer = MultiSourceSynthesizer(lambda messages: reply).answer(retrieved)
    assert "semi_structured" in str(answer)


def test_codes_keep_the_order_of_the_search_and_cost_no_reading():
    index = BM25Index([document(f"review:{n}", f"lamp ERR_441{n}") for n in range(3)])

    class Never:
        name = "never"

        def scores(self, question, texts):
            raise AssertionError("was asked")

    base = index.retriever(caller=GUEST)
    two = RerankingRetriever(base, Never(), on_failure="raise", unless=codes)
    assert [one.id for one in two.invoke("ERR_4412")] == [one.id for one in base.invoke("ERR_4412")]
    with pytest.raises(AssertionError, match="was asked"):
        two.invoke("lamp")
