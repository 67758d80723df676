"""Everything a user has, as a zip of JSON that is written while it is sent."""

import io
import json
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from functions.process_conversation.wire import ConversationOut
from functions.process_conversation.wiring import LibraryDeps
from shared.data.codec import load_all
from shared.data.conversations import Incomplete
from shared.domain.conversation import Conversation
from shared.domain.documents import Document
from shared.domain.ids import UserId

LISTS = (
    "memories",
    "action_items",
    "people",
    "chat_sessions",
    "messages",
    "inbox",
    "installed_apps",
    "connections",
)
"""What is handed over beside the profile and the conversations; the rest is our own bookkeeping."""


class _Sent(io.RawIOBase):
    """Where the zip is written to; holds only what was not taken yet."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


async def export(deps: LibraryDeps, uid: UserId) -> AsyncIterator[bytes]:
    """Yield the zip piece by piece: a file a conversation, which can be imported again, and lists."""
    sent = _Sent()
    with ZipFile(sent, "w", ZIP_DEFLATED) as archive:
        profile = await deps.accounts.profile(uid)
        archive.writestr("profile.json", _json(profile.fields if profile else {}))
        async for document in deps.accounts.all(uid, "conversations"):
            archive.writestr(f"conversations/{document.id}.json", await _talk(deps, uid, document))
            yield sent.take()
        for name in LISTS:
            with archive.open(f"{name}.json", "w") as file:
                separator = b"["
                async for document in deps.accounts.all(uid, name):
                    file.write(separator + _json({"id": document.id, **document.fields}))
                    separator = b",\n"
                    yield sent.take()
                file.write(b"]" if separator != b"[" else b"[]")
    yield sent.take()


async def _talk(deps: LibraryDeps, uid: UserId, document: Document) -> bytes:
    """Write a conversation as it is read over HTTP; what cannot be read, as it is stored."""
    for stored in load_all(Conversation, [document]):
        try:
            whole = await deps.conversations.with_transcript(uid, stored)
        except Incomplete:
            break
        return ConversationOut.of(whole).model_dump_json(indent=2).encode()
    return _json(document.fields)


def _json(fields: Mapping[str, Any]) -> bytes:
    return json.dumps({**fields}, ensure_ascii=False, default=_text).encode()


def _text(value: object) -> str:
    """Write what JSON lacks: times, and whatever else a client stored (bytes, places, references)."""
    return value.isoformat() if isinstance(value, datetime) else repr(value)
