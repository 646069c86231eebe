"""Exercise 03, search: what is asked, for how many points, and the hints."""

from course_utils.teaching.task import group

GROUP = group(
    "search",
    "03_search",
    [
        {
            "name": "keep_codes",
            "title": "Terms that keep a code",
            "points": 2,
            "asks": "terms",
            "statement": (
                "Write `terms(text) -> list[str]`, which says what a word index compares.\n"
                "A word is a run of letters and digits, a to z, A to Z and 0 to 9. A single `_` or `-` "
                "between two runs joins them to one word, as in ERR_4414 and KB-2040-B; every other "
                "character separates words. Each word gives a term: the word in lower case, its joiners "
                "removed. Three or more digits in a row, inside a longer word, are a further term, as they "
                "were written: SKU-77717-12 also gives 77717, and neither 12 nor 7771712. A word that is "
                "one run of digits, such as 4414, gives one term; 2024-0412 gives three. Each word counts as "
                "often as it occurs; nothing is left out or stemmed. The order does not matter.\n"
                '`terms("Wi-Fi: ERR_4414, or err4414?")` gives `["wifi", "err4414", "4414", "or", '
                '"err4414", "4414"]`.\n'
                "One point for the words, codes whole; one for the numbers in codes, so that every spelling "
                "meets a bare 4414."
            ),
            "hints": (
                "Two steps: find the words, then look into each for numbers. If you split at spaces, what "
                "hangs on to a word? If you split at every character that is no letter and no digit, what "
                "is left of ERR_4414?",
                "`re.findall` with a pattern for a word: one run, then any number of times a joiner and "
                "another run. A group in the pattern changes what `findall` returns, unless it begins with "
                "`?:`. For the numbers a second, much shorter pattern, on the word before its joiners go.",
                "Words: `[a-z0-9]+(?:[_-][a-z0-9]+)*` on `text.lower()`. For each: `whole` is the word with "
                "both joiners replaced by nothing; numbers are `[0-9]{3,}` in the word. Add the whole, then "
                "each number that is not equal to it.",
            ),
        },
        {
            "name": "bm25_score",
            "title": "BM25 of one document",
            "points": 3,
            "asks": "score",
            "statement": (
                "Write `score(query_terms, document_terms, corpus, k1=0.9, b=0.4) -> float`. The first two "
                "are lists of terms, `corpus` is a list of such lists, one for each document.\n"
                "The score is a sum over the query's terms, a repeated one each time. A term adds idf times "
                "gain. idf = ln(1 + (N - n + 0.5) / (n + 0.5)), where n of the N documents have the term. "
                "gain = tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average)), where tf is how often "
                "the document has the term, length is its number of terms, and average the mean length in "
                "the corpus. A term that the document does not have adds 0; a document without terms scores "
                "0.0, even if all of the corpus is empty. The lists stay as they were, and nothing is "
                "rounded.\n"
                "With the lesson's three documents, `plug will not pair`, `plug shows err_4471 and will not "
                'pair with the hub` and `hub shows err_4472`, each split at spaces, `score(["plug", '
                '"err_4471"], three[1], three)` gives 1.267 to three digits.\n'
                "One point for idf, tried with b = 0 and words that occur once; one for gain; one for the "
                "edges: repeated and unknown terms, empty lists."
            ),
            "hints": (
                "Write idf and gain as two functions of a term and check each against the lesson's table. "
                "Does n count documents or occurrences? What do you divide by where the corpus is empty?",
                "n is a sum of `term in document` over the corpus, tf is `document_terms.count(term)`. The "
                "average is the sum of the lengths over their number, and a document without terms can be "
                "answered before it is needed. `math.log` with one argument is ln.",
                "`if not document_terms: return 0.0`. Then `slow = k1 * (1 - b + b * length / average)`, "
                "once. For each term of the query: n, then `math.log(1 + …)`, times `tf * (k1 + 1) / "
                "(tf + slow)`; a tf of 0 makes that 0 by itself, unless slow is 0 too. Add them up.",
            ),
        },
        {
            "name": "rrf",
            "title": "Rankings fused by rank",
            "points": 3,
            "asks": "fuse",
            "statement": (
                "Write `fuse(rankings, weights=None, k=60) -> list[tuple[str, float]]`. `rankings` is a list "
                "of lists of ids, each best first; `weights` has one number above 0 for each, and None "
                "means 1 each.\n"
                "Each list adds weight / (k + rank) to every document in it, ranks from 1. Return (id, "
                "score) for all documents, highest score first, equal scores by id in ascending order. A "
                "document that is listed again in one list keeps its first rank there, and those below move "
                "up. Too few or too many weights raise ValueError. The lists stay as they were.\n"
                '`fuse([["a", "b"], ["c", "a"]], [0.7, 0.3])` gives a 0.016314, b 0.011290 and c 0.004918.\n'
                "One point for lists without weights, without which there is no other; one for weights; one "
                "for equal scores, repeated ids and untouched lists."
            ),
            "hints": (
                "One dict from id to score, two loops: over the lists, and over the ids in each with their "
                "ranks. From which number does `enumerate` count unless told otherwise? And what does `zip` "
                "do when one side is longer?",
                "`enumerate(ids, start=1)` gives the ranks, and `scores.get(id, 0)` what a document has so "
                "far. `dict.fromkeys(ranking)` keeps the first of each id and the order. Compare the two "
                "lengths before the loop.",
                "`for ranking, weight in zip(rankings, weights, strict=True)`, which raises ValueError by "
                "itself; inside it `for rank, id in enumerate(dict.fromkeys(ranking), start=1)`; inside that "
                "add `weight / (k + rank)`. At the end sort `scores.items()` by a key of two parts: minus "
                "the score, then the id.",
            ),
        },
        {
            "name": "mix_z",
            "title": "Scores on one scale",
            "points": 3,
            "asks": "mix",
            "statement": (
                "Write `mix(scored_lists, weights) -> list[tuple[str, float]]`. Each list holds (id, score) "
                "in any order, higher is better, no id twice; there is one weight above 0 for each list.\n"
                "Within each list turn the scores into z-scores: the score minus the mean, divided by the "
                "standard deviation of the population (1/n). Where all scores of a list are equal, as in a "
                "list of one, every z is 0. A document that a list does not have gets that list's lowest z; "
                "an empty list adds nothing. Return (id, sum of weight · z) for all documents, highest "
                "first, equal sums by id in ascending order. The lists stay as they were.\n"
                '`mix([[("a", 9.0), ("b", 1.0)], [("c", 0.75), ("a", 0.25)]], [1, 1])` gives `[("a", 0.0), '
                '("c", 0.0), ("b", -2.0)]`.\n'
                "One point for lists that all hold the same documents, without which there is no other; one "
                "for documents that a list does not have; one for equal scores, empty lists, equal sums and "
                "untouched lists."
            ),
            "hints": (
                "First a function for one list: from (id, score) to a dict from id to z. What is the "
                "standard deviation of equal scores, and what would you divide by? Then: what does 0 mean "
                "on this scale, and is it a fair value for a document that was not found?",
                "`statistics.fmean` and `statistics.pstdev` take the scores; pstdev is the one with 1/n, "
                "stdev the one with 1/(n - 1). The lowest z of a list is the `min` of the dict's values, and "
                "`.get(id, lowest)` asks for a document that may be missing. Before, leave out each empty "
                "list together with its weight.",
                "Make a list of pairs (z, weight), one for each list that is not empty. Collect the ids of "
                "all of them. For each id `sum(weight * z.get(id, min(z.values())) for z, weight in …)`. "
                "Sort by minus the sum, then the id. In z: `(score - mean) / deviation if deviation else "
                "0.0`.",
            ),
        },
        {
            "name": "choose_weight",
            "title": "Chosen by a rule",
            "points": 3,
            "asks": "choose",
            "statement": (
                "Write `choose(settings, singles) -> str | None`. Both are dicts from a name to a run; "
                "`singles` are the single methods, bm25 and dense. A run has two halves, "
                '`{"dev": …, "test": …}`, each a dict from a pattern to the recall@5 of each of its '
                "questions. All runs have the same patterns and questions.\n"
                "The rule, on the dev half alone: the floor of a pattern is the mean of the single method "
                "that is better on this pattern. A setting loses on a pattern if its mean there is below the "
                "floor; equal is not below. Among the settings that lose on no pattern, return the name of "
                "the one with the highest mean over all its questions, which is not the mean of the "
                "patterns' means. On a tie it is the first name in the alphabet; if every setting loses "
                "somewhere, return None. Means that differ by less than 1e-9 are equal.\n"
                'If on dev bm25 has `{"concept": [0, 0], "identifier": [1]}` and dense `{"concept": [1, 0], '
                '"identifier": [0]}`, a setting "ranks" with `{"concept": [0, 0], "identifier": [1]}` loses '
                'on concept, and a setting "scores" with `{"concept": [1, 0], "identifier": [1]}` is '
                "chosen.\n"
                "One point for the floor, one for the mean, one for the rest: the dev half, ties, rounding "
                "and None."
            ),
            "hints": (
                "Three steps: a floor for each pattern, the settings that lose nowhere, the best of those. "
                "Which half does each of them look at? A rule that sees the test half has nothing left to "
                "be judged on.",
                "The floor is a dict: for each pattern the `max`, over the singles, of a mean. `all(…)` "
                "asks a setting about every pattern, and `mean >= floor - 1e-9` forgives rounding. The mean "
                "over all questions is that of one long list.",
                "`stay = [name for name in settings if all(…)]`, and `if not stay: return None`. Round each "
                "mean over all questions to nine digits, so that equal ones are equal, and take the `min` of "
                "`stay` with a key of two parts: minus that mean, then the name.",
            ),
        },
    ],
)
