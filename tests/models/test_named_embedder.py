"""A model of one's own, by COURSE_EMBEDDER: loaded for real, with its own prompts."""

import numpy as np
import pytest

from course_utils import models
from course_utils.models import embedding, vectors, weights


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> str:
    """A sentence-transformers model of a few kilobytes that has prompts; returns its folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("tiny")
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] query passage : who lives in pune asha".split()  # noqa: SIM905
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"))
    model = SentenceTransformer(
        modules=[transformer, Pooling(16)],
        prompts={"query": "query: ", "document": "passage: "},
        device="cpu",
    )
    model.save(str(folder / "model"))
    return str(folder / "model")


@pytest.mark.slow
def test_questions_and_documents_carry_the_prompts_of_the_model(tiny, course, monkeypatch, capsys):
    from sentence_transformers import SentenceTransformer

    monkeypatch.setenv("COURSE_EMBEDDER", tiny)
    text = "who lives in pune"
    near_miss = np.eye(384, dtype=np.float32)[:1]
    vectors.record(course / "data" / "embeddings", "golden", weights.MODEL_ID, [text], near_miss)
    model = models.embedder()
    assert not embedding._models.get(tiny), "nothing is loaded before a text"
    query, (document, other) = model.embed_query(text), model.embed_documents([text, "asha " * 50])
    plain = SentenceTransformer(tiny, device="cpu")
    expected = plain.encode([f"query: {text}", f"passage: {text}"], normalize_embeddings=True)
    assert np.allclose([query, document], expected, atol=1e-6)
    assert not np.allclose(query, document, atol=1e-3)
    assert np.allclose([np.linalg.norm(v) for v in (query, document, other)], 1, atol=1e-6)
    assert model.array([]).shape == (0, 16)
    out, err = capsys.readouterr()
    assert out.count(f"Loading the embedding model {tiny}") == 1
    monkeypatch.delenv("COURSE_EMBEDDER")
    assert models.embedder().embed_query(text)[0] == 1


@pytest.mark.slow
def test_a_name_that_leads_nowhere_says_how_to_go_on(course, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COURSE_EMBEDDER", str(course / "no-such-model"))
    with pytest.raises(
        models.ModelUnavailable, match="COURSE_EMBEDDER names .*no-such-model.*unset COURSE_EMBED"
    ):
        models.embedder().embed_query("who")


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", ""])
def test_the_name_of_the_offline_model_is_the_offline_model(course, monkeypatch, name):
    monkeypatch.setenv("COURSE_EMBEDDER", name)
    assert type(models.embedder()) is embedding.OfflineEmbeddings
