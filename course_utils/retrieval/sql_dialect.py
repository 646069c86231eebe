"""What SQLite's dialect has, and what a model writes when it thinks of another database."""

import re
from collections.abc import Iterator

# Functions that only compute, and that cannot be made to run long by one large argument.
_TEXT = """
    char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower
    ltrim match nullif octet_length printf quote replace rtrim soundex substr substring trim typeof unhex
    unicode unistr unistr_quote unlikely upper zeroblob"""
_NUMBERS = """
    abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 max
    min mod pi pow power radians random randomblob round sign sin sinh sqrt tan tanh trunc"""
_DATES = """
    current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch"""
_AGGREGATES = """
    avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number"""
_JSON = """
    -> ->> json json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace
    json_set json_type json_valid"""
_SEARCH = "bm25 highlight snippet"
FUNCTIONS = frozenset(f"{_TEXT} {_NUMBERS} {_DATES} {_AGGREGATES} {_JSON} {_SEARCH}".split())
TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})

_TODAY = "SQLite has date('now') and datetime('now')."
_SHIFT = "SQLite shifts a date with modifiers: date(d, '+7 days'), date('now', '-1 year')."
_PART = "SQLite takes parts of a date with strftime: strftime('%Y', d), strftime('%m', d), strftime('%d', d)."
_FLOOR = "SQLite has date(d, 'start of month'), date(d, 'start of year') and strftime('%Y-%m', d)."
_DAYS = "SQLite counts days with julianday(later) - julianday(earlier)."
_FORMAT = "SQLite formats dates with strftime('%Y-%m-%d', d) and numbers with printf('%.2f', x)."
_CAST = "SQLite has CAST(x AS INTEGER), CAST(x AS REAL) and CAST(x AS TEXT)."
_CUT = "SQLite cuts text with substr(x, 1, 3) from the left and substr(x, -3) from the right."
_FIND = "SQLite has instr(text, part) and substr(text, start, length)."
_LIKE = "Use LIKE with % and _, or GLOB with *, ? and [a-z]."
_SERIES = (
    "Count with a recursive CTE: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 10) SELECT i FROM n."
)
_FILE = "Queries may not touch files, settings or programs."

# Functions of other databases, by what SQLite has instead.
_INSTEAD = {
    _TODAY: "now getdate curdate sysdate getutcdate today",
    _SHIFT: "dateadd date_add date_sub adddate add_months interval",
    _PART: "year month day quarter week dayofweek weekday hour datepart date_part extract monthname dayname",
    _FLOOR: "date_trunc datetrunc last_day eomonth",
    _DAYS: "datediff date_diff timestampdiff months_between age",
    _FORMAT: "to_char date_format",
    _CAST: "to_date str_to_date to_timestamp convert try_cast safe_cast to_number",
    _CUT: "left right mid",
    _FIND: "substring_index split_part charindex position locate strpos",
    _LIKE: "regexp regexp_like regexp_replace regexp_matches rlike similar_to",
    _SERIES: "unnest generate_series generate_date_array",
    _FILE: "load_extension readfile writefile edit fts3_tokenizer load_file",
    "SQLite joins text with ||: first || ' ' || last.": "concat concat_ws",
    "SQLite has group_concat(x, ', ').": "string_agg listagg array_agg",
    "SQLite has ifnull(x, y) and coalesce(x, y, z).": "isnull nvl",
    "SQLite has iif(condition, x, y) and CASE WHEN … THEN … END.": "if decode",
    "SQLite has max(x, y) and min(x, y) with two or more arguments.": "greatest least",
    "SQLite has none; the variance is avg(x * x) - avg(x) * avg(x), and sqrt() gives its root.":
        "stddev stddev_samp stdev variance var_samp",
    "Number the rows with row_number() OVER (ORDER BY x) and take the middle one.":
        "median percentile_cont percentile percentile_disc quantile",
    "SQLite has length(x).": "len char_length datalength",
    "SQLite has printf('%05d', x) and printf('%-10s', x).": "repeat replicate lpad rpad space",
    "SQLite has random().": "rand uuid newid",
    "SQLite has json_extract(x, '$.key').": "json_value json_query get_json_object jsonb_path_query",
}  # fmt: skip
DIALECT = {name: hint for hint, names in _INSTEAD.items() for name in names.split()}

