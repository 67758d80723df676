"""Bodies of sealed chats: ciphertexts as clients store them, and pages of a sync."""

import base64
import binascii
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BeforeValidator, Field, field_validator

from functions.chat.sealed.sync import Phase, SyncedChat, SyncPage
from shared.data.chats.sealed_chats import NewCiphertext
from shared.domain.amounts import describe_bytes
from shared.domain.chats.sealed_chat import SealedChat, SealedMessage, require_own_ids
from shared.domain.errors import TooLarge
from shared.domain.ids import MessageId
from shared.edge.declare.common_schemas import MAX_CURSOR_CHARS
from shared.edge.declare.schemas import ID_PATTERN, Wire

FORMAT = 1
"""The first byte of every ciphertext."""
MIN_BYTES = 1 + 12 + 16
"""The format, a nonce and the tag of an empty text."""
MAX_CHAT_BYTES = 65_536
MAX_MESSAGE_BYTES = 262_144
MAX_STORED_AT_ONCE = 50
MAX_BYTES_AT_ONCE = 4_194_304
"""Of all ciphertexts that are stored together."""


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("This is no base64.") from error


def decode_ciphertext(text: str, max_bytes: int) -> bytes:
    """Raises ValueError for what no client of a sealed chat writes."""
    ciphertext = _decode(text)
    if len(ciphertext) < MIN_BYTES or ciphertext[0] != FORMAT:
        raise ValueError(f"This is no ciphertext of format {FORMAT}.")
    if len(ciphertext) > max_bytes:
        raise ValueError(f"A ciphertext here has at most {describe_bytes(max_bytes)}.")
    return ciphertext


Version = Annotated[int, Field(ge=1, le=1_000_000)]


class CiphertextIn(Wire):
    """The next version of what clients know of a chat, in base64."""

    version: Version
    ciphertext: str

    @field_validator("ciphertext")
    @classmethod
    def _check(cls, text: str) -> str:
        decode_ciphertext(text, MAX_CHAT_BYTES)
        return text

    def to_new(self) -> NewCiphertext:
        return NewCiphertext(version=self.version, ciphertext=_decode(self.ciphertext))


class SealedMessageIn(Wire):
    """The next version of a message in base64, null where it was deleted; `created_at` is its time."""

    id: Annotated[str, Field(pattern=ID_PATTERN)]
    created_at: AwareDatetime
    version: Version
    ciphertext: str | None

    @field_validator("ciphertext")
    @classmethod
    def _check(cls, text: str | None) -> str | None:
        if text is not None:
            decode_ciphertext(text, MAX_MESSAGE_BYTES)
        return text

    def to_message(self) -> SealedMessage:
        return SealedMessage(
            id=MessageId(self.id),
            created_at=self.created_at,
            version=self.version,
            ciphertext=None if self.ciphertext is None else _decode(self.ciphertext),
        )


class CiphertextsIn(Wire):
    """Next versions that are stored together, or none of them; at most 4 MiB in all."""

    chat: CiphertextIn | None = None
    messages: Annotated[tuple[SealedMessageIn, ...], Field(max_length=MAX_STORED_AT_ONCE)] = ()

    def count_bytes(self) -> int:
        """Return the size of all ciphertexts. Raises TooLarge."""
        texts = [message.ciphertext or "" for message in self.messages]
        texts += [self.chat.ciphertext] if self.chat else []
        size_bytes = sum(len(text) // 4 * 3 for text in texts)
        if size_bytes > MAX_BYTES_AT_ONCE:
            raise TooLarge(
                f"These ciphertexts have more than {describe_bytes(MAX_BYTES_AT_ONCE)} in all: store them in "
                "several requests."
            )
        return size_bytes

    def to_messages(self, chat_id: str) -> list[SealedMessage]:
        """Raises Invalid for ids of another chat, and for one that comes twice."""
        ids = [message.id for message in self.messages]
        require_own_ids(chat_id, ids)
        return [message.to_message() for message in self.messages]


class SealedMessageOut(Wire):
    """A message as it was stored, byte for byte."""

    id: str
    created_at: datetime
    version: int
    ciphertext: str | None


class SealedChatOut(Wire):
    """A sealed chat as it was stored; of a deleted one only its id is left."""

    id: str
    created_at: datetime
    changed_at: datetime
    version: int
    ciphertext: str | None
    is_deleted: bool
    message_count: int


class CiphertextsOut(Wire):
    """A chat with a page of its messages, oldest first; `next_cursor` leads on."""

    chat: SealedChatOut
    messages: list[SealedMessageOut]
    next_cursor: str | None


class CiphertextsQuery(Wire):
    cursor: Annotated[str | None, Field(max_length=MAX_CURSOR_CHARS)] = None
    limit: Annotated[int, Field(ge=1, le=40)] = 40


def to_chat_out(chat: SealedChat) -> SealedChatOut:
    return SealedChatOut(**{**asdict(chat), "ciphertext": _encode(chat.ciphertext)})


def to_message_out(message: SealedMessage) -> SealedMessageOut:
    return SealedMessageOut(**{**asdict(message), "ciphertext": _encode(message.ciphertext)})


def _encode(ciphertext: bytes | None) -> str | None:
    return None if ciphertext is None else base64.b64encode(ciphertext).decode()


def _to_number(text: object) -> object:
    return int(text) if isinstance(text, str) and text in ("1", "2", "3") else text


class SyncQuery(Wire):
    """1: the chat that was changed last. 2: the recent chats. 3: every chat, in the order of change."""

    phase: Annotated[Phase, BeforeValidator(_to_number)]
    cursor: Annotated[str | None, Field(max_length=MAX_CURSOR_CHARS)] = None


class SyncedChatOut(Wire):
    chat: SealedChatOut
    messages: list[SealedMessageOut]


class SyncOut(Wire):
    """A page of a phase. From the last `cursor` of the third phase a later sync goes on."""

    chats: list[SyncedChatOut]
    cursor: str | None
    is_complete: bool


def to_sync_out(page: SyncPage) -> SyncOut:
    return SyncOut(
        chats=[_to_synced_out(synced) for synced in page.chats],
        cursor=page.cursor,
        is_complete=page.is_complete,
    )


def _to_synced_out(synced: SyncedChat) -> SyncedChatOut:
    messages = [to_message_out(message) for message in synced.messages]
    return SyncedChatOut(chat=to_chat_out(synced.chat), messages=messages)


class SyncAckIn(Wire):
    """The phase that a device has finished."""

    phase: Literal[3]
