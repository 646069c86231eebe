"""Find the one SQL statement in what a model replied: fences, labels, quotes and prose around it go."""

import re
from collections.abc import Iterator

from course_utils.retrieval.sql_errors import UnsafeSQL

HINT = "Reply with one SELECT statement and nothing else."
MAX_REPLY = 100_000  # characters; a statement of that length is refused later anyway
START = re.compile(
    r"""\(*\s*SELECT\b(?!\s*[.:,!?])(?=.*\S)
      | WITH\s+(?:RECURSIVE\s+)?(?:\w+|"[^"]+"|\[[^\]]+\])\s*(?:\(|AS\b)
      | VALUES\s*\(
      | (?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+)?INTO\b
      | UPDATE\s+(?:OR\s+\w+\s+)?\S+\s+SET\b
      | DELETE\s+FROM\b
      | (?:DROP|CREATE|ALTER|TRUNCATE)\s+(?:\w+\s+){0,2}(?:TABLE|VIEW|INDEX|TRIGGER)\b
      | (?:ATTACH|DETACH)\s+(?:DATABASE\s+)?\S
      | PRAGMA\s+\w | EXPLAIN\s+\w | VACUUM\b(?!\s+[a-z]+\s+[a-z]) | BEGIN\s*;""",
    re.I | re.X | re.S,
)
# An unfinished comment runs to the end, as in SQLite; so no reply costs more than one pass.
COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|\Z))*", re.S)
# What the lexer must not look into: strings, quoted names, comments. A fence on its own line ends them.
_IN = r"(?:(?!\n[ \t]*(?:```|~~~))[^{q}])*"
QUOTED = re.compile(
    "|".join(f"{q}{_IN.format(q=q)}{q}" for q in "'\"") + r"|(?<!`)`[^`\n]+`(?!`)|\[[\w .-]+\]"
)
COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|(?=\n[ \t]*(?:```|~~~))|\Z)", re.S)
OPAQUE = re.compile(f"{QUOTED.pattern}|{COMMENT.pattern}", re.S)
END_TOKEN = re.compile(r"<\|[\w▁ ]+\|>|</s>|<(?:eos|end_of_turn)>|\[/?INST\]")
FENCE = re.compile(r"`{3,}|~{3,}")
REASONING = re.compile(r"\A\s*(?:<(think|thinking|reasoning)>.*?</\1>|[^<]*</think(?:ing)?>)", re.S | re.I)
LABEL = re.compile(r"[ \t>*_#-]*(?:\d+[.)][ \t]+)?(?:[A-Za-z][\w ]{0,30}:[*_]*[ \t]*)?")
# Words that begin or join a clause: a line that has one is SQL, not a remark about it.
CLAUSE = re.compile(
    r"\b(?:SELECT|FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|JOIN|LEFT|RIGHT|INNER|OUTER|CROSS|NATURAL|UNION|"
    r"EXCEPT|INTERSECT|AND|OR|ON|AS|BY|CASE|WHEN|THEN|ELSE|END|WINDOW|WITH|VALUES|SET|USING|DESC|ASC|OVER)\b"
)
CLAUSE_FIRST = re.compile(rf"\s*{CLAUSE.pattern}", re.I)


def extract_sql(text: str) -> str:
    """Return the one SQL statement in `text`, exactly as written, without what stands around it.

    "Sure:\\n```sqlite\\nSELECT 1;\\n```" -> "SELECT 1". What goes: fences with any tag or none, labels
    ("SQLQuery:"), one pair of outer quotes, prose, a reasoning preamble, end-of-text tokens, trailing
    semicolons. The statement is a slice of `text`. Nothing is judged here: a DELETE comes back as a DELETE,
    for the guard to refuse. The same statement twice counts once.

    Raises UnsafeSQL (a ValueError): for two different statements it names both, and where nothing looks
    like SQL it quotes the start of the reply.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"extract_sql reads the reply's text, got {type(text).__name__}; put StrOutputParser() before it"
        )
    if len(text) > MAX_REPLY:
        raise UnsafeSQL(f"reply too long: {len(text):,} characters, at most {MAX_REPLY:,} are read", HINT)
    reply = REASONING.sub("", text, count=1)
    blocks, outside = _fenced(reply)
    found = [s for block in blocks for s in _in_block(block)]
    found += _in_prose(outside, inline=not found)
    different: dict[str, str] = {}
    for statement in found:
        different.setdefault(_folded(statement), statement)
    if not different:
        start = " ".join(text.split())
        shown = f'begins "{start[:80]}{"…" if len(start) > 80 else ""}"' if start else "is empty"
        raise UnsafeSQL(f"no SQL found: the reply {shown}", HINT)
    if len(different) > 1:
        names = " and ".join(f"`{_short(s)}`" for s in list(different.values())[:2])
        raise UnsafeSQL(f"multiple statements: the reply holds {names}", HINT)
    return next(iter(different.values()))


def _folded(sql: str) -> str:
    """Return the form in which statements are compared: spacing does not count, nor case outside quotes."""
    parts = re.split(f"({QUOTED.pattern})", sql)
    return " ".join("".join(p if i % 2 else p.casefold() for i, p in enumerate(parts)).split())


def _short(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= 60 else line[:59] + "…"


def _fenced(text: str) -> tuple[list[str], str]:
    """Return the fenced blocks that hold SQL, and the text outside of every fence."""
    blocks, outside, at = [], [], 0
    while opening := FENCE.search(text, at):
        outside.append(text[at : opening.start()])
        end, after = _closing(text, opening.end(), opening[0])
        body = text[opening.end() : end]
        if not _starts(body):  # drop the tag: the first word, or else the whole first line
            tag, rest = re.match(r"[ \t]*[^\s]*", body), body.partition("\n")[2]
            body = body[tag.end() :] if tag and _starts(body[tag.end() :]) else rest
        if _starts(body):
            blocks.append(body)
        at = after
    outside.append(text[at:])
    return blocks, "\n\n".join(outside)


def _closing(text: str, at: int, fence: str) -> tuple[int, int]:
    """Return where the block ends and where the text goes on; an unclosed fence runs to the end."""
    for stop, after, what in _stops(text, at):
        if what == "fence" and text[stop] == fence[0]:
            return stop, after
    return len(text), len(text)


def _stops(text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of each semicolon, end token and fence that is not in quotes or comments."""
    while at < len(text):
        if passed := QUOTED.match(text, at) or COMMENT.match(text, at):
            fence = FENCE.search(passed[0]) if passed[0].startswith("--") else None
            at = passed.start() + fence.start() if fence else passed.end()
        elif text[at] == ";":
            yield at, (at := at + 1), "semicolon"
        elif text[at] in "`~<[" and (mark := FENCE.match(text, at)):
            yield at, (at := mark.end()), "fence"
        elif text[at] in "<[" and (mark := END_TOKEN.match(text, at)):
            yield at, (at := mark.end()), "end of text"
        else:
            at += 1


def _starts(text: str, at: int = 0) -> bool:
    """Return whether a statement begins here, after blanks and comments."""
    return START.match(text, COMMENTS.match(text, at).end()) is not None


def _in_block(block: str) -> list[str]:
    """Return the statements of a text that holds SQL from its first character on."""
    found, at = [], 0
    for stop, after, what in [*_stops(block, 0), (len(block), len(block), "end")]:
        if _starts(block, at):
            found.append(block[at:stop].strip())
        at = after
        if what == "end of text":
            break
    return found


def _in_prose(text: str, *, inline: bool) -> list[str]:
    """Return the statements that begin a line of `text` or, if asked for and there is none, stand in one."""
    found, at = [], 0
    while at < len(text):
        line_end = text.find("\n", at) + 1 or len(text)
        line = text[at:line_end].strip()
        if found and END_TOKEN.match(line):
            break
        if where := _begin(text, at, line_end, inline):
            statements, at = _one(text, *where)
            found += statements
        else:  # no line of a long comment is looked at twice
            passed = COMMENTS.match(text, at).end() if line else at
            at = max(line_end, text.rfind("\n", at, passed) + 1)
    if found or not inline:
        return found
    # Only capitals: "you can select from it" is English, "SELECT x FROM y" is not.
    for start in re.finditer(r"([\"'`]?)\b(?=(?:SELECT|WITH|VALUES|DELETE|DROP|UPDATE|INSERT)\b)", text):
        if _starts(text, start.end()):
            return _one(text, start.end(), start[1])[0]
    return []


def _begin(text: str, at: int, line_end: int, inline: bool) -> tuple[int, str] | None:
    """Return where a statement begins that starts this line, and the quote before it; None for prose."""
    for start in (at, LABEL.match(text, at).end()):
        quote = text[start] if start < len(text) and text[start] in "\"'`" else ""
        own = text[start + len(quote) : line_end]
        # beside a fence, "SELECT picks the columns." is a remark
        remark = not own.strip() or (not inline and own.rstrip().endswith("."))
        if not remark and _starts(text, start + len(quote)) and not _is_prose(own):
            return start + len(quote), quote
    return None


def _one(text: str, begin: int, quote: str) -> tuple[list[str], int]:
    """Return the statement that begins here (inside quotes: all that do), and where to read on."""
    lines = text[begin:] if quote else OPAQUE.sub(lambda m: "x" * len(m[0]), text[begin:])
    end = len(text)
    for line in re.finditer(r"\n([^\n]*)", lines):
        if _is_prose(text[begin + line.start(1) : begin + line.end()]):
            end = begin + line.start()
            break
    if quote and quote in text[begin:end]:
        end = text.rindex(quote, begin, end)
        return _in_block(text[begin:end]), end + 1
    stop, after, what = next(_stops(text[begin:end], 0), (end - begin, end - begin, ""))
    statement = re.sub(r"\s*\.\Z", "", text[begin : begin + stop].strip())
    return [statement], len(text) if what == "end of text" else begin + after


def _is_prose(line: str) -> bool:
    """Return whether a line of a reply is a remark and not SQL: a label, a sentence, a fence."""
    words = re.sub(r"^[\s>*_#-]+", "", line).strip()
    if not words or line.lstrip().startswith(("--", "/*")):
        return False
    if FENCE.match(words) or re.match(r"\d+\.\s|(?!\w+:\w)[A-Za-z][\w ]{0,30}:(?:\s|\*|$)", words):
        return True
    if not words[0].isalpha() or (CLAUSE_FIRST.match(words) and not words[:2].istitle()):
        return False
    sentence = words[-1] in ".!?:" and not re.search(r"[=<>]|\d\.$", words)
    plain = re.fullmatch(r"[A-Z][\w'’,-]*(?: [\w'’,;:.()-]+){3,}", words) and not CLAUSE.search(words)
    return bool(sentence or plain) and (words[0].isupper() or sentence)
