"""What an answer is checked with: figures, citable blocks, sentences without a source, which side counts."""

import doctest
import random
import re

import pytest
from langchain_core.documents import Document

from course_utils.retrieval import figures
from course_utils.retrieval.answer import Answer, Missing, Used
from course_utils.retrieval.citations import Citation, Piece, give, marked, read
from course_utils.retrieval.conflicts import between, superseded, told
from course_utils.retrieval.figures import Figures, without_list_numbers
from course_utils.shop import documents

SHOP = documents.load()


def given(*ids, **metadata):
    wanted = [one for one in SHOP if one.id in ids]
    wanted.sort(key=lambda one: ids.index(one.id))
    return give([("shop", one) for one in wanted])[0]


def made(id, text="It is so.", **metadata):
    return give([("made", Document(page_content=text, id=id, metadata=metadata))])[0][0]


def test_the_example_in_the_docstring():
    assert doctest.testmod(figures).failed == 0


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("ERR_4471 on SKU-77710", "ERR 4471, err-4471, SKU-77710", "SKU-7771"),
        ("KB-2040-B", "the KB-2040-B.", "KB-2041-B"),
        ("KB-2040-B", "KB-2040-B", "KB-2040"),
        ("Firmware 4.2.3 is out.", "Install 4.2.3.", "It takes 4 hours."),
        ("Open from 8:00 to 21:30", "from 8 to 21:30", "from 9 to 21:30"),
        ("picked 2026-06-22T18:40", "on 22 June 2026 at 18:40", "on 22 May 2026"),
        ("updated_on: 2026-02-15", "since 15 February 2026, and in 2026", "within 15 days"),
        ("since 7 April 2026", "since 2026-04-07", "since 2026-04-08"),
        ("month: 2026-02; tickets: 3", "3 in 2026-02", "4 in 2026-02"),
        ("two thousand rupees, a hundred times", "2,000 rupees, some hundred times", "hundreds of rupees"),
        ("-18 degrees", "-18 degrees, or 18 below", "-17 degrees"),
        ("18 degrees", "18 degrees", "-18 degrees"),
        ("events/3/place: Patna", "Patna", "3 places"),
        ("1.5 lakh and 2 crore", "150,000 and 20000000", "1,500,000"),
        ("3.2 kg", "3.2 kg, about 3.2", "3 kg"),
        ("thirty-one days", "31 days", "thirty days"),
    ],
)
def test_figures_are_found_in_other_forms_and_not_in_other_values(source, right, wrong):
    assert Figures([source]).missing(right) == [] and Figures([source]).missing(wrong)


def test_only_rows_and_what_says_about_may_be_rounded():
    assert Figures(["3.8333"]).missing("3.83") and not Figures(["3.8333"]).missing("about 3.83")
    assert not Figures([], rows=["stars: 3.8333"]).missing("3.83 or 3.8")
    assert Figures([], rows=["stars: 3.8333"]).missing("3.9")


def test_every_sentence_of_the_shop_stands_up_and_most_changed_numbers_do_not():
    chance = random.Random(3)
    changed = caught = 0
    for one in give([("shop", document) for document in SHOP[:400]])[0][:400]:
        known = Figures([one.text])
        for block in one.blocks:
            assert known.missing(block) == [], (one.id, block)
            numbers = list(re.finditer(r"(?<![\w.,-])\d+(?![\w.,:-])", block))
            if numbers:
                number = chance.choice(numbers)
                other = str(int(number[0]) + chance.choice([1, 2, 3, 5, 7, 10]))
                changed += 1
                caught += bool(known.missing(block[: number.start()] + other + block[number.end() :]))
    assert changed > 50 and caught / changed >= 0.9


def test_list_numbers_are_blanked_and_others_are_not():
    assert without_list_numbers("1. a\n2) b\n- 3. c\n42. d\n1.5 e") == "   a\n   b\n     c\n42. d\n1.5 e"


def test_blocks_are_sentences_and_lines_that_join_to_the_whole_text():
    (one,) = given("article:returns-policy#1")
    assert one.blocks[0] == "updated_on: 2026-02-15; audience: public\n"
    assert "| Connected devices | 14 |\n\n" in one.blocks
    document = next(d for d in SHOP if d.id == one.id)
    assert "".join(one.blocks[1:]) == document.page_content
    assert all(block.strip() for document in SHOP[:200] for block in give([("s", document)])[0][0].blocks)


def test_a_reply_is_read_from_a_message_a_fence_or_plain_text():
    source = made("note:1", "It is red.")
    cited = {"text": "Red.", "citations": [{"search_result_index": 0, "cited_text": "It is\n red."}]}
    for reply in (
        [cited],
        '[{"text": "Red.", "citations": [{"source": "note:1", "cited_text": "It is red."}]}]',
    ):
        assert read(reply, [source])[0] == [Piece("Red.", (Citation("note:1", "It is red."),))]
    fenced = '```json\n[{"text": "Red."}]\n```'
    assert read(fenced, [source])[0] == read("Red.", [source])[0] == [Piece("Red.")]
    thinking = [{"type": "thinking", "thinking": "It may be red."}, "Red.", {"type": "text", "text": None}, 5]
    assert read(thinking, [source]) == ([Piece("Red.")], [])


