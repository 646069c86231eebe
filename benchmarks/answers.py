"""The whole path on the golden questions: what was retrieved by pattern, and what was refused.

    python benchmarks/answers.py [--split dev|test] [--router neighbours|rules] [--missed]

Each question is put as its asker, with the filter it says, and a follow-up with the turn before. It counts as
answered if its rows are the gold rows, every gold value is among the records, or a gold document is among the
first five of a source. Offline the models are scripts by the authors: SQL, endpoints, rewrites and plans are
then right by hand, and the figures are those of the router, the search and the machinery between them.
"""

import argparse
from collections import defaultdict

from tqdm import tqdm

from course_utils import models
from course_utils.retrieval import (
    AdaptiveRetriever,
    Caller,
    CarrierClient,
    Filter,
    JSONRetriever,
    NeighbourClassifier,
    RuleClassifier,
    ShopAssistant,
    SQLRetriever,
)
from course_utils.retrieval.assistant import prose_indexes, prose_retriever
from course_utils.retrieval.found import answered_by
from course_utils.shop import carrier, questions


def main() -> None:
    """Print a table by pattern and kind of answer."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--router", choices=("neighbours", "rules"), default="neighbours")
    parser.add_argument("--missed", action="store_true", help="list what was not answered, and its route")
    args = parser.parse_args()
    classify = NeighbourClassifier() if args.router == "neighbours" else RuleClassifier()
    indexes, sql, planner = prose_indexes(), SQLRetriever(), models.chat_model("decompose")
    right, missed = defaultdict(list), []
    with carrier.Carrier() as service:
        for one in tqdm(questions.load(args.split), disable=None):
            who = Caller("judge", "guest" if one.audience == "public" else one.audience)
            given = Filter.from_json(one.filter) if one.filter else None
            sources = {
                "structured": sql,
                "semi_structured": JSONRetriever(CarrierClient(service.url), caller=who),
                "unstructured": prose_retriever(indexes, who, filter=given),
            }
            assistant = ShopAssistant(AdaptiveRetriever(sources, classify=classify), planner=planner)
            if one.pattern == "unanswerable":
                kind, good = "refused", assistant.answer(one.question).outcome == "unknown"
            else:
                retrieved = assistant.retrieve(one.question, one.previous)
                kind = "rows" if one.sql else "values" if one.values else "texts"
                good = answered_by(one, retrieved)
                if not good:
                    missed.append(f"{one.id}: {retrieved.decision.route}: {one.question}")
            right[one.pattern, kind].append(good)
    print(f"\n| {args.split}, router: {args.router} | by | questions | right |\n|---|---|---|---|")
    for (pattern, kind), many in right.items():
        print(f"| {pattern} | {kind} | {len(many)} | {sum(many) / len(many):.2f} |")
    if args.missed:
        print("", *missed, sep="\n")


if __name__ == "__main__":
    main()
