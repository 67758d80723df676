"""Bodies of sealed chats: ciphertexts, pages of a sync, and messages that are sent again in clear."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, BeforeValidator, Field, field_validator

from functions.chat.api.schemas import SendMessageIn
from functions.chat.sealed.sync import Phase, SyncedChat, SyncPage
from functions.chat.turn.resent_embeds import clean_content
from shared.data.sealed_chats import NewCiphertext
from shared.domain.chat import Message
from shared.domain.embed import (
    MAX_CONTENT_CHARS,
    Embed,
    EmbedRef,
    EmbedType,
    build_preview,
    build_ref,
    compute_content_hash,
)
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import EmbedId, MessageId, RunId, SessionId
from shared.domain.provenance import LIBRARY, Source
from shared.domain.run import QUESTION_SUFFIX, build_question_id
from shared.domain.sealed_chat import SealedChat, SealedMessage
from shared.domain.steps import MAX_ARGUMENTS_CHARS, CallStep
from shared.domain.storage_mode import belongs_to
from shared.edge.schemas import ID_PATTERN, MAX_CURSOR_CHARS, Wire

FORMAT = 1
"""The first byte of every ciphertext."""
MIN_BYTES = 1 + 12 + 16
"""The format, a nonce and the tag of an empty text."""
MAX_CHAT_BYTES = 65_536
MAX_MESSAGE_BYTES = 262_144
MAX_STORED_AT_ONCE = 50
MAX_BYTES_AT_ONCE = 4_194_304
"""Of all ciphertexts that are stored together."""
MAX_CLOCK_DIFFERENCE = timedelta(minutes=1)
MAX_HISTORY_MESSAGES = 400
MAX_HISTORY_EMBEDS = 60
MAX_CALLS = 20
MAX_TEXT_CHARS = 100_000
MAX_HISTORY_CHARS = 1_500_000
"""Of all messages together: they are cached in one write."""
MAX_EMBED_CHARS = 1_500_000
"""Of all embeds together."""


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
        raise ValueError(f"A ciphertext here has at most {max_bytes:,} bytes.")
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
                f"These ciphertexts have more than {MAX_BYTES_AT_ONCE:,} bytes in all: store them in "
                "several requests."
            )
        return size_bytes

    def to_messages(self, chat_id: str) -> list[SealedMessage]:
        """Raises Invalid for ids of another chat, and for one that comes twice."""
        ids = [message.id for message in self.messages]
        require_own_ids(chat_id, ids)
        return [message.to_message() for message in self.messages]


def require_own_ids(chat_id: str, ids: Sequence[str]) -> None:
    """Raises Invalid."""
    foreign = [name for name in ids if not belongs_to(chat_id, name)]
    if foreign:
        raise Invalid(f"{foreign[0]!r} is no id of this chat: those begin with '{chat_id}-'.")
    if len(set(ids)) < len(ids):
        raise Invalid("An id comes twice; each message is named once.")


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


class SourceIn(Wire):
    """Where an embed comes from, as it was sent with it."""

    kind: Literal["library", "app", "service"]
    id: Annotated[str, Field(max_length=64)] = ""
    name: Annotated[str, Field(max_length=200)] = ""


CallName = Annotated[str, Field(min_length=1, max_length=200)]
EmbedName = Annotated[str, Field(pattern=ID_PATTERN)]


class ResentEmbedIn(Wire):
    """An embed in clear, of the call `call_id` of an answer; one of a version that is cached is skipped."""

    id: EmbedName
    message_id: EmbedName
    call_id: CallName
    version: Version
    type: EmbedType
    content: Annotated[str, Field(max_length=MAX_CONTENT_CHARS)]
    source: SourceIn
    embed_ids: Annotated[list[EmbedName] | None, Field(max_length=200)] = None
    parent_id: EmbedName | None = None

    def to_embed(self, session_id: SessionId, now: datetime) -> Embed:
        """Raises Invalid for content that is no JSON."""
        content = clean_content(self.content)
        return Embed(
            id=EmbedId(self.id),
            type=self.type,
            content=content,
            preview=build_preview(content),
            content_hash=compute_content_hash(content),
            length=len(content),
            session_ids=(session_id,),
            message_id=MessageId(self.message_id),
            source=Source(kind=self.source.kind, id=self.source.id, name=self.source.name),
            created_at=now,
            version=self.version,
            embed_ids=None if self.embed_ids is None else tuple(map(EmbedId, self.embed_ids)),
            parent_id=EmbedId(self.parent_id) if self.parent_id else None,
        )


class ResentCallIn(Wire):
    """A tool call of an answer; `arguments` is JSON text, and `cycle` counts the model calls, from 1."""

    call_id: CallName
    tool: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: Annotated[str, Field(max_length=MAX_ARGUMENTS_CHARS)] = "{}"
    cycle: Annotated[int, Field(ge=1, le=100)] = 1

    def to_step(self) -> CallStep:
        return CallStep(
            call_id=self.call_id,
            tool=self.tool,
            arguments=self.arguments,
            cycle=self.cycle,
            state="done",
            source=LIBRARY,
        )


class ResentMessageIn(Wire):
    """A message in clear, exactly as the chat has it, with the calls whose embeds are sent."""

    id: Annotated[str, Field(pattern=ID_PATTERN)]
    sender: Literal["human", "ai"]
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
    created_at: AwareDatetime
    calls: Annotated[tuple[ResentCallIn, ...], Field(max_length=MAX_CALLS)] = ()

    def count_chars(self) -> int:
        return len(self.text) + sum(len(call.arguments) for call in self.calls)

    def to_message(self, session_id: SessionId, refs: Sequence[EmbedRef]) -> Message:
        """Return the message; the words of an answer count as read, whatever it read."""
        read = {"sources": [asdict(LIBRARY)]} if self.sender == "ai" else {}
        return Message(
            id=MessageId(self.id),
            session_id=session_id,
            text=self.text,
            sender=self.sender,
            created_at=self.created_at,
            steps=tuple(call.to_step() for call in self.calls),
            embeds=tuple(refs),
            metadata=read,
        )


class ResendIn(Wire):
    """What a waiting question needs: the question again, and the messages before it, as the chat shows them.

    The newest MAX_HISTORY_MESSAGES are enough. `embeds` are those that the messages refer to.
    """

    question: SendMessageIn
    messages: Annotated[list[ResentMessageIn], Field(max_length=MAX_HISTORY_MESSAGES)]
    embeds: Annotated[tuple[ResentEmbedIn, ...], Field(max_length=MAX_HISTORY_EMBEDS)] = ()

    def to_messages(self, session_id: SessionId, run_id: RunId, now: datetime) -> list[Message]:
        """Return the messages, oldest first. Raises Invalid for what this chat cannot hold."""
        require_own_ids(session_id, [message.id for message in self.messages])
        if sum(message.count_chars() for message in self.messages) > MAX_HISTORY_CHARS:
            raise Invalid(
                f"The messages have more than {MAX_HISTORY_CHARS:,} characters in all: leave out "
                "the oldest."
            )
        for message in self.messages:
            _require_plausible(message, run_id, now)
        messages = [
            message.to_message(session_id, self._list_refs(session_id, message.id, now))
            for message in self.messages
        ]
        return sorted(messages, key=lambda message: message.position)

    def _list_refs(self, session_id: SessionId, message_id: str, now: datetime) -> list[EmbedRef]:
        """Return the references of a message to the embeds that its calls returned."""
        return [
            build_ref(embed.to_embed(session_id, now), embed.call_id)
            for embed in self.embeds
            if embed.message_id == message_id and embed.parent_id is None
        ]

    def count_chars(self) -> int:
        """Return the size of what is cached."""
        texts = sum(message.count_chars() for message in self.messages)
        return texts + sum(len(embed.content) for embed in self.embeds)

    def to_embeds(self, session_id: SessionId, now: datetime) -> list[Embed]:
        """Raises Invalid for ids of another chat, and for more than is read of them."""
        require_own_ids(session_id, [embed.id for embed in self.embeds])
        if sum(len(embed.content) for embed in self.embeds) > MAX_EMBED_CHARS:
            raise Invalid(
                f"The embeds have more than {MAX_EMBED_CHARS:,} characters in all: leave out the oldest."
            )
        return [embed.to_embed(session_id, now) for embed in self.embeds]


def _require_plausible(message: ResentMessageIn, run_id: RunId, now: datetime) -> None:
    """Raises Invalid where an id, a sender or a time is not what this server gave the message."""
    if message.id in (run_id, build_question_id(run_id)):
        raise Invalid("The waiting question stands in `question`, not among the messages.")
    if message.id.endswith(QUESTION_SUFFIX) is not (message.sender == "human"):
        raise Invalid(f"The sender of {message.id!r} is another one: only questions end with -q.")
    if message.created_at > now + MAX_CLOCK_DIFFERENCE:
        raise Invalid(f"{message.id!r} is from the future.")
