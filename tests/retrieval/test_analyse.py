"""The analyser: which texts must meet in a term, and which must not."""

import doctest
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.retrieval import analyse
from course_utils.retrieval.analyse import STOP_WORDS, codes, question_terms, terms

ERR = [
    "ERR_4471",
    "err-4471",
    "Err4471",
    "ERR 4471",
    "err: 4471",
    "4471",
    "(ERR_4471).",
    "**err_4471**",
    "ＥＲＲ＿4471",
]


def test_the_examples_are_true():
    assert doctest.testmod(analyse).failed == 0


@pytest.mark.parametrize("written", ERR)
@pytest.mark.parametrize("asked", ERR)
def test_every_spelling_of_a_code_finds_every_other(written, asked):
    assert set(terms(written)) & set(question_terms(asked, known=set(terms(written))))


@pytest.mark.parametrize("asked", ERR)
def test_a_code_shares_nothing_with_its_neighbour(asked):
    assert not set(terms("ERR_4472")) & set(question_terms(asked, known={"err4471", "4471", "err4472"}))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("KB-2040-B", ["kb2040b", "kb2040", "2040b", "2040"]),
        ("kb2040b", ["kb2040b", "kb2040", "2040b", "2040"]),
        ("SKU-77812", ["sku77812", "77812"]),
        ("ERR_4471-type faults", ["err4471", "4471", "type", "fault"]),
        ("SC-9", ["sc9", "sc", "9"]),
        ("B22-to-E27", ["b22toe27", "b22", "e27", "b", "22", "e", "27"]),
        ("USB-C, Wi-Fi", ["usbc", "usb", "c", "wifi", "wi", "fi"]),
        ("IP66", ["ip66", "ip", "66"]),
    ],
)
def test_codes_are_kept_whole_and_split(text, found):
    assert terms(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.5-litre and 1.5 litres", ["1.5litre", "1.5", "litr", "1.5", "litr"]),
        ("12V or 12 V", ["12v", "12", "v", "12", "v"]),
        ("18,999 or 1,00,000 or 2,049.18", ["18999", "100000", "2049.18"]),
        ("firmware 4.2.3.", ["firmwar", "4.2.3"]),
        ("22:00, 2026-04-07", ["22:00", "2026-04-07", "2026", "04", "07"]),
        ("88–94", ["88-94", "88", "94"]),
        ("6'1 tall, size 5", ["6-1", "6", "1", "tall", "size", "5"]),
        ("1½ of 10² mm²", ["1", "1", "2", "10", "2", "mm2", "mm", "2"]),
        ("४४७१", ["4471"]),
    ],
)
def test_numbers_keep_decimals_and_units(text, found):
    assert terms(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The kettles ARE running.Again (blue)", ["kettl", "run", "again", "blue"]),
        ("the customer’s zip, what's that? don't", ["custom", "zip", "what", "dont"]),
        ("café CAFÉ cafe\u0301 ﬁt Straße", ["café", "café", "café", "fit", "strass"]),
        ("हिन्दी", ["हिन्दी"]),
        ("water-proof waterproofing", ["waterproof", "water", "proof", "waterproof"]),
        ("the of and", []),
        (" -- _ ' … 🙂\ufe0f", []),
        ("", []),
    ],
)
def test_words(text, found):
    assert terms(text) == found


def test_the_stop_words_are_lucenes():
    assert len(STOP_WORDS) == 33 and {"the", "not", "with"} < STOP_WORDS and "out" not in STOP_WORDS


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("kb 2040 b", ["kb2040b", "kb2040", "2040b", "2040"]),
        ("KB 2040: cover", ["kb2040", "2040", "cover"]),
        ("2040 B", ["2040b", "2040", "b"]),
        ("kb 2041 b", ["kb", "2041", "b"]),
        ("mats 2040", ["mat", "2040"]),
        ("a kb 2040.5", ["kb", "2040.5"]),
        ("xkb 2040", ["xkb", "2040"]),
        ("kb 2040 black", ["kb2040", "2040", "black"]),
    ],
)
def test_a_code_may_have_spaces_where_the_documents_have_it_without(asked, found):
    assert question_terms(asked, known=set(terms("KB-2040-B"))) == found


CODES = st.tuples(
    st.text("abcxyz", min_size=1, max_size=4), st.integers(100, 99_999), st.text("abz", max_size=2)
)


@given(CODES, st.sampled_from(["", "-", "_"]), st.sampled_from(["", "-", "_"]), st.booleans())
def test_how_a_code_is_joined_and_written_makes_no_difference(code, first, second, upper):
    letters, number, tail = code
    written = f"{letters}{first}{number}{second if tail else ''}{tail}"
    found = terms(written.upper() if upper else written)
    assert found[0] == f"{letters}{number}{tail}" and str(number) in found
    assert all(str(number) in term for term in found)  # nothing that a code with another number has


@given(st.text())
def test_any_text_gives_terms(text):
    found = terms(text)
    assert all(term and term == term.strip() and len(term.split()) == 1 for term in found)
    assert question_terms(text, known=()) == found


def test_a_text_is_needed():
    with pytest.raises(TypeError, match="A text is needed, not list"):
        terms(["blue", "mug"])


@pytest.mark.parametrize(
    "text", ["a1" * 100_000, "a-" * 100_000, "9" * 200_000, "a'" * 100_000, "1,234" * 50_000]
)
def test_a_hostile_text_costs_no_more_than_its_length(text):
    begin = time.process_time()
    terms(text), question_terms(text, known=())
    assert time.process_time() - begin < 2


def test_threads_do_not_mix_up_their_words():
    words = [
        f"{word}{ending}" for word in ("kettl", "warm", "clean", "light") for ending in ("ing", "ed", "s")
    ]
    analyse._stem.cache_clear(), analyse._remembered.cache_clear()
    alone = [terms(word) for word in words * 20]
    analyse._stem.cache_clear(), analyse._remembered.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(terms, words * 20)) == alone


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ERR_4414, and I am outside", {"err4414", "4414"}),
        ("KB-2040-B or SKU-77821?", {"kb2040b", "kb2040", "2040b", "2040", "sku77821", "77821"}),
        ("12V, 5 minutes, size M, 1.5 l", set()),
        ("no code at all", set()),
    ],
)
def test_codes_are_the_terms_with_a_number_of_three_digits(text, found):
    assert set(codes(text)) == found
