"""Token budget of a cycle: what is left out or cut so that a model's window holds the rest.

Also called: context limit.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic_core import to_json

from functions.chat.context.blocks import (
    MESSAGE_TOKENS,
    MIN_CUT_TOKENS,
    EarlierMessage,
    Exchange,
    FileNote,
    GivenDocument,
    build_earlier_message,
)
from shared.domain.models.model import ToolSpec
from shared.domain.models.tokens import estimate_tokens
from shared.domain.store.sizes import truncate
from shared.models.requests import to_wire_tool

SAFETY_MARGIN = 0.05
"""Share of a window that stays free, because tokens are estimated."""
MIN_MARGIN_TOKENS = 500
"""At least so many stay free: chat templates frame messages and tools, and placeholders have a note."""
MAX_ANSWER_TOKENS = 16_000
ANSWER_SHARE = 8
"""An answer gets this part of a small window."""
HISTORY_SHARE = 4
"""Results of tools are cut before less than this part of the budget is left for the history."""
_STEP = 10
"""Messages of the history that are left out at once."""
_MAX_COUNTED = 2_000
NOTE_TOKENS = 20
"""Room for the note that says what was left out of a text."""


def compute_budget(window_tokens: int, tools: Sequence[ToolSpec]) -> int:
    """Return the tokens that all messages together may have; below 0 where the tools are too many."""
    answer_tokens = compute_answer_room(window_tokens)
    margin_tokens = max(MIN_MARGIN_TOKENS, int(window_tokens * SAFETY_MARGIN))
    offered_tokens = sum(map(count_tool_tokens, tools))
    return window_tokens - margin_tokens - answer_tokens - offered_tokens


def compute_answer_room(window_tokens: int) -> int:
    """Return the tokens that are left free for an answer."""
    return min(MAX_ANSWER_TOKENS, window_tokens // ANSWER_SHARE)


def count_tool_tokens(tool: ToolSpec) -> int:
    """Count the tokens of a tool as it is sent; of the same object once, as a turn counts it often."""
    known = _counted.get(id(tool))
    if known is None or known[0] is not tool:
        if len(_counted) >= _MAX_COUNTED:
            _counted.clear()
        tokens = MESSAGE_TOKENS + estimate_tokens(to_json(to_wire_tool(tool)).decode())
        known = _counted[id(tool)] = tool, tokens
    return known[1]


_counted: dict[int, tuple[ToolSpec, int]] = {}
"""By identity, which the tool beside its tokens keeps from being given to another one."""


def lighten_history(
    history: Sequence[EarlierMessage], max_tokens: int
) -> tuple[tuple[EarlierMessage, ...], list[FileNote]]:
    """Take files and calls from messages to which they add more than `max_tokens`; return the files too."""
    lightened: list[EarlierMessage] = []
    files: list[FileNote] = []
    for message in history:
        bare = build_earlier_message(message.messages[-1:])
        is_heavy = message.tokens - bare.tokens > max_tokens
        lightened.append(bare if is_heavy else message)
        files += message.files if is_heavy else ()
    return tuple(lightened), files


def select_newest(history: Sequence[EarlierMessage], room: int) -> Sequence[EarlierMessage]:
    """Return the newest messages in a row that fit.

    The oldest are left out in steps: if each turn left out one more, the beginning of the prompt would
    change each turn, and the provider's cache would not know it.
    """
    tokens = sum(message.tokens for message in history)
    dropped = 0
    while tokens > room and dropped < len(history):
        tokens -= history[dropped].tokens
        dropped += 1
    stepped = -(-dropped // _STEP) * _STEP
    return history[stepped if len(history) - stepped >= _STEP else dropped :]


def cut_results(
    exchanges: Sequence[Exchange], excess: int, least: int = MIN_CUT_TOKENS
) -> tuple[Exchange, ...]:
    """Cut the results of this turn by `excess` tokens, the oldest first; calls stay as they are."""
    results = [result for exchange in exchanges for result in exchange.results]
    cut = iter(_cut_texts([result.text for result in results], excess, least))
    return tuple(
        replace(exchange, results=tuple(replace(r, text=next(cut)) for r in exchange.results))
        for exchange in exchanges
    )


def cut_documents(
    documents: Sequence[GivenDocument], excess: int, least: int = MIN_CUT_TOKENS
) -> tuple[GivenDocument, ...]:
    """Cut the texts of documents by `excess` tokens, the first one first."""
    cut = _cut_texts([document.contents for document in documents], excess, least)
    return tuple(
        replace(document, contents=contents)
        for document, contents in zip(documents, cut, strict=True)
    )


def _cut_texts(texts: Sequence[str], excess: int, least: int) -> list[str]:
    cut_texts = []
    for text in texts:
        tokens = estimate_tokens(text)
        shorter = cut_text(text, max(least, tokens - excess)) if excess > 0 else text
        is_shorter = estimate_tokens(shorter) < tokens  # a note may be longer than a short text
        cut_texts.append(shorter if is_shorter else text)
        excess -= tokens - estimate_tokens(cut_texts[-1])
    return cut_texts


def cut_text(text: str, max_tokens: int) -> str:
    """Keep the head and the tail of a text; one of several scripts may need more than one attempt."""
    tokens = estimate_tokens(text)
    if tokens <= max_tokens:
        return text
    chars = len(text) * max(max_tokens - NOTE_TOKENS, 0) // tokens
    while True:
        shorter = truncate(text, chars, end_chars=chars // 2)
        if chars == 0 or estimate_tokens(shorter) <= max_tokens:
            return shorter
        chars = chars * 3 // 4
