"""The public failures of tests/cases/public_cases.json: the input of the SQL ones; where each is tested."""

import ast
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from course_utils.retrieval.sql_extract import extract_sql
from course_utils.retrieval.sql_guard import QueryFailed, SafeDatabase, UnsafeSQL, check_sql

TESTS = Path(__file__).parent
CASES = json.loads((TESTS / "cases" / "public_cases.json").read_text(encoding="utf-8"))
AREAS = ("sql", "notebook", "setup", "llm")

GUARD = "retrieval/test_sql_guard.py::"
FOREIGN = "retrieval/test_sql_guard_foreign.py::"
TEXT = "retrieval/test_text_to_sql.py::"
HERE = "test_public_cases.py::"
WHERE = {
    "S01": f"{HERE}test_extracted",
    "S02": f"{HERE}test_extracted",
    "S03": "retrieval/test_extract_sql.py::test_two_different_statements_are_refused_and_both_are_named",
    "S04": f"{HERE}test_refused_and_unchanged",
    "S05": f"{HERE}test_refused_and_unchanged",
    "S06": f"{HERE}test_allowed",
    "S07": f"{HERE}test_allowed",
    "S10": f"{HERE}test_refused_and_unchanged",
    "S11": f"{HERE}test_an_endless_query_is_stopped",
    "S12": f"{HERE}test_refused_and_unchanged",
    "S15": f"{TEXT}test_a_near_column_and_another_dialects_function_are_both_explained_at_once",
    "S16": f"{FOREIGN}test_sorting_by_a_text_instead_of_an_alias",
    "S19": f"{FOREIGN}test_tracks_per_playlist",
    "S21": f"{FOREIGN}test_join_fan_out",
    "S22": "shop/test_shop_content.py::test_prices_are_numbers_and_compare_as_numbers",
    "S23": f"{FOREIGN}test_dates_with_a_time_part",
    "S25": f"{FOREIGN}test_accents_hide_a_row_and_the_nearest_value_finds_it",
    "S26": f"{FOREIGN}test_integer_division",
    "S27": f"{HERE}test_a_long_text_is_whole",
    "S31": "shop/test_shop_content.py::test_the_last_day_of_a_period_counts",
    "N03": "teaching/test_task_notebook.py::test_a_check_before_its_cell_names_the_missing_step",
    "N04": "test_places.py::test_the_data_is_found_from_the_course_its_folders_and_from_home",
    "N05": "teaching/test_build.py::test_errors_bad_magics_and_noise_fail_a_build",
    "N07": "teaching/test_build.py::test_two_runs_of_a_notebook_give_the_same_text",
    "N08": "test_project.py::test_a_notebook_is_fit_to_ship",
    "U02": "teaching/test_doctor.py::test_numpy_and_faiss_that_do_not_fit_are_named",
    "U03": f"{HERE}test_files_are_opened_as_utf8",
    "U05": "shop/test_shop_build.py::test_an_old_sqlite_is_named_with_the_way_out",
    "U06": "teaching/test_doctor.py::test_a_file_that_hides_a_module_is_found",
    "U08": "models/test_settings.py::test_a_key_set_in_a_later_cell_counts",
    "L01": "models/test_claude.py::test_two_refusals_and_an_answer_are_three_calls_with_the_waits_asked_for",
    "L03": "models/test_scripted_chat.py::test_without_tools_no_call_is_made_up",
    "L04": "models/test_claude.py::test_the_same_question_is_asked_once_and_answered_alike",
    "L05": f"{TEXT}test_a_model_that_obeys_a_review_changes_nothing",
    "L06": f"{HERE}test_extracted",
}


def test_every_case_that_applies_has_a_test():
    wanted = {case["id"] for case in CASES if case["area"] in AREAS}
    assert wanted == set(WHERE)
    for place in WHERE.values():
        file, name = place.split("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, place


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """A small published shop: three products and a table t."""
    folder = tmp_path_factory.mktemp("cases")
    with closing(sqlite3.connect(folder / "source.db")) as source:
        source.executescript(
            "CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, about TEXT);"
            "INSERT INTO product (name, about) VALUES ('Arc', ''), ('Mug', ''), ('Pan', '');"
            f"UPDATE product SET about = '{'x' * 900}' WHERE id = 3;"
            "CREATE TABLE t (name TEXT, updated_at TEXT); INSERT INTO t VALUES ('Anna', '2026-01-01');"
        )
    allow = {"product": ("id", "name", "about"), "t": ("name", "updated_at")}
    with SafeDatabase.publish(folder / "source.db", allow=allow, to=folder / "published.db") as db:
        yield db


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("```sql\nSELECT name FROM product LIMIT 3\n```", "SELECT name FROM product LIMIT 3"),
        ("```sqlite  \r\nSELECT name FROM product LIMIT 3  \r\n```  ", "SELECT name FROM product LIMIT 3"),
        ('SQLQuery: "SELECT COUNT(*) FROM product"', "SELECT COUNT(*) FROM product"),
        ("Here is the query you need:\nSELECT id FROM product;\nIt lists all ids.", "SELECT id FROM product"),
        ("Let me think... Query: SELECT id FROM product", "SELECT id FROM product"),
    ],
)
def test_extracted(db, reply, sql):
    assert extract_sql(reply) == sql
    assert len(db.run(sql)) == (1 if "COUNT" in sql else 3)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH x AS (SELECT 1) INSERT INTO product(name) VALUES('z')",
        "WITH d AS (DELETE FROM product RETURNING *) SELECT * FROM d",
        "ATTACH 'x.db' AS z",
        "VACUUM INTO 'copy.db'",
        "PRAGMA query_only=0",
        "DELETE FROM product",
        "SELECT load_extension('x')",
    ],
)
def test_refused_and_unchanged(db, sql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsafeSQL):
        db.run(sql)
    assert db.run("SELECT COUNT(*) FROM product")[0] == (3,)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT 'DROP TABLE x'", [("DROP TABLE x",)]),
        ("SELECT updated_at FROM t", [("2026-01-01",)]),
        ("SELECT replace(name,'A','B') FROM t", [("Bnna",)]),
        ("SELECT name FROM t -- ; DELETE FROM t", [("Anna",)]),
        ("WITH v AS (VALUES(1),(2)) SELECT * FROM v", [(1,), (2,)]),
        ("VALUES(1)", [(1,)]),
        ("SELECT 1 UNION SELECT 2", [(1,), (2,)]),
    ],
)
def test_allowed(db, sql, rows):
    assert check_sql(sql, db.tables) == sql
    assert list(db.run(sql)) == rows


def test_a_leading_parenthesis_is_sqlites_own_error(db):
    with pytest.raises(QueryFailed, match="syntax"):
        db.run("(SELECT 1) UNION SELECT 2")


def test_an_endless_query_is_stopped(db):
    with pytest.raises(QueryFailed, match="too slow"):
        db.run("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c")
    assert len(db.run("SELECT id FROM product")) == 3


def test_a_long_text_is_whole(db):
    assert len(db.run("SELECT about FROM product WHERE id = 3")[0][0]) == 900


def test_files_are_opened_as_utf8():
    """Ruff's unspecified-encoding is what checks each file; here, that nobody switched it off."""
    settings = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '"PLW1514"' in settings
    quiet = [
        path
        for path in (TESTS.parent / "course_utils").rglob("*.py")
        if "noqa: PLW1514" in path.read_text("utf-8")
    ]
    assert quiet == []
