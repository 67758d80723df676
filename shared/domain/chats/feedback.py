"""Feedback: what an owner thinks of an answer or of a chat, without a word of either."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.value import value

FEEDBACK_TTL = timedelta(days=180)
Thumb = Literal["positive", "negative", "skip"]
FeedbackSource = Literal["answer", "chat"]


@value
class Feedback:
    """A thumb. `id` names the answer, or the chat with the number of its messages.

    `model` and `route` are those of the answer, empty for a chat. `turn_count` is how long a chat was.
    """

    id: str
    source: FeedbackSource
    thumb: Thumb
    created_at: datetime
    model: str = ""
    route: str = ""
    turn_count: int = 0

    @property
    def expires_at(self) -> datetime:
        return self.created_at + FEEDBACK_TTL

    @property
    def count_name(self) -> str:
        """What a day counts it as."""
        parts = (self.source, self.thumb, self.model, self.route)
        return " ".join(filter(None, parts))
