"""Request and response bodies of chat, field by field as released apps read them."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints, model_validator

from functions.chat.api.prompt_texts import IN_ONE_LINE
from functions.chat.context.file_texts import MAX_FILES
from functions.chat.context.page import Page, PageType
from functions.chat.context.similar_chats import (
    MAX_SIMILAR,
    MAX_SUMMARY_CHARS,
    MAX_TITLE_CHARS,
    SimilarChat,
)
from shared.data.library_changes import METADATA_FIELD, load_changes
from shared.domain.branches import find_answering_run, list_versions
from shared.domain.chart import ChartType
from shared.domain.chat import FileCitation, Message, Session, build_main_session_id
from shared.domain.chat_notes import Category
from shared.domain.custom_agent import AgentRole
from shared.domain.details_request import DetailKey, RequestState
from shared.domain.feedback import Thumb
from shared.domain.ids import AppId, MessageId, RunId, SessionId, UserId
from shared.domain.interests import (
    MAX_INTEREST_CHARS,
    MAX_INTERESTS,
    MAX_LEARNING_STYLE_CHARS,
)
from shared.domain.library_change import LibraryChange
from shared.domain.own_names import MAX_OWN_NAMES
from shared.domain.profile import PreferredModel
from shared.domain.run import Outcome
from shared.domain.storage_mode import StorageMode, find_storage_mode
from shared.domain.voices import MAX_VOICES
from shared.edge.schemas import (
    EVENT_NUMBER_PATTERN,
    LANGUAGE_CODE_PATTERN,
    LANGUAGE_PATTERN,
    OPTIONAL_ID_PATTERN,
    PageQuery,
    Wire,
)

MAX_CARDS = 5


def _parse_optional_id(value: str | None) -> str | None:
    """Read `null` and the empty string, which released apps send, as None."""
    return None if value in (None, "", "null") else value


def _reject_offset(offset: int) -> int:
    if offset:
        raise ValueError(
            "Offsets are not supported here: pass the X-Next-Cursor of the last page as the cursor."
        )
    return offset


ChosenApp = Annotated[
    str | None, Field(pattern=OPTIONAL_ID_PATTERN), AfterValidator(_parse_optional_id)
]
ChosenSession = Annotated[str | None, Field(max_length=64), AfterValidator(_parse_optional_id)]
DEFAULT_TITLE = "New Chat"


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


class SendQuery(ChatQuery):
    """`protocol` selects the format of the stream; without it, released apps can read it."""

    protocol: Literal["ui-message-stream"] | None = None


class SendHeaders(Wire):
    """The key that repeats of one question share; an empty one counts as none."""

    idempotency_key: Annotated[str, Field(alias="Idempotency-Key", max_length=255)] = ""


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


class CloseRunIn(Wire):
    """The ids of a run."""

    uid: UserId
    run_id: RunId


class StretchEndedIn(Wire):
    """A chat, and the time of the message that ends a stretch of it, by silence or because it `is_asked`."""

    uid: UserId
    session_id: SessionId
    until: datetime
    is_asked: bool = False


class CloseOut(Wire):
    status: Literal["closed"] = "closed"


class MessagesQuery(ChatQuery):
    """`before` is the id of the oldest message that the client has.

    With `protocol`, `metadata.parts` has what was streamed of an answer, and `metadata.summarised`
    marks messages that the assistant reads as a summary.
    """

    before: Annotated[str | None, Field(max_length=64)] = None
    protocol: Literal["ui-message-stream"] | None = None


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


class VersionIn(Wire):
    """Another version of a message: of a question with its new `text`, of an answer without.

    `model` is as in a question.
    """

    text: str | None = None
    model: AgentRole | None = None


class ChatModelOut(Wire):
    """A model that a question can name: its `id` here, and its `name` at its provider."""

    id: AgentRole
    name: str


class ChatModelsOut(Wire):
    """The models to choose from, the one that answers without a choice first."""

    models: Sequence[ChatModelOut]


class ShownVersionIn(Wire):
    """The id of a message; the versions that lead to it are shown."""

    message_id: Annotated[str, Field(min_length=1, max_length=66)]


class ChosenAnswerIn(Wire):
    """The answer to go on with, by the number of its model in the question's `models`, from 0."""

    voice: Annotated[int, Field(ge=0, lt=MAX_VOICES)]


class CardStructuredOut(Wire):
    title: str
    emoji: str


class CardOut(Wire):
    id: str
    created_at: datetime
    structured: CardStructuredOut


