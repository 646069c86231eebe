"""Keyword retrieval: documents ranked by BM25 for the words they share with a question, for one caller.

Two engines, one interface, the same scores: rank-bm25, to read and to teach with, and an inverted index in
SciPy's sparse columns, for anything large (benchmarks/bm25.py says how much that gains).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from langchain_core.documents import Document
from pydantic import Field

from .analyse import question_terms, terms
from .caller import Caller
from .documents import Documents
from .filters import Filter
from .index import Index, IndexRetriever

Engine = Literal["scipy", "rank_bm25"]
Scores = Callable[[list[int]], np.ndarray]  # numbers of terms that occur -> a score for each document
_DIGITS = 9  # of a score: far coarser than float64's noise, so that equal documents tie in both engines


def idf(documents: int, having: Any) -> np.ndarray:
    """Return the weight of a term that n = `having` of N documents contain: ln(1 + (N - n + .5) / (n + .5)).

    The original, ln((N - n + .5) / (n + .5)), is 0 for a term in half of the documents and negative in more,
    so that a match pushes a document down. The 1 keeps every weight above 0, and hardly changes rare terms:
    N = 1000, n = 5 gives 5.204 instead of 5.198.
    Source: Lucene's BM25Similarity; Kamphuis et al., Which BM25 Do You Mean?, ECIR 2020.
    """
    having = np.asarray(having, dtype=np.float64)
    return np.log(1 + (documents - having + 0.5) / (having + 0.5))


def _rank_bm25(documents: Sequence[np.ndarray], k1: float, b: float) -> Scores:
    """Score with rank_bm25.BM25Okapi, weighted by `idf`: each term of a question looks into each document."""
    from rank_bm25 import BM25Okapi

    model = BM25Okapi([document.tolist() for document in documents], k1=k1, b=b)
    having = Counter(term for counts in model.doc_freqs for term in counts)
    weights = idf(len(documents), list(having.values()))
    model.idf = dict(zip(having, weights.tolist(), strict=True))
    return model.get_scores


def _scipy(documents: Sequence[np.ndarray], k1: float, b: float) -> Scores:
    """Score with an inverted index: a sparse column for each term, of what it adds to each document's score.

    What does not depend on the question is computed here (Lù, BM25S, 2024); it adds up its terms' columns.
    """
    from scipy.sparse import coo_array

    lengths = np.array([len(document) for document in documents])
    places, words = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths), np.concatenate(documents)
    table = coo_array((np.ones(len(words)), (places, words))).tocsc()  # equal places are added up
    counts, starts, rows = table.data, table.indptr, table.indices
    having = np.diff(starts)
    long = k1 * (1 - b + b * lengths / lengths.mean())
    gains = np.repeat(idf(len(lengths), having), having) * (counts * (k1 + 1) / (counts + long[rows]))

    def scores(asked: list[int]) -> np.ndarray:
        columns = [slice(starts[term], starts[term + 1]) for term in asked]
        where, what = (np.concatenate([values[column] for column in columns]) for values in (rows, gains))
        return np.bincount(where, what, minlength=len(lengths))

    return scores


_ENGINES = {"scipy": _scipy, "rank_bm25": _rank_bm25}


class _Table(NamedTuple):
    """What some audiences may see: positions, the terms that occur there, and how it is scored."""

    places: np.ndarray
    known: frozenset[str]
    scores: Scores


class _Shelf(NamedTuple):
    """Documents, the numbers of their terms with repetitions, and a table for each set of audiences."""

    held: Documents
    rows: tuple[np.ndarray, ...]
    tables: dict[frozenset[str], _Table | None]


class BM25Index(Index):
    """Documents by their terms, ranked by BM25 (Robertson & Zaragoza, 2009) with the weights of `idf`.

    Only documents that share a term with the question are found, with a score above 0. How rare a term is
    and how long a text is on average are counted in what the caller may see: no score tells a guest of
    documents for staff. That is one table for each set of audiences, made when its first question comes.

    k1: above 0, how much more a repeated term counts. b: 0 to 1, how much a long text is held against it.
    The defaults are those of Trotman, Jia & Crane (2012), which Anserini took over. analyse: a function from
    a text to its terms, used instead of `terms` and `question_terms`, for documents and questions alike.
    Raises ValueError for documents without id or audience, and for values out of range.
    """

    _shelf: _Shelf

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        engine: Engine = "scipy",
        k1: float = 0.9,
        b: float = 0.4,
        analyse: Callable[[str], list[str]] | None = None,
    ) -> None:
        if engine not in _ENGINES:
            raise ValueError(f"engine must be one of {', '.join(_ENGINES)}, not {engine!r}.")
        if not 0 < k1 < float("inf") or not 0 <= b <= 1:
            raise ValueError(f"k1 must be above 0 and b from 0 to 1, not k1={k1!r}, b={b!r}.")
        self.engine, self.k1, self.b, self.analyse = engine, k1, b, analyse
        self._shelf = _Shelf(Documents(), (), {})
        self._numbers: defaultdict[str, int] = defaultdict()  # term -> number, in order of first sight
        self._numbers.default_factory = self._numbers.__len__
        self.add_documents(list(documents))

    def add_documents(self, documents: Sequence[Document], ids: Sequence[str] | None = None) -> list[str]:
        """Add documents, or replace those with the same id; returns the ids, which `ids` may only repeat.

        All are added, or after an error none.
        """
        return super().add_documents(documents, ids)

    def search(
        self, question: str, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[Document]:
        """Return copies of the k best documents that `caller` may see, best first, with metadata["score"].

        Fewer than k come back where fewer share a term with the question: there is no padding.
        """
        return super().search(question, caller=caller, k=k, filter=filter)

    def ranking(
        self, question: str, *, caller: Caller, k: int = 5, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Return (id, score) of the k best, best first, ties by id; [] where no document shares a term.

        Raises ValueError for a k below 1 and for a filter with a key that no document has which the caller
        may see.
        """
        return super().ranking(question, caller=caller, k=k, filter=filter)

    def _best(
        self, question: str, caller: Caller, k: int, filter: Filter | None
    ) -> tuple[Documents, Iterable[tuple[int, float]]]:
        shelf = self._shelf  # once: documents, terms and statistics that belong together
        held, seen = shelf.held, shelf.held.mask(caller, filter)
        table = self._table(shelf, caller)
        if table is None:
            return held, []
        words = self.analyse(question) if self.analyse else question_terms(question, table.known)
        asked = [self._numbers[word] for word in _listed(words) if word in table.known]
        if not asked:
            return held, []
        scores = np.where(seen[table.places], table.scores(asked), 0)
        best = np.flatnonzero(scores > 0)  # of the others, mostly zeros, a partition takes 100 times as long
        if k < len(best):
            last = np.partition(scores[best], -k)[-k] - 10**-_DIGITS
            best = best[scores[best] > last]  # and all that might tie with the last
        found = zip(table.places[best].tolist(), np.round(scores[best], _DIGITS).tolist(), strict=True)
        return held, found

    def retriever(self, *, caller: Caller, k: int = 5, filter: Filter | None = None) -> "BM25Retriever":
        """Return a LangChain retriever for one caller; it costs nothing, so make one for each request."""
        return BM25Retriever(index=self, caller=caller, k=k, filter=filter)

    def _add(self, documents: list[Document]) -> None:
        analysed = [_listed((self.analyse or terms)(document.page_content)) for document in documents]
        held, rows = self._shelf.held.replaced(documents), list(self._shelf.rows)
        rows += [np.empty(0, np.int32)] * (len(held) - len(rows))
        for document, words in zip(documents, analysed, strict=True):
            rows[held.place(document.id)] = np.array([self._numbers[word] for word in words], np.int32)
        self._shelf = _Shelf(held, tuple(rows), {})

    def _left(self, held: Documents, stay: np.ndarray) -> _Shelf:
        return _Shelf(held, tuple(self._shelf.rows[place] for place in stay), {})

    def _table(self, shelf: "_Shelf", caller: Caller) -> _Table | None:
        tables = shelf.tables
        if caller.audiences not in tables:
            # A text without a word counts neither as a document nor in the mean, as in Lucene.
            lengths = np.array([len(numbers) for numbers in shelf.rows])
            places, made = np.flatnonzero(shelf.held.mask(caller) & (lengths > 0)), None
            if len(places):
                visible, words = [shelf.rows[place] for place in places], list(self._numbers)
                known = frozenset(words[number] for number in np.unique(np.concatenate(visible)))
                made = _Table(places, known, _ENGINES[self.engine](visible, self.k1, self.b))
            tables[caller.audiences] = made
        return tables[caller.audiences]


def _listed(words: list[str]) -> list[str]:
    if isinstance(words, str):  # each letter would count as a term
        raise TypeError("analyse must return a list of terms, not one text.")
    return words


class BM25Retriever(IndexRetriever):
    """A `BM25Index` as a LangChain retriever, for one caller: `.invoke(question)` returns Documents.

    `caller` has no default: whoever makes a retriever must say for whom.
    """

    index: BM25Index
    k: int = Field(default=5, ge=1)  # the bound in the schema too