def test_a_sentence_counts_as_cited_if_one_of_its_parts_is():
    cite = (Citation("note:1", "red"),)
    pieces = [
        Piece("By the terms of the shop, "),
        Piece("it is red.", cite),
        Piece(" It also flies to the moon."),
    ]
    assert [piece.unfounded for piece in marked(pieces)] == [False, False, True]
    assert not any(
        p.unfounded for p in marked([Piece("These are all the colours there are:\n"), Piece("red", cite)])
    )


PRECEDENCE = [
    (("article:a", {}), ("article:b", {"superseded_by": "a"}), "a", "superseded by a"),
    (("article:b", {"superseded_by": "a"}), ("ticket:1", {"created_on": "2027-01-01"}), "b", "one case"),
    (("article:a", {"updated_on": "2020-01-01"}), ("review:1", {}), "a", "one case"),
    (("sql:1", {}), ("ticket:1", {}), "sql:1", "one case"),
    (("article:a", {"audience": "staff"}), ("article:b", {"audience": "public"}), "a", "written for staff"),
    (("article:a", {"audience": "partner", "updated_on": "2020-01-01"}),
     ("article:b", {"audience": "public", "updated_on": "2026-01-01"}), "a", "written for partner"),
    (("article:a", {"audience": "public", "updated_on": "2026-01-02"}),
     ("article:b", {"audience": "public", "updated_on": "2026-01-01"}), "a", "2026-01-02 against 2026-01-01"),
    (("ticket:2", {"created_on": "2026-02"}), ("review:1", {"created_on": "2026-01"}), "ticket:2", "newer"),
    (("article:a", {}), ("article:b", {}), "", "no rule"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "counts", "why"), PRECEDENCE)
def test_precedence_is_the_same_from_both_sides(one, other, counts, why):
    a, b = made(one[0], **one[1]), made(other[0], **other[1])
    expected = counts if not counts or ":" in counts else f"article:{counts}"
    for pair in ((a, b), (b, a)):
        decided, reason = between(*pair)
        assert decided == expected and why in reason


def test_superseded_articles_are_named_once_a_pair_and_only_if_one_is_cited():
    sources = given("article:returns-policy#1", "article:returns-policy#2", "article:returns-policy-2025#2")
    (conflict,) = superseded(sources, ["article:returns-policy#2"])
    assert [side.id for side in conflict.sides] == [
        "article:returns-policy#2",
        "article:returns-policy-2025#2",
    ]
    assert conflict.counts == "article:returns-policy#2"
    assert str(conflict).startswith("Two versions, article:returns-policy#2 and")
    assert superseded(sources, ["product:1"]) == []


A, B = made("note:1", "Ten days."), made("note:2", "Nine days.")
CITE = {one.id: (Citation(one.id, one.text),) for one in (A, B)}


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ([Piece("CONFLICT: ten days and nine days", CITE["note:1"])], "form"),
        ([Piece("CONFLICT: a VERSUS b VERSUS c", CITE["note:1"])], "form"),
        (
            [Piece("CONFLICT: ten days"), Piece(" VERSUS "), Piece("nine days", CITE["note:2"])],
            "cited on both",
        ),
        ([Piece("CONFLICT: ten days VERSUS nine days", CITE["note:1"])], "cited on both"),
        (
            [
                Piece("CONFLICT: "),
                Piece("ten", CITE["note:1"]),
                Piece(" VERSUS "),
                Piece("8", CITE["note:2"]),
            ],
            "both",
        ),
        ([Piece("CONFLICT: "), Piece(" VERSUS "), Piece("nine days", CITE["note:2"])], "form"),
    ],
)
def test_a_conflict_out_of_form_or_without_two_sources_is_dropped_and_the_rest_stays(pieces, why):
    left, conflicts, dropped = told([Piece("It depends.\n", CITE["note:1"]), *pieces], [A, B])
    assert "".join(piece.text for piece in left).strip() == "It depends."
    assert conflicts == [] and why in dropped[0]


def test_a_conflict_without_a_rule_stays_open():
    pieces = [
        Piece("- **CONFLICT:** "),
        Piece("ten days", CITE["note:1"]),
        Piece(" VERSUS "),
        Piece("9 days", CITE["note:2"]),
    ]
    left, (conflict,), dropped = told(pieces, [A, B])
    assert left == [] and dropped == [] and conflict.counts == ""
    assert str(conflict) == "ten days (note:1), but 9 days (note:2). Open: no rule says which of them counts."


def test_an_answer_is_shown_with_numbers_where_the_text_cites():
    pieces = (Piece("Red, ", (Citation("product:1", "red"),)), Piece("or so it seems.\n", (), True))
    sources = (Used(1, "product:1", "A hub", "dense", quotes=("red",)),)
    answer = Answer(
        "Which?", "answered", "Red, or so it seems.", pieces, sources, missing=(Missing("carrier", "late"),)
    )
    assert (
        str(answer)
        == repr(answer)
        == "\n".join([
            "Red, [1] or so it seems. [?]",
            "",
            "Sources",
            '[1] product:1; "red"',
            "",
            "Missing: the carrier did not answer (late).",
        ])
    )
    assert answer.row(1)["id"] == 1 and hash(answer) == hash(answer)
