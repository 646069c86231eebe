"""Which method for which question: the decision matrix of the course, as data that a lesson can show."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Choice:
    """One row of the matrix.

    question, data: the shape of what is asked, and of what holds the answer. method: what fits, and why.
    cost, latency: what it takes beside one keyword search. failure: how it goes wrong. example: a question
    to this shop.
    """

    question: str
    data: str
    method: str
    why: str
    cost: str
    latency: str
    failure: str
    example: str


RETRIEVAL_DECISIONS: tuple[Choice, ...] = (
    Choice(
        "an idea, in other words than the text's",
        "prose",
        "dense search",
        "Vectors bring texts of like meaning together, whatever words they use.",
        "one vector a document, kept in step with the texts",
        "one encoding of the question",
        "Codes, rare names, numbers and negations look alike to it.",
        "My wool cover shrank. What did I do wrong?",
    ),
    Choice(
        "an exact code, number or name",
        "prose with identifiers in it",
        "keyword search (BM25)",
        "A rare token that is the same in question and text decides by itself.",
        "an inverted index; no model",
        "the least of all",
        "It misses whatever is said in other words, and lives or dies by its analyser.",
        "What does ERR_5018 mean?",
    ),
    Choice(
        "both kinds from the same people",
        "prose with identifiers in it",
        "hybrid: both, fused by rank",
        "Ranks can be added where scores cannot; each half finds what the other misses.",
        "two indexes to build and keep in step",
        "the slower of the two, and a fusion",
        "Equal weights can lose to the better half on one kind: choose them on a dev set, by pattern.",
        "ERR_3306 on a power strip, is it dangerous?",
    ),
    Choice(
        "right text found, but too far down",
        "short passages, many of them alike",
        "wide candidates, then a reranker",
        "It reads question and passage together, which no index of single vectors does.",
        "one scoring a candidate, or one model call a batch",
        "grows with the number of candidates",
        "It cannot bring back what the first stage did not find.",
        "Which of the four mats may lie in the sun?",
    ),
    Choice(
        "conditions on price, date, kind, or on who may see it",
        "documents with metadata",
        "filter before ranking",
        "A condition is true or false: it is not a matter of likeness, least of all for permissions.",
        "clean metadata, typed as numbers and dates",
        "less than without: fewer documents are ranked",
        "A wrong or missing value hides the answer without a word.",
        "A lamp under 1,500 rupees for reading in bed",
    ),
    Choice(
        "how many, how much, top five, per city",
        "rows",
        "SQL: written by a model and guarded, or a fixed query tool",
        "Only a query engine looks at all rows; a list of like texts cannot be added up.",
        "a model call, a schema to show, a guard; a tool needs neither guard nor call, and knows less",
        "a model call and a query; more for each repair",
        "A query that runs can be wrong all the same: fan-out, borders of periods, the wrong status.",
        "What was the revenue of each region in May 2026?",
    ),
    Choice(
        "who with whom, what instead of what, over several steps",
        "rows that point to rows",
        "graph query, or recursive SQL",
        "The path is the answer; a pattern of edges says it in one line.",
        "a second store built from the rows",
        "a model call and a traversal; each step multiplies the paths",
        "Wrong direction of an edge, and paths that are counted twice.",
        "Who is three levels above the agent in Kochi?",
    ),
    Choice(
        "the state of one thing right now",
        "nested JSON behind an API",
        "a described endpoint, chosen by name",
        "The key leads straight to the answer, and a copy in an index is old at once.",
        "a model call to choose endpoint and parameters; the other side's limits",
        "a network round trip, times the pages",
        "Time-outs, truncated replies and rate limits: it must say that it is missing.",
        "Has parcel GP-2606-00251-R left the hub?",
    ),
    Choice(
        "a remark that leans on the turn before",
        "a conversation",
        "rewrite into a question of its own, then as above",
        "By itself it has no words to search for.",
        "one more model call a turn",
        "the rewriting comes before everything else",
        "The rewrite drifts: check that the names and codes of the conversation survive.",
        "and for the smaller one?",
    ),
    Choice(
        "several parts, the second about what the first finds",
        "rows and prose",
        "decompose, and ask each part where it belongs",
        "The second look-up needs the name that the first one brings.",
        "a model call for the plan, and the cost of each part",
        "the parts one after the other",
        "An error in the first part is carried on, and sounds as sure.",
        "How is the best rated kettle of 2025 descaled?",
    ),
    Choice(
        "nobody can say where the answer stands",
        "several kinds",
        "mixed: all sources side by side, answer with citations",
        "A source too many costs less than the only right one left out.",
        "every source each time, and a longer prompt",
        "the slowest source, up to its limit",
        "Texts that merely look related crowd out the row; conflicts must be named.",
        "Is anything wrong with my last delivery?",
    ),
    Choice(
        "an open search whose next step depends on what turned up",
        "logs, files, changing collections",
        "an agent with search tools",
        "It follows references and changes its query; nothing has to be indexed before.",
        "many model calls; set a limit on turns and tokens",
        "the most of all",
        "It wanders or stops early; without bounds nobody knows what it will cost.",
        "Which firmware was on the plugs that lost contact in May, by the logs?",
    ),
)


def decision_table(choices: Iterable[Choice] = RETRIEVAL_DECISIONS) -> "pandas.DataFrame":
    """Return the matrix as a data frame, one row a choice, columns as the fields of Choice.

    `decision_table()` shows itself in a notebook; `.to_html()` and `.to_markdown()` give the text.
    """
    from dataclasses import asdict, fields

    import pandas

    columns = [field.name for field in fields(Choice)]
    return pandas.DataFrame([asdict(choice) for choice in choices], columns=columns)


def decisions_html(choices: Iterable[Choice] = RETRIEVAL_DECISIONS) -> str:
    """Return the matrix as an HTML table with whole texts, escaped, wrapped and without row numbers."""
    table = decision_table(choices)
    head = {name: name.capitalize() for name in table.columns}
    import pandas

    with pandas.option_context("display.max_colwidth", None):
        return table.rename(columns=head).to_html(index=False, border=0, justify="left")
