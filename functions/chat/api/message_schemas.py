"""Messages of a chat, with every field that the app reads."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from shared.data.chats.answer_changes import METADATA_FIELD, load_changes
from shared.domain.chats.branches import find_answering_run, list_versions
from shared.domain.chats.chart import ChartType
from shared.domain.chats.chat import Card, FileCard, FileCitation, Message, Session
from shared.domain.chats.library_change import LibraryChange
from shared.domain.ids import MessageId
from shared.edge.declare.schemas import Wire

MAX_CARDS = 5


class CardStructuredOut(Wire):
    title: str
    emoji: str


class CardOut(Wire):
    """A cited conversation; it was changed since where its own `words_hash` is another, unless this one is null."""

    id: str
    created_at: datetime
    structured: CardStructuredOut
    words_hash: str | None


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


def to_message_out(message: Message) -> MessageOut:
    """Convert a message to the fields that released apps read."""
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
        memories=list(map(_to_card_out, message.cards[:MAX_CARDS])),
        reported=message.reported,
        report_reason=message.report_reason,
        files_id=[file.id for file in message.files],
        files=list(map(_to_file_out, message.files)),
        chat_session_id=message.session_id,
        rating=message.rating,
        chart_data=ChartOut.model_validate(message.chart) if message.chart else None,
        ask_for_nps=False,
        metadata=_build_metadata(message),
    )


def _to_card_out(card: Card) -> CardOut:
    structured = CardStructuredOut(title=card.title, emoji=card.emoji)
    return CardOut(
        id=card.id,
        created_at=card.created_at,
        structured=structured,
        words_hash=card.words_hash,
    )


def _to_file_out(file: FileCard) -> MessageFileOut:
    return MessageFileOut(
        id=file.id,
        openai_file_id=file.id,
        name=file.name,
        mime_type=file.media_type,
        created_at=file.created_at,
        thumbnail=file.thumbnail,
    )


def _build_metadata(message: Message) -> dict[str, Any]:
    metadata = dict(message.metadata)
    if message.marked_text is not None and (message.cards or message.file_citations):
        metadata["marked_text"] = message.marked_text
    if message.file_citations:
        metadata["file_citations"] = list(map(_to_file_citation, message.file_citations))
    if message.voices:
        metadata |= {"voices": list(message.voices), "voice": message.voice}
    if changes := load_changes(message):
        metadata[METADATA_FIELD] = [to_library_change_out(c).model_dump() for c in changes]
    return metadata


def _to_file_citation(citation: FileCitation) -> dict[str, Any]:
    file = citation.file
    return {"number": citation.number, "id": file.id, "name": file.name, "page": file.page}


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
