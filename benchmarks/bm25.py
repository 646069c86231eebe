"""Keyword search: our two engines against rank-bm25 alone, bm25s, tantivy, SQLite FTS5 and a SciPy product.

    python benchmarks/bm25.py [--large] [--queries 30]

One run, one process, the same documents, questions and terms for all: 1,000 and 10,000 synthetic documents of
about 60 words (Zipf, 50,000 words, a code in every tenth), with --large 100,000 too. The texts are analysed
beforehand, so engines alone are compared; what `terms` costs has a line of its own.

All times are multiples of ours, of three rounds the one in the middle; in a round the engines take turns.
"Index" is the CPU time, of all threads, from terms to the answer to a first question. "A question" is the
median over the further ones, by the clock. "Same top 10" is how much of ours the others find, on average;
FTS5 and tantivy have k1 = 1.2, b = 0.75, the others our 0.9 and 0.4, and rank-bm25 alone its own weights.
What is not installed is left out: pip install -e .[bench]
"""

import argparse
import itertools
import sqlite3
import statistics
import string
import time
from collections.abc import Callable

import numpy as np
from langchain_core.documents import Document

from course_utils.retrieval import GUEST
from course_utils.retrieval.analyse import terms
from course_utils.retrieval.bm25 import BM25Index, idf

K, K1, B, WORDS, ROUNDS = 10, 0.9, 0.4, 50_000, 3
Search = Callable[[list[str]], list[str]]
Build = Callable[[list[list[str]]], Search]


def make(count: int, queries: int) -> tuple[list[str], list[str]]:
    """Return texts and questions: words by Zipf's law, every second question with a code that is there."""
    dice = np.random.default_rng(count)
    letters = itertools.product(string.ascii_lowercase, repeat=4)
    words = np.array([f"{''.join(four)}ox" for four in itertools.islice(letters, WORDS)])
    dice.shuffle(words)
    shares = 1 / np.arange(1, WORDS + 1) ** 1.07
    shares /= shares.sum()
    lengths = dice.poisson(60, count).clip(5)
    drawn = np.split(words[dice.choice(WORDS, lengths.sum(), p=shares)], np.cumsum(lengths)[:-1])
    codes = [f"ERR_{dice.integers(1000, 9999)}" if n % 10 == 0 else "" for n in range(count)]
    texts = [f"{' '.join(each)} {code}".strip() for each, code in zip(drawn, codes, strict=True)]
    asked = [dice.choice(words, 5, p=shares).tolist() for _ in range(queries)]
    return texts, [
        " ".join([*each, codes[10 * n % count] if n % 2 else ""]).strip() for n, each in enumerate(asked)
    ]


def best(scores: np.ndarray, k: int = K) -> list[int]:
    """Return the places of the k best above 0, best first."""
    places = np.argpartition(-scores, min(k, len(scores)) - 1)[:k]
    places = places[np.argsort(-scores[places], kind="stable")]
    return [place for place in places.tolist() if scores[place] > 0]


def named(places: list[int]) -> list[str]:
    return [f"d:{place}" for place in places]


def ours(engine: str) -> Build:
    """Return how to make our index: with ids, filters and entitlements, for one caller."""

    def build(texts: list[list[str]]) -> Search:
        documents = [
            Document(id=f"d:{n}", page_content=" ".join(text), metadata={"audience": "public"})
            for n, text in enumerate(texts)
        ]
        index = BM25Index(documents, engine=engine, k1=K1, b=B, analyse=str.split)
        return lambda asked: [id for id, _ in index.ranking(" ".join(asked), caller=GUEST, k=K)]

    return build


def rank_bm25_alone(texts: list[list[str]]) -> Search:
    from rank_bm25 import BM25Okapi

    model = BM25Okapi(texts, k1=K1, b=B)
    return lambda asked: named(best(model.get_scores(asked)))


def scipy_product(texts: list[list[str]]) -> Search:
    """Rows of documents times a column for the question: the whole table for each question."""
    from scipy.sparse import coo_array

    numbers: dict[str, int] = {}
    words = np.array([numbers.setdefault(word, len(numbers)) for text in texts for word in text])
    lengths = np.array([len(text) for text in texts])
    rows = np.repeat(np.arange(len(texts)), lengths)
    table = coo_array((np.ones(len(words)), (rows, words))).tocsr()
    having, long = np.bincount(table.indices), K1 * (1 - B + B * lengths / lengths.mean())
    slow = np.repeat(long, np.diff(table.indptr))
    table.data *= idf(len(texts), having)[table.indices] * (K1 + 1) / (table.data + slow)

    def search(asked: list[str]) -> list[str]:
        question = np.zeros(len(numbers))
        for word in asked:
            if word in numbers:
                question[numbers[word]] += 1
        return named(best(table @ question))

    return search


