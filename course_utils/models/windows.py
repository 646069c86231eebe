"""Long texts in pieces that a model can read whole."""

from collections.abc import Sequence

SPARE = 8  # a word that a window cuts in two may become more tokens than it was


def windows(text: str, spans: Sequence[tuple[int, int]], room: int) -> list[str]:
    """Return `text` whole where its tokens fit into `room`, else pieces that overlap by a quarter.

    spans: where each token begins and ends in the text. The last piece ends with the text.
    """
    if len(spans) <= room:
        return [text]
    size = max(room - SPARE, 1)
    last = len(spans) - size
    begins = [*range(0, last, size - size // 4), last]
    return [text[spans[begin][0] : spans[begin + size - 1][1]] for begin in begins]
