"""The space in which the router looks for neighbours: meaning and wording, turned to where routes differ."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

DIMENSIONS = 120  # of the wording, after the decomposition
# A code says what kind of thing is asked about; which one it is says nothing about the route.
_MASKS = (
    (re.compile(r"\bGP-\d{4}-\d{5}-[A-Z]\b"), "the parcel number"),
    (re.compile(r"\bERR[_ -]?\d{3,4}\b", re.I), "an error code"),
    (re.compile(r"\b(?:SKU-\d{5}|[A-Z]{2}-\d{4}-[A-Z])\b"), "a product code"),
    (re.compile(r"\border (?:number |no\.? )?\d{3,6}\b", re.I), "order number"),
    (re.compile(r"\d[\d,.]*"), "7"),
)


def masked(text: str) -> str:
    """Return a text without the values of its codes and numbers.

    >>> masked("ERR_4471 on SKU-77821, bought for 899")
    'an error code on a product code, bought for 7'
    """
    for pattern, kind in _MASKS:
        text = pattern.sub(kind, text)
    return text


class Wording:
    """Latent semantic analysis of single words and pairs (Deerwester et al. 1990), fitted on `texts`.

    Word weights are (1 + ln count) * (1 + ln((1 + texts) / (1 + texts with it))), a text has length 1; what
    stands in one text only is left out. Stop words stay: "how many" is the very thing that tells a route.
    """

    def __init__(self, texts: Sequence[str], dimensions: int = DIMENSIONS) -> None:
        bags = [_bag(text) for text in texts]
        spread = Counter(word for bag in bags for word in bag)
        self._column = {word: n for n, word in enumerate(sorted(w for w in spread if spread[w] > 1))}
        counts = np.array([spread[word] for word in self._column], dtype=np.float64)
        self._rarity = 1 + np.log((1 + len(texts)) / (1 + counts))
        table = self._table(bags)
        # The axes of the singular value decomposition, by way of the smaller matrix: texts by texts.
        squares, left = np.linalg.eigh(table @ table.T)
        kept = [n for n in np.argsort(-squares, kind="stable")[:dimensions] if squares[n] > 1e-9]
        self._axes = table.T @ (left[:, kept] / np.sqrt(squares[kept]))

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return (texts, up to dimensions); zeros for a text without a known word."""
        return self._table([_bag(text) for text in texts]) @ self._axes

    def _table(self, bags: Sequence[Counter[str]]) -> np.ndarray:
        table = np.zeros((len(bags), len(self._column)))
        for row, bag in enumerate(bags):
            for word, count in bag.items():
                if word in self._column:
                    table[row, self._column[word]] = 1 + np.log(count)
        table *= self._rarity
        length = np.linalg.norm(table, axis=1, keepdims=True)
        return np.divide(table, length, out=table, where=length > 0)


def _bag(text: str) -> Counter[str]:
    words = re.findall(r"\w+", masked(text).casefold())
    return Counter(words) + Counter(f"{one} {two}" for one, two in zip(words, words[1:], strict=False))


def discriminant(vectors: np.ndarray, labels: np.ndarray, shrink: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre (size,) and the axes (size, groups - 1) of Fisher's discriminant analysis.

    vectors: (count, size). labels: (count,), 0 to groups - 1, each at least once. On the axes the groups
    vary by about 1 inside. shrink: how much of the mean variance is added to each direction.
    """
    centre = vectors.mean(axis=0)
    groups = range(int(labels.max()) + 1)
    means = np.stack([vectors[labels == group].mean(axis=0) for group in groups])
    inside = vectors - means[labels]
    spread = inside.T @ inside / len(vectors)
    size = len(spread)
    # The tiny term keeps it invertible where every group is a single point.
    spread += (shrink * np.trace(spread) / size + 1e-12) * np.eye(size)
    root = np.linalg.cholesky(spread)
    whitened = np.linalg.solve(root, (means - centre).T)
    _, _, directions = np.linalg.svd(whitened.T, full_matrices=False)
    return centre, np.linalg.solve(root.T, directions[: len(means) - 1].T)
