"""Exercise 05, routing: what is asked, for how many points, and the hints."""

from course_utils.teaching.task import group

GROUP = group(
    "routing",
    "05_routing",
    [
        {
            "name": "parse_route",
            "title": "A route out of a reply",
            "points": 3,
            "asks": "parse_route",
            "statement": (
                "Write `parse_route(reply, routes) -> str`. `reply` is what a chat model wrote when it was "
                "asked to name one of `routes`, a list of names in lower case.\n"
                "A line of the reply names a route if it holds the name and nothing else, in small letters "
                "or capitals. Spaces, quotes (' and \"), backticks, asterisks and full stops around the "
                "name do not count, nor does the label `Route:` in front of it, in small letters or "
                "capitals. Every other line names nothing, whatever words stand in it: prose, the ends of a "
                "code fence.\n"
                "If the reply names exactly one route, once or several times, return it as it stands in "
                '`routes`. For all else return "mixed", which asks every source: for an unknown name, a '
                "number, an empty list, an empty reply, two different routes. No reply raises an error.\n"
                '`parse_route("Counting is for rows.\\nRoute: Structured.", ["structured", '
                '"unstructured"])` gives `"structured"`.\n'
                "One point for a name with nothing else around it than what does not count; one for prose "
                'around it; one for "mixed" where no route, or more than one, is named. Without names that '
                "stand all alone there is none."
            ),
            "hints": (
                "Look at the three names structured, semi_structured and unstructured: what does "
                '`"structured" in reply` say of each? And what would it say of "not structured"? Ask of a '
                "whole line whether it is a name.",
                "Go through `reply.splitlines()`. `line.lower().strip(…)` takes any of the characters you "
                'give it from both ends, and `.removeprefix("route:")` takes the label; behind the label '
                "there may be something to strip again. Collect the names that you find in a set: a set of "
                "one is an answer, and a set of none or two is not.",
                "For each line: `text = line.lower().strip(marks)`, with the spaces, quotes, backticks, "
                'asterisks and full stops in `marks`, then `text.removeprefix("route:").strip(marks)`, and '
                "`named.add(text)` if that is in `routes`. At the end `named.pop() if len(named) == 1 else "
                '"mixed"`.',
            ),
        },
        {
            "name": "vote",
            "title": "The nearest vote",
            "points": 2,
            "asks": "vote",
            "statement": (
                "Write `vote(similarities, labels, k) -> str`. `similarities` is a list of floats that says "
                "how like a new question each labelled question is, 1.0 for the same; `labels` is a list as "
                "long, with the route of each. There is at least one, and k is at least 1.\n"
                "The k most similar have one vote each, and all of them if there are fewer than k. Return "
                "the label with the most votes. If several have equally many, return the one among them "
                "whose most similar question is the most similar. Of two equal similarities, the one that "
                "stands earlier in the list counts as the more similar. Both lists stay as they were.\n"
                '`vote([0.2, 0.9, 0.7, 0.6], ["mixed", "structured", "unstructured", "unstructured"], 3)` '
                'gives `"unstructured"`.\n'
                "One point for votes that one label wins, without which there is no other; one for ties, "
                "equal similarities, fewer than k, and lists left untouched."
            ),
            "hints": (
                "Which places of the list have a vote? Sort the places and not the labels, and look at "
                "which end of the sorted list the most similar stand.",
                "`sorted(range(len(labels)), key=…, reverse=True)[:k]` are the places of the voters, the "
                "most similar first, and equal ones stay in their order. Take the labels at these places, "
                "still in that order, and count. For a tie you need nothing more than that order: which of "
                "the tied labels comes first in it?",
                "With `voters = [labels[place] for place in order[:k]]`, `max(voters, key=voters.count)` "
                "returns the first of those that have the most, and `voters` begins with the most similar. "
                "`max` over a set, or over sorted labels, would return another.",
            ),
        },
        {
            "name": "follow_pages",
            "title": "Follow the pages",
            "points": 3,
            "asks": "collect",
            "statement": (
                "Write `collect(get, path) -> tuple[list, bool]`. `get(path)` returns one page of a "
                'service\'s list, `{"items": […], "next": …}`, where `next` is the path of the following '
                "page, or None on the last. It raises TimeoutError or RuntimeError for a page that does not "
                "come; it has tried often enough by then, so do not ask again.\n"
                "Begin at `path` and follow `next`. Return the items of all pages in their order, and "
                "whether the list is complete: True only if the last page was reached. A page without items "
                "is a page like any other. If a page does not come, return what was collected before it, "
                "and False; if that is the first, `([], False)`. Ask for at most 10 pages, and for none "
                "twice: where `next` leads to a page that was there before, or to an eleventh, stop, and "
                "return what was collected and False.\n"
                'With `pages = {"/a": {"items": [1, 2], "next": "/b"}, "/b": {"items": [3], "next": '
                'None}}`, `collect(pages.__getitem__, "/a")` gives `([1, 2, 3], True)`.\n'
                "One point for lists whose pages all come, without which there is no other; one for pages "
                "that do not come; one for loops and for long lists."
            ),
            "hints": (
                "There are four ways out: the last page, a page that does not come, a page that was there "
                "before, and an eleventh page. Only one of them may say True. What does each return beside "
                "that?",
                "Keep two lists, the items and the paths that you have asked for. A `while` loop goes on as "
                "long as there is a path that is not among those asked and these are fewer than 10; in it, "
                "`try` holds nothing but the call of `get`. `except (TimeoutError, RuntimeError)` returns "
                "what there is. Behind the loop, one question tells the complete list from the others.",
                "`while path is not None and path not in asked and len(asked) < 10:` then "
                '`asked.append(path)`, `page = get(path)` inside `try`, `items.extend(page["items"])` and '
                '`path = page["next"]`. After the loop the list is complete if `path is None`.',
            ),
        },
        {
            "name": "side_by_side",
            "title": "Side by side",
            "points": 3,
            "asks": "ask_all",
            "statement": (
                "Write `ask_all(retrievers, question) -> dict`. `retrievers` is a dict from the name of "
                "each source to a function that takes the question and returns a list of ids, best first, "
                "which may be empty. It may also raise any Exception.\n"
                "Ask every source once, one after the other. Return a dict with two keys. `documents` is a "
                "list of all ids that came, source by source in the order of `retrievers`, each source's "
                "best first; an id that comes again is left out there and keeps its first place. `failed` "
                "is a dict from the name of each source that raised to the text of its error, `str(error)`, "
                "which may be empty. A source that found nothing has not failed. If all fail, `documents` "
                "is empty and `failed` names them all.\n"
                'With `{"sql": lambda question: ["row:1", "row:2"], "search": lambda question: '
                '["article:4", "row:1"]}`, `ask_all` gives `{"documents": ["row:1", "row:2", "article:4"], '
                '"failed": {}}`; with a third source `carrier` that raises `TimeoutError("no answer within '
                '2 s")` the `documents` are the same and `failed` is `{"carrier": "no answer within 2 '
                's"}`.\n'
                "One point for `documents` where every source answers, without which there is no other; one "
                "for `documents` where some fail; one for `failed`."
            ),
            "hints": (
                "If the second of three sources raises, what has become of the ids of the first, and who "
                "asks the third? The `try` has to stand where one failure ends one call and nothing else.",
                "Put `try` inside the loop over `retrievers.items()`, around the one call, and keep the "
                "text of the error under the name. Ids without repeats, in the order of their first: "
                "`dict.fromkeys(ids)`, or a question before each `append`.",
                "`for name, retrieve in retrievers.items():` holds `try: ids += retrieve(question)` and "
                '`except Exception as error: failed[name] = str(error)`. Behind the loop, `{"documents": '
                'list(dict.fromkeys(ids)), "failed": failed}`.',
            ),
        },
        {
            "name": "supported",
            "title": "What the sources bear out",
            "points": 3,
            "asks": "supported",
            "statement": (
                "Write `supported(answer, sources) -> dict`. `answer` is a list of pieces, each a dict "
                '`{"text": …, "cites": [(id, quote), …]}`; `sources` is a dict from id to text.\n'
                "A citation is valid if its id is in `sources` and its quote stands in the text of that "
                "source. Both are compared in lower case, and with any run of spaces and line breaks as one "
                "space. An empty quote, or one of spaces alone, is not valid.\n"
                "The dict has three keys, each a list in the order of the answer, in which what comes twice "
                "stands twice. `dropped` holds the "
                "citations `(id, quote)` that are not valid, as they came. `uncited` holds the text of each "
                "piece that has no valid citation. `numbers` holds the numbers in the text of a piece that "
                "stand in none of the sources which that piece validly cites; of a piece without a valid "
                "citation that is each of its numbers. A number is what "
                '`re.findall(r"\\d+(?:,\\d+)*(?:\\.\\d+)?", text)` finds, and it is compared, and returned, '
                'as a text without its commas: 1,500 and 1500 are the same number, "1500".\n'
                'With `sources = {"article:7": "Orders from 1500 rupees\\nship free."}`, '
                '`supported([{"text": "From 1,500 on it is free. ", "cites": [("article:7", "Ship free")]}, '
                '{"text": "It takes 3 days.", "cites": [("article:9", "3 days")]}], sources)` gives '
                '`{"dropped": [("article:9", "3 days")], "uncited": ["It takes 3 days."], "numbers": '
                '["3"]}`.\n'
                "One point for each of the three keys."
            ),
            "hints": (
                "Sort the citations of a piece first, into those that are valid and those that are not. "
                "What do the other two keys need to know of a piece: what it cites, or what of that is left?",
                '`" ".join(text.lower().split())` brings a quote and a source into the same form, and then '
                "`in` is enough. For a piece, collect the ids of its valid citations; if there are none it "
                "is uncited. Its numbers are compared with the numbers found in the whole texts of those "
                "sources, number with number: 15 is no part of 1500.",
                "With two helpers, `flat(text)` and `numbers(text)`, a citation is valid if `flat(quote)` "
                'is not empty and `flat(quote) in flat(sources.get(id, ""))`. Then `known = {number for id '
                "in valid for number in numbers(sources[id])}`, and each one of "
                '`numbers(piece["text"])` that is not in `known` goes to the list.',
            ),
        },
    ],
)
