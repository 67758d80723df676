"""Safety of a chat: how far its questions went towards harm for others, and what follows; pure."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.ids import SessionId, UserId
from shared.domain.value import value

SafetyStep = Literal["none", "note", "slow", "review", "locked"]
"""What follows a score, each with all before it: the model is told, fewer questions an hour, an operator
looks at it, the chat answers no more."""
REVIEW_TTL = timedelta(days=90)


@value
class SafetyScore:
    """The score of a chat as its last question left it; `points` are 0 to 1."""

    points: float = 0.0
    rated_at: datetime | None = None
    locked_until: datetime | None = None


@value
class SafetyThresholds:
    """Scores, 0 to 10, as of which a question is refused, and its answer warned of what it quotes."""

    harm: float = 7.0
    misuse: float = 8.0
    injection: float = 7.0


@value
class SafetyReview:
    """A chat that an operator shall look at: who and which, no word of it."""

    id: str
    uid: UserId
    session_id: SessionId
    step: SafetyStep
    points: float
    created_at: datetime

    @property
    def expires_at(self) -> datetime:
        return self.created_at + REVIEW_TTL


@value
class Moderation:
    """Ratings of a text by a moderator, 0 to 1: harm to others that it asks for, and danger to its writer."""

    harm: float = 0.0
    self_harm: float = 0.0
