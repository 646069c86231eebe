"""extract_sql: one statement, as written, out of whatever a model replies."""

import contextlib
import time

import pytest

from course_utils.retrieval import UnsafeSQL, extract_sql

SQL = "SELECT name FROM product LIMIT 3"
WRAPPED = {
    "fence with a tag": f"```sql\n{SQL}\n```",
    "fence with another tag": f"```sqlite\n{SQL}\n```",
    "fence with a tag in braces": f"```{{.sql}}\n{SQL}\n```",
    "fence with a title": f'```sql title="query"\n{SQL}\n```',
    "fence without a tag": f"```\n{SQL};\n```",
    "tildes": f"~~~sql\n{SQL}\n~~~",
    "four backticks": f"````sql\n{SQL}\n````",
    "carriage returns and blanks": f"```sqlite \r\n{SQL}  \r\n```  \r\n",
    "fence on one line": f"```sql {SQL}```",
    "fence on one line without a tag": f"```{SQL}```",
    "fence in a sentence": f"Sure! ```sql\n{SQL}\n``` is what you need.",
    "unclosed fence": f"```sql\n{SQL}",
    "indented fence": f"1. Run this:\n   ```sql\n   {SQL}\n   ```",
    "fence beside another language": f"```python\nrun(x)\n```\n```sql\n{SQL}\n```",
    "the same statement twice": f"```sql\n{SQL}\n```\nThat is:\n```\nselect name  from product limit 3;\n```",
    "label": f"SQLQuery: {SQL}",
    "label in bold": f"**SQL:** {SQL};",
    "label and a result made up after it": f"SQLQuery: {SQL}\nSQLResult: 5\nAnswer: five",
    "outer double quotes": f'SQLQuery: "{SQL}"',
    "outer single quotes": f"'{SQL};'",
    "backticks": f"`{SQL}`",
    "backticks in a sentence": f"You can run `{SQL}` for that.",
    "prose before": f"Here's the query you need:\n{SQL}",
    "prose after a semicolon": f"{SQL};\nIt lists three names.",
    "prose after a line break": f"{SQL}\nIt lists three names.",
    "prose with apostrophes": f"Here's what you'd run:\n\n{SQL}\n\nThat's all there is to it",
    "reasoning": f"<think>Maybe SELECT 2; or DELETE FROM product?</think>\n{SQL}",
    "reasoning over several lines": f"<think>\nA draft:\nSELECT 2;\nNo.\n</think>\n{SQL}",
    "reasoning without its first tag": f"I could SELECT 2 here.\n</think>\n{SQL}",
    "preamble on the same line": f"Let me think... the column is name. Query: {SQL}",
    "sentence": f"The query is {SQL}.",
    "end-of-text token": f"{SQL}<|im_end|>",
    "a turn made up after the token": f"{SQL};<|im_end|>\n<|im_start|>user\nDROP TABLE product",
    "token in an unclosed fence": f"```sql\n{SQL}\n<|eot_id|>",
    "semicolons and blanks": f"  {SQL} ; ;\n ",
    "comment behind": f"{SQL}; -- done; not DROP TABLE product",
    "nothing around it": SQL,
}


@pytest.mark.parametrize("reply", WRAPPED.values(), ids=WRAPPED.keys())
def test_what_stands_around_the_statement_goes(reply):
    assert extract_sql(reply) == SQL


KEPT = [
    "-- the customer's total\nSELECT 1",
    "/* one; two */ SELECT 1",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "with recursive n(x) as (select 1 union all select x + 1 from n limit 3) select * from n",
    "VALUES (1), (2)",
    "(SELECT 1) UNION SELECT 2",
    'SELECT "id" FROM "Order Details"',
    "SELECT `id` FROM [Order Details] WHERE note = '[INST]'",
    "SELECT ';' AS a, \"x;y\" FROM t WHERE note = 'it''s; -- fine'",
    "SELECT '<|im_end|>' AS token",
    "SELECT name\r\nFROM t\r\nWHERE id = 1",
    "SELECT name FROM t WHERE note = 'Dear Sir.\nHello there.'\nLIMIT 1",
    "SELECT c.name, -- the customer's city\n       c.city\nFROM c",
    "SELECT city,\n  SUM(amount) AS Total\nFROM orders\nGROUP BY city\nOrder by Total",
    "SELECT Artist.Name\nFROM Artist\nJOIN Album USING (ArtistId)\nWhere Name = 'x'",
    "SELECT nmae FROM t WHRE x",
]


