"""What the course teaches, as tested code. Each name is imported from its module when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bm25 import BM25Index, BM25Retriever
    from .caller import AUDIENCES, GUEST, Caller
    from .compare import Comparison, same_rows
    from .dense import DenseIndex, DenseRetriever
    from .documents import Documents, row_document
    from .filters import Filter, Range, Where
    from .fusion import mix_scores, reciprocal_rank_fusion
    from .golden import Golden, Score, load_golden, score
    from .hybrid import HybridRetriever, RetrieverFailed, deepened
    from .llm_rerank import LLMReranker, parse_scores
    from .query_tools import as_tools, orders_of, refunds_by_region, revenue_by_city, top_products
    from .rerank import NotScored, RerankerFailed, RerankingRetriever, reranked
    from .sql_answer import SQLAnswer
    from .sql_extract import extract_sql
    from .sql_guard import QueryFailed, Rows, SafeDatabase, UnsafeSQL, check_sql
    from .sql_result import Attempt, SQLResult
    from .sql_schema import schema_text
    from .text_to_sql import GLOSSARY, SQL_PROMPT, SQLRetriever

_MODULES = {
    "bm25": ("BM25Index", "BM25Retriever"),
    "caller": ("AUDIENCES", "GUEST", "Caller"),
    "compare": ("Comparison", "same_rows"),
    "dense": ("DenseIndex", "DenseRetriever"),
    "documents": ("Documents", "row_document"),
    "filters": ("Filter", "Range", "Where"),
    "fusion": ("mix_scores", "reciprocal_rank_fusion"),
    "golden": ("Golden", "Score", "load_golden", "score"),
    "hybrid": ("HybridRetriever", "RetrieverFailed", "deepened"),
    "llm_rerank": ("LLMReranker", "parse_scores"),
    "query_tools": ("as_tools", "orders_of", "refunds_by_region", "revenue_by_city", "top_products"),
    "rerank": ("NotScored", "RerankerFailed", "RerankingRetriever", "reranked"),
    "sql_answer": ("SQLAnswer",),
    "sql_extract": ("extract_sql",),
    "sql_guard": ("QueryFailed", "Rows", "SafeDatabase", "UnsafeSQL", "check_sql"),
    "sql_result": ("Attempt", "SQLResult"),
    "sql_schema": ("schema_text",),
    "text_to_sql": ("GLOSSARY", "SQL_PROMPT", "SQLRetriever"),
}  # fmt: skip
_HOME = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [
    "AUDIENCES",
    "GLOSSARY",
    "GUEST",
    "SQL_PROMPT",
    "Attempt",
    "BM25Index",
    "BM25Retriever",
    "Caller",
    "Comparison",
    "DenseIndex",
    "DenseRetriever",
    "Documents",
    "Filter",
    "Golden",
    "HybridRetriever",
    "LLMReranker",
    "NotScored",
    "QueryFailed",
    "Range",
    "RerankerFailed",
    "RerankingRetriever",
    "RetrieverFailed",
    "Rows",
    "SQLAnswer",
    "SQLResult",
    "SQLRetriever",
    "SafeDatabase",
    "Score",
    "UnsafeSQL",
    "Where",
    "as_tools",
    "check_sql",
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
