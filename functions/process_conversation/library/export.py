"""Export of an account: a zip of JSON, written while it is sent."""

import io
import json
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.library.conversation_schemas import ConversationOut
from shared.data.codec import load_all
from shared.data.conversations import IncompleteTranscript
from shared.domain.conversation import Conversation
from shared.domain.documents import Document
from shared.domain.ids import UserId

EXPORTED_COLLECTIONS = (
    "memories",
    "action_items",
    "people",
    "chat_sessions",
    "messages",
    "inbox",
    "installed_apps",
    "connections",
)
"""What is exported besides the profile and the conversations; the rest is internal bookkeeping."""


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


async def export(deps: LibraryDeps, uid: UserId) -> AsyncIterator[bytes]:
    """Yield the zip in chunks: one importable file per conversation, and one per collection."""
    buffer = _ChunkBuffer()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        profile = await deps.stores.accounts.get_profile(uid)
        archive.writestr("profile.json", _to_json(profile.fields if profile else {}))
        async for document in deps.stores.accounts.iter_documents(uid, "conversations"):
            archive.writestr(
                f"conversations/{document.id}.json", await _dump_conversation(deps, uid, document)
            )
            yield buffer.drain()
        for name in EXPORTED_COLLECTIONS:
            with archive.open(f"{name}.json", "w") as file:
                separator = b"["
                async for document in deps.stores.accounts.iter_documents(uid, name):
                    file.write(separator + _to_json({"id": document.id, **document.fields}))
                    separator = b",\n"
                    yield buffer.drain()
                file.write(b"]" if separator != b"[" else b"[]")
    yield buffer.drain()


async def _dump_conversation(deps: LibraryDeps, uid: UserId, document: Document) -> bytes:
    """Write a conversation as HTTP returns it; a malformed one as it is stored."""
    for conversation in load_all(Conversation, [document]):
        try:
            full_conversation = await deps.stores.conversations.load_transcript(uid, conversation)
        except IncompleteTranscript:
            break
        return ConversationOut.of(full_conversation).model_dump_json(indent=2).encode()
    return _to_json(document.fields)


def _to_json(fields: Mapping[str, Any]) -> bytes:
    return json.dumps({**fields}, ensure_ascii=False, default=_to_text).encode()


def _to_text(value: object) -> str:
    """Write what JSON lacks: times, and what else a client stored (bytes, places, references)."""
    return value.isoformat() if isinstance(value, datetime) else repr(value)
