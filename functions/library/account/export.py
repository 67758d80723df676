"""Export of an account, written while it is sent: one JSON object, or a zip of JSON files.

Also called: GDPR export, data portability, backup, takeout.
"""

import base64
import io
import json
import mimetypes
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from shared.data.account.speech_profiles import speech_profile_path
from shared.data.conversations.conversations import IncompleteTranscript
from shared.data.store.codec import load_all, type_adapter
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.recording import Recording
from shared.domain.files.file import File
from shared.domain.files.upload import BlobPart
from shared.domain.ids import UserId
from shared.domain.store.documents import Document
from shared.library.conversation_schemas import ConversationOut
from shared.library.deps import LibraryDeps
from shared.library.exported_record import (
    NAMES_IN_JSON,
    ExportedConversationOut,
    SummaryRating,
    build_record,
)
from shared.library.live_conversations import iterate_live
from shared.library.uploads import iterate_content

EXPORTED_COLLECTIONS = (
    "memories",
    "action_items",
    "people",
    "folders",
    "task_integrations",
    "goals",
    "daily_summaries",
    "chat_sessions",
    "messages",
    "alternatives",
    "sealed_chats",
    "ciphertexts",
    "embeds",
    "agents",
    "arcs",
    "projects",
    "files",
    "inbox",
    "installed_apps",
    "app_reviews",
    "connections",
    "connected_programs",
    "developer_webhooks",
    "live_listeners",
    "health",
)
"""What is exported besides the profile and the conversations; the rest is internal bookkeeping."""
LEFT_FIELDS = frozenset(
    {
        "signing_secret",
        "share_token",
        "code_hash",
        "code_challenge",
        "access_hash",
        "refresh_hash",
        "is_imported",
        "is_foreign",
        "thumbnail_key",
        "document_key",
        "picture",
        "parts",
    }
)
"""Secrets, marks that whoever imports it sets anyway, and where content lies in our store."""


async def export_json(deps: LibraryDeps, uid: UserId) -> AsyncIterator[bytes]:
    """Yield one JSON object in chunks: the profile, and a list for each kind of thing."""
    yield b'{"profile": ' + _to_json(await _load_profile(deps, uid)) + b',\n"conversations": '
    conversations = (content async for _, content in _iterate_conversations(deps, uid))
    async for chunk in _join_array(conversations):
        yield chunk
    for name in EXPORTED_COLLECTIONS:
        yield f',\n"{NAMES_IN_JSON.get(name, name)}": '.encode()
        async for chunk in _join_array(_iterate_collection(deps, uid, name)):
            yield chunk
    yield b"}\n"


async def export_zip(deps: LibraryDeps, uid: UserId) -> AsyncIterator[bytes]:
    """Yield a zip in chunks: one importable file per conversation, and one per collection."""
    buffer = _ChunkBuffer()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("profile.json", _to_json(await _load_profile(deps, uid)))
        async for name, content in _iterate_conversations(deps, uid):
            archive.writestr(f"conversations/{name}.json", content)
            yield buffer.drain()
        for name in EXPORTED_COLLECTIONS:
            with archive.open(f"{name}.json", "w") as file:
                async for chunk in _join_array(_iterate_collection(deps, uid, name)):
                    file.write(chunk)
                    yield buffer.drain()
        async for name, parts in _iterate_contents(deps, uid):
            with archive.open(name, "w") as file:
                async for part in iterate_content(deps.blobs, parts):
                    file.write(part)
                    yield buffer.drain()
    yield buffer.drain()


async def _iterate_contents(
    deps: LibraryDeps, uid: UserId
) -> AsyncIterator[tuple[str, Sequence[BlobPart]]]:
    """Yield kept sound and files: the name in the zip, and the content."""
    if profile := await deps.stores.speech_profiles.find(uid):
        part = BlobPart(path=speech_profile_path(uid), size=profile.size)
        yield "audio/speech-profile.wav", [part]
    async for document in deps.stores.accounts.iter_documents(uid, "recordings"):
        for recording in load_all(Recording, [document]):
            if recording.parts:
                yield _name_sound(recording), recording.parts
    async for document in deps.stores.accounts.iter_documents(uid, "files"):
        for file in load_all(File, [document]):
            yield f"files/{file.id}/{file.name}", file.parts


def _name_sound(recording: Recording) -> str:
    """Name sound by its conversation; what was merged has a folder there."""
    suffix = mimetypes.guess_extension(recording.media_type) or ""
    is_moved = recording.holder_id != recording.id
    name = f"{recording.holder_id}/{recording.id}" if is_moved else recording.id
    return f"audio/{name}{suffix}"


