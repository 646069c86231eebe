"""Token vectors: what is shipped is what the model says, long texts are read whole, bad files say so."""

import numpy as np
import pytest

from course_utils import places
from course_utils.models import embedding, token_store, token_vectors, weights
from course_utils.models.shipping import ship_tokens
from course_utils.models.windows import windows
from course_utils.shop import documents, questions


def spans_of(text):
    """Return where each word begins and ends."""
    found, at = [], 0
    for word in text.split(" "):
        found.append((at, at + len(word)))
        at += len(word) + 1
    return found


@pytest.mark.parametrize("count", [0, 1, 20, 21, 22, 40, 41, 97])
def test_windows_hold_every_word_in_order_and_no_more_than_fit(count):
    text = " ".join(f"w{n}" for n in range(count))
    pieces = windows(text, spans_of(text) if count else [], 20)
    assert all(len(piece.split()) <= 20 for piece in pieces)
    assert {word for piece in pieces for word in piece.split()} == set(text.split())
    assert text.startswith(pieces[0]) and text.endswith(pieces[-1])
    assert len(set(pieces)) == len(pieces) and (len(pieces) == 1) == (count <= 20)


def test_the_shipped_vectors_are_those_of_the_shop_and_need_no_model(monkeypatch):
    monkeypatch.setattr(embedding, "_minilm", lambda: pytest.fail("the model was loaded"))
    texts = [document.page_content for document in documents.load()]
    asked = [question.question for question in questions.load(None)]
    assert not ship_tokens("document", texts, check=True) and not ship_tokens("question", asked, check=True)
    parts = token_vectors.of_documents(texts[::200])
    vectors = np.concatenate([token_vectors.of_question(asked[0]), *(one for many in parts for one in many)])
    assert vectors.shape[1] == 384 and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_files_stay_small():
    folder = places.data() / "embeddings" / "tokens"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 8e6


@pytest.mark.slow
def test_what_is_shipped_is_near_to_what_the_model_says():
    texts = [document.page_content for document in documents.load()][::120]
    asked = [question.question for question in questions.load("dev")][:5]
    for kind, some, least in (("document", texts, 0.8), ("question", asked, 0.999)):
        shipped = token_vectors._find(kind, some)
        for mine, theirs in zip(shipped, token_vectors.encode(kind, some), strict=True):
            for one, other in zip(mine, theirs, strict=True):
                assert one.shape == other.shape
                assert np.einsum("ij,ij->i", one, other).mean() > least


@pytest.mark.slow
def test_marks_do_not_count_in_a_document_and_do_in_a_question():
    document, question = (
        token_vectors.encode(kind, ["Yes, why?"])[0][0] for kind in ("document", "question")
    )
    assert len(document) == 2 and len(question) == 6  # begin, yes, comma, why, mark, end
    assert len(token_vectors.encode("document", ["?!"])[0][0]) == 4


@pytest.mark.slow
def test_what_is_not_stored_is_encoded_once_and_read_to_its_end(course, monkeypatch):
    long = "The hub does not pair. " * 120 + "Its battery is empty."
    parts = token_vectors.of_documents([long, "short", long])
    assert len(parts[0]) > 1 and len(parts[1]) == 1 and parts[0][0] is parts[2][0]
    monkeypatch.setattr(token_vectors, "encode", lambda *_: pytest.fail("encoded again"))
    again = token_vectors.of_documents([long])
    assert all(np.array_equal(one, other) for one, other in zip(again[0], parts[0], strict=True))


@pytest.fixture
def own_tokens(course, monkeypatch):
    """Token vectors by a stand-in for the model: a row per letter; returns what it was asked."""
    seen = []

    def encode(kind, texts):
        seen.extend(texts)
        return [[np.eye(384, dtype=np.float32)[[ord(letter) for letter in text]]] for text in texts]

    monkeypatch.setattr(token_vectors, "encode", encode)
    monkeypatch.setattr(token_vectors, "_live", {})
    return seen


@pytest.mark.parametrize("kind", ["question", "document"])
def test_a_file_holds_exactly_the_texts_that_are_there(own_tokens, kind, monkeypatch):
    if kind == "document":  # k-means needs more rows than these: centroids of the letters used here
        table = np.zeros((48, 256, 8), dtype=np.float32)
        table[:, 1:9] = np.eye(8, dtype=np.float32)  # and in each part the rest is 0
        monkeypatch.setattr(token_store, "find_centroids", lambda table_of: table)
    file = token_vectors.file_of(kind)
    assert ship_tokens(kind, ["ab", "c"], check=True) == (file, 2, 0) and not file.exists()
    assert ship_tokens(kind, ["ab", "c", "ab"]).missing == 2
    before = file.read_bytes()
    assert not ship_tokens(kind, ["c", "ab"]) and file.read_bytes() == before
    own_tokens.clear()
    assert ship_tokens(kind, ["ab", "dd"])[1:] == (1, 1) and own_tokens == ["dd"]
    assert len(token_store.opened(file).rows) == 2
    letters = token_vectors._find(kind, ["ab"])[0][0]
    assert letters.argmax(axis=1).tolist() == [ord("a"), ord("b")] and own_tokens == ["dd"]


def test_a_broken_file_is_named_with_the_way_out(course):
    file = token_vectors.file_of("document")
    file.parent.mkdir(parents=True)
    file.write_bytes(b"not a store")
    with pytest.raises(
        ValueError, match=r"documents\.safetensors is not a store of token vectors.*delete it"
    ):
        token_vectors.of_documents(["a"])
    assert weights.NAME  # the model was not asked
