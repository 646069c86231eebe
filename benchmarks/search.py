"""Hybrid search: ours, LangChain's EnsembleRetriever, LlamaIndex's QueryFusionRetriever, the bare engines.

    python benchmarks/search.py [--large] [--queries 30] [--trec DIR]

One run, the same documents, questions and vectors for all: 1,000 and 10,000 synthetic documents (those of
bm25.py; --large adds 100,000) and the shop with the dev questions. The shop's vectors are the shipped ones of
MiniLM. Those of synthetic texts are random unit vectors of its size, seeded: to encode 10,000 takes several
times as long as all else here. Each hybrid takes 50 of either kind, fuses by reciprocal rank and returns 10.

Columns, as multiples of ours, each method in a process of its own, FAISS with one thread: a second one makes
a search wait until the machine has a core free for it, which measures the other programs.
"index": CPU time from documents and vectors to the answer to a first question, with the analysis of texts;
ours is made anew beside each of the others.
"a question": by the clock, without a model: vectors are looked up. Ours and the other take turns, five times,
with the same questions; of the five ratios of their medians the one in the middle. What it costs to make a
retriever for who asks is in ours. A method is asked for 4 seconds a turn: what that leaves out is told.
"encoded": the same, had MiniLM encoded the question. What that took at least, of a hundred times, is added to
all that search by vectors.
"memory": how far the resident memory of the process rose above what it had with imports, documents and
vectors, up to the answer to the first question (Linux only).
"Same top 10" is how much of ours the others find, on average.
The first row is ours beside itself: what differs from 1 there is noise.

Only ours knows who asks and takes the filter of a question; the others see the whole shop, so a row shows
ours doing that too. "Not for the asker" is the share of the first five that the asker must not see. All use
our `terms` except the first of LangChain's (its own: split at spaces) and FTS5 (porter unicode61). BM25 has
our k1 = 0.9, b = 0.4, except with LangChain (1.5, 0.75) and FTS5 (1.2, 0.75). LlamaIndex has its
SimpleVectorStore, no model writing queries (num_queries=1), use_async=False and, as keyword part, a small
retriever on rank-bm25. "By hand" is our SciPy engine, FAISS and the fusion: no documents, no callers, no
filters.

--trec: a folder with docs.tsv (id, text) or corpus.jsonl (_id, title, text), queries.tsv or topics.tsv or
queries.jsonl, and qrels.txt (qid 0 docid rel). New texts are encoded first. A relevance above 0 is a hit:
gains are 0 and 1. What is not installed is left out: pip install -e .[bench]
"""

import argparse
import gc
import json
import multiprocessing
import re
import sqlite3
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bm25 import K1, B, best, make, shared
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from course_utils.retrieval import BM25Index, Caller, DenseIndex, HybridRetriever
from course_utils.retrieval.analyse import terms
from course_utils.retrieval.evaluate import as_asked, evaluate
from course_utils.shop.questions import Question

K, DEPTH, RRF, SIZE = 10, 50, 60, 384
ROUNDS, ENOUGH = 5, 4  # turns, and seconds of questions in each: the slow are asked fewer
LEAST = 1e-3  # seconds or GB: a multiple of less says nothing
STAFF, WORDS_ONLY = "ours, for staff, no filters", "keywords only: "
STATUS = Path("/proc/self/status")
Search = Callable[[Question], list[str]]


class Given(Embeddings):
    """Vectors looked up by text."""

    def __init__(self, texts: list[str], vectors: np.ndarray) -> None:
        self.vectors = dict(zip(texts, vectors, strict=True))

    def array(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.vectors[text] for text in texts])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.array(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text].tolist()


@dataclass(frozen=True)
class Case:
    """A collection, its questions, and a vector for each document and each question."""

    name: str
    documents: list[Document]
    vectors: np.ndarray
    questions: list[Question]
    asked: np.ndarray
    judged: bool

    @property
    def given(self) -> Given:
        return Given([question.question for question in self.questions], self.asked)

    @property
    def ids(self) -> list[str]:
        return [document.id for document in self.documents]

    @property
    def texts(self) -> list[str]:
        return [document.page_content for document in self.documents]

    def first(self, count: int) -> "Case":
        return Case(
            self.name, self.documents[:count], self.vectors[:count], self.questions, self.asked, self.judged
        )


