"""Windows of models: how much data a request may hold, so that its model reads all of it; pure."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from pydantic_core import to_json

from shared.domain.models.model import Prompt
from shared.domain.models.tokens import estimate_tokens
from shared.domain.store.sizes import truncate

T = TypeVar("T")
ANSWER_SHARE = 4
"""An answer never gets more than this part of a window."""
MARGIN_SHARE = 16
"""This part of a window stays free: tokens are estimated, and a placeholder may be longer than what it stands for."""
FRAME_TOKENS = 200
"""Room for the frames of the messages, and for the note on placeholders."""
_NOTE_TOKENS = 20
"""Room for the note that says what was left out of a text."""


def compute_answer_tokens(window_tokens: int, needed_tokens: int) -> int:
    """Return what an answer may have that needs so many tokens: a part of the window at most."""
    return min(needed_tokens, window_tokens // ANSWER_SHARE)


def compute_data_tokens(window_tokens: int, instructions: str, answer_tokens: int) -> int:
    """Return how many tokens of data fit beside the instructions and an answer of `answer_tokens`.

    It is below 0 where the instructions alone are too long.
    """
    answer = compute_answer_tokens(window_tokens, answer_tokens)
    margin = window_tokens // MARGIN_SHARE + FRAME_TOKENS
    return window_tokens - margin - answer - estimate_tokens(instructions)


def write_data(data: object) -> str:
    """Write JSON-like data in a fence that it cannot close, as a prompt holds it."""
    return f"```json\n{_write_json(data)}\n```"


def count_data_tokens(data: object) -> int:
    """Estimate the tokens of JSON-like data as a prompt holds it."""
    return estimate_tokens(_write_json(data))


def count_prompt_tokens(prompt: Prompt) -> int:
    """Estimate the tokens that a model reads of a prompt."""
    return estimate_tokens(prompt.instructions) + count_data_tokens(prompt.data)


def take_fitting(items: Iterable[T], max_tokens: int) -> list[T]:
    """Return the first of these JSON-like items, as many as fit together."""
    fitting = []
    for item in items:
        max_tokens -= count_data_tokens(item)
        if max_tokens < 0:
            break
        fitting.append(item)
    return fitting


def cut_text(text: str, max_tokens: int) -> str:
    """Keep the head and the tail of a text, so that it has so many tokens as data; say what is left out.

    Where not even a note fits, nothing of it is left.
    """
    tokens = count_data_tokens(text)
    if tokens <= max_tokens:
        return text
    chars = len(text) * max(max_tokens - _NOTE_TOKENS, 0) // tokens
    while chars:
        shorter = truncate(text, chars, end_chars=chars // 2)
        if count_data_tokens(shorter) <= max_tokens:
            return shorter
        chars = chars * 3 // 4
    return ""


def cut_texts(texts: Sequence[str], max_tokens: int) -> list[str]:
    """Cut the longest of these texts, so that all have so many tokens together as data."""
    longest = _share([count_data_tokens(text) for text in texts], max_tokens)
    return [cut_text(text, longest) for text in texts]


def _share(needs: Sequence[int], max_tokens: int) -> int:
    """Return what each may have at most: whoever needs less leaves the rest to the others."""
    left = max_tokens
    for n, need in enumerate(sorted(needs)):
        share = left // (len(needs) - n)
        if need > share:
            return share
        left -= need
    return max(needs, default=0)


def _write_json(data: object) -> str:
    return to_json(data).decode().replace("`", "\\u0060")
