"""Rerankers: MaxSim by hand, a cross-encoder loaded for real, and what is refused."""

import numpy as np
import pytest

from course_utils import models
from course_utils.models import embedding, reranking, token_vectors
from course_utils.shop import documents, questions


@pytest.fixture
def by_hand(monkeypatch):
    """Token vectors that a pencil can follow: two dimensions, one text of two windows."""
    asked = np.array([[1, 0], [0, 1]], dtype=np.float32)
    table = {
        "both": [np.array([[1, 0], [0, 1]])],
        "one": [np.array([[1, 0], [1, 0], [1, 0]])],
        "between": [np.array([[0.6, 0.8]])],
        "late": [np.array([[-1, 0]]), np.array([[0, 1], [0.8, 0.6]])],
    }
    monkeypatch.setattr(token_vectors, "of_question", lambda text: asked)
    monkeypatch.setattr(token_vectors, "of_documents", lambda texts: [table[text] for text in texts])


def test_each_token_of_the_question_seeks_its_like_and_the_best_window_counts(by_hand):
    found = models.MaxSim().scores("q", ["both", "one", "between", "late"])
    assert found == pytest.approx([1, 0.5, 0.7, 0.9])
    assert models.MaxSim().scores("q", []) == []


def test_the_shops_own_questions_need_no_model(monkeypatch):
    monkeypatch.setattr(embedding, "_minilm", lambda: pytest.fail("the model was loaded"))
    library = {document.id: document.page_content for document in documents.load()}
    question = next(one for one in questions.load("dev") if one.documents)
    gold, other = library[question.documents[0]], next(iter(library.values()))
    right, wrong = models.reranker().scores(question.question, [gold, other])
    assert -1 <= wrong < right <= 1


@pytest.mark.parametrize("name", [None, "maxsim", "MaxSim"])
def test_without_a_name_it_is_maxsim(name, monkeypatch):
    assert isinstance(models.reranker(name), models.MaxSim)
    monkeypatch.setenv("COURSE_RERANKER", "some/model")
    assert models.reranker("maxsim").name == "maxsim" and models.reranker().name == "some/model"


@pytest.mark.parametrize("bad", ["one text", [1], [None]])
@pytest.mark.parametrize("model", [models.MaxSim(), models.CrossEncoderReranker("nowhere")])
def test_texts_must_be_texts(model, bad):
    with pytest.raises(TypeError, match=r"text"):
        model.scores("q", bad)


def make_bert(folder, kind, labels=1, **sizes):
    """Save a BERT of a few kilobytes; its vocabulary is the letters and a few words."""
    import torch
    import transformers

    words = "[PAD] [UNK] [CLS] [SEP] [MASK] who lives in pune asha".split()  # noqa: SIM905
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=48)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(
        vocab_size=len(words), num_labels=labels, max_position_embeddings=48, initializer_range=0.4, **sizes
    )
    model = getattr(transformers, kind)(config).eval()
    model.save_pretrained(folder)
    return model, tokenizer


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cross") / "tiny"
    return folder, *make_bert(folder, "BertForSequenceClassification")


def logits(model, tokenizer, pairs):
    import torch

    with torch.inference_mode():
        batch = tokenizer([list(pair) for pair in pairs], padding=True, truncation=True, return_tensors="pt")
        return model(**batch).logits[:, 0].double().numpy()


@pytest.mark.slow
def test_a_score_is_the_sigmoid_of_the_models_logit(tiny, capsys, monkeypatch):
    folder, model, tokenizer = tiny
    monkeypatch.setenv("COURSE_RERANKER", str(folder))
    texts = ["asha lives in pune", "pune", "who", ""]
    found = models.reranker().scores("who lives in pune", texts)
    raw = logits(model, tokenizer, [("who lives in pune", text) for text in texts])
    assert found == pytest.approx((1 / (1 + np.exp(-raw))).tolist(), abs=1e-5)
    assert np.ptp(found) > 1e-3 and models.reranker().scores("who", []) == []
    assert capsys.readouterr().out.count("Loading the reranker") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("logit", "score"), [(8.1, 0.9997), (-4.8, 0.0082)])
def test_r01_the_scale_is_0_to_1_whatever_the_logits_are(tiny, logit, score, tmp_path):
    import torch

    folder, model, tokenizer = tiny
    kept = {name: value.clone() for name, value in model.classifier.state_dict().items()}
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.fill_(logit)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model.classifier.load_state_dict(kept)
    assert models.reranker(str(tmp_path)).scores("who", ["asha"]) == pytest.approx([score], abs=5e-5)


@pytest.mark.slow
def test_a_long_text_is_read_to_its_end(tiny):
    folder, model, tokenizer = tiny
    one = models.reranker(str(folder))
    long = "in " * 100 + "asha lives"
    pieces = one._windows(one._load(), "who", long)
    raw = logits(model, tokenizer, [("who", piece) for piece in pieces])
    assert len(pieces) > 2 and pieces[-1].endswith("asha lives")
    assert one.scores("who", [long, "pune"])[0] == pytest.approx((1 / (1 + np.exp(-raw))).max(), abs=1e-5)


@pytest.mark.slow
def test_a_question_that_leaves_no_room_says_so(tiny):
    with pytest.raises(ValueError, match=r"leaves \d+ of the 48 tokens .* fewer words"):
        models.reranker(str(tiny[0])).scores("who lives " * 30, ["asha"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "labels", "why"),
    [("BertModel", 1, "without a trained head"), ("BertForSequenceClassification", 3, "3 scores a pair")],
)
def test_a_model_that_cannot_score_a_pair_is_refused(tmp_path, kind, labels, why):
    make_bert(tmp_path / "m", kind, labels)
    with pytest.raises(models.ModelUnavailable, match=why):
        models.reranker(str(tmp_path / "m")).scores("who", ["asha"])


@pytest.mark.slow
def test_a_name_that_leads_nowhere_says_how_to_go_on(course, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(models.ModelUnavailable, match="no-such.*unset COURSE_RERANKER"):
        models.reranker(str(course / "no-such")).scores("who", ["asha"])
    assert f"reranker {course / 'no-such'}" not in embedding._models
    assert repr(reranking.reranker("x")) == "CrossEncoderReranker('x')"
