"""Bodies of sealed chats that a client sends again in clear: messages, calls and embeds, for a waiting question."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from functions.chat.api.question_schemas import SendMessageIn
from functions.chat.turn.resent_embeds import clean_content
from functions.chat.turn.result_embeds import MAX_CHILDREN
from shared.domain.apps.tool_data import EmbedType
from shared.domain.chats.chat import Message
from shared.domain.chats.embed import (
    MAX_CONTENT_CHARS,
    Embed,
    EmbedRef,
    build_preview,
    build_ref,
    compute_content_hash,
)
from shared.domain.chats.run import QUESTION_SUFFIX, build_question_id
from shared.domain.chats.sealed_chat import require_own_ids
from shared.domain.chats.steps import MAX_ARGUMENTS_CHARS, CallStep
from shared.domain.errors import Invalid
from shared.domain.ids import EmbedId, MessageId, RunId, SessionId
from shared.domain.provenance import LIBRARY, Source
from shared.edge.declare.schemas import ID_PATTERN, Wire

MAX_CLOCK_DIFFERENCE = timedelta(minutes=1)
MAX_HISTORY_MESSAGES = 400
MAX_HISTORY_EMBEDS = 60
MAX_CALLS = 20
MAX_TEXT_CHARS = 100_000
MAX_HISTORY_CHARS = 1_500_000
"""Of all messages together: they are cached in one write."""
MAX_EMBED_CHARS = 1_500_000
"""Of all embeds together."""
Version = Annotated[int, Field(ge=1, le=1_000_000)]


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
    embed_ids: Annotated[list[EmbedName] | None, Field(max_length=MAX_CHILDREN)] = None
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
    tool: Annotated[str, Field(pattern=ID_PATTERN)]
    arguments: Annotated[str, Field(max_length=MAX_ARGUMENTS_CHARS)] = "{}"
    cycle: Annotated[int, Field(ge=1, le=100)] = 1

    def count_chars(self) -> int:
        return len(self.call_id) + len(self.tool) + len(self.arguments)

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
        return len(self.text) + sum(call.count_chars() for call in self.calls)

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
        for embed in self.embeds:
            require_own_ids(session_id, embed.embed_ids or ())
            require_own_ids(session_id, [embed.parent_id] if embed.parent_id else ())
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
