"""Request and response bodies of voice sessions."""

from typing import Annotated, Literal, Self

from pydantic import Field

from functions.chat.api.chat_query import ChosenSession
from functions.chat.voice.voice_sessions import (
    MAX_SPOKEN_CHARS,
    BegunVoiceSession,
    RecordedTurn,
    SpokenTurn,
)
from shared.domain.chats.voice_session import MAX_SDP_CHARS, RealtimeSecret, VoiceSession
from shared.domain.ids import SessionId
from shared.edge.declare.schemas import Wire
from shared.ports import Clock

MAX_ARGUMENTS_CHARS = 4_000
SpokenWords = Annotated[str, Field(max_length=MAX_SPOKEN_CHARS)]


class VoiceSessionIn(Wire):
    """The chat that keeps what is said; without one, the main chat.

    `sdp_offer` is a browser's offer of a call, which is then opened at once.
    """

    chat_session_id: ChosenSession = None
    sdp_offer: Annotated[str, Field(max_length=MAX_SDP_CHARS)] = ""

    @property
    def chat(self) -> SessionId | None:
        return SessionId(self.chat_session_id) if self.chat_session_id else None


class ClientSecretOut(Wire):
    """What opens the session at the provider, in seconds since 1970; it is shown once."""

    value: str
    expires_at: int

    @classmethod
    def of(cls, secret: RealtimeSecret) -> Self:
        return cls(value=secret.text, expires_at=int(secret.expires_at.timestamp()))


class VoiceSessionOut(Wire):
    """A voice session: `active` until it is ended or two hours are over."""

    id: str
    chat_session_id: str
    status: Literal["active", "completed"]
    turn_count: int

    @classmethod
    def of(cls, session: VoiceSession, clock: Clock) -> Self:
        return cls(
            id=session.id,
            chat_session_id=session.chat_id,
            status="active" if session.is_open(clock.now()) else "completed",
            turn_count=session.turn_count,
        )


class BegunVoiceSessionOut(Wire):
    """A new voice session.

    `sdp_answer` answers the offer of a call that came with it. Without one there is a secret: a
    client posts its offer to `url` with it as a bearer token.
    """

    id: str
    chat_session_id: str
    status: Literal["active"] = "active"
    client_secret: ClientSecretOut | None = None
    url: str | None = None
    model: str | None = None
    sdp_answer: str | None = None

    @classmethod
    def of_begun(cls, begun: BegunVoiceSession) -> Self:
        secret = begun.secret
        return cls(
            id=begun.session.id,
            chat_session_id=begun.session.chat_id,
            client_secret=ClientSecretOut.of(secret) if secret else None,
            url=secret.url if secret else None,
            model=secret.model if secret else None,
            sdp_answer=begun.answer or None,
        )


class VoiceToolIn(Wire):
    """A call of the model: the name of one of the session's tools, and its arguments as JSON text.

    `user_text` is what the owner said since the last turn that was kept: what a call that writes
    quotes has to stand there, or in one of those turns.
    """

    name: Annotated[str, Field(min_length=1, max_length=64)]
    arguments: Annotated[str, Field(max_length=MAX_ARGUMENTS_CHARS)]
    user_text: SpokenWords = ""


class VoiceToolOut(Wire):
    """What the client hands to the model as the call's output."""

    output: str


class VoiceTurnIn(Wire):
    """A finished turn; `item_id` is the provider's id of the answer."""

    item_id: Annotated[str, Field(min_length=1, max_length=128)]
    user_text: SpokenWords
    assistant_text: SpokenWords

    def to_turn(self) -> SpokenTurn:
        return SpokenTurn(
            item_id=self.item_id, user_text=self.user_text, assistant_text=self.assistant_text
        )


class VoiceTurnOut(Wire):
    """The ids of the messages; `recorded` is false for a repeat, which changes nothing.

    `crisis_plan` is a text with whom to call, to show at once to an owner in a crisis; null mostly.
    """

    recorded: bool
    question_id: str
    answer_id: str
    crisis_plan: str | None

    @classmethod
    def of(cls, turn: RecordedTurn) -> Self:
        return cls(
            recorded=not turn.is_repeat,
            question_id=turn.question.id,
            answer_id=turn.answer.id,
            crisis_plan=turn.crisis_plan or None,
        )
