"""The golden questions: enough of each pattern, and each answer there, visible and computed anew."""

import json
from collections import Counter, defaultdict
from contextlib import closing

import pytest

from course_utils import places, shop
from course_utils.retrieval import Caller, Filter, SafeDatabase, same_rows
from course_utils.shop import documents, questions

ROLES = {"public": "guest", "partner": "partner", "staff": "staff"}


@pytest.fixture(scope="module")
def every():
    return questions.load(None)


@pytest.fixture(scope="module")
def held(full):
    return {document.id: document for document in documents.load(path=full)}


def test_there_are_enough_of_each_kind(every):
    assert len(every) >= 120
    counts = Counter(question.pattern for question in every)
    assert set(counts) == set(questions.PATTERNS) and min(counts.values()) >= 12, counts
    assert sum(question.previous is not None for question in every) >= 15
    assert sum(question.pattern == "unanswerable" for question in every) >= 12


def test_both_halves_have_every_pattern(every):
    halves = {split: Counter(q.pattern for q in questions.load(split)) for split in questions.SPLITS}
    assert sum(map(len, map(questions.load, questions.SPLITS))) == len(every)
    for pattern in questions.PATTERNS:
        dev, test = (halves[split][pattern] for split in questions.SPLITS)
        assert min(dev, test) >= 5 and abs(dev - test) <= max(2, (dev + test) // 4), pattern


def test_no_question_stands_in_both_halves(every):
    halves = defaultdict(set)
    for question in every:
        halves[question.question.casefold().strip(" ?")].add(question.split)
    assert {text: found for text, found in halves.items() if len(found) > 1} == {}


def test_two_audiences_get_different_answers_to_the_same_question(every):
    asked = defaultdict(dict)
    for question in every:
        asked[question.question][question.audience] = (question.documents, question.sql, question.pattern)
    assert sum(len(set(by.values())) > 1 for by in asked.values()) >= 10
    repeated = Counter((q.question, q.audience, json.dumps(dict(q.previous or {}))) for q in every)
    assert [asked for asked, times in repeated.items() if times > 1] == []


def test_every_gold_document_exists_and_may_be_seen(every, held):
    for question in every:
        caller = Caller("judge", ROLES[question.audience])
        assert len(set(question.documents)) == len(question.documents), question.id
        for id in question.documents:
            assert id in held, f"{question.id}: {id}"
            assert held[id].metadata["audience"] in caller.audiences, f"{question.id}: {id}"


def test_gold_documents_are_what_the_questions_filter_says(every, held):
    filters = 0
    for question in every:
        if question.filter:
            filters += 1
            filter = Filter.from_json(question.filter)
            left = {id for id in question.documents if filter.matches(held[id].metadata)}
            assert left == set(question.documents), question.id
    assert filters >= 10


def test_gold_rows_are_what_the_gold_sql_says(every, published):
    db = SafeDatabase(published)
    asked = [question for question in every if question.sql]
    assert len(asked) >= 36
    for question in asked:
        rows = db.run(question.sql)
        assert not rows.truncated, question.id
        same = same_rows(rows, question.rows, ordered=question.ordered)
        assert same.equal, f"{question.id}: {same.why}"
        assert len(question.rows) > 0, question.id


def test_gold_values_are_what_the_carrier_says(every):
    asked = [question for question in every if question.values]
    assert len(asked) >= 12
    for question in asked:
        for file, pointer, value in question.values:
            found = json.loads((places.data() / "carrier_api" / file).read_text(encoding="utf-8"))
            for step in pointer.split("/")[1:]:
                step = step.replace("~1", "/").replace("~0", "~")
                found = found[int(step)] if isinstance(found, list) else found[step]
            assert found == value, f"{question.id}: {pointer}"


def test_the_carrier_carries_orders_of_this_shop(full):
    told = json.loads((places.data() / "carrier_api" / "tracking.json").read_text(encoding="utf-8"))
    parcels = {parcel["order_id"]: parcel["destination"]["city"] for parcel in told["shipments"]}
    assert len(parcels) == len(told["shipments"]) >= 40
    with closing(shop.read_only(full)) as connection:
        cities = dict(
            connection.execute(
                "SELECT o.id, c.city FROM orders o JOIN customers c ON c.id = o.customer_id "
                "WHERE o.status IN ('paid', 'refunded')"
            ).fetchall()
        )
    assert {order: cities.get(order) for order in parcels} == parcels


def test_the_test_half_is_not_what_you_get_by_default():
    assert {question.split for question in questions.load()} == {"dev"}
    assert {q.pattern for q in questions.load("test", "filter")} == {"filter"}
    with pytest.raises(ValueError, match="split is 'train', expected dev, test or None"):
        questions.load("train")
    with pytest.raises(ValueError, match="pattern is 'vague', expected one of concept"):
        questions.load(pattern="vague")


GOOD = {"id": "q", "question": "?", "pattern": "concept", "split": "dev", "documents": ["product:1"]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pattern": "vague"}, "line 2: pattern is 'vague'"),
        ({"split": "train"}, "line 2: split is 'train'"),
        ({"audience": "all"}, "line 2: audience is 'all'"),
        ({"documents": []}, "line 2: a question of pattern 'concept' without an answer"),
        ({"pattern": "unanswerable"}, "line 2: a question of pattern 'unanswerable' with an answer"),
        ({"pattern": "follow_up"}, "line 2: a follow_up needs its previous turn"),
        ({"previous": {"question": "?"}}, 'previous must have "question" and "answer"'),
        ({"golden": 1}, "line 2: there is no field 'golden'"),
        ({"id": "first"}, "line 2: the id first is already taken"),
        ({"id": 7}, "line 2: id is 7, expected a text"),
        ({"documents": "product:1"}, "line 2: documents is 'product:1', expected a list"),
        ({"documents": [1]}, "line 2: documents has 1 in it, expected a text"),
        ({"rows": ["ab"]}, "line 2: rows has 'ab' in it, expected a list"),
        ({"filter": "price"}, "line 2: filter is 'price', expected an object"),
        ({"filter": None}, "line 2: filter is None, expected an object"),
        ({"previous": ["question", "answer"]}, r"line 2: previous is \[.*, expected an object or null"),
        ({"ordered": 1}, "line 2: ordered is 1, expected true or false"),
    ],
)
def test_a_bad_line_is_named(tmp_path, change, said):
    file = tmp_path / "questions.jsonl"
    lines = [json.dumps(GOOD | {"id": "first"}), json.dumps(GOOD | change)]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        questions.load(None, path=file)
    file.write_text("\n".join([lines[0], "", "{broken"]), encoding="utf-8")
    with pytest.raises(ValueError, match="line 3"):
        questions.load(None, path=file)
    assert shop.questions is questions


@pytest.mark.parametrize("line", ["[1]", '"text"', "7", "null"])
def test_a_line_that_is_no_object_is_named(tmp_path, line):
    file = tmp_path / "questions.jsonl"
    file.write_text(f"{json.dumps(GOOD)}\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: .* is no object"):
        questions.load(None, path=file)


def test_only_a_line_feed_ends_a_line(tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(GOOD | {"question": "a\u2028b\x85c"}, ensure_ascii=False), encoding="utf-8")
    assert [question.question for question in questions.load(None, path=file)] == ["a\u2028b\x85c"]


def test_a_question_can_stand_in_a_set(every):
    assert len({*every, *questions.load(None)}) == len(every)
