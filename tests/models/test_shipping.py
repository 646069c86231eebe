"""The shipped vectors: one for every text of the shop, and the model's own."""

import numpy as np
import pytest

from course_utils import places
from course_utils.models import embedder, embedding, vectors, weights
from course_utils.models.shipping import ship
from course_utils.shop import documents, questions


@pytest.fixture(scope="module")
def texts():
    return [d.page_content for d in documents.load()] + [q.question for q in questions.load(None)]


def test_every_document_and_question_has_its_vector(texts, monkeypatch):
    monkeypatch.setattr(embedding, "_minilm", lambda: pytest.fail("the model was loaded"))
    table = embedder().array(texts)
    assert table.shape == (len(texts), 384) and len(texts) > 1000
    assert np.allclose(np.linalg.norm(table, axis=1), 1, atol=1e-6)
    assert not ship("documents", [d.page_content for d in documents.load()], check=True)
    assert not ship("questions", [q.question for q in questions.load(None)], check=True)


@pytest.mark.slow
def test_encoding_a_sample_again_gives_the_same_vectors(texts):
    from course_utils.models.minilm import MiniLM

    sample = texts[:: len(texts) // 40]
    shipped = embedder().array(sample)
    for numbers, fresh in MiniLM(weights.folder()).encode(sample):
        assert np.abs(fresh - shipped[numbers]).max() < 1e-3


@pytest.fixture
def own_vectors(tmp_path, monkeypatch):
    (tmp_path / "schema.sql").write_text("", encoding="utf-8")
    monkeypatch.setattr(places, "data", lambda: tmp_path)
    seen = []

    class Stub:
        def encode(self, texts, batch_size):
            seen.extend(texts)
            yield list(range(len(texts))), np.eye(384, dtype=np.float32)[[len(text) for text in texts]]

    monkeypatch.setattr(embedding, "_minilm", Stub)
    return tmp_path / "embeddings", seen


def test_a_collection_holds_exactly_the_texts_that_are_there(own_vectors):
    folder, seen = own_vectors
    assert ship("documents", ["a", "bb"], check=True) == (folder / "documents.npy", 2, 0)
    assert not folder.exists() and seen == []
    assert ship("documents", ["a", "bb", "a"]).missing == 2 and sorted(seen) == ["a", "bb"]
    before = (folder / "documents.npy").read_bytes()
    assert not ship("documents", ["bb", "a"]) and (folder / "documents.npy").read_bytes() == before
    seen.clear()
    assert ship("documents", ["bb", "ccc"])[1:] == (1, 1) and seen == ["ccc"]
    keys = {vectors.key(weights.MODEL_ID, text) for text in ("bb", "ccc")}
    assert vectors.keys_of(folder / "documents.npy") == keys
    seen.clear()
    assert ship("questions", ["ccc"]).missing == 1 and seen == []  # known from another collection


def test_one_text_is_not_a_list_of_letters(own_vectors):
    folder, seen = own_vectors
    with pytest.raises(TypeError, match="A list of texts is needed, and one text was given"):
        ship("documents", "abc")
    with pytest.raises(TypeError, match=r"texts\[1\] must be a str"):
        ship("documents", ["a", 7])
    assert not folder.exists() and seen == []


@pytest.mark.slow
def test_searching_the_shop_for_a_known_question_loads_no_model(fresh_python):
    code = (
        "import sys\n"
        "from course_utils.models import embedder\n"
        "from course_utils.retrieval import GUEST, DenseIndex\n"
        "from course_utils.shop import documents, questions\n"
        "index = DenseIndex(documents.load(), embedder())\n"
        "found = index.search(questions.load()[0].question, caller=GUEST)\n"
        "print(len(found), [name for name in ('torch', 'transformers', 'pandas') if name in sys.modules])\n"
    )
    assert fresh_python(code).splitlines() == ["5 []"]
