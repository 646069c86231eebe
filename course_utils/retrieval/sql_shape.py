"""Where the parts of a statement begin and end: parentheses, clauses, result columns and their names."""

from collections.abc import Iterator

from .sql_tokens import Token

# Words that are never a column's name.
_NO_NAMES = """
    all and as between case collate distinct else escape except exists from group having in intersect is
    isnull join limit not notnull null on or order select then union using values when where"""
RESERVED = frozenset(_NO_NAMES.split())
_BEFORE_OPERAND = (RESERVED - {"as", "null"}) | {"like", "glob", "match", "regexp", "over"}


class Shape:
    """The tokens as lists of kinds, texts, folded names and keywords, and the parts they make."""

    def __init__(self, tokens: list[Token]) -> None:
        padded = [*tokens, *[Token("end", "", "", 0)] * 4]  # so that a look ahead finds something
        self.kinds = [token.kind for token in padded]
        self.texts = [token.text for token in padded]
        self.names = [token.name for token in padded]
        self.words = [token.name if token.kind == "word" else "" for token in padded]
        self.closing: dict[int, int] = {}
        opened = []
        for i, text in enumerate(self.texts):
            if text == "(":
                opened.append(i)
            elif text == ")" and opened:
                self.closing[opened.pop()] = i
        self.closing.update(dict.fromkeys(opened, len(tokens)))

    def level(self, start: int, end: int) -> Iterator[int]:
        """Yield the places in tokens[start:end] that are in no inner parenthesis."""
        i = start
        while i < end:
            yield i
            i = self.closing.get(i, i) + 1

    def items(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the result columns of SELECT as pairs of places."""
        a = start + 1 + (self.words[start + 1] in ("distinct", "all"))
        for i in self.level(a, end):
            if self.texts[i] == "," and i > a:
                yield a, i
                a = i + 1
        if a < end:
            yield a, end

    def alias(self, a: int, b: int) -> int | None:
        """Return where the alias of the item tokens[a:b] stands, if it has one."""
        last, before = b - 1, b - 2
        if before < a or self.kinds[last] not in ("word", "quoted", "string"):
            return None
        if self.words[last] == "end" or self.words[last] in RESERVED:
            return None
        operand = self.kinds[before] != "op" or self.texts[before] == ")"
        return last if operand and self.words[before] not in _BEFORE_OPERAND else None

    def output_name(self, a: int, b: int, alias: int | None) -> str | None:
        """Return the name under which an outer query sees this item; None where SQLite makes one up."""
        if alias is not None:
            return self.names[alias]
        bare = [i for i in range(a, b) if self.texts[i] not in ("(", ")")]
        if (
            bare
            and self.kinds[bare[-1]] in ("word", "quoted")
            and all(self.texts[i] == "." for i in bare[1::2])
        ):
            return self.names[bare[-1]]
        return None

    def starts_clause(self, i: int) -> bool:
        """Return whether a clause of a SELECT starts here: FROM, WHERE and so on."""
        word = self.words[i]
        if word == "window":  # a name too, unless it defines one
            return self.words[i + 2] == "as" and self.texts[i + 3] == "("
        if word == "from":
            return self.words[i - 1] != "distinct"  # IS DISTINCT FROM
        return word in ("where", "group", "having", "order", "limit")

    def starts_window(self, i: int) -> bool:
        """Return whether OVER stands here as a keyword, after a function's closing parenthesis."""
        if self.words[i] != "over" or self.texts[i - 1] != ")":
            return False
        return self.texts[i + 1] == "(" or self.kinds[i + 1] in ("word", "quoted")
