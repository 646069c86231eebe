"""Texts to vectors: shipped ones first, the offline model for a text that is new."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.embeddings import Embeddings

from course_utils import places

from . import vectors, weights
from .errors import ModelUnavailable, shorten
from .settings import find

if TYPE_CHECKING:
    from .minilm import MiniLM

MANY = 64
Batch = tuple[list[int], np.ndarray]  # the numbers of the texts, and their vectors
_SAME = {weights.NAME, f"sentence-transformers/{weights.NAME}"}
_loading = Lock()
_models: dict[str, Any] = {}


def _checked(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError("A list of texts is needed, and one text was given: use embed_query, or [text].")
    listed = list(texts)
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            found = f"{type(text).__name__}, {shorten(repr(text), 60)}"
            raise TypeError(f"texts[{number}] must be a str; found {found}.")
    return listed


def _progress(batches: Iterable[Batch], total: int) -> Iterator[Batch]:
    """Pass the batches on, with a bar on stdout where many texts keep somebody waiting."""
    from tqdm import tqdm

    watched = sys.stdout.isatty() or type(sys.stdout).__module__.startswith("ipykernel.")
    hidden = total < MANY or not watched
    with tqdm(total=total, desc="encoding", unit="text", file=sys.stdout, leave=False, disable=hidden) as bar:
        for numbers, part in batches:
            yield numbers, part
            bar.update(len(numbers))


def _minilm() -> "MiniLM":
    """Return the one MiniLM of this process, loaded and announced at the first call."""
    with _loading:
        if weights.NAME not in _models:
            folder = weights.folder()
            print(f"Loading the embedding model {weights.NAME}: a text has no stored vector.", flush=True)
            from .minilm import MiniLM

            _models[weights.NAME] = MiniLM(folder)
        return _models[weights.NAME]


class OfflineEmbeddings(Embeddings):
    """all-MiniLM-L6-v2, offline: 384 floats a text, length 1, of its first 256 tokens.

    The vector of a text in data/embeddings comes from there (within 1e-3 of the model's); the model is
    loaded, once a process, for any other. An empty text has a vector too: that of no words.
    """

    name = weights.NAME

    def __init__(self, collection: str | None = None) -> None:
        self.collection = collection

    def array(self, texts: Iterable[str], batch_size: int = 32, *, query: bool = False) -> np.ndarray:
        """Return the unit vectors of `texts` as float32 of shape (texts, 384); TypeError for non-texts.

        `query` makes no difference here; it does for a model with prompts of its own.
        """
        listed = _checked(texts)
        store = vectors.shipped(places.data() / "embeddings")
        keys = [vectors.key(weights.MODEL_ID, text) for text in listed]
        found = {key: store[key] for key in keys if key in store}
        new = {key: text for key, text in zip(keys, listed, strict=True) if key not in found}
        if new:
            fresh = self._encode(list(new.values()), batch_size)
            found.update(zip(new, fresh, strict=True))
        if not listed:
            return np.empty((0, vectors.SIZE), dtype=np.float32)
        table = np.stack([found[key] for key in keys]).astype(np.float32)
        return table / np.linalg.norm(table, axis=1, keepdims=True)

    def _encode(self, texts: Sequence[str], batch_size: int) -> np.ndarray:
        table = np.empty((len(texts), vectors.SIZE), dtype=np.float32)
        for numbers, part in _progress(_minilm().encode(texts, batch_size), len(texts)):
            table[numbers] = part
        mode = find("COURSE_EMBEDDINGS")
        if mode and mode.value == "record":
            folder = places.data() / "embeddings"
            vectors.record(folder, self.collection or "shared", weights.MODEL_ID, texts, table)
            # From now on, in this process too, the stored vector counts: what is shown is what is shipped.
            table = table.astype(np.float16).astype(np.float32)
        return table

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vector of each text."""
        return self.array(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text; this model encodes questions and documents alike."""
        return self.array([text])[0].tolist()


class NamedEmbeddings(Embeddings):
    """Any sentence-transformers model, by name or folder, with its own prompts for questions and documents.

    Loaded at the first text (some 10 s); never mixed with the vectors stored for all-MiniLM-L6-v2.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def _load(self) -> Any:
        with _loading:
            if self.name not in _models:
                print(f"Loading the embedding model {self.name} through sentence-transformers.", flush=True)
                from sentence_transformers import SentenceTransformer

                try:
                    _models[self.name] = SentenceTransformer(self.name)
                except (OSError, ValueError) as error:
                    raise ModelUnavailable(
                        f"COURSE_EMBEDDER names {self.name!r}, which could not be loaded: "
                        f"{shorten(str(error))} Give a folder, or a model that the Hugging Face hub has and "
                        f"this machine can reach; or unset COURSE_EMBEDDER to go on with {weights.NAME}."
                    ) from error
            return _models[self.name]

    def array(self, texts: Iterable[str], batch_size: int = 32, *, query: bool = False) -> np.ndarray:
        """Return the unit vectors of `texts`, float32 of shape (texts, size of the model)."""
        listed = _checked(texts)
        model = self._load()
        if not listed:
            return np.empty((0, model.get_embedding_dimension()), dtype=np.float32)
        encode = model.encode_query if query else model.encode_document
        order = sorted(range(len(listed)), key=lambda number: -len(listed[number]))
        numbers = [order[begin : begin + batch_size] for begin in range(0, len(order), batch_size)]
        options = {"batch_size": batch_size, "normalize_embeddings": True, "show_progress_bar": False}
        batches = ((some, encode([listed[number] for number in some], **options)) for some in numbers)
        parts = list(_progress(batches, len(listed)))
        table = np.empty((len(listed), parts[0][1].shape[1]), dtype=np.float32)
        for some, part in parts:
            table[some] = part
        return table

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vector of each text, with the model's prompt for documents."""
        return self.array(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one question, with the model's prompt for questions."""
        return self.array([text], query=True)[0].tolist()


def embedder(collection: str | None = None) -> OfflineEmbeddings | NamedEmbeddings:
    """Return the embedding model: all-MiniLM-L6-v2 offline, or the one that COURSE_EMBEDDER names.

    Unit vectors; `.embed_documents` and `.embed_query` as in LangChain, `.array(texts)` for a NumPy
    array. `collection` says where COURSE_EMBEDDINGS=record stores new vectors:
    data/embeddings/<collection>.npy, "shared" if not given. Nothing is loaded before a text needs it.
    """
    if collection is not None:
        vectors.file_of(places.data(), collection)
    named = find("COURSE_EMBEDDER")
    if named and named.value not in _SAME:
        return NamedEmbeddings(named.value)
    return OfflineEmbeddings(collection)
