"""Filtered dense search: ours, LangChain's FAISS (filters after taking fetch_k) and InMemoryVectorStore.

    python benchmarks/dense.py [--sizes 1000 10000 100000] [--queries 20]

One run, one process, the same vectors (384 dimensions, seeded), questions and filters for all three. Recall
is of the true filtered top 10, from brute force in float64. Times are medians of one search, given as
multiples of ours; the vector of the question is given, so no model is in them. `fetch_k` is LangChain's
default (20) and, in a second row, the whole collection: the only value that is safe for any filter.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from tqdm import tqdm

from course_utils.retrieval import Caller, DenseIndex, Filter, Range

STAFF = Caller("bench", "staff")
K, SIZE = 10, 384
FILTERS = {
    "half": Filter(half=0),
    "1 in 50": Filter(city="c3"),
    "1 in 500": Filter(city="c3", price=Range(below=100)),
    "5 documents": Filter(rare=True),
}


class Given(Embeddings):
    """Texts are numbers: each names its vector."""

    def __init__(self, vectors: np.ndarray, queries: np.ndarray) -> None:
        self.vectors, self.queries = vectors, queries

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[int(text)].tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.queries[int(text)].tolist()


def make(count: int, queries: int) -> tuple[list[Document], Given]:
    """Return documents with vectors that lie in clusters, as texts do, and questions near them."""
    dice = np.random.default_rng(count)
    centres = dice.normal(size=(40, SIZE))
    home = dice.integers(0, 40, count)
    vectors = centres[home] + dice.normal(size=(count, SIZE))
    asked = centres[dice.integers(0, 40, queries)] + dice.normal(size=(queries, SIZE))
    rare = set(dice.choice(count, 5, replace=False).tolist())
    documents = [
        Document(
            id=f"product:{n}",
            page_content=str(n),
            metadata={
                "audience": "public",
                "half": n % 2,
                "city": f"c{n % 50}",
                "price": float(n * 7919 % 1000),
                "rare": n in rare,
            },
        )
        for n in range(count)
    ]
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in (vectors, asked)]
    return documents, Given(*(table.astype(np.float32) for table in unit))


def truth(documents: list[Document], given: Given, query: int, filter: Filter) -> set[str]:
    """Return the ids of the K nearest that match, by brute force."""
    places = [n for n, document in enumerate(documents) if filter(document)]
    scores = given.vectors[places].astype(np.float64) @ given.queries[query].astype(np.float64)
    return {documents[places[n]].id for n in np.argsort(-scores, kind="stable")[:K]}


def contenders(documents: list[Document], given: Given) -> dict[str, Callable[[int, Filter], list[Document]]]:
    """Return the searches by name, ours first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_community.vectorstores import FAISS

    ours = DenseIndex(documents, vectors=given.vectors)
    community = FAISS.from_documents(documents, given)
    memory = InMemoryVectorStore(given)
    memory.add_documents(documents)

    def search_community(query: int, filter: Filter, fetch_k: int) -> list[Document]:
        return community.similarity_search(str(query), k=K, filter=filter.matches, fetch_k=fetch_k)

    def search_ours(query: int, filter: Filter) -> list[Document]:
        return ours.search(given.queries[query], caller=STAFF, k=K, filter=filter)

    return {
        "ours": search_ours,
        "LangChain FAISS, fetch_k=20": lambda query, filter: search_community(query, filter, 20),
        "LangChain FAISS, fetch_k=all": lambda query, filter: search_community(query, filter, len(documents)),
        "InMemoryVectorStore": lambda query, filter: memory.similarity_search(str(query), k=K, filter=filter),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=20)
    args = parser.parse_args()
    print(
        "| documents | filter leaves | method | recall of the true top 10 | fewest results | time, ours = 1 |"
    )
    print("|---|---|---|---|---|---|")
    for count in args.sizes:
        documents, given = make(count, args.queries)
        methods = contenders(documents, given)
        for label, filter in FILTERS.items():
            gold = [truth(documents, given, query, filter) for query in range(args.queries)]
            base = None
            for name, search in methods.items():
                asked = range(args.queries if count <= 10_000 or name == "ours" else min(args.queries, 5))
                search(0, filter)
                recalls, times, fewest = [], [], K
                for query in tqdm(asked, desc=f"{count:,} {label}, {name}", leave=False):
                    begin = time.perf_counter()
                    found = search(query, filter)
                    times.append(time.perf_counter() - begin)
                    ids = {document.id for document in found}
                    recalls.append(len(ids & gold[query]) / len(gold[query]))
                    fewest = min(fewest, len(ids))
                middle = statistics.median(times)
                base = base or middle
                print(
                    f"| {count:,} | {label} | {name} | {statistics.mean(recalls):.3f} | {fewest} of "
                    f"{len(gold[0])} | {middle / base:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
