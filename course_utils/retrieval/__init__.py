"""What the course teaches, as tested code. Each name is imported from its module when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answer import Answer
    from .assistant import ShopAssistant
    from .bm25 import BM25Index, BM25Retriever
    from .caller import AUDIENCES, GUEST, Caller
    from .compare import Comparison, same_rows
    from .decisions import RETRIEVAL_DECISIONS
    from .decomposition import Plan, PlanRun, PlanRunner, answer_parts, decompose
    from .dense import DenseIndex, DenseRetriever
    from .documents import Documents, row_document
    from .filters import Filter, Range, Where
    from .fusion import mix_scores, reciprocal_rank_fusion
    from .golden import Golden, Score, load_golden, score
    from .hybrid import HybridRetriever, RetrieverFailed, deepened
    from .json_api import JSONFailed, JSONResult, JSONRetriever
    from .json_client import CarrierClient
    from .json_reply import CarrierError
    from .llm_rerank import LLMReranker, parse_scores
    from .query_result import Attempt, SQLResult
    from .query_tools import as_tools, orders_of, refunds_by_region, revenue_by_city, top_products
    from .rerank import NotScored, RerankerFailed, RerankingRetriever, reranked
    from .retrieved import DataType, Decision, Retrieved, Source
    from .rewriting import QueryRewriter, Rewritten, rewrite
    from .routing import AdaptiveRetriever
    from .routing_model import ModelClassifier
    from .routing_neighbours import NeighbourClassifier
    from .routing_rules import RuleClassifier
    from .sql_answer import SQLAnswer
    from .sql_extract import extract_sql
    from .sql_guard import QueryFailed, Rows, SafeDatabase, UnsafeSQL, check_sql
    from .sql_schema import schema_text
    from .synthesis import MultiSourceSynthesizer
    from .text_to_sql import GLOSSARY, SQL_PROMPT, SQLRetriever

_MODULES = {
    "answer": ("Answer",),
    "assistant": ("ShopAssistant",),
    "bm25": ("BM25Index", "BM25Retriever"),
    "caller": ("AUDIENCES", "GUEST", "Caller"),
    "compare": ("Comparison", "same_rows"),
    "decisions": ("RETRIEVAL_DECISIONS",),
    "decomposition": ("Plan", "PlanRun", "PlanRunner", "answer_parts", "decompose"),
    "dense": ("DenseIndex", "DenseRetriever"),
    "documents": ("Documents", "row_document"),
    "filters": ("Filter", "Range", "Where"),
    "fusion": ("mix_scores", "reciprocal_rank_fusion"),
    "golden": ("Golden", "Score", "load_golden", "score"),
    "hybrid": ("HybridRetriever", "RetrieverFailed", "deepened"),
    "json_api": ("JSONFailed", "JSONResult", "JSONRetriever"),
    "json_client": ("CarrierClient",),
    "json_reply": ("CarrierError",),
    "llm_rerank": ("LLMReranker", "parse_scores"),
    "query_tools": ("as_tools", "orders_of", "refunds_by_region", "revenue_by_city", "top_products"),
    "rerank": ("NotScored", "RerankerFailed", "RerankingRetriever", "reranked"),
    "retrieved": ("DataType", "Decision", "Retrieved", "Source"),
    "rewriting": ("QueryRewriter", "Rewritten", "rewrite"),
    "routing": ("AdaptiveRetriever",),
    "routing_model": ("ModelClassifier",),
    "routing_neighbours": ("NeighbourClassifier",),
    "routing_rules": ("RuleClassifier",),
    "sql_answer": ("SQLAnswer",),
    "sql_extract": ("extract_sql",),
    "sql_guard": ("QueryFailed", "Rows", "SafeDatabase", "UnsafeSQL", "check_sql"),
    "query_result": ("Attempt", "SQLResult"),
    "sql_schema": ("schema_text",),
    "synthesis": ("MultiSourceSynthesizer",),
    "text_to_sql": ("GLOSSARY", "SQL_PROMPT", "SQLRetriever"),
}  # fmt: skip
_HOME = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [
    "AUDIENCES",
    "GLOSSARY",
    "GUEST",
    "RETRIEVAL_DECISIONS",
    "SQL_PROMPT",
    "AdaptiveRetriever",
    "Answer",
    "Attempt",
    "BM25Index",
    "BM25Retriever",
    "Caller",
    "CarrierClient",
    "CarrierError",
    "Comparison",
    "DataType",
    "Decision",
    "DenseIndex",
    "DenseRetriever",
    "Documents",
    "Filter",
    "Golden",
    "HybridRetriever",
    "JSONFailed",
    "JSONResult",
    "JSONRetriever",
    "LLMReranker",
    "ModelClassifier",
    "MultiSourceSynthesizer",
    "NeighbourClassifier",
    "NotScored",
    "Plan",
    "PlanRun",
    "PlanRunner",
    "QueryFailed",
    "QueryRewriter",
    "Range",
    "RerankerFailed",
    "RerankingRetriever",
    "Retrieved",
    "RetrieverFailed",
    "Rewritten",
    "Rows",
    "RuleClassifier",
    "SQLAnswer",
    "SQLResult",
    "SQLRetriever",
    "SafeDatabase",
    "Score",
    "ShopAssistant",
    "Source",
    "UnsafeSQL",
    "Where",
    "answer_parts",
    "as_tools",
    "check_sql",
    "decompose",
    "deepened",
    "extract_sql",
    "load_golden",
    "mix_scores",
    "orders_of",
    "parse_scores",
    "reciprocal_rank_fusion",
    "refunds_by_region",
    "reranked",
    "revenue_by_city",
    "rewrite",
    "row_document",
    "same_rows",
    "schema_text",
    "score",
    "top_products",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used: LangChain and the parsers cost seconds."""
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
