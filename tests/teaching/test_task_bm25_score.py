"""The check of the BM25 score: on right answers, differently written right ones, and wrong ones."""

import math
from collections import Counter

import numpy as np
import pytest
from checking import says
from langchain_core.documents import Document

from course_utils.retrieval import GUEST, BM25Index
from course_utils.teaching import tasks

CHECK = tasks.search.bm25_score.check


def odds(n, count):
    return (count - n + 0.5) / (n + 0.5)


def lucene(n, corpus, term):
    return math.log(1 + odds(n, len(corpus)))


def usual(tf, length, average, k1, b):
    return tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))


def made(idf=lucene, gain=usual, *, query=lambda terms: terms, k1=0.9, b=0.4, guarded=True):
    """Return the right answer with some of its parts changed."""

    def score(query_terms, document_terms, corpus, k1=k1, b=b):
        if guarded and not document_terms:
            return 0.0
        average, total = sum(map(len, corpus)) / len(corpus), 0.0
        for term in query(query_terms):
            if tf := document_terms.count(term):
                n = sum(term in other for other in corpus)
                total += idf(n, corpus, term) * gain(tf, len(document_terms), average, k1, b)
            elif not guarded:
                total += gain(0, len(document_terms), average, k1, b)
        return total

    return score


reference = made()


def with_counters(query_terms, document_terms, corpus, k1=0.9, b=0.4):
    having = Counter(term for other in corpus for term in set(other))
    counts, lengths = Counter(document_terms), [len(other) for other in corpus]
    slow = k1 * (1 - b + b * len(document_terms) * len(corpus) / (sum(lengths) or 1))
    return sum(
        times * math.log1p(odds(having[term], len(corpus))) * (k1 + 1) / (1 + slow / counts[term])
        for term, times in Counter(query_terms).items()
        if counts[term]
    )


def with_numpy(query_terms, document_terms, corpus, k1=0.9, b=0.4):
    if not any(corpus):
        return np.float64(0)
    tf = np.array([document_terms.count(term) for term in query_terms])
    n = np.array([sum(term in other for other in corpus) for term in query_terms])
    slow = k1 * (1 - b + b * len(document_terms) / np.mean([len(other) for other in corpus]))
    return (np.log(1 + odds(n, len(corpus))) * tf * (k1 + 1) / (tf + slow)).sum()


def by_document(query_terms, document_terms, corpus, k1=0.9, b=0.4):
    """Sum over the document's terms, so that tf counts twice."""
    right = lambda term: reference([term], document_terms, corpus, k1, b)  # noqa: E731
    return sum(right(term) for term in document_terms if term in query_terms)


def rewrites(query_terms, document_terms, corpus, k1=0.9, b=0.4):
    value = reference(query_terms, document_terms, corpus, k1, b)
    document_terms.sort(reverse=True)
    return value


def old(n, corpus, term):
    return math.log(odds(n, len(corpus)))


def occurrences(n, corpus, term):
    return lucene(sum(other.count(term) for other in corpus), corpus, term)


def unsaturated(tf, length, average, k1, b):
    return tf


def rounded(digits):
    return lambda *args, **kwargs: round(reference(*args, **kwargs), digits)


@pytest.mark.parametrize("answer", [reference, with_counters, with_numpy])
def test_right(answer):
    says(CHECK(answer), 3)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # idf
        (made(old), 2, "1 inside the logarithm is missing"),
        (made(lambda *a: max(0, old(*a))), 2, "nothing need be cut off"),
        (made(lambda *a: 1 + old(*a)), 2, "The 1 stands outside"),
        (made(lambda n, c, t: math.log10(1 + odds(n, len(c)))), 2, "the base 10"),
        (made(lambda n, c, t: math.log2(1 + odds(n, len(c)))), 2, "the base 2"),
        (made(occurrences), 2, "Your n counts occurrences"),
        (made(lambda n, c, t: math.log(len(c) / n)), 2, "ln(N / n)"),
        (made(lambda n, c, t: math.log(1 + (len(c) - n) / n)), 2, "the 0.5 are missing"),
        (made(lambda n, c, t: 1 + odds(n, len(c))), 2, "There is no logarithm"),
        (made(lambda n, c, t: 1), 2, "Every term counts the same"),
        (made(lambda n, c, t: math.log(1 + 1 / odds(n, len(c)))), 2, "n is taken for N"),
        (made(lambda n, c, t: math.log(2 + odds(n, len(c)))), 1, "the score is too high"),
        # gain
        (made(gain=unsaturated), 2, "Your tf counts in full"),
        (made(gain=lambda tf, *a: 1), 2, "counts once, however often"),
        (made(gain=lambda tf, n, mean, k1, b: usual(tf, n, 1, k1, b)), 2, "The average length is missing"),
        (made(gain=lambda tf, n, mean, k1, b: usual(tf, n, mean, k1, 0)), 2, "does not count: b"),
        (made(gain=lambda tf, n, mean, k1, b: usual(tf, mean, n, k1, b)), 2, "have changed places"),
        (made(gain=lambda tf, n, mean, k1, b: usual(tf, n, mean, 0.9, 0.4)), 2, "k1 and b are not looked at"),
        (made(k1=1.5, b=0.75), 2, "too "),
        (by_document, 1, "tf counts twice"),
        # the edges
        (made(query=set), 2, "a repeated term of the query counts each time"),
        (made(query=lambda terms: list(dict.fromkeys(terms))), 2, "counts each time"),
        (made(guarded=False), 2, "nothing can be divided by it"),
        (rewrites, 2, "`score` changes the lists it was given"),
        (lambda *a, **k: reference(*a, **k) if set(a[0]) <= set(a[1]) else None, 1, "forget `return`"),
        # more than one
        (made(old, query=set), 1, "1 inside the logarithm is missing"),
        (made(old, unsaturated), 1, "1 inside the logarithm is missing"),
        (made(gain=unsaturated, query=set), 1, "Your tf counts in full"),
        (made(gain=lambda tf, n, mean, k1, b: usual(tf, n, mean, k1, b) / (k1 + 1)), 2, "k1 + 1"),
        (rounded(3), 1, "the score is rounded"),
        (lambda q, d, c, k1=0.9, b=0.4: sum(d.count(term) for term in q), 1, "Every term counts the same"),
        (lambda q, d, c, k1=0.9, b=0.4: 0.0, 0, "too low"),
        (lambda q, d, c, k1=0.9, b=0.4: [reference([t], d, c, k1, b) for t in q], 0, "a list comes back"),
        (lambda q, d, c, k1=0.9, b=0.4: str(reference(q, d, c, k1, b)), 0, "a value of type str"),
        (lambda q, d, c: 1.0, 0, "TypeError"),
    ],
)  # fmt: skip
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(CHECK(made(old)), 2, "Right so far: gain counts as it should; the edges hold. The 1")


def test_the_numbers_of_the_lesson():
    three = [text.split() for text in (
        "plug will not pair", "plug shows err_4471 and will not pair with the hub", "hub shows err_4472",
    )]  # fmt: skip
    assert [round(reference(["plug", "err_4471"], words, three), 3) for words in three] == [0.498, 1.267, 0]
    documents = [
        Document(id=str(place), page_content=" ".join(words), metadata={"audience": "public"})
        for place, words in enumerate(three)
    ]
    ranked = BM25Index(documents, analyse=str.split).ranking("plug err_4471", caller=GUEST)
    assert dict(ranked) == pytest.approx({
        str(place): reference(["plug", "err_4471"], three[place], three) for place in (1, 0)
    })  # fmt: skip
