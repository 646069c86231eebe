"""Progress: the best result is kept, nothing is lost, and no trouble breaks a check."""

import json
import multiprocessing
import os

import pytest
from filelock import FileLock, Timeout

from course_utils.teaching import progress, tasks
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

TASK = tasks.sql.limit_guard


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", "on")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(progress, "_said", set())
    return tmp_path / "home"


def record(points, state=NOT_YET, task=TASK):
    progress.record(task, task.result(Verdict(points, state, "why")))


def test_a_check_is_kept():
    assert TASK.check(lambda sql, n=50: sql).state == NOT_YET
    assert progress.load()[TASK.id] == {"state": "not yet", "best": 0.0, "points": 2.0}


def test_a_demonstration_is_not_kept():
    result = tasks.sql.customers_per_city.check(
        "SELECT city, COUNT(*) FROM customers GROUP BY city", keep=False
    )
    assert result.state == "passed"
    assert progress.load() == {}


def test_the_best_stays():
    record(1)
    record(2, PASSED)
    record(0, "not attempted")
    assert progress.load()[TASK.id] == {"state": "passed", "best": 2.0, "points": 2.0}


def test_tasks_are_kept_side_by_side_and_nothing_else_lies_around(home):
    record(1)
    record(3, PASSED, tasks.sql.cte_guard)
    assert set(progress.load()) == {"sql.limit_guard", "sql.cte_guard"}
    assert {path.name for path in home.iterdir()} <= {"progress.json", "progress.json.lock"}


def test_what_another_version_keeps_is_left_in(home):
    record(1)
    content = json.loads((home / "progress.json").read_text(encoding="utf-8"))
    content["badges"] = ["x"]
    content["tasks"]["later.task"] = {"state": "passed", "best": 1, "points": 1}
    content["tasks"][TASK.id]["when"] = "today"
    (home / "progress.json").write_text(json.dumps(content), encoding="utf-8")
    record(2, PASSED)
    after = json.loads((home / "progress.json").read_text(encoding="utf-8"))
    assert after["badges"] == ["x"]
    assert "later.task" in after["tasks"]
    assert after["tasks"][TASK.id] == {"best": 2.0, "points": 2.0, "state": "passed", "when": "today"}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b"[]", b"3", b'{"tasks": 3}', b'{"tasks": {"a": {"state": "x", "best": 1}}}',
     b'{"tasks": {"a": {"state": "passed", "best": "2"}}}', b"[" * 100_000],
)  # fmt: skip
def test_a_damaged_file_is_kept_aside(home, content, capsys):
    home.mkdir()
    (home / "progress.json").write_bytes(content)
    (home / "progress.broken-1.json").write_bytes(b"an older one")
    record(1)
    assert progress.load()[TASK.id]["best"] == 1.0
    assert (home / "progress.broken-1.json").read_bytes() == b"an older one"
    assert (home / "progress.broken-2.json").read_bytes() == content
    assert "progress.broken-2.json" in capsys.readouterr().out


def test_a_home_that_cannot_be_written_is_said_once_on_stdout(monkeypatch, tmp_path, capfd):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file" / "home"))
    assert TASK.check(lambda sql, n=50: sql).state == NOT_YET
    TASK.check(lambda sql, n=50: sql)
    out, err = capfd.readouterr()
    assert out.count("Progress is not kept") == 1
    assert err == ""
    assert progress.load() == {}
    assert "not attempted" in repr(progress.show())


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no", "false"])
def test_progress_can_be_off(monkeypatch, home, word):
    monkeypatch.setenv("COURSE_PROGRESS", word)
    record(1)
    assert progress.load() == {}
    assert not home.exists()
    assert "not kept" in repr(progress.show())


def test_a_file_left_by_a_crash_does_not_block(home):
    home.mkdir()
    left = home / "progress.json.new"
    left.write_text("{", encoding="utf-8")
    record(1)
    assert progress.load()[TASK.id]["best"] == 1.0
    assert not left.exists()


def test_a_file_in_use_is_waited_for_and_then_given_up(home, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_WAIT", 0.0)
    home.mkdir()
    with FileLock(home / "progress.json.lock"):
        record(1)
    assert "Progress is not kept" in capsys.readouterr().out
    record(1)
    assert progress.load()[TASK.id]["best"] == 1.0


def test_nobody_else_can_write_until_a_writer_is_wholly_done(home, monkeypatch):
    """A writer that tidied up after its turn deleted the file that the next one was writing."""
    order, replace = [], progress._replace

    def interrupted(new, old):
        replace(new, old)
        with pytest.raises(Timeout):
            FileLock(home / "progress.json.lock").acquire(timeout=0)
        order.append("kept out")

    monkeypatch.setattr(progress, "_replace", interrupted)
    record(1)
    assert order == ["kept out"]


def _record_many(home, name):
    os.environ.update(COURSE_HOME=home, COURSE_PROGRESS="on")
    task = getattr(tasks.sql, name)
    for points in (0.25, 0.5, 1.0):
        progress.record(task, task.result(Verdict(points, NOT_YET, "why")))


@pytest.mark.slow
def test_no_result_is_lost_when_several_notebooks_write(home):
    names = ["limit_guard", "customers_per_city", "cte_guard", "repair_loop", "revenue_tool"]
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(_record_many, [(str(home), name) for name in names])
    kept = progress.load()
    assert {task: entry["best"] for task, entry in kept.items()} == {f"sql.{name}": 1.0 for name in names}


def test_show_lists_each_task_and_the_total():
    record(1)
    record(1, PASSED, tasks.sql.customers_per_city)
    text, markup = repr(progress.show()), progress.show()._repr_html_()
    assert len(text.splitlines()) == len(tasks.every()) + 2
    total = sum(task.points for task in tasks.every())
    assert f"2 of {total:g} points" in text
    for words in ("passed", "not yet", "not attempted", "1 of 2"):
        assert words in text
        assert words in markup
    assert markup == progress.show()._repr_html_()


def test_a_course_with_nothing_to_earn_has_a_share():
    assert progress.share(0, 0) == 0.0
    assert progress.share(1, 4) == 25.0


def test_points_in_the_file_never_exceed_those_of_the_task(home):
    home.mkdir()
    entry = {"state": "passed", "best": 1e9, "points": 2}
    (home / "progress.json").write_text(json.dumps({"tasks": {TASK.id: entry}}), encoding="utf-8")
    assert "2 of 2" in repr(progress.show())


def test_nothing_reaches_stderr(capfd):
    record(1)
    progress.show()
    assert capfd.readouterr().err == ""
