"""Earlier results: what tools returned for earlier answers, put in the place of their calls' results; pure.

Messages stay as they are: they keep the references.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from typing import TypeVar

from functions.chat.context.budget import cut_text
from functions.chat.context.result_text import write_for_model
from shared.domain.apps.tool_data import ToolData
from shared.domain.chats.chat import Message
from shared.domain.chats.embed import Embed, EmbedRef, join_content, list_ids
from shared.domain.ids import EmbedId
from shared.domain.provenance import Source
from shared.domain.value import value

T = TypeVar("T")
MAX_READ = 60
"""Embeds that a turn reads, children included."""
MAX_TOKENS = 8_000
"""Of all earlier results together: half of what the words of a chat may have."""
MAX_RESULT_TOKENS = 2_000
MAX_RESULT_CHARS = 40_000
"""Of one result, more than a tool returns; what a client brought back may be longer, and is cut before it is written."""
CHARS_PER_TOKEN = 3
"""Of JSON, rather too few."""
STEP = 5
"""So many results are left out at once: leaving out one a turn would change the prompt's beginning each time."""
NOT_HERE = "[{type}, not here any more: {preview}]"


@value
class EarlierResult:
    """A result as the model reads it, and as text in which each value stands by itself."""

    text: str
    source: Source
    values_text: str = ""


@value
class EarlierResults:
    """The results of a chat's earlier answers, by their embeds. `missing` are not here any more."""

    by_embed: Mapping[EmbedId, EarlierResult] = field(default_factory=dict)
    missing: tuple[EmbedId, ...] = ()

    def find(self, message: Message) -> dict[str, EarlierResult]:
        """Return the results of a message by the ids of its calls."""
        found = {ref.call_id: self.by_embed.get(ref.id) for ref in message.embeds}
        return {call_id: result for call_id, result in found.items() if result is not None}


NO_RESULTS = EarlierResults()


def select_refs(messages: Iterable[Message]) -> Sequence[EmbedRef]:
    """Return the references that a turn resolves, the oldest first: those of the newest answers."""
    own = (m for m in messages if not (m.is_imported or m.from_integration))
    refs = [ref for message in own for ref in message.embeds]
    return _leave_out_oldest(refs, [1 + len(ref.embed_ids or ()) for ref in refs], MAX_READ)


def build_earlier_results(refs: Sequence[EmbedRef], embeds: Iterable[Embed]) -> EarlierResults:
    """Resolve references; what is not there has a mark in its place."""
    known = {embed.id: embed for embed in embeds}
    given = _leave_out_oldest(refs, [_measure(ref, known) for ref in refs], MAX_TOKENS)
    return EarlierResults(
        by_embed={ref.id: _resolve(ref, known) for ref in given},
        missing=tuple(name for name in list_ids(refs) if name not in known),
    )


def _measure(ref: EmbedRef, known: Mapping[EmbedId, Embed]) -> int:
    """Return about how many tokens a result has; what is left out is not even written."""
    chars = sum(known[name].length for name in list_ids([ref]) if name in known)
    return min(chars // CHARS_PER_TOKEN, MAX_RESULT_TOKENS)


def _leave_out_oldest(items: Sequence[T], sizes: Sequence[int], limit: int) -> Sequence[T]:
    """Leave out the oldest until the rest fits: in steps, unless nothing would be left."""
    fitting = next(start for start in range(len(items) + 1) if sum(sizes[start:]) <= limit)
    stepped = -(-fitting // STEP) * STEP
    return items[stepped if stepped < len(items) else fitting :]


def _resolve(ref: EmbedRef, known: Mapping[EmbedId, Embed]) -> EarlierResult:
    parent = known.get(ref.id)
    children = [known[name] for name in ref.embed_ids or () if name in known]
    if parent is None or len(children) < len(ref.embed_ids or ()):
        text = NOT_HERE.format(type=ref.type, preview=ref.preview)
        return EarlierResult(text=text, source=ref.source)
    content = join_content(parent, _select_first(children))
    data = _cut(ToolData(content=content, hidden_fields=parent.hidden_fields))
    text = cut_text(write_for_model(data), MAX_RESULT_TOKENS)
    return EarlierResult(text=text, source=parent.source, values_text=data.visible_text)


def _select_first(children: Sequence[Embed]) -> list[Embed]:
    """Return the children that begin within MAX_RESULT_CHARS: no more is written."""
    starts = accumulate((child.length for child in children), initial=0)
    begun = zip(children, starts, strict=False)
    return [child for child, start in begun if start < MAX_RESULT_CHARS]


def _cut(data: ToolData) -> ToolData:
    text = data.visible_text
    return data if len(text) <= MAX_RESULT_CHARS else ToolData(content=text[:MAX_RESULT_CHARS])
