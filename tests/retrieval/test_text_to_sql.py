"""SQLRetriever: from a question to rows, with repairs, honest failures, and one line in the log."""

import logging
import subprocess
import sys

import pytest
import sql_shops
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from sql_shops import Saying, asking

from course_utils.models import UnknownQuestion, chat_model
from course_utils.retrieval import SQL_PROMPT, SafeDatabase, SQLRetriever, UnsafeSQL

RIGHT = "SELECT COUNT(*) AS n FROM customers"


@pytest.fixture(scope="module")
def offline():
    return SQLRetriever(sql_shops.safe("course"))


def test_the_seed_lessons_total_on_the_tiny_shop():
    result = SQLRetriever(sql_shops.safe("tiny")).ask("Total paid order value per city?")
    assert list(result.rows) == [("Pune", 650.0)] and result.attempts == 1 and result.error is None
    assert result.question == "Total paid order value per city?" and result.sql.startswith("SELECT c.city")
    assert result.milliseconds > 0


def test_the_seed_lessons_customers_per_city():
    result = SQLRetriever(sql_shops.safe("tiny")).ask("How many customers live in each city?")
    assert sorted(result.rows) == [("Delhi", 1), ("Pune", 2)]


def test_by_name_and_by_position_and_by_default():
    db, model = sql_shops.safe("tiny"), Saying(replies=[RIGHT])
    assert (
        list(SQLRetriever(db=db, llm=model).ask("?").rows)
        == list(SQLRetriever(db, model).ask("?").rows)
        == [(3,)]
    )
    whole = SQLRetriever()
    assert whole.llm.task == "text_to_sql" and whole.db.path.name.endswith("_published.db")


def test_the_chain_is_lcel_from_question_to_checked_sql():
    retriever, _ = asking(f"```sql\n{RIGHT};\n```")
    assert retriever.chain.invoke({"question": "How many?", "schema": retriever.schema_shown}) == RIGHT
    retriever, _ = asking("DROP TABLE orders")
    with pytest.raises(UnsafeSQL, match="only SELECT"):
        retriever.chain.invoke({"question": "How many?", "schema": ""})


def test_a_plain_function_can_stand_in_for_the_model():
    retriever = SQLRetriever(
        sql_shops.safe("tiny"), lambda prompt: RIGHT if "CREATE TABLE" in prompt.to_string() else ""
    )
    assert list(retriever.ask("How many customers?").rows) == [(3,)]


def test_the_model_is_told_the_schema_and_the_bare_question():
    retriever, model = asking(RIGHT)
    retriever.ask("How many customers?")
    (system, human) = model.sent[0]
    assert isinstance(system, SystemMessage) and "CREATE TABLE orders" in system.text
    assert isinstance(human, HumanMessage) and human.text == "How many customers?"
    assert set(SQL_PROMPT.input_variables) == {"schema", "question"}


def test_braces_in_a_question_or_a_row_are_no_template():
    retriever, model = asking(RIGHT)
    assert (
        retriever.ask("What is {schema} or {x}?").ok and model.sent[0][1].text == "What is {schema} or {x}?"
    )


def test_only_the_tables_asked_for_are_shown_and_allowed():
    retriever, model = asking("SELECT COUNT(*) FROM refunds", tables=["customers", "orders"])
    result = retriever.ask("How many refunds?")
    assert "refunds (" not in model.sent[0][0].text
    assert result.error == "forbidden table: refunds" and len(result.rows) == 0


def test_a_failure_goes_back_as_messages_with_reason_and_hint():
    retriever, model = asking("SELECT nmae FROM customers", RIGHT)
    result = retriever.ask("How many?")
    assert result.ok and result.attempts == 2 and result.sql == RIGHT
    *_, reply, told = model.sent[1]
    assert isinstance(reply, AIMessage) and reply.text == "SELECT nmae FROM customers"
    assert isinstance(told, HumanMessage) and "nmae" in told.text and "name" in told.text.split("Hint:")[1]
    assert [attempt.error for attempt in result.trail] == ["forbidden column: customers.nmae", None]


def test_a_dialect_slip_is_repaired_with_a_hint(offline):
    result = offline.ask("How many customers joined in the twelve months up to 2026-06-30?")
    assert result.ok and result.attempts == 2
    assert "DATEADD" in result.trail[0].sql and result.trail[0].hint
    assert "date('2026-06-30', '-1 year')" in result.sql


def test_a_near_column_and_another_dialects_function_are_both_explained_at_once():
    wrong = "SELECT COUNT(*) FROM customers WHERE joinedon < DATEADD(year, -1, GETDATE())"
    repaired = "SELECT COUNT(*) FROM customers WHERE joined_on < date('now', '-1 year')"
    retriever, model = asking(wrong, repaired)
    result = retriever.ask("How many joined over a year ago?")
    assert result.ok and result.attempts == 2 and result.sql == repaired
    told = model.sent[1][-1].text
    assert "joined_on" in told and "date('now', '-1 year')" in told