class LibraryChangeOut(Wire):
    """A change that an answer made in the library; `text` says it in one line."""

    id: str
    text: str
    state: Literal["done", "undone"]


def to_library_change_out(change: LibraryChange) -> LibraryChangeOut:
    state: Literal["done", "undone"] = "undone" if change.is_undone else "done"
    return LibraryChangeOut(id=change.id, text=change.text, state=state)


class DataPointOut(Wire):
    label: str
    value: float


class DatasetOut(Wire):
    """One line, or the bars of one colour (#RRGGBB; null: of the client's choice)."""

    label: str
    data_points: Sequence[DataPointOut]
    color: str | None


class ChartOut(Wire):
    """A chart; the points of all datasets have the same labels."""

    chart_type: ChartType
    title: str
    x_label: str | None
    y_label: str | None
    datasets: Sequence[DatasetOut]


class MessageFileOut(Wire):
    """A file that came with a message, with the fields that released apps read."""

    id: str
    openai_file_id: str
    name: str
    mime_type: str
    created_at: datetime
    thumbnail: str | None


class MessageOut(Wire):
    """A message; every field that a released app reads is always present.

    `metadata.changes` lists what an answer changed in the library, as LibraryChangeOut. In a list
    of messages, `metadata.versions` has the ids of all versions of a message that has several, oldest
    first, and `metadata.run` is the run that answers the newest question. Where several models answered
    at once, `metadata.voices` names them and `metadata.voice` says whose answer this is, from 0.
    `metadata.corrects` of an answer that was written again has the `id` of the first one, and the `reason`:
    `harm` or `broken_links`.
    """

    id: str
    text: str
    created_at: datetime
    sender: Literal["ai", "human"]
    app_id: str | None
    plugin_id: str | None
    from_external_integration: bool
    from_integration: bool
    type: Literal["text", "day_summary"]
    memories_id: list[str]
    memories: list[CardOut]
    reported: bool
    report_reason: str | None
    files_id: list[str]
    files: list[MessageFileOut]
    chat_session_id: str
    rating: Literal[1, -1] | None
    chart_data: ChartOut | None
    ask_for_nps: bool
    metadata: dict[str, Any]


def _to_file_citation(citation: FileCitation) -> dict[str, Any]:
    file = citation.file
    return {"number": citation.number, "id": file.id, "name": file.name, "page": file.page}


def to_message_out(message: Message) -> MessageOut:
    """Convert a message to the fields that released apps read."""
    metadata = dict(message.metadata)
    if message.marked_text is not None and (message.cards or message.file_citations):
        metadata["marked_text"] = message.marked_text
    if message.file_citations:
        metadata["file_citations"] = list(map(_to_file_citation, message.file_citations))
    if message.voices:
        metadata |= {"voices": list(message.voices), "voice": message.voice}
    if changes := load_changes(message):
        metadata[METADATA_FIELD] = [to_library_change_out(c).model_dump() for c in changes]
    return MessageOut(
        id=message.id,
        text=message.text,
        created_at=message.created_at,
        sender=message.sender,
        app_id=message.app_id,
        plugin_id=message.app_id,
        from_external_integration=message.from_integration,
        from_integration=message.from_integration,
        type=message.type,
        memories_id=list(message.memories_id),
        memories=[
            CardOut(
                id=card.id,
                created_at=card.created_at,
                structured=CardStructuredOut(title=card.title, emoji=card.emoji),
            )
            for card in message.cards[:MAX_CARDS]
        ],
        reported=message.reported,
        report_reason=message.report_reason,
        files_id=[file.id for file in message.files],
        files=[
            MessageFileOut(
                id=file.id,
                openai_file_id=file.id,
                name=file.name,
                mime_type=file.media_type,
                created_at=file.created_at,
                thumbnail=file.thumbnail,
            )
            for file in message.files
        ],
        chat_session_id=message.session_id,
        rating=message.rating,
        chart_data=ChartOut.model_validate(message.chart) if message.chart else None,
        ask_for_nps=False,
        metadata=metadata,
    )


def to_shown_messages_out(session: Session, newest_first: Sequence[Message]) -> list[MessageOut]:
    """Convert messages of a chat, with their versions and the run that answers the newest."""
    versions = list_versions(session.forks)
    shown = [to_message_out(message) for message in newest_first]
    for message in shown:
        if ids := versions.get(MessageId(message.id)):
            message.metadata["versions"] = list(ids)
    if newest_first and (run_id := find_answering_run(session, newest_first[0])):
        shown[0].metadata["run"] = run_id
    return shown


