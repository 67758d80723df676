"""Voice session: a spoken conversation with a model, from its secret to its end."""

from datetime import datetime, timedelta

from shared.domain.errors import Conflict
from shared.domain.ids import SessionId
from shared.domain.models.model import ToolSpec
from shared.domain.value import value

OPEN_TIME = timedelta(hours=2)
"""The provider ends a session after an hour."""
VOICE_SESSION_TTL = timedelta(days=1)
MAX_VOICE_TURNS = 500
MAX_SDP_CHARS = 32_768
"""Of a browser's offer of a call, and of its answer (SDP, RFC 8866)."""


@value
class RealtimeSecret:
    """A secret that opens a session at the provider, at `url`, until `expires_at`; never our key."""

    text: str
    expires_at: datetime
    url: str
    model: str


@value
class RealtimeSetup:
    """What a session begins with; `language` of the owner is ISO 639-1 where it is known."""

    instructions: str
    tools: tuple[ToolSpec, ...]
    language: str | None = None


@value
class VoiceSession:
    """A spoken conversation whose turns are kept in the chat `chat_id`, until it ends."""

    id: str
    chat_id: SessionId
    created_at: datetime
    expires_at: datetime
    turn_count: int = 0
    ended_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        return self.ended_at is None and now < self.created_at + OPEN_TIME

    def check_takes_turns(self, now: datetime) -> None:
        """Raises Conflict once the session ended, or has MAX_VOICE_TURNS turns."""
        if not self.is_open(now):
            raise Conflict("This voice session has ended. Begin another one.")
        if self.turn_count >= MAX_VOICE_TURNS:
            raise Conflict(f"A voice session has at most {MAX_VOICE_TURNS} turns.")
