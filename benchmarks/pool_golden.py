"""What a judge of a golden question reads: the top of every retriever's list, pooled, with the texts.

    python benchmarks/pool_golden.py "Why does the plug blink amber?" --audience staff --depth 15
    python benchmarks/pool_golden.py --contains 77821 "KB-2041"

Gold is every document that answers the question for this audience, not only the one it was written from.
The lists: dense vectors, BM25 over words, and BM25 over codes kept whole and split, of all documents and of
each table alone, so that many reviews do not hide the one article.
"""

import argparse
import re
from collections import defaultdict

from course_utils.retrieval import Caller, DenseIndex, Filter
from course_utils.shop import documents

ROLES = {"public": "guest", "partner": "partner", "staff": "staff"}


def words(text: str) -> list[str]:
    """Return the lower-case words of a text."""
    return re.findall(r"\w+", text.lower())


def codes(text: str) -> list[str]:
    """Return words and codes, each code whole and in its parts: "ERR-4471" -> err4471, err, 4471."""
    found = []
    for token in re.findall(r"\w+(?:[-_]\w+)*", text.lower()):
        parts = re.split(r"[-_]", token)
        found += [*parts, "".join(parts)] if len(parts) > 1 else parts
    return found


def pool(question: str, caller: Caller, depth: int) -> dict[str, list[str]]:
    """Return id -> the lists that it is in, as "dense 3"."""
    from rank_bm25 import BM25Okapi

    from course_utils.models import embedder

    everything = [
        document for document in documents.load() if document.metadata["audience"] in caller.audiences
    ]
    found = defaultdict(list)
    index = DenseIndex(everything, embedder())
    for table in (None, *documents.TABLES):
        filter = Filter(table=table) if table else None
        if not any(table in {None, document.metadata["table"]} for document in everything):
            continue
        deep = depth if table is None else max(depth // 3, 3)
        name = table or "all"
        for rank, (id, _) in enumerate(
            index.ranking(question, caller=caller, k=deep, filter=filter), start=1
        ):
            found[id].append(f"dense/{name} {rank}")
        some = [document for document in everything if table in {None, document.metadata["table"]}]
        for label, split in (("words", words), ("codes", codes)):
            scores = BM25Okapi([split(document.page_content) for document in some]).get_scores(
                split(question)
            )
            best = sorted(range(len(some)), key=lambda n: (-scores[n], some[n].id))[:deep]
            for rank, number in enumerate(best, start=1):
                if scores[number] > 0:
                    found[some[number].id].append(f"{label}/{name} {rank}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("question", nargs="*")
    parser.add_argument("--audience", choices=ROLES, default="public")
    parser.add_argument("--depth", type=int, default=15, help="of each list (default 15)")
    parser.add_argument("--contains", nargs="+", default=[], help="instead: every document with all of these")
    args = parser.parse_args()
    caller = Caller("judge", ROLES[args.audience])
    by_id = {document.id: document for document in documents.load()}
    if args.contains:
        found = {
            id: ["contains"]
            for id, document in by_id.items()
            if document.metadata["audience"] in caller.audiences
            and all(part.lower() in document.page_content.lower() for part in args.contains)
        }
    else:
        found = pool(" ".join(args.question), caller, args.depth)
    for id in sorted(found, key=lambda id: (-len(found[id]), id)):
        document = by_id[id]
        about = {
            key: document.metadata.get(key)
            for key in ("audience", "updated_on", "created_on", "superseded_by")
        }
        print(f"=== {id}  {'; '.join(found[id])}  {[f'{k}={v}' for k, v in about.items() if v]}")
        print(document.page_content, "\n")


if __name__ == "__main__":
    main()
