"""Exercise 04, reranking: what is asked, for how many points, and the hints."""

from course_utils.teaching.task import group

GROUP = group(
    "rerank",
    "04_reranking",
    [
        {
            "name": "max_sim",
            "title": "MaxSim by hand",
            "points": 2,
            "asks": "max_sim",
            "statement": (
                "Write `max_sim(question, document) -> float`. Both are NumPy arrays whose rows are token "
                "vectors of length 1: `question` has the shape (n, d), `document` the shape (m, d), with n "
                "and m at least 1.\n"
                "For each token of the question, take its largest dot product with any token of the "
                "document. Return the mean of these over the tokens of the question. The arrays stay as "
                "they were.\n"
                "With `question = np.array([[1.0, 0.0], [0.0, 1.0]])` and `document = np.array([[0.8, 0.6], "
                "[1.0, 0.0]])` the two largest are 1.0 and 0.6, and `max_sim(question, document)` gives "
                "`0.8`.\n"
                "One point for pairs with as many tokens in the question as in the document and no dot "
                "product below 0, without which there is no other; one for all other pairs."
            ),
            "hints": (
                "Write the table of all dot products of the example on paper: a row for each token of the "
                "question, a column for each token of the document. Which of the two has to find a partner, "
                "and which may go without one?",
                "`question @ document.T` is that table, of shape (n, m). `.max(axis=…)` takes the largest "
                "along one direction; what must remain is one number for each token of the question, so n "
                "of them. The mean comes last.",
                "Three steps in one line: the table, `.max(axis=1)`, which leaves n numbers, and then "
                "`.mean()`. `float(…)` around it makes a plain number of NumPy's.",
            ),
        },
        {
            "name": "rerank",
            "title": "A new order that loses nobody",
            "points": 3,
            "asks": "rerank",
            "statement": (
                "Write `rerank(candidates, scores, k) -> list[str]`. `candidates` are ids, each once, in the "
                "order of the first stage; `scores` is a list as long, with the score of each: a float, or "
                "None or NaN where the reranker gave none. Scores may be 0 or negative.\n"
                "Return the k best ids, highest score first, and all of them if there are fewer than k. "
                "Equal scores keep the order of the first stage. Candidates without a score stand behind all "
                "that have one, in the order of the first stage. If the two lists differ in length, raise "
                "ValueError. Both lists stay as they were.\n"
                '`rerank(["product:7", "product:3", "product:9"], [0.2, None, 0.9], 3)` gives '
                '`["product:9", "product:7", "product:3"]`.\n'
                "One point for the order and the cut where every candidate has a score, without which there "
                "is no other; one for candidates without a score; one for equal scores, lists of different "
                "length and lists left untouched."
            ),
            "hints": (
                "Try `sorted([0.9, float('nan'), 0.2, 0.5])` and look at the result: a comparison with NaN "
                "is never true. And what does `zip` do where one list is longer than the other?",
                "Let the key of `sorted` be a tuple. Its first part says whether the score is missing: False "
                "comes before True. Its second part is the score with a minus, or any one number for those "
                "without. `sorted` keeps equals in the order in which they came, so that no third part is "
                "needed. NaN is found by `math.isnan`, which does not take None.",
                "After the test of the two lengths, sort the places `range(len(candidates))` with a key "
                "that returns `(True, 0.0)` if `scores[place] is None or math.isnan(scores[place])`, and "
                "else `(False, -scores[place])`. Then take the ids at the first k places.",
            ),
        },
        {
            "name": "two_numbers",
            "title": "Two stages, two numbers",
            "points": 3,
            "asks": "measure",
            "statement": (
                "Write `measure(candidates, reranked, gold, k) -> dict`. `candidates` are all ids that the "
                "first stage found, best first; `reranked` are ids in the order of the reranker, perhaps "
                "fewer; `gold` is the set of ids that answer the question.\n"
                "The dict has four keys. `candidate_recall` is the share of the gold ids that are among "
                "all candidates: more than that no reranker can reach. `recall` is the share of the gold ids "
                "among the first k of `reranked`. `precision` is the share of the first k places of "
                "`reranked` that hold a gold id; a place that stays empty holds none. `lost` is a dict that "
                'says for each gold id where it was lost: "candidates" if the first stage did not find it, '
                '"reranker" if that did and it is not among the first k of `reranked`, and "found" if it is '
                "there. An id that a list names twice keeps its first place, and those behind its second "
                "move up. Without a gold id nothing can be measured: raise ValueError.\n"
                '`measure(["a", "b", "c", "d"], ["c", "a", "d", "b"], {"a", "b", "x"}, 2)` gives '
                '`{"candidate_recall": 2/3, "recall": 1/3, "precision": 1/2, "lost": {"a": "found", "b": '
                '"reranker", "x": "candidates"}}`.\n'
                "One point for `candidate_recall`; one for `recall` and `precision`; one for `lost` and the "
                "ValueError."
            ),
            "hints": (
                "Two of the three numbers are shares of the gold ids and one is a share of places: what "
                "does each divide by? And which of them may not know k at all?",
                "Begin by making each list one without repeats: `list(dict.fromkeys(ids))` keeps the first "
                "of each. Then slice `reranked` to its first k. The gold ids in a list are "
                "`gold & set(…)`, and their number is the numerator of all three.",
                "With `top = list(dict.fromkeys(reranked))[:k]` and `hits = len(gold & set(top))`, recall is "
                "hits by `len(gold)` and precision hits by `k`. `lost` goes through the gold ids and asks "
                "two questions of each: is it in `top`, and if not, is it in `candidates`?",
            ),
        },
        {
            "name": "parse_scores",
            "title": "Scores out of a reply",
            "points": 3,
            "asks": "parse",
            "statement": (
                "Write `parse(reply, n) -> list[float | None]`. `reply` is what a chat model wrote when it "
                "was asked to score n documents from 0 to 10, each on a line of its own in the form "
                "`Doc 2: 7`, with a score such as 7 or 7.5. Only a line that holds this and nothing else "
                "gives a score. Lines may come in any order, some may be missing, and there may be lines of "
                "prose before, between and after.\n"
                "Return a list of n entries: the score of document 1, of document 2, and so on, and None "
                "for each without a score. What stands behind the colon and is no number from 0 to 10 is "
                "no score. A line for a document that does not exist, such as `Doc 0` or one above n, counts "
                "for nobody. If a document is scored twice, the first score counts. No reply raises an "
                "error.\n"
                '`parse("Happy to help.\\nDoc 3: 2\\nDoc 1: 7", 3)` gives `[7.0, None, 2.0]`.\n'
                "One point for any order, missing lines and prose; one for what is no score; one for the "
                "numbers of the documents."
            ),
            "hints": (
                "If you collect the scores in the order in which they stand in the reply, where does the "
                "second go when the line of document 1 is missing? Each score has to travel with the number "
                "beside it.",
                "Begin with `[None] * n` and go through `reply.splitlines()`. A regular expression that has "
                "to fit the whole line, `re.fullmatch`, passes over prose, even a sentence with `Doc 2: 9` "
                "in it, and over `Doc 1: 7/10`, in which `re.match` and `re.search` would find a 7. Then "
                "ask three things: does the document exist, is the score in range, is its place still free?",
                '`found = re.fullmatch(r"Doc (\\d+): (\\d+(?:\\.\\d+)?)", line.strip())`. If there is one, '
                "read `number = int(found[1])` and `score = float(found[2])`, and write the score at "
                "`number - 1` only if `1 <= number <= n`, `0 <= score <= 10` and None is still there.",
            ),
        },
    ],
)
