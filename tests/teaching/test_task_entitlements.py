"""The check of the entitlements: on right answers, differently written right ones, and wrong ones."""

import pytest
from checking import says

from course_utils.retrieval.caller import AUDIENCES, Caller
from course_utils.retrieval.documents import Documents
from course_utils.teaching import tasks

CHECK = tasks.docs.entitlements.check
SEES = {
    "guest": {"public"},
    "customer": {"public"},
    "partner": {"public", "partner"},
    "staff": {"public", "partner", "staff"},
}
RANK = {"guest": 0, "customer": 0, "partner": 1, "staff": 2}
LEVEL = {"public": 0, "partner": 1, "staff": 2}


def reference(documents, role):
    if role not in SEES:
        raise ValueError(f"no such role: {role}")
    return [d for d in documents if d.metadata.get("audience") in SEES[role]]


def by_level(documents, role):
    try:
        most = RANK[role]
    except KeyError:
        raise ValueError("who is that?") from None
    return [d for d in documents if LEVEL.get(d.metadata.get("audience"), 99) <= most]


def by_branches(documents, role):
    may = ["public"]
    match role:
        case "guest" | "customer":
            pass
        case "partner":
            may.append("partner")
        case "staff":
            may += ["partner", "staff"]
        case _:
            raise ValueError(role)
    found = []
    for document in documents:
        if "audience" in document.metadata and document.metadata["audience"] in may:
            found.append(document)
    return tuple(found)


def by_caller(documents, role):
    marked = [d for d in documents if d.metadata.get("audience") in AUDIENCES["staff"]]
    held = Documents(marked)
    return [d for d, seen in zip(marked, held.mask(Caller("x", role)), strict=True) if seen]


def seeing(sees=SEES, audience=lambda d: d.metadata.get("audience"), test=lambda it, may: it in may):
    """Return the reference with one of its parts changed."""

    def visible(documents, role):
        if role not in SEES:
            raise ValueError(role)
        return [d for d in documents if test(audience(d), sees[role])]

    return visible


def not_a_guest(documents, role):
    return [d for d in documents if role != "guest" or d.metadata.get("audience") == "public"]


def not_outside(documents, role):
    hidden = {
        "guest": {"partner", "staff"},
        "customer": {"partner", "staff"},
        "partner": {"staff"},
        "staff": (),
    }
    if role not in hidden:
        raise ValueError(role)
    return [d for d in documents if d.metadata.get("audience") not in hidden[role]]


def anybody_is_a_guest(documents, role):
    return [d for d in documents if d.metadata.get("audience") in SEES.get(role, {"public"})]


def nobody_sees_nothing(documents, role):
    return [d for d in documents if d.metadata.get("audience") in SEES.get(role, ())]


def key_error(documents, role):
    return [d for d in documents if d.metadata.get("audience") in SEES[role]]


def role_in_a_text(documents, role):
    if role not in "guest customer partner staff":
        raise ValueError(role)
    return [d for d in documents if d.metadata.get("audience") in SEES.get(role, ())]


def removes(documents, role):
    seen = reference(documents, role)
    for document in documents:
        if document not in seen:
            documents.remove(document)
    return documents


def empties(documents, role):
    documents[:] = reference(documents, role)
    return documents


def marks(documents, role):
    for document in documents:
        document.metadata.setdefault("audience", "nobody")
    return reference(documents, role)


@pytest.mark.parametrize("answer", [reference, by_level, by_branches, by_caller])
def test_right(answer):
    says(CHECK(answer), 2)