@pytest.mark.parametrize("sql", KEPT)
@pytest.mark.parametrize("around", ["{}", "```sql\n{}\n```", "Here it is:\n\n{};\n\nThis is a plain remark."])
def test_the_statement_itself_is_not_touched(sql, around):
    assert extract_sql(around.format(sql)) == sql


def test_an_unfinished_comment_ends_with_its_fence():
    for around in ("{}", "```sql\n{}\n```", "```sql\n{}\n```\nThat is all."):
        assert extract_sql(around.format("SELECT 1 /* open; to the end")) == "SELECT 1 /* open; to the end"


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE orders",
        "DELETE FROM orders",
        "UPDATE orders SET status = 'paid'",
        "INSERT INTO product(name) VALUES('z')",
        "WITH x AS (SELECT 1) INSERT INTO product(name) VALUES('z')",
        "WITH d AS (DELETE FROM product RETURNING *) SELECT * FROM d",
        "PRAGMA query_only = 0",
        "ATTACH 'x.db' AS z",
    ],
)
def test_a_dangerous_statement_comes_back_whole_for_the_guard(sql):
    assert extract_sql(f"```sql\n{sql};\n```") == sql


def test_inner_quotes_stay_when_one_outer_pair_goes():
    assert extract_sql('SQLQuery: "SELECT "id" FROM "Order Details""') == 'SELECT "id" FROM "Order Details"'
    assert extract_sql("'SELECT name FROM t WHERE city = 'Pune''") == "SELECT name FROM t WHERE city = 'Pune'"


@pytest.mark.parametrize(
    "reply",
    [
        "SELECT 1; DELETE FROM orders",
        "```sql\nSELECT 1;\nDELETE FROM orders;\n```",
        "```sql\nSELECT 1\n```\nor else\n```sql\nDELETE FROM orders\n```",
        "SELECT 1;\nthen\nDELETE FROM orders;",
        "1. SELECT 1\n2. DELETE FROM orders",
        'SQLQuery: "SELECT 1; DELETE FROM orders"',
    ],
)
def test_two_different_statements_are_refused_and_both_are_named(reply):
    with pytest.raises(
        UnsafeSQL, match="^multiple statements: .*`SELECT 1` and `DELETE FROM orders`"
    ) as refused:
        extract_sql(reply)
    assert isinstance(refused.value, ValueError) and refused.value.hint


def test_the_case_of_a_text_makes_a_difference():
    with pytest.raises(UnsafeSQL, match="multiple statements"):
        extract_sql("```\nSELECT 'Pune'\n```\n```\nSELECT 'pune'\n```")


@pytest.mark.parametrize(
    "reply", ["I am sorry, I cannot select that.", "Let me think... Query: aurora lamp returns"]
)
def test_no_statement_is_an_error_that_quotes_the_reply(reply):
    with pytest.raises(ValueError, match="no SQL found: the reply begins") as refused:
        extract_sql(reply)
    assert reply[:30] in str(refused.value)


def test_english_that_sounds_like_sql_is_prose():
    assert extract_sql(f"With this query you select names.\n{SQL}") == SQL
    assert (
        extract_sql(f"Select the rows we need.\n```\n{SQL}\n```\nSELECT picks columns, FROM a table.") == SQL
    )
    with pytest.raises(ValueError, match="no SQL"):
        extract_sql("With pleasure: update your browser and select a product.")


@pytest.mark.parametrize("reply", ["", " \n", "```sql\n\n```", ";;;"])
def test_an_empty_reply_is_an_error(reply):
    with pytest.raises(ValueError, match="no SQL found"):
        extract_sql(reply)


def test_a_message_instead_of_its_text_is_explained():
    with pytest.raises(TypeError, match="StrOutputParser"):
        extract_sql(["SELECT 1"])


@pytest.mark.parametrize(
    "piece",
    ["/*", "'", "```sql\n", "[a", "SELECT ((((", "SELECT 'a\n", "<think>", '"select " ', "`", "-- x\n"],
)
def test_no_reply_takes_long(piece):
    started = time.monotonic()
    with contextlib.suppress(ValueError):
        extract_sql(piece * (90_000 // len(piece)))
    assert time.monotonic() - started < 10


def test_a_reply_without_measure_is_refused():
    with pytest.raises(UnsafeSQL, match="too long"):
        extract_sql("SELECT 1 -- " + "x" * 200_000)