# What a syntax error of another dialect looks like, with what SQLite has instead.
SYNTAX = tuple(
    (re.compile(pattern, re.I | re.S), hint)
    for pattern, hint in (
        (r"^\s*\(", "In SQLite a statement starts with SELECT, WITH or VALUES, never with a parenthesis."),
        (r"\bSELECT\s+(?:DISTINCT\s+)?TOP\s*\(?\s*\d", "SQLite has no TOP: put LIMIT n at the end."),
        (r"\bFETCH\s+(?:FIRST|NEXT)\b", "SQLite has no FETCH FIRST: put LIMIT n at the end."),
        (r"::\s*\w", "SQLite has no ::type; write CAST(x AS INTEGER)."),
        (r"\b(?:NOT\s+)?ILIKE\b", "SQLite has no ILIKE; LIKE ignores the case of A-Z already."),
        (r"\bEXTRACT\s*\(", _PART),
        (r"\bINTERVAL\s+['\d]", _SHIFT),
        (r"\b(?:DATE|TIMESTAMP)\s+'", "SQLite writes a date as plain text: '2026-01-31'."),
        (r"\bSELECT\b.*?\bINTO\b", "SELECT … INTO writes; only reading is possible."),
        (r"\bLATERAL\b|\b(?:CROSS|OUTER)\s+APPLY\b", "SQLite has no LATERAL; use a subquery or a CTE."),
        (r"\bQUALIFY\b", "SQLite has no QUALIFY; filter the window's result in an outer query."),
        (r"\b(?:PIVOT|UNPIVOT)\b", "SQLite has no PIVOT; use SUM(CASE WHEN … THEN … END) for each column."),
        (r"\b(?:ROLLUP|CUBE|GROUPING\s+SETS)\b", "SQLite has no ROLLUP; join the totals with UNION ALL."),
        (r"\b(?:FOR\s+UPDATE|WITH\s*\(\s*NOLOCK)", "SQLite takes no lock hints; leave them out."),
        (r"\b(?:ANY|ALL)\s*\(\s*(?:SELECT|ARRAY)", "SQLite has no ANY or ALL; use IN, max() or min()."),
        (r"\b(?:LEFT|RIGHT)\s*\(", _CUT),
        (r"\bSTRAIGHT_JOIN\b|\bUSE\s+INDEX\b", "SQLite takes no such hints; leave them out."),
        (r"\bGROUP_CONCAT\s*\(.*\bSEPARATOR\b", "SQLite writes group_concat(x, ', ')."),
        (r"\bSHOW\s+TABLES\b|\bDESCRIBE\b", "The tables are listed in the schema you were given."),
        (r"#", "SQLite has no # comments; use -- or /* */."),
        (r"```", "Remove the Markdown fence (```): only the statement itself can run."),
        (r"\bDISTINCT\s+ON\b", "SQLite has no DISTINCT ON; keep the rows whose row_number() is 1."),
        (r"\bSIMILAR\s+TO\b", _LIKE),
        (r"\bAGAINST\s*\(", "SQLite searches text with LIKE, or with MATCH on a full-text table."),
        (r"\bWITHIN\s+GROUP\b|\b(?:STRING|ARRAY)_AGG\s*\(", "SQLite has group_concat(x, ', ')."),
        (r"%s\b|[{]\w*[}]", "Write the values themselves into the query, or ? with parameters."),
        (r"\b(?:FROM|JOIN)\s+(?:order|group|table)\b", "A keyword is no table here: see the schema's names."),
        (r"\bOFFSET\b(?!.*\bLIMIT\b)", "OFFSET needs a LIMIT before it: LIMIT 10 OFFSET n."),
        (r"\bDIV\b", "SQLite divides integers with /; % gives the rest."),
    )
)  # fmt: skip

# Characters that look like blanks, quotes or letters but are none: no-break space, zero width, full width.
ODD = re.compile("[\u00a0\u00ad\u2000-\u200f\u2018-\u201f\u2028-\u202f\u205f-\u2064\u3000\uff01-\uff5e]")


def hints(text: str) -> Iterator[str]:
    """Yield a hint for each function of another dialect that the statement calls, in its order."""
    for match in re.finditer(r"\b(\w+)\s*\(", text):
        if match[1].lower() in DIALECT and match[1].lower() not in FUNCTIONS:
            yield DIALECT[match[1].lower()]
