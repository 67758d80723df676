"""Questions, and how their answers are followed and stopped, as clients send them."""

from collections.abc import Sequence
from typing import Annotated, Literal, cast, get_args

from pydantic import AwareDatetime, Field, model_validator

from functions.chat.api.chat_query import ChatQuery
from functions.chat.context.given_files import MAX_FILES
from functions.chat.context.page import Page, PageType
from functions.chat.context.similar_chats import (
    MAX_SIMILAR,
    MAX_SUMMARY_CHARS,
    MAX_TITLE_CHARS,
    SimilarChat,
)
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.chats.run import Outcome
from shared.domain.chats.voices import MAX_VOICES
from shared.edge.declare.schemas import EVENT_NUMBER_PATTERN, Wire


class SendQuery(ChatQuery):
    """`protocol` selects the format of the stream; without it, released apps can read it."""

    protocol: Literal["ui-message-stream"] | None = None


class ResumeHeaders(Wire):
    """The number of the last event that the client has; an empty one counts as none."""

    last_event_id: Annotated[str, Field(alias="Last-Event-ID", pattern=EVENT_NUMBER_PATTERN)] = ""


class ResumeQuery(Wire):
    """`after` is the last event that the client has; the header Last-Event-ID takes precedence."""

    after: Annotated[int, Field(ge=0)] = 0


class StopOut(Wire):
    """`stopping`: the answer ends in a moment. `ended`: it had already ended, with this outcome."""

    status: Literal["stopping", "ended"]
    outcome: Outcome | None = None


class PageContextIn(Wire):
    """What the user is looking at: a conversation, task, memory or recap by id, or a time range.

    The released app sends it empty where there is none. A `type` that is not known counts as none.
    """

    type: str | None = None
    id: str | None = None
    title: str | None = None
    start: AwareDatetime | None = None
    end: AwareDatetime | None = None

    def to_page(self) -> Page | None:
        if self.type not in get_args(PageType):
            return None
        return Page(
            type=cast("PageType", self.type),
            id=self.id or "",
            title=self.title or "",
            start=self.start,
            end=self.end,
        )


class SimilarChatIn(Wire):
    """An earlier chat of the owner that is like this one."""

    title: Annotated[str, Field(max_length=MAX_TITLE_CHARS)]
    summary: Annotated[str, Field(min_length=1, max_length=MAX_SUMMARY_CHARS)]


class SendMessageIn(Wire):
    """Repeats of one question share `client_message_id`, or the header Idempotency-Key.

    `follows` is the id of the message that the user saw last: where the chat shows another version
    by now, the question is refused with 409. `model` is one of GET /v1/chat-models; without it the
    chat's agent says which model answers, and a persona always has its own. `models` are two or three
    that answer at once, with tools that only read; the first one's answer is the main one. `similar_chats`
    are for a `client_encrypted` chat, of which only its client knows what it is like; others have their own.
    """

    text: str
    model: AgentRole | None = None
    models: Annotated[list[AgentRole] | None, Field(min_length=2, max_length=MAX_VOICES)] = None
    client_message_id: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    file_ids: Annotated[list[str] | None, Field(max_length=MAX_FILES)] = None
    context: PageContextIn | None = None
    follows: Annotated[str | None, Field(max_length=64)] = None
    similar_chats: Annotated[list[SimilarChatIn] | None, Field(max_length=MAX_SIMILAR)] = None

    @model_validator(mode="after")
    def _check_models(self) -> "SendMessageIn":
        if self.models is not None and self.model is not None:
            raise ValueError("Name either one model or several, not both.")
        if self.models is not None and len(set(self.models)) < len(self.models):
            raise ValueError("Each of the models is named once.")
        return self

    def list_models(self) -> Sequence[AgentRole]:
        """Return the models that were chosen; none where the chat's own one answers."""
        return self.models or ([self.model] if self.model else [])

    def list_similar(self) -> Sequence[SimilarChat]:
        chats = self.similar_chats or ()
        return [SimilarChat(title=chat.title, summary=chat.summary) for chat in chats]
