"""Exercise 02, rows as documents: what is asked, for how many points, and the hints."""

from course_utils.teaching.task import group

GROUP = group(
    "docs",
    "02_rows_as_documents",
    [
        {
            "name": "row_to_document",
            "title": "A row as a document",
            "points": 2,
            "asks": "to_document",
            "statement": (
                "Write `to_document(row) -> Document`. `row` is a product as a dict: id, name, description, "
                "price, category, and perhaps more columns.\n"
                "The document's id is the table and the row's id, `product:7`. Its text is made of name and "
                'description and of no other column; a description that is None or "" leaves no trace in '
                "it. Its metadata hold all other columns with their values as they are, a price as a float, "
                'and `audience` with the value "public". The description is not in them; whether the name '
                "is, is up to you. The row itself stays as it was.\n"
                '`{"id": 7, "name": "Steel mug", "description": "Keeps tea hot.", "price": 649.0, '
                '"category": "Kitchen"}` gives a document with the id `product:7`, the text `Steel mug. '
                'Keeps tea hot.` and the metadata `{"id": 7, "price": 649.0, "category": "Kitchen", '
                '"audience": "public"}`.\n'
                "One point for id and text, one for the metadata."
            ),
            "hints": (
                "What is each column for? Words that somebody may search by meaning are text; what somebody "
                "filters by, compares or leads back with is metadata. A Document has a field for each of the "
                "three: id, page_content, metadata.",
                "Put the parts that are there into a list and join them, so that an absent description adds "
                "nothing. For the metadata, go through the row's items and leave out the columns that went "
                "into the text: a list of the columns to keep would miss the ones you have not seen yet.",
                'The text is `". ".join(part for part in (row["name"], row["description"]) if part)`. The '
                "metadata are a dict comprehension over `row.items()` with a condition on the name, and "
                '`"audience"` beside it. The id is an f-string, handed over as `Document(id=…, …)`.',
            ),
        },
        {
            "name": "two_fields",
            "title": "A search with two fields",
            "points": 2,
            "asks": "find",
            "statement": (
                "Write `find(store, question, city, tier, k=3) -> list[int]`. `store` is an "
                "InMemoryVectorStore of customers whose metadata have id, city and tier.\n"
                "Return the row ids, metadata's `id`, of at most k customers whose city and tier are exactly "
                "these, best first as the store ranks them for the question. If fewer than k fit, return all "
                "that fit.\n"
                "With the three customers of the tiny shop (1 Asha, Pune, gold; 2 Ravi, Delhi, silver; 3 "
                'Meena, Pune, silver) `find(store, "who lives in Pune?", "Pune", "gold")` gives `[1]`.\n'
                "One point for the three customers, one for a store with 180, where it matters when you "
                "filter."
            ),
            "hints": (
                "If the store returns its 3 best and you filter those, how many are left? And what does the "
                "`filter=` of `store.similarity_search` take: in this store a function that gets a Document, "
                "in many others a dictionary.",
                "The function returns True for a document that may stay: both fields equal to what is asked, "
                "read from `document.metadata`. The store calls it before it ranks. Hand k on as well: "
                "without it the store has a default of its own.",
                "`store.similarity_search(question, k=k, filter=lambda d: …)`, where the lambda joins two "
                "comparisons of `d.metadata[…]` by `and`. Then take the id out of the metadata of each "
                "document found, in the order in which they came.",
            ),
        },
        {
            "name": "filter_then_rank",
            "title": "Filter, then rank, by hand",
            "points": 3,
            "asks": "top",
            "statement": (
                "Write `top(scored, keep, k) -> list[str]`. `scored` is a list of (id, score, metadata) in "
                "no order; `keep(metadata)` says whether a document may stay.\n"
                "Return the ids of the k best that `keep` lets through, highest score first, equal scores "
                "by id in ascending order. If n fit, min(n, k) come back, never fewer. The list that came in "
                "stays as it was.\n"
                'With `scored = [("product:14", 0.31, {"city": "Pune"}), ("product:22", 0.78, {"city": '
                '"Delhi"})]` and a `keep` for Pune, `top(scored, keep, 1)` gives `["product:14"]`.\n'
                "One point for the right ids in the right order where nothing is cut off, without which "
                "there is no other; one for the cut; one for equal scores and an untouched list."
            ),
            "hints": (
                "There are three steps: filter, sort, cut. Two of their orders give the same answer; the one "
                "that cuts before it filters loses documents, however much it cuts off.",
                "Collect what `keep` lets through into a new list first. `sorted` with a `key` returns a "
                "new list, while `.sort()` changes the one it is called on. A key may be a tuple: its second "
                "part decides where the first is equal.",
                "Sort by a key that goes down for the score and up for the id: `key=lambda one: (-one[1], "
                "…)`. Then slice with `[:k]`, which does not mind a k larger than the list, and take the "
                "first part of each entry.",
            ),
        },
        {
            "name": "entitlements",
            "title": "Who may see what",
            "points": 2,
            "asks": "visible",
            "statement": (
                "Write `visible(documents, role) -> list[Document]`. Each document should say in "
                '`metadata["audience"]` whom it is for.\n'
                "A guest and a customer see public; a partner sees public and partner; staff see public, "
                "partner and staff. A document without an audience, or with any other one, is seen by "
                "nobody. Any role but these four raises ValueError. The documents come back in the order in "
                "which they came, in a new list; the list that came in stays as it was.\n"
                "With one document for public, one for staff and one that nobody marked, "
                '`visible(documents, "partner")` gives the first alone.\n'
                "One point for the four roles, one for failing closed: badly marked documents and unknown "
                "roles."
            ),
            "hints": (
                'A rule such as `if role != "guest"` says what is forbidden, and all it forgot is allowed. '
                "How would the rule look if it said only what is allowed?",
                "A dict from each role to the set of audiences it sees. A document is visible if its "
                "audience is in the set; `.get` gives None where there is none, and None is in no set. "
                "Look the role up before you look at any document.",
                'With `SEES = {"guest": {"public"}, …}`: raise ValueError `if role not in SEES`; then '
                "return a list comprehension over documents, whose condition asks whether "
                '`document.metadata.get("audience")` is in the role\'s set.',
            ),
        },
        {
            "name": "resync",
            "title": "Keeping up with the shop",
            "points": 3,
            "asks": "plan",
            "statement": (
                "Write `plan(seen, now)`. `seen` is a dict from id to the text that stands in the index, "
                "`now` one from id to the text in the shop.\n"
                "Return three sorted lists of ids, `(add, update, delete)`: in the shop and not in the "
                "index; in both with another text; in the index and no longer in the shop. An id whose text "
                "is the same stands in none of them, since embedding it again would cost and change nothing. "
                "A text may be empty. The dicts stay as they were.\n"
                '`plan({"product:7": "Mug", "product:8": "Lamp"}, {"product:7": "Steel mug", "product:9": '
                '"Mat"})` gives `(["product:9"], ["product:7"], ["product:8"])`.\n'
                "One point for each list; a list that is not sorted or a dict that was changed costs one."
            ),
            "hints": (
                "Each id is in one dict, in the other, or in both; only for the last do the texts matter. "
                "Which of the three lists does no new or changed text ever tell you about?",
                "The keys of a dict behave like a set: `now.keys() - seen.keys()` are those in one and not "
                "in the other, `&` those in both. For the ones in both, compare the texts themselves, not "
                "their lengths and not whether there is one.",
                "Three lines, each a `sorted(…)`: the one difference of the keys, the other difference, and "
                "the ids of `now.keys() & seen.keys()` whose two texts differ. Return them in the order "
                "add, update, delete.",
            ),
        },
    ],
)
