"""The check of what the sources bear out: on right answers, others as right, and wrong ones."""

import re

import pytest
from checking import says

from course_utils.teaching import tasks

CHECK = tasks.routing.supported.check
NUMBER = r"\d+(?:,\d+)*(?:\.\d+)?"


def flat(text):
    return " ".join(text.lower().split())


def numbers(text):
    return [number.replace(",", "") for number in re.findall(NUMBER, text)]


def is_valid(id, quote, sources):
    return bool(quote.strip()) and flat(quote) in flat(sources.get(id, ""))


def answer_with(*, valid=is_valid, uncited=None, known=None, of=numbers):
    """Return an answer; each word takes the place of one rule."""

    def supported(answer, sources):
        told = {"dropped": [], "uncited": [], "numbers": []}
        for piece in answer:
            left = [cite for cite in piece["cites"] if valid(*cite, sources)]
            told["dropped"] += [cite for cite in piece["cites"] if cite not in left]
            bare = not left if uncited is None else uncited(piece, left)
            told["uncited"] += [piece["text"]] * bare
            texts = [sources[id] for id, _ in left if id in sources]
            stand = {n for text in texts for n in of(text)}
            if known:
                stand = known(piece, left, sources, answer)
            told["numbers"] += [n for n in of(piece["text"]) if n not in stand]
        return told

    return supported


reference = answer_with()


def by_comprehensions(answer, sources):
    pieces = [(piece, [c for c in piece["cites"] if is_valid(*c, sources)]) for piece in answer]
    return {
        "dropped": [list(c) for piece, valid in pieces for c in piece["cites"] if c not in valid],
        "uncited": [piece["text"] for piece, valid in pieces if not valid],
        "numbers": [
            number
            for piece, valid in pieces
            for number in numbers(piece["text"])
            if not any(number in numbers(sources[id]) for id, _ in valid)
        ],
    }


def by_patterns(answer, sources):
    told = {"numbers": [], "uncited": [], "dropped": []}
    for piece in answer:
        cited = ""
        for id, quote in piece["cites"]:
            words = quote.split()
            pattern = r"\s+".join(map(re.escape, words))
            if words and id in sources and re.search(pattern, sources[id], re.I):
                cited += " " + sources[id]
            else:
                told["dropped"].append((id, quote))
        if not cited:
            told["uncited"].append(piece["text"])
        told["numbers"] += filter(lambda one: one not in numbers(cited), numbers(piece["text"]))
    return told


def trusts_the_dict(answer, sources):
    return answer_with(valid=lambda id, quote, sources: flat(quote) in flat(sources[id]))(answer, sources)


def of(ids, sources):
    return {number for id in ids for number in numbers(sources.get(id, ""))}


def changed(**makes):
    def supported(answer, sources):
        told = reference(answer, sources)
        return {key: makes.get(key, lambda value: value)(value) for key, value in told.items()}

    return supported


def in_any(id, quote, sources):
    return bool(quote.strip()) and any(flat(quote) in flat(text) for text in sources.values())


def word_by_word(id, quote, sources):
    return bool(quote.strip()) and set(flat(quote).split()) <= set(flat(sources.get(id, "")).split())


def spaced(id, quote, sources):
    return bool(quote.strip()) and quote.lower() in sources.get(id, "").lower()


def cased(id, quote, sources):
    return bool(quote.strip()) and " ".join(quote.split()) in " ".join(sources.get(id, "").split())


def in_the_whole_answer(piece, left, sources, answer):
    cites = [cite for one in answer for cite in one["cites"]]
    return of([id for id, quote in cites if is_valid(id, quote, sources)], sources)


def part_of_another(answer, sources):
    told = reference(answer, sources)
    told["numbers"] = []
    for piece in answer:
        text = " ".join(sources[id] for id, quote in piece["cites"] if is_valid(id, quote, sources))
        told["numbers"] += [n for n in numbers(piece["text"]) if n not in text.replace(",", "")]
    return told


def only_of_cited_pieces(answer, sources):
    told = reference(answer, sources)
    cited = [piece for piece in answer if piece["text"] not in told["uncited"]]
    return told | {"numbers": reference(cited, sources)["numbers"]}


