"""The prose: enough of it, each piece different, in step with the tables, and honest about its traps."""

import csv
import re
from collections import Counter, defaultdict

import pytest

from course_utils import places
from course_utils.shop.articles import read_article

CODES = {
    "ERR_4471", "ERR_4472", "ERR_4417", "ERR_4414", "ERR_1190", "ERR_1109", "ERR_2203", "ERR_2230",
    "ERR_2918", "ERR_3306", "ERR_3360", "ERR_3063", "ERR_5018", "ERR_6602", "ERR_7720", "ERR_8105",
}  # fmt: skip
TO_A_MODEL = re.compile(
    r"\b(AI (assistant|model)|ignore all|forget whatever you were told|system prompt)\b", re.I
)


def table(name):
    with (places.data() / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.fixture(scope="module")
def articles():
    return {file.stem: read_article(file) for file in sorted((places.data() / "articles").glob("*.md"))}


@pytest.fixture(scope="module")
def reviews():
    return table("reviews")


@pytest.fixture(scope="module")
def tickets():
    return table("tickets")


def words(text):
    return re.findall(r"[\w'-]+", text)


def test_there_is_enough_of_each(articles, reviews, tickets):
    assert (len(articles) >= 90, len(reviews) >= 500, len(tickets) >= 150) == (True, True, True)
    audiences = Counter(head["audience"] for head, _ in articles.values())
    assert audiences["public"] >= 60 and audiences["partner"] >= 6 and audiences["staff"] >= 6
    assert sum("superseded_by" in head for head, _ in articles.values()) >= 5
    assert len({head["id"] for head, _ in articles.values()}) == len(articles)


def test_articles_have_their_lengths(articles):
    lengths = {slug: len(words(body)) for slug, (_, body) in articles.items()}
    assert all(110 <= count <= 900 for count in lengths.values()), lengths
    long = [slug for slug, count in lengths.items() if count > 600]
    assert 4 <= len(long) <= 12
    assert all(count <= 520 for slug, count in lengths.items() if slug not in long)


def test_reviews_and_tickets_are_uneven(reviews, tickets):
    for rows, short, long in ((reviews, 10, 70), (tickets, 110, 195)):
        lengths = sorted(len(words(row["body"])) for row in rows)
        assert lengths[len(lengths) // 20] <= short and lengths[-len(lengths) // 20] >= long


def test_every_piece_is_different(articles, reviews, tickets):
    pieces = {f"article:{slug}": body for slug, (_, body) in articles.items()}
    pieces |= {f"review:{row['id']}": row["body"] for row in reviews}
    pieces |= {f"ticket:{row['id']}": row["body"] for row in tickets}
    runs = defaultdict(set)
    for id, text in pieces.items():
        found = [word.lower() for word in words(text)]
        for begin in range(len(found) - 9):
            runs[tuple(found[begin : begin + 10])].add(id)
    shared = {" ".join(run): ids for run, ids in runs.items() if len(ids) > 1}
    assert shared == {}


def test_a_ticket_is_a_conversation(tickets):
    follow_ups = 0
    for row in tickets:
        turns = row["body"].split("\n\n")
        assert all(turn.startswith(("Customer: ", "Support: ")) for turn in turns), row["id"]
        assert len(turns) >= 2 and any(turn.startswith("Customer: ") for turn in turns), row["id"]
        follow_ups += len(turns) >= 4
    assert follow_ups >= 75
    assert {row["status"] for row in tickets} == {"open", "waiting", "closed"}
    assert 30 <= sum(bool(row["error_code"]) for row in tickets) <= len(tickets) - 30


def test_only_codes_that_exist(articles, reviews, tickets):
    told = [body for _, body in articles.values()] + [row["body"] for row in tickets]
    told += [row["error_code"] for row in tickets] + [head["title"] for head, _ in articles.values()]
    assert {code for text in told for code in re.findall(r"ERR_\w+", text)} <= CODES
    written = " ".join(row["body"] + row["title"] for row in reviews)
    assert len(set(re.findall(r"ERR_\d{4}", written)) & CODES) >= 12


def test_only_products_that_exist(articles, reviews, tickets):
    known = {row["sku"] for row in table("products")}
    told = [body for _, body in articles.values()]
    told += [row["body"] for row in (*reviews, *tickets)]
    named = {sku for text in told for sku in re.findall(r"\b(?:SKU-\d{5}|KB-\d{4}-[A-Z])\b", text)}
    assert len(named) > 50 and named <= known


def test_exactly_two_reviews_give_orders_to_a_model(articles, reviews, tickets):
    orders = [row["id"] for row in reviews if TO_A_MODEL.search(row["body"] + row["title"])]
    assert orders == ["77", "466"]
    others = [body for _, body in articles.values()] + [row["body"] for row in tickets]
    assert not any(TO_A_MODEL.search(text) for text in others)


def test_no_address_number_or_secret(articles, reviews, tickets):
    told = [body for _, body in articles.values()]
    told += [row["body"] + row["title"] for row in reviews]
    told += [row["body"] + row["subject"] for row in tickets]
    for text in told:
        assert not re.search(r"https?://|www\.|@\w|\b\d{10}\b|CANARY|7741|plover", text), text[:80]


def test_every_product_has_a_review_and_the_stories_are_told(reviews, tickets):
    assert {row["product_id"] for row in reviews} == {row["id"] for row in table("products")}
    plug = [row for row in reviews if row["product_id"] == "12"]
    spike = [row for row in plug if "2026-02-04" <= row["created_on"] <= "2026-04-06"]
    before = [row for row in plug if row["created_on"] < "2026-02-03"]
    mean = lambda rows: sum(int(row["score"]) for row in rows) / len(rows)  # noqa: E731
    assert len(spike) >= 8 and mean(spike) < 2 < 4 < mean(before)
    assert sum(row["product_id"] == "12" and row["error_code"] == "ERR_4471" for row in tickets) >= 8
