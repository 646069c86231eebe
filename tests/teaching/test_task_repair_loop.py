"""The check of the repair loop: on right answers, differently written right ones, and wrong ones."""

import pytest
from checking import says

from course_utils.teaching import tasks

SQL = tasks.sql


def ask(question, llm, run, max_repairs=2):
    prompt = question
    for _ in range(max_repairs + 1):
        sql = llm(prompt)
        try:
            return run(sql)
        except ValueError as error:
            last = error
            prompt = f"{question}\nThis SQL failed: {sql}\nError: {error}"
    raise RuntimeError(f"no answer after {max_repairs + 1} attempts: {last}")


def ask_recursively(question, llm, run, max_repairs=2, so_far=""):
    sql = llm(question + so_far)
    try:
        return run(sql)
    except ValueError as error:
        if max_repairs == 0:
            raise
        return ask_recursively(question, llm, run, max_repairs - 1, f"{so_far}\n{sql}\n{error}")


def ask_from_cause(question, llm, run, max_repairs=2):
    talk = [f"Question: {question}"]
    while True:
        sql = llm("\n".join(talk))
        try:
            return run(sql)
        except ValueError as error:
            talk += [sql, str(error)]
            if len(talk) > 2 * max_repairs + 2:
                raise LookupError("the model could not answer") from error


def changed(**changes):
    """Return `ask` with one mistake made in it."""

    def wrong(question, llm, run, max_repairs=2):
        prompt, last = question, None
        for _ in range(changes.get("attempts", lambda n: n + 1)(max_repairs)):
            sql = llm(prompt)
            try:
                rows = run(sql)
                if changes.get("again"):
                    llm(prompt)
                if rows or not changes.get("rows_needed"):
                    return changes.get("returns", lambda rows, sql: rows)(rows, sql)
                last = ValueError("no rows")
            except ValueError as error:
                last = last if changes.get("first_error") and last else error
                parts = {"question": question, "sql": sql, "error": str(last)}
                prompt = "\n".join(parts[name] for name in changes.get("prompt", tuple(parts)))
        return changes.get("end", _raise)(last)

    return wrong


def _raise(last):
    raise RuntimeError(f"no answer: {last}")


def _raise_blindly(last):
    raise RuntimeError("no answer")


def asks_on_after_a_repair(question, llm, run, max_repairs=2):
    try:
        return run(llm(question))
    except ValueError:
        rows = ask(question, llm, run, max_repairs - 1)
        llm(question)
        return rows


def gives_up(question, llm, run, max_repairs=2):
    return run(llm(question))


def runs_the_same_again(question, llm, run, max_repairs=2):
    sql, error = llm(question), None
    for _ in range(max_repairs + 1):
        try:
            return run(sql)
        except ValueError as failure:
            error = failure
            llm(f"{question}\n{sql}\n{error}")
    raise error


def never_stops(question, llm, run, max_repairs=2):
    prompt = question
    while True:
        sql = llm(prompt)
        try:
            return run(sql)
        except ValueError as error:
            prompt = f"{question}\n{sql}\n{error}"


@pytest.mark.parametrize("answer", [ask, ask_recursively, ask_from_cause])
def test_repair_loop_right(answer):
    says(SQL.repair_loop.check(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        (asks_on_after_a_repair, 1, "goes on asking the model"),
        (gives_up, 0, "gives up after the first failure"),
        (never_stops, 2, "may be called 3 times in all"),
        (runs_the_same_again, 0, "runs the same SQL again"),
        (changed(prompt=("question",)), 2, "says nothing of the failure"),
        (changed(prompt=("question", "sql")), 2, "leaves out the error's text"),
        (changed(prompt=("question", "error")), 2, "leaves out the SQL that failed"),
        (changed(prompt=("sql", "error")), 2, "leaves out the question"),
        (changed(first_error=True), 1, "the latest failure counts"),
        (changed(attempts=lambda n: n), 0, "`ask` gives up after 2 attempts"),
        (changed(attempts=lambda n: n + 2), 2, "calls it 4 times"),
        (changed(end=lambda last: []), 2, "empty list"),
        (changed(end=lambda last: None), 2, "returns None"),
        (changed(end=lambda last: [["Pune", 1]]), 2, "something all the same"),
        (changed(end=_raise_blindly), 2, "does not name the last error"),
        (changed(again=True), 2, "goes on calling"),
        (changed(rows_needed=True), 2, "found no rows, which is an answer"),
        (changed(returns=lambda rows, sql: sql), 2, "returns the SQL"),
        (changed(attempts=lambda n: 3), 2, "max_repairs=0"),
        (lambda question, llm, run, max_repairs=2: llm(question), 0, "never calls run"),
        (lambda question, llm, run, max_repairs=2: [], 0, "never calls llm"),
        (lambda question, llm, run: run(llm(question)), 0, "max_repairs"),
    ],
)
def test_repair_loop_wrong(answer, points, fragment):
    says(SQL.repair_loop.check(answer), points, fragment)
