"""The embedding model: stored vectors first, then the model, and both agree."""

import io
import sys

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from course_utils import models
from course_utils.models import embedding, vectors, weights

TEXTS = [
    "who lives in Pune?",
    "",
    "ERR_4471",
    "The plug will not pair: it blinks red, then the app says ERR_4471 and stops.",
    "caf\u00e9 \u0915\u092a\u0921\u093c\u093e \u4f60\u597d \U0001f600",
    "pairing " * 600,
    "a\nb\tc",
]


class Stub:
    """Instead of the model: a vector from the text's length, and a list of what was encoded."""

    def __init__(self):
        self.seen: list[str] = []

    def encode(self, texts, batch_size):
        self.seen += texts
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        for begin in range(0, len(order), batch_size):
            numbers = order[begin : begin + batch_size]
            table = np.ones((len(numbers), 384), dtype=np.float32)
            table[:, 0] = [len(texts[number]) for number in numbers]
            yield numbers, table / np.linalg.norm(table, axis=1, keepdims=True)


@pytest.fixture
def stub(course, monkeypatch):
    one = Stub()
    monkeypatch.setattr(embedding, "_minilm", lambda: one)
    return one


@pytest.fixture(scope="module")
def minilm():
    from course_utils.models.minilm import MiniLM

    return MiniLM(weights.folder())


def encode(minilm, texts, batch_size=32):
    table = np.empty((len(texts), 384), dtype=np.float32)
    for numbers, part in minilm.encode(texts, batch_size):
        table[numbers] = part
    return table


def test_it_is_a_langchain_embedding_model(stub):
    model = models.embedder()
    assert isinstance(model, Embeddings)
    assert np.shape(model.embed_documents(["a", "bb", "a"])) == (3, 384)
    query = model.embed_query("a")
    assert len(query) == 384 and type(query[0]) is float
    assert query == model.embed_documents(["bb", "a"])[1]


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(stub):
    table = models.embedder().array(["bb", "a", "ccc", "a"])
    assert table.dtype == np.float32
    assert np.allclose(np.linalg.norm(table, axis=1), 1)
    assert np.allclose(table[:, 0] / table[:, 1], [2, 1, 3, 1])
    assert stub.seen == ["bb", "a", "ccc"]


def test_no_texts_no_model(stub):
    assert models.embedder().embed_documents([]) == []
    assert models.embedder().array([]).shape == (0, 384)
    assert stub.seen == []


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["list"], float("nan")])
def test_what_is_no_text_is_named(stub, wrong):
    with pytest.raises(TypeError, match=rf"texts\[1\] must be a str; found {type(wrong).__name__}"):
        models.embedder().embed_documents(["a", wrong])
    with pytest.raises(TypeError, match="must be a str"):
        models.embedder().embed_query(wrong)


def test_one_text_instead_of_a_list_is_not_taken_for_letters(stub):
    with pytest.raises(TypeError, match="list of texts"):
        models.embedder().embed_documents("Pune")


def test_a_stored_text_needs_no_model(stub, course):
    vector = np.zeros((1, 384), dtype=np.float32)
    vector[0, 7] = 1
    vectors.record(course / "data" / "embeddings", "golden", weights.MODEL_ID, ["Pune"], vector)
    assert models.embedder().embed_query("Pune")[7] == 1
    assert stub.seen == []
    models.embedder().embed_documents(["Pune", "Delhi"])
    assert stub.seen == ["Delhi"]


def test_vectors_of_other_weights_are_not_used(stub, course):
    vectors.record(course / "data" / "embeddings", "golden", "other", ["Pune"], np.eye(384)[:1])
    models.embedder().embed_query("Pune")
    assert stub.seen == ["Pune"]


def test_nothing_is_written_unless_asked(stub, course):
    models.embedder(collection="lesson_01").embed_query("Pune")
    assert list((course / "data" / "embeddings").iterdir()) == []


