"""Schemas of a UI message stream: every chunk that an answer may send, for the API document.

The chunks of the AI SDK have the SDK's names; parts whose type begins with `data-` are ours. No entry
point loads this module.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypeAliasType, TypedDict

from functions.chat.api.message_schemas import ChartOut, MessageOut
from shared.domain.apps.tool_data import EmbedType
from shared.domain.chats.confirmation import ConfirmationReason, Decision
from shared.domain.chats.run import Outcome, StageName
from shared.domain.history_reason import HistoryReason

_CONFIG = ConfigDict(extra="forbid")


class PlacementOut(TypedDict):
    """Where a part belongs: its block of the answer, its tab among parallel tools, its voice; from 0."""

    turn_index: int
    tab_index: int
    voice: int


class OwnMetadata(TypedDict):
    """Fields of ours that clients keep with a part."""

    placement: PlacementOut


class ConversationSource(OwnMetadata):
    """What stands behind a citation of a conversation."""

    number: int
    created_at: str
    emoji: str


class FileSource(OwnMetadata):
    """What stands behind a citation of a file."""

    kind: Literal["file"]
    number: int
    page: int | None


class PartMetadata(TypedDict):
    """Metadata of a part, under our name."""

    keepsake: OwnMetadata


class SourceMetadata(TypedDict):
    """Metadata of a citation, under our name."""

    keepsake: ConversationSource | FileSource


@with_config(_CONFIG)
class StartChunk(TypedDict):
    """The answer begins; `messageId` is the run, and the id of the answer."""

    type: Literal["start"]
    messageId: str


@with_config(_CONFIG)
class StepChunk(TypedDict):
    """A model call with its tools begins or ends."""

    type: Literal["start-step", "finish-step"]


@with_config(_CONFIG)
class PartStart(TypedDict):
    """A part of text or reasoning begins."""

    type: Literal["text-start", "reasoning-start"]
    id: str
    providerMetadata: PartMetadata


@with_config(_CONFIG)
class PartDelta(TypedDict):
    """The next piece of a part."""

    type: Literal["text-delta", "reasoning-delta"]
    id: str
    delta: str


@with_config(_CONFIG)
class PartEnd(TypedDict):
    """A part is complete."""

    type: Literal["text-end", "reasoning-end"]
    id: str


@with_config(_CONFIG)
class ToolCalled(TypedDict):
    """A tool is called; `input` is text where the model wrote no JSON."""

    type: Literal["tool-input-available"]
    toolCallId: str
    toolName: str
    input: Any
    dynamic: Literal[True]
    providerExecuted: Literal[True]
    providerMetadata: PartMetadata


@with_config(_CONFIG)
class ToolAnswered(TypedDict):
    """A tool ended; `output` is cut to what people are shown."""

    type: Literal["tool-output-available"]
    toolCallId: str
    output: str
    dynamic: Literal[True]
    providerExecuted: Literal[True]


@with_config(_CONFIG)
class ToolFailed(TypedDict):
    """A tool failed, or the answer ended before it."""

    type: Literal["tool-output-error"]
    toolCallId: str
    errorText: str
    dynamic: Literal[True]
    providerExecuted: Literal[True]


@with_config(_CONFIG)
class SourceCited(TypedDict):
    """The next piece cites a conversation or a file for the first time."""

    type: Literal["source-document"]
    sourceId: str
    mediaType: str
    title: str
    filename: NotRequired[str]
    providerMetadata: SourceMetadata


class StageData(TypedDict):
    """A stage of the turn."""

    name: StageName


@with_config(_CONFIG)
class StagePart(TypedDict):
    """The stage of the turn changed."""

    type: Literal["data-stage"]
    data: StageData
    transient: Literal[True]


class StatusData(TypedDict):
    """An activity, in words for people; `app_id` where an app does it."""

    text: str
    app_id: str | None


@with_config(_CONFIG)
class StatusPart(TypedDict):
    """What is being done now."""

    type: Literal["data-status"]
    data: StatusData
    transient: Literal[True]


class AnswerWithdrawnData(TypedDict):
    """How much is void: `chars` Unicode code points, at least 1."""

    chars: int


@with_config(_CONFIG)
class AnswerWithdrawnPart(TypedDict):
    """The end of the answer so far was a thought of the model.

    Take the last `chars` from its text, over all text parts. A source that only they cite is void,
    and its number may come again with another. The thought comes as reasoning.
    """

    type: Literal["data-answer-withdrawn"]
    data: AnswerWithdrawnData


class ConfirmationSource(TypedDict):
    """Who gets what the owner confirms."""

    kind: Literal["library", "app", "service"]
    id: str
    name: str


class ConfirmationData(TypedDict):
    """A call that waits for the owner, or their decision.

    They decide by POST /v2/messages/{id}/confirmations/{confirmation}.
    """

    id: str
    call_id: str
    tool: str
    source: ConfirmationSource
    arguments: Any
    maker: str
    question: str
    details: list[str]
    reason: ConfirmationReason
    allows_always: bool
    expires_at: str
    state: Literal["asked"] | Decision


@with_config(_CONFIG)
class ConfirmationPart(TypedDict):
    """A confirmation; sent again with the same id once it is decided."""

    type: Literal["data-confirmation"]
    id: str
    data: ConfirmationData


class ConnectData(TypedDict):
    """Where the owner connects the account that was missing."""

    url: str
    name: str | None


@with_config(_CONFIG)
class ConnectPart(TypedDict):
    """A tool needs an account; `id` is that of its call."""

    type: Literal["data-connect"]
    id: str
    data: ConnectData


class ChangeData(TypedDict):
    """A change of the library that can be undone."""

    id: str
    text: str
    state: Literal["done"]


@with_config(_CONFIG)
class ChangePart(TypedDict):
    """The answer changed the library."""

    type: Literal["data-change"]
    id: str
    data: ChangeData


@with_config(_CONFIG)
class ChartPart(TypedDict):
    """The chart of the answer; a later one takes its place."""

    type: Literal["data-chart"]
    id: Literal["chart"]
    data: ChartOut


class EmbedSource(TypedDict):
    """Who returned an embed."""

    kind: Literal["library", "app", "service"]
    id: str
    name: str


class EmbedData(TypedDict):
    """Reference to what a call returned.

    `content_ref` is where its content is; `content_hash` is SHA-256 of that content, `length` its
    characters. `embed_ids` are its children, null where it has none.
    """

    embed_id: str
    type: EmbedType
    call_id: str
    content_ref: str
    content_hash: str
    length: int
    preview: str
    version: int
    embed_ids: list[str] | None
    source: EmbedSource


@with_config(_CONFIG)
class EmbedPart(TypedDict):
    """What a tool of an app or a service returned; it is stored before the model goes on."""

    type: Literal["data-embed"]
    id: str
    data: EmbedData


class RequestedEmbeds(TypedDict):
    """Embeds of earlier answers, by their ids."""

    embed_ids: list[str]


@with_config(_CONFIG)
class RequestEmbedsPart(TypedDict):
    """Embeds that are not at the server: a client that has them sends each by PUT /v2/embeds/{id}."""

    type: Literal["data-request-embeds"]
    data: RequestedEmbeds
    transient: Literal[True]


@with_config(_CONFIG)
class MessagePart(TypedDict):
    """The answer as it is stored."""

    type: Literal["data-message"]
    id: str
    data: MessageOut


class VoicesData(TypedDict):
    """The model of each voice, in order."""

    models: list[str]


@with_config(_CONFIG)
class VoicesPart(TypedDict):
    """Several models answer at once."""

    type: Literal["data-voices"]
    data: VoicesData
    transient: Literal[True]


class HistoryRequestData(TypedDict):
    """The chat whose messages are needed, and why."""

    chat_session_id: str
    reason: HistoryReason


@with_config(_CONFIG)
class HistoryRequestPart(TypedDict):
    """The question in a sealed chat waits: POST /v2/messages/{id}/resend with the messages before it."""

    type: Literal["data-request-chat-history"]
    id: str
    data: HistoryRequestData


class FinishMetadata(TypedDict):
    """How the answer ended; `waiting`: it has not begun."""

    outcome: Outcome | Literal["waiting"]


@with_config(_CONFIG)
class FinishChunk(TypedDict):
    """The end of a complete answer."""

    type: Literal["finish"]
    messageMetadata: FinishMetadata


@with_config(_CONFIG)
class AbortChunk(TypedDict):
    """The end of an answer that its owner stopped."""

    type: Literal["abort"]
    reason: Literal["user_cancelled"]


@with_config(_CONFIG)
class ErrorChunk(TypedDict):
    """The end of an answer that failed or was interrupted."""

    type: Literal["error"]
    errorText: str


_AnswerChunk = (
    StartChunk
    | StepChunk
    | PartStart
    | PartDelta
    | PartEnd
    | ToolCalled
    | ToolAnswered
    | ToolFailed
    | SourceCited
    | StagePart
    | StatusPart
    | AnswerWithdrawnPart
    | ConfirmationPart
    | ConnectPart
    | ChangePart
    | ChartPart
    | EmbedPart
    | RequestEmbedsPart
    | FinishChunk
    | AbortChunk
    | ErrorChunk
)
VoiceChunk = TypeAliasType("VoiceChunk", Annotated[_AnswerChunk, Field(discriminator="type")])


class VoiceData(TypedDict):
    """A chunk of a voice; of the first one, 0, only its end stands here."""

    voice: int
    chunk: VoiceChunk


@with_config(_CONFIG)
class VoicePart(TypedDict):
    """A voice goes on whose chunks are not the stream."""

    type: Literal["data-voice"]
    data: VoiceData
    transient: Literal[True]


UiChunk = TypeAliasType(
    "UiChunk",
    Annotated[
        _AnswerChunk | MessagePart | VoicesPart | VoicePart | HistoryRequestPart,
        Field(discriminator="type"),
    ],
)