def bm25s_alone(texts: list[list[str]]) -> Search:
    import bm25s

    model = bm25s.BM25(method="lucene", k1=K1, b=B)
    model.index(texts, show_progress=False)

    def search(asked: list[str]) -> list[str]:
        places, scores = model.retrieve([asked], k=K, show_progress=False)
        return [f"d:{n}" for n, score in zip(places[0], scores[0], strict=True) if score > 0]

    return search


def tantivy_alone(texts: list[list[str]]) -> Search:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", stored=False, tokenizer_name="whitespace")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(num_threads=1)
    for n, text in enumerate(texts):
        writer.add_document(tantivy.Document(id=f"d:{n}", text=" ".join(text)))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(asked: list[str]) -> list[str]:
        wanted = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word)) for word in asked]
        hits = searcher.search(tantivy.Query.boolean_query(wanted), K).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    return search


def fts5(texts: list[list[str]]) -> Search:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE d USING fts5(text, tokenize = \"unicode61 tokenchars '.:-'\")")
    rows = ((n, " ".join(text)) for n, text in enumerate(texts))
    connection.executemany("INSERT INTO d (rowid, text) VALUES (?, ?)", rows)

    def search(asked: list[str]) -> list[str]:
        wanted = " OR ".join(f'"{word}"' for word in asked)
        found = connection.execute("SELECT rowid FROM d WHERE d MATCH ? ORDER BY rank LIMIT ?", (wanted, K))
        return [f"d:{n}" for (n,) in found]

    return search


ENGINES = {
    "ours, scipy (the default)": ours("scipy"),
    "ours, rank_bm25": ours("rank_bm25"),
    "rank-bm25 alone": rank_bm25_alone,
    "SciPy product": scipy_product,
    "bm25s": bm25s_alone,
    "tantivy": tantivy_alone,
    "SQLite FTS5": fts5,
}


def installed(texts: list[list[str]]) -> dict[str, Build]:
    """Return the engines whose libraries are there, each having imported what it needs."""
    found = {}
    for name, build in ENGINES.items():
        try:
            build(texts)(texts[0])
        except ImportError as error:
            print(f"{name} is left out: {error}")
        else:
            found[name] = build
    return found


def index_times(engines: dict[str, Build], texts: list[list[str]], asked: list[str]) -> tuple[dict, dict]:
    """Return the searches, and the CPU seconds of each index with a first question, round by round."""
    searches: dict[str, Search] = {}
    times: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(ROUNDS):
        for name, build in engines.items():
            searches.pop(name, None)  # not twice in memory
            begin = time.process_time()
            searches[name] = build(texts)
            searches[name](asked)
            times[name].append(time.process_time() - begin)
    return searches, times


def question_times(searches: dict[str, Search], asked: list[list[str]]) -> tuple[dict, dict]:
    """Return what each found, and its median seconds for a question, round by round."""
    found: dict[str, list[list[str]]] = {}
    times: dict[str, list[float]] = {name: [] for name in searches}
    for _ in range(ROUNDS):
        for name, search in searches.items():
            found[name], spent = [], []
            for words in asked:
                begin = time.perf_counter()
                found[name].append(search(words))
                spent.append(time.perf_counter() - begin)
            times[name].append(statistics.median(spent))
    return found, times


def ratio(theirs: list[float], ours: list[float]) -> str:
    """Return the median over the rounds of theirs divided by ours."""
    return f"{statistics.median(a / b for a, b in zip(theirs, ours, strict=True)):.2f}"


def shared(ours: list[list[str]], theirs: list[list[str]]) -> float:
    """Return how much of what we found they found too, the mean over the questions."""
    pairs = [(set(a), set(b)) for a, b in zip(ours, theirs, strict=True) if a]
    return statistics.mean(len(a & b) / len(a) for a, b in pairs)


def table(count: int, queries: int) -> None:
    """Print a row for each engine and one for the analysis of the texts."""
    texts, questions = make(count, queries + 1)
    begin = time.process_time()
    analysed = [terms(text) for text in texts]
    reading = time.process_time() - begin
    asked = [terms(question) for question in questions]
    searches, indexed = index_times(installed(analysed[:20]), analysed, asked[0])
    found, spent = question_times(searches, asked[1:])
    print(f"| {count:,} documents | index | a question | same top 10 |\n|---|---|---|---|")
    own = next(iter(searches))
    for name in searches:
        told = f"{ratio(indexed[name], indexed[own])} | {ratio(spent[name], spent[own])}"
        print(f"| {name} | {told} | {shared(found[own], found[name]):.2f} |")
    made, middle = statistics.median(indexed[own]), statistics.median(spent[own])
    print(f"| `terms` of all texts, once | {reading / made:.2f} | – | – |")
    print(f"\nOurs: index {made:.3f} s, a question {1000 * middle:.3f} ms.\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="100,000 documents too: ten times as long, 2 GB")
    parser.add_argument("--queries", type=int, default=30)
    args = parser.parse_args()
    for count in (1_000, 10_000, *([100_000] if args.large else [])):
        table(count, args.queries)


if __name__ == "__main__":
    main()