class Built(NamedTuple):
    """What an index took: seconds of CPU, and GB."""

    index: float
    memory: float


def synthetic(count: int, queries: int) -> Case:
    texts, questions = make(count, queries + 1)
    dice = np.random.default_rng(count + 1)
    tables = [dice.normal(size=(many, SIZE)) for many in (count, queries + 1)]
    vectors, asked = (
        (table / np.linalg.norm(table, axis=1, keepdims=True)).astype("float32") for table in tables
    )
    documents = [
        Document(id=f"d:{n}", page_content=text, metadata={"audience": "public"})
        for n, text in enumerate(texts)
    ]
    # No gold is known for these: to a Question that is an unanswerable one.
    wanted = [Question(f"q{n}", text, "unanswerable", "dev") for n, text in enumerate(questions)]
    return Case(f"{count:,} synthetic", documents, vectors, wanted, asked, judged=False)


def encoded(name: str, documents: list[Document], questions: list[Question]) -> Case:
    from course_utils.models import embedder

    model = embedder()
    vectors = model.array([document.page_content for document in documents])
    asked = model.array([question.question for question in questions], query=True)
    return Case(f"{len(documents):,} {name}", documents, vectors, questions, asked, judged=True)


def shop() -> Case:
    from course_utils.shop import documents, questions

    wanted = [question for question in questions.load("dev") if question.documents]
    return encoded("of the shop", documents.load(), wanted)


