"""Chats, with every field that the app reads."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from functions.chat.api.chat_query import ChosenApp
from shared.domain.chats.chat import Session
from shared.domain.chats.chat_notes import Category
from shared.domain.chats.details_request import DetailKey, RequestState
from shared.domain.chats.feedback import Thumb
from shared.domain.chats.storage_mode import StorageMode, find_storage_mode
from shared.domain.provenance import TextKinds
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import OPTIONAL_ID_PATTERN, Wire


def _reject_offset(offset: int) -> int:
    if offset:
        raise ValueError(
            "Offsets are not supported here: pass the X-Next-Cursor of the last page as the cursor."
        )
    return offset


DEFAULT_TITLE = "New Chat"
Title = Annotated[str | None, Field(max_length=500)]


class SessionIn(Wire):
    """A new chat; without a title it gets one from its first answer.

    Of an `incognito` chat nothing is stored: it is in no list, and gone with the process that holds it. A
    `client_encrypted` one is in no list either: its clients keep it as ciphertexts, and sync them.
    """

    title: Title = None
    app_id: ChosenApp = None
    agent_id: ChosenApp = None
    project_id: ChosenApp = None
    storage_mode: StorageMode = "managed"


class SessionChangeIn(Wire):
    """Fields left out keep their value; an empty `agent_id` or `project_id` ends what it names."""

    title: Title = None
    starred: bool | None = None
    agent_id: Annotated[str | None, Field(pattern=OPTIONAL_ID_PATTERN)] = None
    project_id: Annotated[str | None, Field(pattern=OPTIONAL_ID_PATTERN)] = None


class ChatFeedbackIn(Wire):
    """How a chat went; `skip`: the owner was asked and did not say."""

    rating: Thumb


class SessionsQuery(PageQuery):
    """Filters; those left out match every chat, and `project_id` stands without others."""

    app_id: ChosenApp = None
    starred: bool | None = None
    project_id: ChosenApp = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    offset: Annotated[int, AfterValidator(_reject_offset)] = 0

    @model_validator(mode="after")
    def _filter_by_project_alone(self) -> "SessionsQuery":
        if self.project_id and (self.app_id or self.starred is not None):
            raise ValueError("Send project_id without app_id and starred.")
        return self


class ActiveExerciseOut(Wire):
    """The exercise that goes on in a chat, and its current step, from 1."""

    id: str
    step: int


class DetailsStatesOut(Wire):
    """What the assistant asks to read in a chat, and what was decided on each key."""

    request_id: str
    created_at: datetime
    states: Mapping[DetailKey, RequestState]


class SessionOut(Wire):
    """A chat; `preview` is the beginning of its last message. `shared`: there is a link to it.

    `focus_mode_id` is the focus mode that is active, `agent_id` the custom agent that answers, and
    `project_id` the project it belongs to.
    `is_summarised`: the assistant reads a summary of the oldest messages, which all stay listed.
    Until `locked_until` its questions are refused with 423, except in a crisis. After each answer it is
    noted anew: `summary` and `tags` hold no details of memories and settings, `icons` are names of the
    Lucide library, and `language` is the one in which its owner writes (ISO 639-1). `title_kinds` and `summary_kinds`
    are the kinds of text of others that had been read when they were written; null where nobody knows.
    """

    id: str
    title: str
    starred: bool
    app_id: str | None
    plugin_id: str | None
    created_at: datetime
    updated_at: datetime
    message_count: int
    preview: str
    shared: bool
    focus_mode_id: str | None
    agent_id: str | None
    project_id: str | None
    is_summarised: bool
    storage_mode: StorageMode
    exercise: ActiveExerciseOut | None
    locked_until: datetime | None
    summary: str
    tags: Sequence[str]
    icons: Sequence[str]
    category: Category
    language: str
    details_requests: Sequence[DetailsStatesOut]
    title_kinds: TextKinds | None
    summary_kinds: TextKinds | None


def to_session_out(session: Session) -> SessionOut:
    """Convert a chat to the fields that released apps read."""
    return SessionOut(
        id=session.id,
        title=session.title or DEFAULT_TITLE,
        starred=session.starred,
        app_id=session.app_id,
        plugin_id=session.app_id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        message_count=session.message_count,
        preview=session.preview,
        shared=session.share_token is not None,
        focus_mode_id=session.focus,
        agent_id=session.agent_id,
        project_id=session.project_id,
        is_summarised=session.summarised_until is not None,
        storage_mode=find_storage_mode(session.id),
        exercise=ActiveExerciseOut.model_validate(session.exercise) if session.exercise else None,
        locked_until=session.safety.locked_until,
        summary=session.notes.summary,
        tags=session.notes.tags,
        icons=session.notes.icons,
        category=session.notes.category,
        language=session.notes.language,
        details_requests=[
            DetailsStatesOut(request_id=each.id, created_at=each.created_at, states=each.states)
            for each in session.requests
        ],
        title_kinds=session.title_kinds,
        summary_kinds=session.notes.read_kinds,
    )