class _ChunkBuffer(io.RawIOBase):
    """The file that the zip is written to; holds only what is not sent yet."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._pending += data
        return len(data)

    def drain(self) -> bytes:
        chunk = bytes(self._pending)
        self._pending.clear()
        return chunk


async def _join_array(items: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Join JSON values to a JSON array."""
    separator = b"["
    async for item in items:
        yield separator + item
        separator = b",\n"
    yield b"]" if separator != b"[" else b"[]"


async def _iterate_conversations(
    deps: LibraryDeps, uid: UserId
) -> AsyncIterator[tuple[str, bytes]]:
    """Yield ids and contents: first what is recorded live, so that what is handed in meanwhile is not missed."""
    names = set[str]()
    async for live in iterate_live(deps.stores, uid):
        names.add(live.id)
        yield live.id, await _dump_whole(deps, uid, live)
    async for document in _iterate_stored(deps, uid):
        if document.id not in names:
            yield document.id, await _dump_conversation(deps, uid, document)


async def _iterate_stored(deps: LibraryDeps, uid: UserId) -> AsyncIterator[Document]:
    """Yield the documents of conversations that were not merged into another."""
    async for document in deps.stores.accounts.iter_documents(uid, "conversations"):
        if not document.fields.get("merged_into"):
            yield document


async def _iterate_collection(deps: LibraryDeps, uid: UserId, name: str) -> AsyncIterator[bytes]:
    if name == "alternatives":
        async for record in _iterate_alternatives(deps, uid):
            yield record
        return
    if name == "ciphertexts":
        async for record in _iterate_ciphertexts(deps, uid):
            yield record
        return
    async for document in deps.stores.accounts.iter_documents(uid, name):
        yield _dump_document(document.id, document)


async def _iterate_alternatives(deps: LibraryDeps, uid: UserId) -> AsyncIterator[bytes]:
    """Yield the answers of other models, each under the id of the answer beside which it was given."""
    accounts = deps.stores.accounts
    async for message in accounts.iter_documents(uid, "messages"):
        if message.fields.get("voices"):
            async for document in accounts.iter_documents(
                uid, f"messages/{message.id}/alternatives"
            ):
                yield _dump_document(message.id, document)


async def _iterate_ciphertexts(deps: LibraryDeps, uid: UserId) -> AsyncIterator[bytes]:
    """Yield the messages of sealed chats as their clients encrypted them; an id begins with its chat's."""
    accounts = deps.stores.accounts
    async for chat in accounts.iter_documents(uid, "sealed_chats"):
        async for document in accounts.iter_documents(uid, f"sealed_chats/{chat.id}/ciphertexts"):
            yield _dump_document(document.id, document)


def _dump_document(name: str, document: Document) -> bytes:
    fields = {field: v for field, v in document.fields.items() if field not in LEFT_FIELDS}
    return _to_json({"id": name, **fields})


async def _load_profile(deps: LibraryDeps, uid: UserId) -> Mapping[str, Any]:
    profile = await deps.stores.accounts.get_profile(uid)
    return profile.fields if profile else {}


async def _dump_conversation(deps: LibraryDeps, uid: UserId, document: Document) -> bytes:
    """Write a conversation as HTTP returns it; a malformed one as it is stored."""
    for conversation in load_all(Conversation, [document]):
        [with_photos] = await deps.stores.conversations.load_photos(uid, [conversation])
        try:
            full_conversation = await deps.stores.conversations.load_transcript(uid, with_photos)
        except IncompleteTranscript:
            break
        return await _dump_whole(deps, uid, full_conversation)
    return _to_json({"id": document.id, **document.fields})


async def _dump_whole(deps: LibraryDeps, uid: UserId, conversation: Conversation) -> bytes:
    """Write a conversation with the record by which an import restores it."""
    tombstones = await deps.stores.merges.read_tombstones(uid, conversation.id)
    forgotten = {tombstone.id: tombstone.fields["of"] for tombstone in tombstones}
    stored_rating = await deps.stores.summary_ratings.find(uid, conversation.id)
    rating = (
        type_adapter(SummaryRating).validate_python({**stored_rating}) if stored_rating else None
    )
    record = build_record(conversation, forgotten, rating)
    shown = dict(ConversationOut.of(conversation))
    exported = ExportedConversationOut.model_construct(**shown, record=record)
    return exported.model_dump_json(indent=2).encode()


def _to_json(fields: Mapping[str, Any]) -> bytes:
    """Write JSON; numbers that it lacks, which only a client could have stored, as null."""
    try:
        text = json.dumps({**fields}, ensure_ascii=False, default=_to_text, allow_nan=False)
    except ValueError:
        lenient = json.dumps({**fields}, default=_to_text)
        text = json.dumps(json.loads(lenient, parse_constant=lambda _: None), ensure_ascii=False)
    return text.encode()


def _to_text(value: object) -> str:
    """Write what JSON lacks: times, bytes, and what else a client stored (places, references)."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else repr(value)
