"""all-MiniLM-L6-v2 in plain PyTorch: its encoder is torch's own TransformerEncoder.

`import sentence_transformers` costs some 9 s of CPU before the first vector, transformers' BertModel 6 to
7 s, this 2 to 3.5 s, most of it `import torch`. A test holds the vectors to sentence-transformers' own.
Architecture: Devlin et al. 2018 (BERT); sizes and pooling: the model's config.json and 1_Pooling.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding

SIZE, HEADS, INNER, LAYERS = 384, 12, 1536, 6
EPSILON = 1e-12
MAX_TOKENS = 256

# torch's names for the parts of one layer, and the names in the weight file.
_PARTS = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


def _encoder(weights: "dict[str, torch.Tensor]") -> "torch.nn.TransformerEncoder":
    """Return torch's encoder with the layers of the weight file in it."""
    import torch
    from torch import nn

    with torch.random.fork_rng(devices=[]):  # its starting values are thrown away; so is their randomness
        layer = nn.TransformerEncoderLayer(
            SIZE, HEADS, INNER, dropout=0.0, activation="gelu", layer_norm_eps=EPSILON, batch_first=True
        )
    encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    named = {}
    for number in range(LAYERS):
        ours, theirs = f"layers.{number}.", f"encoder.layer.{number}."
        for kind in ("weight", "bias"):
            parts = [weights[f"{theirs}attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            named[f"{ours}self_attn.in_proj_{kind}"] = torch.cat(parts)
            for here, there in _PARTS.items():
                named[f"{ours}{here}.{kind}"] = weights[f"{theirs}{there}.{kind}"]
    encoder.load_state_dict(named, assign=True)
    return encoder.eval().requires_grad_(False)


class MiniLM:
    """The model, loaded from `folder` (see weights.folder): texts in, unit vectors out."""

    def __init__(self, folder: Path) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        weights = load_file(folder / "model.safetensors")
        self._encoder = _encoder(weights)
        self._embeddings = {
            name.removeprefix("embeddings."): tensor
            for name, tensor in weights.items()
            if name.startswith("embeddings.")
        }

    def tokens(self, text: str) -> "Encoding":
        """Return the tokens of `text`, cut at 256 with the two that mark begin and end."""
        # A lone half of a surrogate pair, from a broken paste, is no text: read it as "?".
        return self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"))

    def _forward(self, batch: "Sequence[Encoding]") -> "tuple[torch.Tensor, torch.Tensor]":
        """Return the last layer's token vectors (texts, tokens, 384) and the mask (texts, tokens)."""
        import torch
        from torch.nn.functional import embedding, layer_norm

        longest = max(len(encoding.ids) for encoding in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros((len(batch), longest), dtype=torch.bool)
        for row, encoding in enumerate(batch):
            ids[row, : len(encoding.ids)] = torch.tensor(encoding.ids)
            mask[row, : len(encoding.ids)] = True
        table = self._embeddings
        with torch.inference_mode():
            start = (
                embedding(ids, table["word_embeddings.weight"])
                + table["position_embeddings.weight"][:longest]
                + table["token_type_embeddings.weight"][0]
            )
            start = layer_norm(start, (SIZE,), table["LayerNorm.weight"], table["LayerNorm.bias"], EPSILON)
            return self._encoder(start, src_key_padding_mask=~mask), mask

    def encode(self, texts: Sequence[str], batch_size: int = 32) -> Iterator[tuple[list[int], np.ndarray]]:
        """Yield, batch by batch, which texts (by number) and their unit vectors (texts, 384), float32.

        The mean of the token vectors over the tokens that are there, divided by its length. Texts of
        like length go together, longest first; the split does not change a vector by more than 1e-5.
        """
        from torch.nn.functional import normalize

        encodings = [self.tokens(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda number: -len(encodings[number].ids))
        for begin in range(0, len(order), batch_size):
            numbers = order[begin : begin + batch_size]
            vectors, mask = self._forward([encodings[number] for number in numbers])
            present = mask.unsqueeze(-1).to(vectors.dtype)
            mean = (vectors * present).sum(1) / present.sum(1)
            yield numbers, normalize(mean, dim=1).numpy()
