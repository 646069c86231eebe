"""Judge of the row as a document of exercise 02: its id and text, and its metadata."""

import re
from collections.abc import Mapping
from typing import Any

from course_utils.teaching.firstlook import explain_error
from course_utils.teaching.tasks.judge_shared import forgot_return
from course_utils.teaching.verdict import NOT_YET, PASSED, Verdict

_TEXT = ("name", "description")
# What each row is, in words, and the row. The prices, the 0 and the word None are there on purpose.
_ROWS: dict[str, dict[str, Any]] = {
    "the row of the statement": {
        "id": 7,
        "name": "Steel mug",
        "description": "Keeps tea hot.",
        "price": 649.0,
        "category": "Kitchen",
    },
    "a row with more columns": {
        "id": 12,
        "sku": "LMP-204",
        "name": "Reading lamp",
        "description": "None of its parts need glue.",
        "price": 1299.5,
        "category": "Home",
        "launched_on": "2025-03-01",
    },
    "a row whose description is None": {
        "id": 31,
        "name": "Yoga strap",
        "description": None,
        "price": 310.25,
        "category": "Fitness",
    },
    "a row whose description is an empty text, and whose price is 0.0": {
        "id": 44,
        "name": "Gift bag",
        "description": "",
        "price": 0.0,
        "category": "Paper",
    },
}
_LABELS = {"name", "product", "title"}


class RowToDocument:
    """to_document(row): a point for id and text, a point for the metadata."""

    def inputs(self) -> dict[str, Any]:
        """Return the rows."""
        return {"cases": [{"row": row} for row in _ROWS.values()]}

    def judge(self, report: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
        """Look at each document: its kind, then its id and text, then its metadata."""
        made = list(zip(_ROWS, report["calls"], _ROWS.values(), strict=True))
        usual = _words_left(_document(made[0][1]), _ROWS[made[0][0]]) - {"description"}
        shown: list[str] = []
        kept: list[str] = []
        for says, call, row in made:
            if "raised" in call:
                stops = f"For {says}, `to_document` stops {explain_error(call['raised'])}"
                shown.append(stops)
                if row["description"]:
                    kept.append(stops)
                continue
            if strange := _not_a_document(call):
                return Verdict(0, NOT_YET, f"For {says}, {strange}", 1)
            document = _document(call)
            if trouble := _id_trouble(document, row) or _text_trouble(document, row, usual):
                shown.append(f"For {says}, {trouble}")
            if trouble := _metadata_trouble(document["metadata"], row) or _changed(call):
                kept.append(f"For {says}, {trouble}")
        if not shown and not kept:
            return Verdict(
                2, PASSED, "Text to search in, typed metadata to filter by, an id that leads back."
            )
        points = (not shown) + (not kept)
        right = "" if not points else "The metadata are right. " if shown else "Id and text are right. "
        return Verdict(points, NOT_YET, right + (shown or kept)[0], 2)


def _document(call: Mapping[str, Any]) -> dict[str, Any]:
    returned = call.get("returned")
    found = returned.get("document") if isinstance(returned, dict) else None
    return found if isinstance(found, dict) else {"id": None, "text": "", "metadata": {}}


def _not_a_document(call: Mapping[str, Any]) -> str:
    if call["type"] == "NoneType":
        return forgot_return("to_document")
    if call["type"] == "dict":
        return "a plain dict comes back; a LangChain Document is asked for, made with Document(…)."
    if not isinstance(call["returned"], dict) or "document" not in call["returned"]:
        return f"a value of type {call['type']} comes back, not one LangChain Document."
    return ""


def _id_trouble(document: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    id, wanted = document["id"], f"product:{row['id']}"
    if id == wanted:
        return ""
    if not id and wanted in document["text"]:
        return "the id stands in the text only. Document has a field for it, and the text is for searching."
    if not id and wanted in document["metadata"].values():
        return "the id stands in the metadata only. Document has a field for it, which an index goes by."
    if not id:
        return (
            "the document has no id: an index could not replace or delete it later, and an answer "
            "made from it could not be led back to its row."
        )
    if id == str(row["id"]):
        return "the id is the row's number alone, which an order or a customer may have too."
    return f"the id is {id!r}. It should be the table in the singular, a colon and the row's number."


def _text_trouble(document: Mapping[str, Any], row: Mapping[str, Any], usual: set[str]) -> str:
    for column in _TEXT:
        if row[column] and row[column].rstrip(".") not in document["text"]:
            cut = "None" in row[column] and row[column].replace("None", "").rstrip(".") in document["text"]
            how = " The word None belongs to it: mend the value, not the finished text." if cut else ""
            return f"the text does not hold the {column} as it stands in the row.{how}"
    left = _words_left(document, row)
    others = [name for name in row if name not in _TEXT and (_words(row[name]) or [""])[0] in left]
    if others:
        return (
            f"the text also holds {' and '.join(others)}. All that is in the text goes into one vector: "
            "a number there blurs the meaning and can be neither compared nor filtered by."
        )
    if row["description"]:
        return ""
    if empty := [word for word in ("None", "null", "nan") if word.lower() in left]:
        return (
            f"the word {empty[0]} stands in the text, as if it described the product: Python writes "
            "an absent value out as a word."
        )
    if left - usual - _LABELS:
        return "the text speaks of a description that is not there: it should hold no more than the name."
    return ""


def _metadata_trouble(metadata: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    if "description" in metadata or (row["description"] and row["description"] in metadata.values()):
        return (
            "the description is in the metadata too. It is kept twice, and nobody filters by a whole text: "
            "its place is the text."
        )
    rest = {name: value for name, value in row.items() if name not in _TEXT}
    missing = [name for name, value in rest.items() if name not in metadata and value is not None]
    if missing:
        only = ", whose 0.0 counts as false in a condition" if rest[missing[0]] == 0 else ""
        return f"the metadata lack {' and '.join(missing)}{only}: what is dropped here cannot be filtered by."
    for name, value in rest.items():
        found = metadata.get(name)
        if isinstance(value, (int, float)) and isinstance(found, str):
            return (
                f"{name} is a text in the metadata. Texts compare letter by letter, so '1000' comes before "
                "'500': a number stays a number."
            )
        if found != value or isinstance(found, bool):
            return f"{name} in the metadata is not what it is in the row: keep the value as it is."
    if "audience" not in metadata:
        return "the metadata do not say for whom the document is: audience is missing."
    return "" if metadata["audience"] == "public" else "audience in the metadata is not the one asked for."


def _changed(call: Mapping[str, Any]) -> str:
    if not call.get("changed_arguments"):
        return ""
    return "`to_document` changes the row it was given, and its owner may still need it: work on a new dict."


def _words(value: Any) -> list[str]:
    return re.findall(r"\w+", str(value).lower()) if value is not None else []


def _words_left(document: Mapping[str, Any], row: Mapping[str, Any]) -> set[str]:
    """Return the words of the text that come from neither name nor description."""
    text = str(document["text"])
    for column in _TEXT:
        if row[column]:
            text = text.replace(row[column].rstrip("."), " ", 1)
    return set(_words(text))
