"""Earlier results: what tools returned for earlier answers, as a model is given it again."""

from collections.abc import Mapping
from dataclasses import field

from shared.domain.chats.chat import Message
from shared.domain.ids import EmbedId
from shared.domain.provenance import Source
from shared.domain.value import value


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
