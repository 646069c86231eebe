"""The check of the terms: on right answers, differently written right ones, and wrong ones."""

import re

import pytest
from checking import says

from course_utils.retrieval import analyse
from course_utils.teaching import tasks

CHECK = tasks.search.keep_codes.check
WORD = r"[a-z0-9]+(?:[_-][a-z0-9]+)*"


def bare(word):
    return word.replace("_", "").replace("-", "")


def reference(text):
    found = []
    for word in re.findall(WORD, text.lower()):
        whole = bare(word)
        found += [whole, *(number for number in re.findall("[0-9]{3,}", word) if number != whole)]
    return found


def is_in_a_run(char):
    return char.isascii() and char.isalnum()


def without_patterns(text):
    """Letter by letter, the numbers last."""
    words, numbers, word = [], [], ""
    text = text.lower() + " "
    for place, char in enumerate(text):
        joins = char in "_-" and word and word[-1] not in "_-" and is_in_a_run(text[place + 1])
        if is_in_a_run(char) or joins:
            word += char
        elif word:
            words.append(bare(word))
            digits = "".join(one if one.isdigit() else " " for one in word).split()
            numbers += [one for one in digits if len(one) >= 3 and one != words[-1]]
            word = ""
    return words + numbers


def sorted_tuple(text):
    return tuple(sorted(reference(text)))


def split_at_spaces(text):
    return text.lower().split()


def stripped(text):
    return [bare(word.strip(".,:;()?!")) for word in text.lower().split()]


def runs(text):
    return re.findall("[a-z0-9]+", text.lower())


def word_characters(text):
    return [bare(word) for word in re.findall(r"[\w-]+", text.lower())]


def keeps_joiners(text):
    found = []
    for word in re.findall(WORD, text.lower()):
        found += [word, *(number for number in re.findall("[0-9]{3,}", word) if number != word)]
    return found


def wholes(text):
    return [bare(word) for word in re.findall(WORD, text.lower())]


def with_numbers(pattern, *, joined=False, alone=False, only=lambda word: True):
    def terms(text):
        found = []
        for word in re.findall(WORD, text.lower()):
            whole = bare(word)
            numbers = re.findall(pattern, whole if joined else word) if only(word) else []
            found += [whole, *(number for number in numbers if alone or number != whole)]
        return found

    return terms


def any_letters(text):
    """Take é for a letter too."""
    found = []
    for word in re.findall(r"[^\W_]+(?:[_-][^\W_]+)*", text.lower()):
        found += [bare(word), *(n for n in re.findall("[0-9]{3,}", word) if n != bare(word))]
    return found


def many_joiners(text):
    return reference(re.sub("_+", "_", text))


def one_number_of_digits(text):
    """Take a word of digits and joiners for one number."""
    found = []
    for word in re.findall(WORD, text.lower()):
        found += [bare(word), *(re.findall("[0-9]{3,}", word) if not bare(word).isdigit() else [])]
    return found


def numbers_in_pieces(text):
    return [term for term in reference(text) if term != "20240412"]


def with_letters(text):
    found = reference(text)
    for word in re.findall(WORD, text.lower()):
        found += [run for run in re.split("[_-]", word) if run.isalpha() and run != bare(word)]
    return found


def letters_and_digits_apart(text):
    return re.findall("[a-z]+|[0-9]+", text.lower())


def without(*words):
    return lambda text: [term for term in reference(text) if term not in words]


@pytest.mark.parametrize("answer", [reference, without_patterns, sorted_tuple])
def test_right(answer):
    says(CHECK(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the words
        (split_at_spaces, 0, "that is no letter and no digit"),
        (stripped, 0, "a joiner alone"),
        (runs, 0, "in pieces"),
        (letters_and_digits_apart, 0, "in pieces"),
        (word_characters, 0, "a joiner alone"),
        (keeps_joiners, 1, "still has its joiner"),
        (lambda text: [term.upper() for term in reference(text)], 1, "capital letters"),
        (lambda text: list(dict.fromkeys(reference(text))), 0, "less often than it occurs"),
        (without("the", "and", "of", "is"), 1, "nothing is left out"),
        (without("4414"), 0, "a word of its own, does not come back"),
        (lambda text: [term.removesuffix("s") for term in reference(text)], 1, "nothing is stemmed"),
        (lambda text: [*reference(text), *wholes(text)[:1]], 1, "more often than it occurs"),
        (lambda text: [*reference(text), "shop"], 1, "no word of the text"),
        (any_letters, 1, "a letter in it that is not from a to z"),
        (many_joiners, 0, "is glued to another one"),
        (numbers_in_pieces, 1, "'2024-0412' comes back in pieces and not whole"),
        (with_letters, 1, "a piece of a longer word"),
        (lambda text: [*reference(text), "err"] if "err" in text.lower() else reference(text), 1, "letters"),
        # the numbers
        (wholes, 1, "is not a term of its own"),
        (with_numbers("[0-9]{3,}", alone=True), 1, "stands alone and comes back twice"),
        (one_number_of_digits, 1, "'2024-0412' is more than one run of digits"),
        (with_numbers("[0-9]+"), 1, "fewer than three digits"),
        (with_numbers("[0-9]{4,}"), 1, "more than one number"),
        (with_numbers("[0-9]{3,}", joined=True), 1, "before the joiners are removed"),
        (with_numbers("[0-9]{3,}", only=lambda word: word != bare(word)), 1, "has no joiner"),
        (with_numbers("[0-9]{3,}$"), 1, "is not a term of its own"),
        # neither, or no list of terms
        (analyse.terms, 0, ""),
        (lambda text: set(reference(text)), 0, "a repeated word counts once"),
        (lambda text: " ".join(reference(text)), 0, "a value of type str"),
        (lambda text: [(term,) for term in reference(text)], 0, "lists or tuples"),
        (lambda text: re.findall("([a-z]+)([0-9]*)", text.lower()), 0, "lists or tuples"),
        (lambda text: [int(term) if term.isdigit() else term for term in reference(text)], 0, "written as"),
        (lambda text: reference(text) or None, 0, "forget `return`"),
        (lambda text: [reference(text)[0]], 0, "IndexError"),
        (lambda text: [], 0, "does not come back"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(CHECK(wholes), 1, "Right so far: all words are there")
    says(CHECK(with_letters), 1, "Right so far: the numbers in codes are there.")


def test_the_example_of_the_statement():
    expected = ["wifi", "err4414", "4414", "or", "err4414", "4414"]
    assert reference("Wi-Fi: ERR_4414, or err4414?") == expected