@pytest.mark.parametrize(
    ("answer", "points", "fragment"),
    [
        # the roles
        (not_a_guest, 0, "The role customer sees what is for partner and staff"),
        (lambda documents, role: documents, 0, "The role guest sees what is for partner and staff"),
        (lambda documents, role: [d for d in documents if d.metadata.get("audience") == role], 0, "guest"),
        (seeing({**SEES, "partner": {"partner"}}), 1, "The role partner does not see what is for public"),
        (
            seeing({**SEES, "staff": {"public", "staff"}}),
            1,
            "The role staff does not see what is for partner",
        ),
        (seeing({**SEES, "customer": {"public", "partner"}}), 1, "customer sees what is for partner"),
        (lambda documents, role: [], 0, "The role guest does not see what is for public"),
        (lambda documents, role: reference(documents, role)[::-1], 1, "in another order"),
        (lambda documents, role: reference(documents, role)[:1], 1, "and others of the same do not"),
        # failing closed: the documents
        (seeing(audience=lambda d: d.metadata.get("audience", "public")), 1, "what nobody has marked"),
        (seeing(audience=lambda d: d.metadata.get("audience") or "public"), 1, "what nobody has marked"),
        (not_outside, 1, "what nobody has marked"),
        (seeing(audience=lambda d: d.metadata["audience"]), 1, "KeyError"),
        (seeing(test=lambda it, may: it is None or it in may), 1, "what nobody has marked"),
        (seeing(test=lambda it, may: it == "" or it in may), 1, "empty is not public"),
        (
            seeing(
                audience=lambda d: d.metadata.get("audience", "nobody"),
                test=lambda it, may: it in may or not it,
            ),
            1,
            "whose audience is None",
        ),
        (
            seeing(
                audience=lambda d: str(d.metadata.get("audience")),
                test=lambda it, may: any(name in it for name in may),
            ),
            1,
            "for 'not public': a word that merely contains",
        ),
        (
            seeing(audience=lambda d: d.metadata.get("audience") or "-", test=lambda it, may: it in str(may)),
            1,
            "a part of it",
        ),
        (seeing(test=lambda it, may: it in may or it == "board"), 1, "an audience that nobody belongs to"),
        (
            lambda documents, role: reference(
                documents if all(d.metadata.get("audience") in LEVEL for d in documents) else [], role
            ),
            1,
            "not even what is public",
        ),
        # failing closed: the roles
        (anybody_is_a_guest, 1, "is let in as if it were a known one"),
        (nobody_sees_nothing, 1, "safe and silent"),
        (key_error, 1, "should raise ValueError; `visible` stops with KeyError"),
        (role_in_a_text, 1, "An unknown role ('')"),
        (lambda documents, role: reference(documents, role or "guest"), 1, "An unknown role ('')"),
        (lambda documents, role: reference(documents, role) if role in SEES else None, 1, "is let in"),
        # the list
        (removes, 0, "skips the one after each removal"),
        (empties, 1, "Make a new list"),
        (marks, 1, "changes the list or the documents"),
        # what comes back
        (lambda documents, role: [d.id for d in reference(documents, role)], 0, "the documents themselves"),
        (lambda documents, role: {d.id: d for d in reference(documents, role)}, 0, "a value of type dict"),
        (lambda documents, role: len(reference(documents, role)), 0, "a value of type int"),
    ],
)
def test_wrong(answer, points, fragment):
    says(CHECK(answer), points, fragment)


def test_what_is_right_is_said():
    says(CHECK(key_error), 1, "The four roles are right where all is marked.")
    message = CHECK(seeing({**SEES, "partner": {"partner"}})).message
    assert message.startswith("Right so far: bad marks and unknown roles are dealt with. ")


@pytest.mark.parametrize(
    ("audience", "fragment"),
    [
        (lambda d: d.metadata["audience"], "KeyError: 'audience'"),
        (lambda d: list(LEVEL).index(d.metadata.get("audience")), "ValueError: None is not in list"),
        (lambda d: list(LEVEL).index(d.metadata.get("audience", "staff")), "'not public' is not in list"),
        (lambda d: LEVEL[d.metadata.get("audience", "staff")], "KeyError: 'not public'"),
    ],
)
def test_who_stops_at_a_bad_mark_hears_of_both_kinds(audience, fragment):
    numbers = {role: {LEVEL[one] for one in sees} | sees for role, sees in SEES.items()}
    says(
        CHECK(seeing(numbers, audience=audience)),
        1,
        fragment,
        "no audience, or one that does not exist: no error, they are merely for nobody.",
    )