@pytest.mark.parametrize("answer", [reference, by_comprehensions, by_patterns])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # dropped
        (answer_with(valid=lambda id, quote, sources: id in sources), 0, "only the id is looked at"),
        (answer_with(valid=in_any), 1, "has to stand in the one it names"),
        (answer_with(valid=cased), 2, "capitals and small letters"),
        (answer_with(valid=spaced), 2, "a line break or a run of spaces"),
        (answer_with(valid=word_by_word), 0, "compared one by one"),
        (
            answer_with(valid=lambda id, quote, sources: flat(quote) in flat(sources.get(id, ""))),
            2,
            "an empty quote is valid",
        ),
        (
            answer_with(valid=lambda id, quote, sources: id in sources and flat(quote) in flat(sources[id])),
            2,
            "an empty quote is valid",
        ),
        (
            answer_with(
                valid=lambda id, quote, sources: bool(quote.split()) and quote in sources.get(id, "")
            ),
            2,
            "compared as they are",
        ),
        (trusts_the_dict, 0, "`supported` stops with KeyError"),
        (changed(dropped=lambda cites: [id for id, _ in cites]), 2, "pairs of an id and a quote"),
        (changed(dropped=lambda cites: cites[::-1]), 2, "not in the order of the answer"),
        (changed(dropped=lambda cites: list(dict.fromkeys(cites))), 2, "leaves out a citation"),
        (changed(dropped=lambda cites: [(id, flat(quote)) for id, quote in cites]), 2, "as they came"),
        (changed(dropped=lambda cites: set(cites)), 2, "`dropped` is not a list"),
        # uncited
        (answer_with(uncited=lambda piece, left: not piece["cites"]), 2, "lost all its citations"),
        (
            answer_with(uncited=lambda piece, left: not left or len(left) < len(piece["cites"])),
            2,
            "one that is valid is enough",
        ),
        (
            answer_with(uncited=lambda piece, left: bool(piece["cites"]) and not left),
            2,
            "never had",
        ),
        (answer_with(uncited=lambda piece, left: bool(left)), 2, "have a valid citation, not those"),
        (changed(uncited=lambda texts: [text.strip() for text in texts]), 2, "leave it as it came"),
        (changed(uncited=lambda texts: list(range(len(texts)))), 2, "something else than the texts"),
        (changed(uncited=lambda texts: texts[::-1]), 2, "not in the order"),
        # numbers
        (answer_with(known=lambda p, left, s, a: of(s, s)), 2, "in all sources"),
        (answer_with(known=in_the_whole_answer), 2, "each piece stands on its own"),
        (answer_with(known=lambda p, left, s, a: of([id for id, _ in p["cites"]], s)), 2, "is not valid"),
        (
            answer_with(known=lambda p, left, s, a: {n for _, quote in left for n in numbers(quote)}),
            2,
            "in the quotes alone",
        ),
        (answer_with(of=lambda text: re.findall(NUMBER, text)), 2, "a number with a comma"),
        (answer_with(of=lambda text: re.findall(r"[\d,.]+", text)), 2, "no part of a number"),
        (answer_with(of=lambda text: re.findall(r"\d+", text)), 2, "is cut in two"),
        (part_of_another, 2, "a part of a longer one"),
        (only_of_cited_pieces, 2, "without a valid citation are left out"),
        (answer_with(known=lambda *told: set()), 2, "all numbers of the answer"),
        (changed(numbers=lambda found: [[one] for one in found]), 2, "something else than numbers"),
        (changed(numbers=lambda found: found[:1]), 2, "leaves out one"),
        # the dict
        (lambda answer, sources: tuple(reference(answer, sources).values()), 0, "a value of type tuple"),
        (lambda answer, sources: {"dropped": reference(answer, sources)["dropped"]}, 1, "no key `uncited`"),
        (lambda answer, sources: {"dropped": [], "uncited": [], "numbers": []}, 0, "leaves out a citation"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (lambda found: [f"{int(n):,}" if n.isdigit() else n for n in found], "with its commas"),
        (lambda found: [float(number) for number in found], "numbers that are no texts"),
        (lambda found: list(dict.fromkeys(found)), "each time counts"),
        (lambda found: found + found[-1:], "more often than it stands in the answer"),
        (lambda found: sorted(found), "`numbers` is not in the order of the answer"),
        (lambda found: found[::-1], "`numbers` is not in the order of the answer"),
    ],
)
def test_numbers_come_as_texts_in_order_without_commas(change, fragment):
    says(CHECK(changed(numbers=change)), 2, fragment)


def test_what_is_right_is_said():
    assert CHECK(part_of_another).message.startswith("Right so far: `dropped`, `uncited`. ")
