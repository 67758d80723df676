"""Reading speed of a model: the tokens of a request that it read a second, before its first words.

Also called: prompt processing, prefill, time to first token.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.models.model import Usage

LEAST_TOKENS = 200
"""Fewer say nothing: the rest of a request takes its time, too."""
KEPT = 3


@dataclass(slots=True)
class ReadingSpeeds:
    """The speeds of the last calls, by model."""

    _speeds: dict[str, deque[float]] = field(default_factory=dict)

    def note(self, model: str, usage: Usage, sent: datetime, first_word: datetime) -> None:
        """Note a call; what its server had read before is not counted."""
        tokens = usage.input_tokens - usage.cached_tokens
        seconds = (first_word - sent).total_seconds()
        if tokens >= LEAST_TOKENS and seconds > 0:
            self._speeds.setdefault(model, deque(maxlen=KEPT)).append(tokens / seconds)

    def get(self, model: str) -> float | None:
        """Return the fastest: slower calls waited for others."""
        return max(self._speeds.get(model, ()), default=None)