def to_message_json(message: Message) -> bytes:
    """Encode a message for the `done` frame."""
    return to_message_out(message).model_dump_json().encode()


_SPOKEN_FIELDS = {
    *("id", "text", "created_at", "sender", "type", "plugin_id", "from_integration"),
    *("files", "memories", "ask_for_nps"),
}


def to_question_json(message: Message) -> bytes:
    """Encode what the owner said for the `message` frame: the fields alone that apps need there."""
    return to_message_out(message).model_dump_json(include=_SPOKEN_FIELDS).encode()


class VoiceIn(Wire):
    """The language that is spoken, as ISO 639-1; anything else leaves it to the transcriber."""

    language: Annotated[str | None, Field(max_length=32)] = None

    @property
    def language_code(self) -> str | None:
        code = (self.language or "").partition("-")[0].lower()
        return code if re.fullmatch(LANGUAGE_CODE_PATTERN, code) else None


class SpokenTextOut(Wire):
    """What was said; empty where nobody speaks."""

    transcript: str
    language: str | None


class ReportOut(Wire):
    message: str = "Message reported"


class RatingQuery(Wire):
    """`value` is 1 or -1; 0 removes the rating."""

    message_id: str
    value: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str | None, Field(max_length=200)] = None


OwnName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


Interest = Annotated[str, Field(max_length=MAX_INTEREST_CHARS), IN_ONE_LINE]
LearningStyle = Annotated[str, Field(max_length=MAX_LEARNING_STYLE_CHARS), IN_ONE_LINE]


class ProfileIn(Wire):
    """Fields left out keep their value.

    `own_names` are the names by which transcripts call the owner. A change goes over the stored
    conversations, whose memories and tasks follow. Each answer is told of at most five of the
    `interests`, never of all, and of the `learning_style`. With `summarises_results`, later answers
    read in a sentence or two what the tools of earlier ones found; else only what they were asked.
    `recalls_memories` is false where answers shall use nothing of what is remembered, and
    `volunteers_memories` true where they may bring it up unasked. With `recalls_chats`, they are told what up to
    three similar chats came to. The `preferred_model` answers unless a
    question or the agent of its chat names another; `auto` leaves the choice to each question.
    With `masks_private_data`, models read placeholders in the place of e-mail addresses, phone
    numbers, IBANs, card numbers, national ids, keys and passwords, where this server masks at all.
    Names of people and street addresses are not masked.
    """

    name: Annotated[str | None, Field(max_length=200)] = None
    time_zone: str | None = None
    language: Annotated[str | None, Field(pattern=LANGUAGE_PATTERN)] = None
    retention_days: Annotated[int | None, Field(ge=0, le=3_650)] = None
    is_place_shared: bool | None = None
    keeps_audio: bool | None = None
    own_names: Annotated[list[OwnName] | None, Field(max_length=MAX_OWN_NAMES)] = None
    interests: Annotated[list[Interest] | None, Field(max_length=MAX_INTERESTS)] = None
    learning_style: LearningStyle | None = None
    summarises_results: bool | None = None
    recalls_memories: bool | None = None
    volunteers_memories: bool | None = None
    recalls_chats: bool | None = None
    preferred_model: PreferredModel | None = None
    masks_private_data: bool | None = None


class ProfileOut(Wire):
    """The profile. Tools of apps are told where the owner is if `is_place_shared`.

    With `keeps_audio`, the sound of recordings is kept; else it is deleted once it is text.

    Released apps also read how data is protected: in one way, never moved.
    """

    name: str
    time_zone: str
    language: str | None
    retention_days: int
    is_place_shared: bool
    keeps_audio: bool
    own_names: list[str]
    interests: list[str]
    learning_style: str
    summarises_results: bool
    recalls_memories: bool
    volunteers_memories: bool
    recalls_chats: bool
    preferred_model: PreferredModel
    masks_private_data: bool
    data_protection_level: Literal["standard"] = "standard"
    migration_status: None = None


class FcmTokenIn(Wire):
    fcm_token: Annotated[str, Field(min_length=1, max_length=4_096)]
    time_zone: str


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
    Lucide library, and `language` is the one in which its owner writes (ISO 639-1).
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
    )


class TurnEndedIn(Wire):
    """The event `turn.ended`."""

    uid: str
    session_id: str
    run_id: str