def test_recording_adds_what_is_new_to_the_collection(stub, course, monkeypatch):
    monkeypatch.setenv("COURSE_EMBEDDINGS", "record")
    folder = course / "data" / "embeddings"
    first = models.embedder(collection="lesson_01").embed_documents(["a", "bb"])
    before = (folder / "lesson_01.npy").read_bytes()
    again = models.embedder(collection="lesson_02").embed_documents(["bb", "a", "ccc"])
    models.embedder().embed_query("dddd")
    assert stub.seen == ["a", "bb", "ccc", "dddd"]
    assert sorted(file.name for file in folder.iterdir()) == ["lesson_01.npy", "lesson_02.npy", "shared.npy"]
    assert (folder / "lesson_01.npy").read_bytes() == before
    assert first == again[1::-1], "what a recording run shows is what is shipped"


def test_a_bad_collection_name_is_said_at_once(stub):
    with pytest.raises(ValueError, match="lower-case"):
        models.embedder(collection="Lesson 1")


def test_a_bar_only_for_many_texts_and_only_where_someone_looks(stub, capsys, monkeypatch):
    texts = [f"text {number}" for number in range(100)]
    models.embedder().array(texts)
    assert capsys.readouterr() == ("", "")
    # What sys.stdout is in a notebook.
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stdout", notebook)
    models.embedder().array(texts[:10])
    assert notebook.getvalue() == ""
    models.embedder().array(texts)
    assert "encoding" in notebook.getvalue() and "/100" in notebook.getvalue()
    assert capsys.readouterr().err == ""


def test_the_split_into_batches_does_not_change_a_vector(minilm):
    texts = TEXTS + [f"{word} lamp" for word in ("red", "blue", "green")]
    whole = encode(minilm, texts)
    for size in (1, 2, 5):
        assert np.abs(encode(minilm, texts, size) - whole).max() < 1e-5
    assert np.allclose(np.linalg.norm(whole, axis=1), 1, atol=1e-6)


def test_meaning_is_near(minilm):
    query, near, far = encode(minilm, ["the plug will not pair", "cannot connect my socket", "cotton shirt"])
    assert query @ near > query @ far + 0.2


def test_only_the_first_256_tokens_count(minilm):
    body = "pairing " * 300
    one, other = encode(minilm, [body + "red", body + "blue"])
    assert np.array_equal(one, other)
    assert len(minilm.tokens(body).ids) == 256


def test_half_a_surrogate_pair_is_read_and_not_a_crash(minilm):
    assert np.allclose(*encode(minilm, ["a \ud83d b", "a ? b"]), atol=1e-6)


def test_loading_leaves_the_random_numbers_alone():
    import torch

    from course_utils.models.minilm import MiniLM

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    MiniLM(weights.folder())
    assert torch.equal(torch.rand(3), expected)


def test_a_new_text_in_a_fresh_process_is_announced_once_and_takes_the_light_path(course, fresh_python):
    code = """
import sys, time
from course_utils import models
model = models.embedder()
before = "torch" in sys.modules
model.embed_query("who lives in Pune?")
model.embed_query("who lives in Delhi?")
heavy = {"transformers", "sentence_transformers"} & set(sys.modules)
print(before, heavy or "light", time.process_time() < 12)
"""
    assert fresh_python(code).splitlines() == [
        "Loading the embedding model all-MiniLM-L6-v2: a text has no stored vector.",
        "False light True",
    ]


@pytest.mark.slow
def test_the_vectors_are_those_of_sentence_transformers(minilm):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(weights.folder()), device="cpu").encode(TEXTS, normalize_embeddings=True)
    ours = encode(minilm, TEXTS)
    assert np.allclose(ours, theirs, atol=1e-4)
    kept = ours.astype(np.float16).astype(np.float32)
    kept /= np.linalg.norm(kept, axis=1, keepdims=True)
    assert np.abs(kept - theirs).max() < 1e-3
