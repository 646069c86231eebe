"""Where a key is found, in what order, and which model that makes."""

import os

import pytest

from course_utils import models
from course_utils.models.settings import find

NAME = "ANTHROPIC_API_KEY"


def test_unset_is_none(course):
    assert find(NAME) is None


def test_found_by_walking_up_from_the_working_directory(tmp_path, course, monkeypatch):
    (tmp_path / ".env").write_text(f"{NAME}=from-above\n", encoding="utf-8")
    deep = tmp_path / "elsewhere" / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert find(NAME) == ("from-above", f"{NAME} in the file {tmp_path / '.env'}")


def test_found_in_the_course_folder_from_anywhere(course):
    (course / ".env").write_text(f"{NAME}=of-the-course\n", encoding="utf-8")
    assert find(NAME).value == "of-the-course"


def test_found_from_the_lessons_folder(course, monkeypatch):
    (course / ".env").write_text(f"{NAME}=of-the-course\n", encoding="utf-8")
    monkeypatch.delenv("COURSE_DATA")
    monkeypatch.chdir(course / "lessons")
    assert find(NAME).value == "of-the-course"


def test_a_nearer_file_wins_unless_it_lacks_the_name(tmp_path, course):
    (tmp_path / ".env").write_text(f"{NAME}=far\nCOURSE_LLM=far-model\n", encoding="utf-8")
    (tmp_path / "elsewhere" / ".env").write_text(f"{NAME}=near\nCOURSE_LLM=\n", encoding="utf-8")
    assert find(NAME).value == "near"
    assert find("COURSE_LLM").value == "far-model"


def test_the_environment_wins_and_is_left_alone(course, monkeypatch):
    (course / ".env").write_text(f"{NAME}=file\nCOURSE_LLM=from-file\n", encoding="utf-8")
    monkeypatch.setenv(NAME, "environment\n")
    assert find(NAME) == ("environment", f"the environment variable {NAME}")
    assert find("COURSE_LLM").value == "from-file"
    assert "COURSE_LLM" not in os.environ


def test_an_empty_variable_switches_a_file_off(course, monkeypatch):
    (course / ".env").write_text(f"{NAME}=file\n", encoding="utf-8")
    monkeypatch.setenv(NAME, "")
    assert find(NAME) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "line", [f"{NAME}=value", f'export {NAME}="value"', f"# caf\u00e9\n{NAME} = value  # mine"]
)
def test_files_as_people_and_systems_write_them(course, encoding, newline, line):
    (course / ".env").write_text(line + "\n", encoding=encoding, newline=newline)
    assert find(NAME).value == "value"


def test_a_folder_called_env_is_passed_over(course):
    (course / ".env").mkdir()
    assert find(NAME) is None


def test_a_course_that_is_not_found_leaves_the_walk_from_here(tmp_path, course, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    (tmp_path / ".env").write_text(f"{NAME}=here\n", encoding="utf-8")
    assert find(NAME).value == "here"


@pytest.fixture
def known(script):
    script("task: demo\nreplies: [{question: q, answers: [x]}]")


def test_without_a_key_the_script_is_used(known):
    assert type(models.chat_model("demo")) is models.ScriptedChat


def test_a_key_set_in_a_later_cell_counts(known, monkeypatch, capsys):
    models.chat_model("demo")
    monkeypatch.setenv(NAME, "sk-ant-later")
    late = models.chat_model("demo")
    assert type(late).__name__ == "Claude"
    assert capsys.readouterr().out == (
        "Offline scripted model: replies written by the authors\n"
        "Claude (claude-sonnet-5-5) through the Anthropic API\n"
    )


@pytest.mark.parametrize("asked", [None, "claude-haiku-4-5"])
def test_scripted_keeps_offline_although_a_key_is_set(known, monkeypatch, asked):
    monkeypatch.setenv(NAME, "sk-ant-x")
    monkeypatch.setenv("COURSE_LLM", "scripted")
    assert type(models.chat_model("demo", model=asked)) is models.ScriptedChat


def test_scripted_can_be_asked_for_by_argument(known, monkeypatch):
    monkeypatch.setenv(NAME, "sk-ant-x")
    assert type(models.chat_model("demo", model="scripted")) is models.ScriptedChat


def test_a_model_asked_for_by_name_is_not_quietly_replaced(known):
    with pytest.raises(models.ModelUnavailable, match="needs a key.*ANTHROPIC_API_KEY"):
        models.chat_model("demo", model="claude-haiku-4-5")


def test_nothing_heavy_is_imported_before_it_is_used(fresh_python):
    heavy = {"torch", "transformers", "anthropic", "langchain_core", "sentence_transformers", "pandas"}
    code = f"import sys; from course_utils import models; dir(models); print({heavy} & set(sys.modules))"
    assert fresh_python(code) == "set()\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'chatmodel'"):
        _ = models.chatmodel
