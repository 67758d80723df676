"""Query and headers that many requests of a chat have: which chat, by its session or its app, and the key of their repeats."""

from typing import Annotated

from pydantic import AfterValidator, Field

from shared.domain.chats.chat import build_main_session_id
from shared.domain.ids import AppId, SessionId
from shared.edge.declare.schemas import OPTIONAL_ID_PATTERN, Wire


def _parse_optional_id(value: str | None) -> str | None:
    """Read `null` and the empty string, which released apps send, as None."""
    return None if value in (None, "", "null") else value


ChosenApp = Annotated[
    str | None, Field(pattern=OPTIONAL_ID_PATTERN), AfterValidator(_parse_optional_id)
]
ChosenSession = Annotated[str | None, Field(max_length=64), AfterValidator(_parse_optional_id)]


class ChatQuery(Wire):
    """The chat: `chat_session_id`, else the main chat of an app, else the main chat.

    `app_id` takes precedence over `plugin_id`; beside a session, it must be that session's app.
    """

    app_id: ChosenApp = None
    plugin_id: ChosenApp = None
    chat_session_id: ChosenSession = None

    @property
    def app(self) -> AppId | None:
        chosen = self.app_id or self.plugin_id
        return AppId(chosen) if chosen else None

    @property
    def session(self) -> SessionId | None:
        return SessionId(self.chat_session_id) if self.chat_session_id else None

    @property
    def session_id(self) -> SessionId:
        return self.session or build_main_session_id(self.app)


class RepeatHeaders(Wire):
    """The key that repeats of one request share; an empty one counts as none."""

    idempotency_key: Annotated[str, Field(alias="Idempotency-Key", max_length=255)] = ""