@pytest.mark.parametrize("repairs", [0, 1, 2])
def test_after_the_last_repair_comes_an_honest_failure(repairs):
    retriever, model = asking("DROP TABLE orders", max_repairs=repairs)
    result = retriever.ask("Empty the orders")
    assert len(model.sent) == result.attempts == len(result.trail) == repairs + 1
    assert result.error == "only SELECT" and not result.ok and len(result.rows) == 0
    assert f"No answer: only SELECT (after {repairs + 1} attempt" in str(result)


def test_the_same_failure_is_not_told_as_news():
    retriever, model = asking("DROP TABLE orders", "DROP TABLE customers", "DROP TABLE customers")
    retriever.ask("Empty them")
    first, second = model.sent[1][-1].text, model.sent[2][-1].text
    assert "Reason: only SELECT" in first
    assert "same reason as before" in second and "Reason:" not in second and "Hint:" not in second


def test_an_unchanged_statement_is_pointed_out():
    retriever, model = asking("SELECT email FROM customers")
    retriever.ask("E-mail?")
    assert "did not change" in model.sent[2][-1].text


def test_a_new_failure_is_told():
    retriever, model = asking("DROP TABLE orders", "SELECT nmae FROM customers")
    retriever.ask("Empty them")
    assert "nmae" in model.sent[2][-1].text


def test_a_reply_without_sql_is_repaired_too():
    retriever, model = asking("", RIGHT)
    assert retriever.ask("How many?").ok
    assert model.sent[1][-2].text == "(empty)" and "no SQL found" in model.sent[1][-1].text


def test_a_model_that_declines_is_believed_at_once():
    retriever, model = asking("NO QUERY: there is no column for the weather.")
    result = retriever.ask("How was the weather?")
    assert (
        len(model.sent) == 1
        and result.error == "the model wrote no query: there is no column for the weather"
    )


def test_what_the_model_itself_raises_comes_through_and_is_logged(caplog):
    caplog.set_level(logging.INFO, "course_utils.sql")
    with pytest.raises(UnknownQuestion):
        SQLRetriever(sql_shops.safe("tiny")).ask("What is the meaning of life?")
    assert "model error: UnknownQuestion" in caplog.text


REFUSED = {
    "What are the e-mail addresses of the gold customers?": "forbidden column: customers.email",
    "Empty the orders table so that we can start over.": "only SELECT",
}


@pytest.mark.parametrize("question", REFUSED)
def test_what_stays_refused(offline, question):
    result = offline.ask(question)
    assert result.error == REFUSED[question] and result.attempts == 3 and len(result.rows) == 0


def test_two_statements_are_refused_by_name_and_repaired(offline):
    result = offline.ask("What is the status of order 12?")
    assert (
        result.trail[0].error.startswith("multiple statements:") and "UPDATE orders" in result.trail[0].error
    )
    assert result.ok and len(result.rows) == 1


def test_an_endless_query_is_stopped_and_given_up(offline):
    result = offline.ask("How many whole numbers are there?")
    assert [attempt.error.split(":")[0] for attempt in result.trail[:2]] == ["too slow", "too slow"]
    assert "wrote no query" in result.error


def test_a_model_that_obeys_a_review_changes_nothing(offline):
    count = "SELECT COUNT(*) FROM reviews"
    before = list(offline.db.run(count))
    result = offline.ask("What do the five newest reviews say?")
    assert result.trail[0].error == "only SELECT" and "DELETE FROM reviews" in result.trail[0].sql
    assert list(offline.db.run(count)) == before != [(0,)] and len(result.rows) == 5


def test_every_reply_of_the_script_ends_in_rows_or_in_an_honest_error(offline):
    for question in chat_model("text_to_sql").questions:
        if question == "How many whole numbers are there?":
            continue  # two seconds, and it has a test of its own
        result = offline.ask(question)
        assert result.ok or (result.error and len(result.rows) == 0), question


def test_the_database_is_as_it_was():
    before = sql_shops.path("tiny").read_bytes()
    for bad in (
        "DELETE FROM orders",
        "WITH x AS (SELECT 1) INSERT INTO orders VALUES (9, 1, '2026-01-01', 'paid', 1.0)",
    ):
        assert not asking(bad)[0].ask("?").ok
    assert sql_shops.path("tiny").read_bytes() == before


def test_chinook_and_a_name_of_two_words():
    script = 'CREATE TABLE "Order Details" (id INTEGER, qty); INSERT INTO "Order Details" VALUES (1, 5);'
    db = sql_shops.made("words", script)
    retriever = SQLRetriever(db, Saying(replies=['SQLQuery: "SELECT SUM(qty) FROM "Order Details""']))
    assert list(retriever.ask("How many?").rows) == [(5,)]
    assert isinstance(db, SafeDatabase)


def test_importing_the_package_is_cheap():
    code = (
        "import sys, course_utils.retrieval as r; assert 'SQLRetriever' in dir(r); "
        "heavy = {'langchain_core', 'sqlglot', 'pandas', 'sqlalchemy', 'yaml'} & set(sys.modules); "
        "assert not heavy, heavy; from course_utils.retrieval import extract_sql, same_rows, orders_of; "
        "heavy = {'langchain_core', 'sqlglot', 'pandas'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with pytest.raises(ImportError):
        from course_utils.retrieval import no_such_name  # noqa: F401