def trec(folder: Path) -> tuple[list[Document], list[Question]]:
    """Read a collection; ValueError for what is missing, and if over a fifth of the queries have no qrels."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder.")
    texts = _pairs(folder, "docs.tsv", "corpus.jsonl")
    asked = _pairs(folder, "queries.tsv", "topics.tsv", "queries.jsonl", "topics.jsonl")
    gold: dict[str, list[str]] = {}
    file = _file(folder, "qrels.txt", "qrels", "qrels.tsv")
    for number, line in _lines(file):
        cells = line.split()
        if len(cells) != 4 or not re.fullmatch(r"-?\d+", cells[3]):
            raise ValueError(f"{file}, line {number}: 'qid 0 docid rel' is needed, not {line!r}.")
        if int(cells[3]) > 0:
            gold.setdefault(cells[0], []).append(cells[2])
    if lost := {id for ids in gold.values() for id in ids} - texts.keys():
        raise ValueError(f"{file} names {len(lost)} documents that are not there, such as {min(lost)!r}.")
    without = [id for id in asked if id not in gold]
    if 5 * len(without) > len(asked):
        raise ValueError(
            f"{len(without)} of {len(asked)} queries have no relevant document in {file}, such as "
            f"{without[0]!r}; at most a fifth may. Are queries and qrels of the same set, with the same ids?"
        )
    documents = [
        Document(id=id, page_content=text, metadata={"audience": "public"}) for id, text in texts.items()
    ]
    questions = [
        Question(id, text, "concept", "test", documents=tuple(gold[id]))
        for id, text in asked.items()
        if id in gold
    ]
    print(f"Queries: {len(questions)}; left out, without qrels: {len(without)}.\n")
    return documents, questions


def _file(folder: Path, *names: str) -> Path:
    found = [folder / name for name in names if (folder / name).is_file()]
    if not found:
        raise ValueError(f"{folder} has no {' or '.join(names)}.")
    return found[0]


def _lines(file: Path) -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8: {error}.") from None
    found = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not found:
        raise ValueError(f"{file} is empty.")
    return found


def _pairs(folder: Path, *names: str) -> dict[str, str]:
    """Return id -> text of a file of tab-separated lines or of JSON lines."""
    file, found = _file(folder, *names), {}
    for number, line in _lines(file):
        if file.suffix == ".jsonl":
            try:
                cells = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{file}, line {number}, is not JSON: {error}.") from None
            if not isinstance(cells, dict):
                raise ValueError(f"{file}, line {number}: an object is needed, not {line[:80]!r}.")
            id, title, text = (str(cells.get(key) or "") for key in ("_id", "title", "text"))
            text = f"{title} {text}"
        else:
            id, _, text = line.partition("\t")
        id = id.strip()
        if not id or id in found or not text.strip():
            wanted = "_id and text" if file.suffix == ".jsonl" else "id, a tab and a text"
            raise ValueError(
                f"{file}, line {number}: {wanted} are needed, the id not used before: {line[:80]!r}."
            )
        found[id] = " ".join(text.split())
    return found


def fused(lists: list[list[int]]) -> list[int]:
    """Return the K best by reciprocal rank, as plainly as it can be written."""
    sums: dict[int, float] = {}
    for places in lists:
        for rank, place in enumerate(places, start=1):
            sums[place] = sums.get(place, 0) + 1 / (RRF + rank)
    return sorted(sums, key=lambda place: -sums[place])[:K]


def _pair(case: Case) -> dict[str, Any]:
    dense = DenseIndex(case.documents, case.given, vectors=case.vectors)
    return {"bm25": BM25Index(case.documents, k1=K1, b=B), "dense": dense}


def ours(case: Case) -> Search:
    factory = as_asked(_pair(case), HybridRetriever, limit=K, depth=DEPTH)
    return lambda question: [one.id for one in factory(question).invoke(question.question)]


def ours_for_staff(case: Case) -> Search:
    """The whole collection and no filters, as the others have it."""
    pair, staff = _pair(case), Caller("bench", "staff")

    def search(question: Question) -> list[str]:
        hybrid = HybridRetriever(
            {name: one.retriever(caller=staff) for name, one in pair.items()}, limit=K, depth=DEPTH
        )
        return [one.id for one in hybrid.invoke(question.question)]

    return search


def langchain(analyse: Callable[[str], list[str]]) -> Callable[[Case], Search]:
    def build(case: Case) -> Search:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langchain_community.retrievers import BM25Retriever
            from langchain_community.vectorstores import FAISS

            try:
                from langchain_classic.retrievers import EnsembleRetriever
            except ImportError:
                from langchain.retrievers import EnsembleRetriever

        words = BM25Retriever.from_documents(case.documents, preprocess_func=analyse, k=DEPTH)
        store = FAISS.from_embeddings(
            list(zip(case.texts, case.vectors.tolist(), strict=True)),
            case.given,
            metadatas=[document.metadata for document in case.documents],
            ids=case.ids,
        )
        dense = store.as_retriever(search_kwargs={"k": DEPTH})
        both = EnsembleRetriever(retrievers=[words, dense], weights=[0.5, 0.5], c=RRF)
        return lambda question: [one.id for one in both.invoke(question.question)[:K]]

    return build


def llama_index(case: Case) -> Search:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from rank_bm25 import BM25Okapi

    given = case.given

    class LookedUp(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return given.embed_query(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return given.embed_query(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            raise NotImplementedError("Each node has its vector.")

    class Words(BaseRetriever):
        def __init__(self, nodes: list[TextNode]) -> None:
            self.nodes, self.model = nodes, BM25Okapi([terms(node.text) for node in nodes], k1=K1, b=B)
            super().__init__()

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            scores = self.model.get_scores(terms(query_bundle.query_str))
            return [
                NodeWithScore(node=self.nodes[place], score=float(scores[place]))
                for place in best(scores, DEPTH)
            ]

    nodes = [
        TextNode(id_=one.id, text=one.page_content, metadata=one.metadata, embedding=vector.tolist())
        for one, vector in zip(case.documents, case.vectors, strict=True)
    ]
    index = VectorStoreIndex(nodes, embed_model=LookedUp())
    both = QueryFusionRetriever(
        [Words(nodes), index.as_retriever(similarity_top_k=DEPTH)],
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=K,
        num_queries=1,
        use_async=False,
    )
    return lambda question: [one.node.node_id for one in both.retrieve(question.question)]


def by_hand(case: Case) -> Search:
    import faiss

    from course_utils.retrieval.bm25 import _scipy

    numbers: dict[str, int] = {}
    rows = [
        np.array([numbers.setdefault(word, len(numbers)) for word in terms(text)], dtype=np.int32)
        for text in case.texts
    ]
    scores = _scipy(rows, K1, B)
    dense, given, ids = faiss.IndexFlatIP(case.vectors.shape[1]), case.given.vectors, case.ids
    dense.add(np.ascontiguousarray(case.vectors, dtype=np.float32))

    def search(question: Question) -> list[str]:
        asked = [numbers[word] for word in terms(question.question) if word in numbers]
        words = best(scores(asked), DEPTH) if asked else []
        near = dense.search(given[question.question][None], min(DEPTH, len(ids)))[1][0].tolist()
        return [ids[place] for place in fused([words, near])]

    return search


def rank_bm25_alone(case: Case) -> Search:
    from rank_bm25 import BM25Okapi

    model, ids = BM25Okapi([terms(text) for text in case.texts], k1=K1, b=B), case.ids
    return lambda question: [ids[place] for place in best(model.get_scores(terms(question.question)), K)]


def fts5(case: Case) -> Search:
    ids, connection = case.ids, sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE d USING fts5(text, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO d (rowid, text) VALUES (?, ?)", enumerate(case.texts))

    def search(question: Question) -> list[str]:
        wanted = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.question))
        found = connection.execute("SELECT rowid FROM d WHERE d MATCH ? ORDER BY rank LIMIT ?", (wanted, K))
        return [ids[place] for (place,) in found]

    return search


METHODS: dict[str, Callable[[Case], Search]] = {
    "ours": ours,
    STAFF: ours_for_staff,
    "LangChain Ensemble": langchain(str.split),
    "LangChain Ensemble, our `terms`": langchain(terms),
    "LlamaIndex QueryFusion": llama_index,
    "by hand": by_hand,
    f"{WORDS_ONLY}rank-bm25": rank_bm25_alone,
    f"{WORDS_ONLY}SQLite FTS5": fts5,
}


class Asked:
    """A method as `evaluate` asks it, for one question."""

    def __init__(self, search: Search, question: Question) -> None:
        self.search, self.question = search, question

    def ranking(self, _: str) -> list[tuple[str, float]]:
        return [(id, 0.0) for id in self.search(self.question)]


def resident(name: str) -> float:
    """Return VmRSS or VmHWM of this process in GB; nan where there is no /proc."""
    if not STATUS.exists():
        return float("nan")
    return int(re.search(rf"{name}:\s+(\d+)", STATUS.read_text(encoding="utf-8"))[1]) / 1024**2


_here: dict[str, Any] = {}  # the case and the search of this process


def build(case: Case, method: str) -> Built | str:
    """Make the index of one method, in a process of its own; a text says what it lacks."""
    import faiss

    faiss.omp_set_num_threads(1)
    make_search = METHODS[method]
    try:
        make_search(case.first(20))(case.questions[0])  # what it imports is no part of it
    except ImportError as error:
        return str(error)
    gc.collect()
    before = resident("VmRSS")
    if STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the high-water mark starts anew
    begin = time.process_time()
    search = make_search(case)
    search(case.questions[0])
    built = Built(time.process_time() - begin, resident("VmHWM") - before)
    _here.update(case=case, search=search)
    return built


def ask(numbers: list[int]) -> tuple[list[float], dict[int, list[str]]]:
    """Ask questions until they took ENOUGH seconds; return the seconds of each, and what was found."""
    times: list[float] = []
    found: dict[int, list[str]] = {}
    for number in numbers:
        question = _here["case"].questions[number]
        begin = time.perf_counter()
        found[number] = _here["search"](question)
        times.append(time.perf_counter() - begin)
        if sum(times) > ENOUGH:
            break
    return times, found


def quality() -> tuple[float, ...]:
    """Return nDCG@10, recall@5, not for the asker."""
    return quality_of(_here["case"], _here["search"])


class Process:
    """A method in a process of its own, kept until it is left."""

    def __init__(self, case: Case, method: str) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        self.built = self(build, case, method)

    def __call__(self, function: Callable[..., Any], *values: Any) -> Any:
        return self._pool.submit(function, *values).result()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


def take_turns(ours: Process, other: Process, count: int) -> tuple[float, dict[int, list[str]]]:
    """Return how much longer the other takes for a question, and what it found."""
    ratios, answers = [], {}
    for turn in range(ROUNDS):
        order = [(turn * count // ROUNDS + n) % count for n in range(count)]
        theirs, found = other(ask, order)
        mine, _ = ours(ask, order[: len(theirs)])
        ratios.append(statistics.median(theirs) / statistics.median(mine))
        answers |= found
    return statistics.median(ratios), answers


def quality_of(case: Case, search: Search) -> tuple[float, ...]:
    answers = evaluate(
        lambda question: Asked(search, question), case.questions, k=K, collection=case.ids, warm_up=False
    )
    audience = {document.id: document.metadata["audience"] for document in case.documents}
    shown = [
        audience[id] not in Caller("judge", role).audiences
        for answer in answers.answers
        for role in ["guest" if answer.question.audience == "public" else answer.question.audience]
        for id in answer.ranking[:5]
    ]
    return answers.mean("nDCG@10"), answers.mean("recall@5"), statistics.mean(shown)


def ratio(value: float, ours: float) -> str:
    """Return a multiple of ours, a dash where ours is unknown or next to nothing."""
    return f"{value / ours:.2f}" if ours > LEAST else "–"


def table(case: Case, encoding: float) -> None:
    """Print a row for each method. encoding: seconds for a question, nan where that is not known."""
    last = "nDCG@10 | recall@5 | not for the asker" if case.judged else "same top 10"
    head = f"| {case.name} | index | a question | encoded | memory | {last} |"
    print(head, "|---" * (head.count("|") - 1) + "|", sep="\n", flush=True)
    first, count, fewer = next(iter(METHODS)), len(case.questions), []
    for method in METHODS:
        if method == STAFF and not any(one.filter for one in case.questions):
            continue  # it would be the first row again
        with Process(case, first) as ours, Process(case, method) as other:
            if isinstance(other.built, str):
                print(f"| {method} | left out, not installed: {other.built} |", flush=True)
                continue
            if method == first:
                base, (spent, answers) = ours.built, ours(ask, list(range(count)))
                own = statistics.median(spent)
            times, found = take_turns(ours, other, count)
            built = [ratio(a, b) for a, b in zip(other.built, ours.built, strict=True)]
            if case.judged:
                rest = [f"{value:.3f}" for value in other(quality)]
            else:
                rest = [f"{shared([answers[n] for n in found], list(found.values())):.2f}"]
        model = 0 if method.startswith(WORDS_ONLY) else encoding
        with_model = (times * own + model) / (own + encoding)
        told = [built[0], f"{times:.2f}", "–" if np.isnan(with_model) else f"{with_model:.2f}", built[1]]
        print(f"| {method} | {' | '.join([*told, *rest])} |", flush=True)
        fewer += [f"only {len(found)} to {method}"] if len(found) < count else []
    print(
        f"\nOurs: index {base.index:.3g} s of CPU, a question {1000 * own:.2f} ms, memory "
        f"{1024 * base.memory:.0f} MB. Questions: {', '.join([str(count), *fewer])}.\n",
        flush=True,
    )


def encoding_times() -> list[float] | str:
    """Return the seconds for the vectors of 100 new questions, or a text that says why they are not known."""
    from course_utils.models import ModelUnavailable, embedder

    try:
        model, times = embedder(), []
        for n in range(101):
            begin = time.perf_counter()
            model.embed_query(f"Does lamp number {n} come with a charger and a spare fuse?")
            times.append(time.perf_counter() - begin)
    except (ModelUnavailable, ImportError) as error:
        return str(error)
    return times[1:]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--large", action="store_true", help="100,000 documents too: five times as long, 5 GB"
    )
    parser.add_argument("--queries", type=int, default=30, help="of the synthetic collections")
    parser.add_argument("--trec", type=Path, metavar="DIR", help="this collection instead")
    args = parser.parse_args()
    collection = None
    if args.trec:
        try:
            collection = trec(args.trec)
        except (ValueError, OSError) as error:
            parser.error(str(error))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        encoding = pool.submit(encoding_times).result()
    if isinstance(encoding, str):
        known = float("nan")
        print(f"Encoding a new question was not measured: {encoding}\n")
    else:
        known, middle = min(encoding), statistics.median(encoding)
        print(
            f"Encoding a new question takes at least {1000 * known:.1f} ms, median {1000 * middle:.1f} ms, "
            "whichever hybrid it is for.\n"
        )
    if collection:
        table(encoded(f"of {args.trec.resolve().name}", *collection), known)
        return
    for count in (1_000, 10_000, *([100_000] if args.large else [])):
        table(synthetic(count, args.queries), known)
    table(shop(), known)


if __name__ == "__main__":
    main()
