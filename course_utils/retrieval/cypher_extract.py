"""Find the one Cypher statement in what a model replied: fences, labels and prose around it go."""

import re

from .cypher_words import FIRST, MAX_LENGTH, WRITES, UnsafeCypher, tokens
from .sql_extract import END_TOKEN, REASONING

_HINT = "Reply with one Cypher statement and nothing else."
_FENCE = re.compile(r"(?:```|~~~)[ \t]*\w*[ \t]*\n?(.*?)(?:```|~~~|\Z)", re.S)
_OTHER = "LOAD COPY EXPORT IMPORT INSTALL ATTACH CALL BEGIN EXPLAIN PROFILE USE"
# A line of a reply that begins a statement; capitals, or a pattern after it: "match the name" is English.
_START = re.compile(
    rf"^[ \t>]*(?:[A-Za-z][\w ]{{0,30}}:[ \t]*)?[\"'`]?"
    rf"(?P<query>(?:(?:{'|'.join([*FIRST, *sorted(WRITES), *_OTHER.split()])})\b"
    r"|(?i:(?:optional\s+)?match\s*\()).*)",
    re.M | re.S,
)


def extract_cypher(text: str) -> str:
    """Return the one Cypher statement in `text`, as written, without what stands around it.

    "Answer: MATCH (p:Product) RETURN p.name<|im_end|>" -> "MATCH (p:Product) RETURN p.name". Nothing is
    judged here: a DELETE comes back as a DELETE, for the guard to refuse. Raises UnsafeCypher for no
    statement and for two different ones.
    """
    if not isinstance(text, str):
        raise TypeError(f"extract_cypher reads the reply's text, not {type(text).__name__}.")
    if len(text) > 20 * MAX_LENGTH:
        raise UnsafeCypher(f"reply too long: {len(text):,} characters", _HINT)
    reply = REASONING.sub("", text, count=1)
    fenced = [block for block in _FENCE.findall(reply) if _START.search(block)]
    found = {_folded(one): one for one in map(_statement, fenced or [reply]) if one}
    if not found:
        start = " ".join(text.split())[:80]
        raise UnsafeCypher(
            f'no Cypher found: the reply begins "{start}"' if start else "the reply is empty", _HINT
        )
    if len(found) > 1:
        raise UnsafeCypher("multiple statements: the reply holds two different ones", _HINT)
    return next(iter(found.values()))


def _statement(text: str) -> str:
    """Return what begins with the first clause, up to an end token or to the prose after it."""
    found = _START.search(text)
    if not found:
        return ""
    query = END_TOKEN.split(found["query"], maxsplit=1)[0]
    query = re.split(r"\n\s*\n(?=[A-Z][a-z]+ )|\n(?:```|~~~)", query, maxsplit=1)[0]
    quote = text[found.start("query") - 1 : found.start("query")]
    query = query.strip()
    if quote and quote in "\"'`" and query.endswith(quote):
        query = query[:-1]
    return re.sub(r"(?:\s|;)+\Z", "", query)


def _folded(query: str) -> str:
    return " ".join(text if kind == "text" else text.casefold() for kind, text in tokens(query))
