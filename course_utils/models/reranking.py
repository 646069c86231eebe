"""Models that read a question and each candidate again, and score how well they fit: higher is better."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from . import embedding, token_vectors
from .errors import ModelUnavailable, shorten
from .settings import find
from .windows import windows

MAXSIM = "maxsim"
LEAST_ROOM = 32  # tokens of a document that must fit beside the question


class Reranker(Protocol):
    """What `RerankingRetriever` needs: a name, and a score for each text."""

    name: str

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, in their order, higher is better; NaN for one it could not score."""


class MaxSim:
    """Late interaction on MiniLM's own token vectors, offline: each token of the question seeks its like.

    A text's score is the mean, over the question's tokens, of the greatest cosine with a token of the text:
    from -1 to 1, and 1 where every token of the question is there. A text of more than 256 tokens is read in
    overlapping windows, of which the best counts.
    Nothing is encoded where text and question are stored (the shop's documents and the golden questions); any
    other is, once a process.
    Source: Khattab and Zaharia, ColBERT, SIGIR 2020, doi:10.1145/3397271.3401075, which trains a model for
    it. This one was trained for means over all tokens, and gains less.
    """

    name = MAXSIM

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text; TypeError for non-texts."""
        question, *listed = embedding._checked([question, *embedding._checked(texts)])
        asked = token_vectors.of_question(question)
        many = token_vectors.of_documents(listed)
        return [max(float((asked @ one.T).max(axis=1).mean()) for one in parts) for parts in many]

    def __repr__(self) -> str:
        return "MaxSim()"


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, by name or folder: it reads question and text together.

    A score is the sigmoid of the model's logit, from 0 to 1: a logit of 8.1 is 0.9997, one of -4.8 is 0.0082.
    It orders as the logits do, and is a probability only as far as the model was trained to give one. A text
    that does not fit beside the question is read in overlapping windows, of which the best counts.
    Loaded at the first question. Raises ModelUnavailable for a model that cannot be loaded, has no trained
    head for scoring, or gives several scores a text; ValueError for a question that fills the model alone.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text, from 0 to 1; TypeError for non-texts."""
        question, *listed = embedding._checked([question, *embedding._checked(texts)])
        if not listed:
            return []
        from torch.nn import Sigmoid

        model = self._load()
        parts = [self._windows(model, question, text) for text in listed]
        pairs = [(question, part) for many in parts for part in many]
        found = model.predict(pairs, batch_size=32, activation_fn=Sigmoid(), show_progress_bar=False)
        ends = np.cumsum([len(many) for many in parts])[:-1]
        return [float(some.max()) for some in np.split(np.asarray(found, dtype=np.float64), ends)]

    def _windows(self, model: Any, question: str, text: str) -> list[str]:
        tokenizer, most = model.tokenizer, model.max_seq_length
        if most is None or most > 100_000:  # a model without a limit
            return [text]
        marks = tokenizer.num_special_tokens_to_add(pair=True)
        left = most - marks - len(tokenizer(question, add_special_tokens=False, verbose=False)["input_ids"])
        if left < LEAST_ROOM:
            raise ValueError(
                f"The question leaves {max(left, 0)} of the {most} tokens that {self.name} reads, too few "
                "for a document. Ask it in fewer words."
            )
        options = {"add_special_tokens": False, "return_offsets_mapping": True, "verbose": False}
        return windows(text, tokenizer(text, **options)["offset_mapping"], left)

    def _load(self) -> Any:
        key = f"reranker {self.name}"
        with embedding._loading:
            if key not in embedding._models:
                print(f"Loading the reranker {self.name} through sentence-transformers.", flush=True)
                embedding._models[key] = self._loaded()
            return embedding._models[key]

    def _loaded(self) -> Any:
        from sentence_transformers import CrossEncoder
        from transformers import AutoConfig

        try:
            config = AutoConfig.from_pretrained(self.name)
            kinds = config.architectures or ["no architecture"]
            # Any BERT would load, with a head of random numbers and a warning nobody reads.
            if not all(kind.endswith("ForSequenceClassification") for kind in kinds):
                raise ValueError(f"it is {', '.join(kinds)}, without a trained head that scores a pair.")
            if config.num_labels != 1:
                raise ValueError(f"it gives {config.num_labels} scores a pair, and one is needed.")
            return CrossEncoder(self.name)
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"The reranker {self.name!r} could not be loaded: {shorten(str(error))} Give a "
                "cross-encoder, as a folder or a name that the Hugging Face hub has and this machine can "
                f"reach; or unset COURSE_RERANKER to go on with {MAXSIM}, offline."
            ) from error

    def __repr__(self) -> str:
        return f"CrossEncoderReranker({self.name!r})"


def reranker(name: str | None = None) -> Reranker:
    """Return the reranker: MaxSim, offline, or the cross-encoder that `name` or COURSE_RERANKER names.

    `name` is "maxsim", or a folder or a name on the Hugging Face hub, such as
    "cross-encoder/ms-marco-MiniLM-L6-v2". Nothing is loaded before there is something to score.
    """
    setting = find("COURSE_RERANKER")
    wanted = name or (setting.value if setting else MAXSIM)
    return MaxSim() if wanted.lower() == MAXSIM else CrossEncoderReranker(wanted)
