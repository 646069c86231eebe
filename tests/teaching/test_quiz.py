"""The quizzes: well formed, shown without the web, the same from run to run, text elsewhere."""

import json
import random
import re
import sys

import pytest

from course_utils.teaching import notebook, quiz


@pytest.mark.parametrize("name", quiz.names())
def test_each_quiz_is_well_formed(name):
    asked = quiz.questions(name)
    assert len(asked) >= 3
    for question in asked:
        right = [answer for answer in question["answers"] if answer["correct"]]
        kind = "many_choice" if len(right) > 1 else "multiple_choice"
        assert right
        assert question["type"] == kind
        assert len(question["answers"]) >= 3
        texts = [answer["answer"] for answer in question["answers"]]
        assert len(set(texts)) == len(texts)
        for answer in question["answers"]:
            assert len(answer["feedback"]) > 40
            assert answer["feedback"].startswith("Right: ") == answer["correct"]
        shown = json.dumps(question)
        assert "$" not in shown
        assert not re.search(r"\]\(|<http", shown)  # jupyterquiz would make formulas and links of them


@pytest.mark.parametrize("name", quiz.names())
def test_the_right_answers_do_not_all_stand_in_one_place(name):
    places = [
        letter
        for question in quiz.questions(name)
        for letter, answer in quiz._lettered(question)
        if answer["correct"]
    ]
    assert len(set(places)) > 1


def test_the_first_two_lessons_have_their_quizzes():
    assert len(quiz.questions("00_start_here")) == 3
    assert 5 <= len(quiz.questions("01_sql_retrieval")) <= 6


def test_as_text_a_quiz_is_numbered_and_holds_no_answers(capsys):
    quiz.show("01_sql_retrieval")
    text = capsys.readouterr().out
    for number, question in enumerate(quiz.questions("01_sql_retrieval"), 1):
        assert f"{number}. {question['question']}" in text
        for letter, answer in quiz._lettered(question):
            assert f"{letter}) {answer['answer']}" in text
            assert answer["feedback"] not in text
    assert 'quiz.answers("01_sql_retrieval")' in text


def test_answers_show_the_right_ones_with_their_reasons():
    text = repr(quiz.answers("01_sql_retrieval"))
    for question in quiz.questions("01_sql_retrieval"):
        for answer in question["answers"]:
            assert (answer["feedback"] in text) == answer["correct"]
    assert "<code>" in quiz.answers("01_sql_retrieval")._repr_html_()


def test_an_unknown_quiz_names_the_nearest():
    with pytest.raises(LookupError, match="01_sql_retrieval"):
        quiz.show("01_sql_retrival")
    with pytest.raises(LookupError, match="There is"):
        quiz.questions("../schema")


@pytest.fixture
def shown(monkeypatch):
    """Shows a quiz as in a notebook; returns a function that gives what was displayed, as texts."""
    pytest.importorskip("jupyterquiz")
    from jupyterquiz.dynamic import display as made_by

    monkeypatch.setattr(notebook, "in_notebook", lambda: True)
    displayed = []
    monkeypatch.setattr(made_by, "display", lambda one: displayed.append(one.data))

    def show(name):
        displayed.clear()
        quiz.show(name)
        return list(displayed)

    return show


def test_in_a_notebook_a_quiz_is_the_same_from_run_to_run(shown, capsys):
    first = shown("01_sql_retrieval")
    state = random.getstate()
    assert shown("01_sql_retrieval") == first
    assert random.getstate() == state  # the reader's own seed is left alone
    assert shown("00_start_here") != first
    assert capsys.readouterr().out == ""


def test_in_a_notebook_a_quiz_loads_nothing_from_the_web(shown):
    text = "\n".join(shown("01_sql_retrieval"))
    assert "question" in text
    assert not re.search(r"https?://(?!\$)[\w.]+\.\w+|src\s*=\s*['\"]http|@import|fetch\(", text)


def test_two_quizzes_on_a_page_have_boxes_of_their_own(shown):
    boxes = {re.search(r'<div id="(\w+)"', shown(name)[0])[1] for name in quiz.names()}
    assert len(boxes) == len(quiz.names())


def test_code_and_angle_brackets_survive_as_html(shown):
    script = shown("01_sql_retrieval")[1]
    questions = json.loads(re.match(r"var questions\w+=(\[.*?\]);\n", script, re.S)[1])
    answer = questions[1]["answers"][0]["answer"]
    assert re.fullmatch(r"<code style=\"[^\"]+\">DROP TABLE orders</code>", answer)
    assert "</script>" not in script


def test_without_jupyterquiz_a_notebook_gets_the_text(monkeypatch, capsys):
    monkeypatch.setattr(notebook, "in_notebook", lambda: True)
    monkeypatch.setitem(sys.modules, "jupyterquiz", None)
    quiz.show("00_start_here")
    assert "1. " in capsys.readouterr().out
