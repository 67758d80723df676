"""Embed: what a tool returned, kept beside the answer that it was called for; messages refer to it.

A list is a parent with a child for each of its entries; anything else is one embed without children.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Literal

from pydantic_core import from_json

from shared.domain.apps.tool_data import EmbedType
from shared.domain.ids import EmbedId, MessageId, SessionId
from shared.domain.provenance import Source
from shared.domain.value import value

EmbedStatus = Literal["processing", "finished", "error", "cancelled"]

VersionOrder = Literal["same", "newer", "older"]

MAX_CONTENT_CHARS = 100_000
"""Of one embed: with all its bytes it fits a document."""
MAX_PREVIEW_CHARS = 200


@value
class Embed:
    """An embed. `content` is JSON text, of which `preview` is the beginning in one line.

    `content_hash` is SHA-256 of `content`, `length` its number of characters. `embed_ids` are the
    children in their order, None where it has none; a child names its parent. `session_ids` are the
    chats that refer to it: it goes with the last of them. `message_id` is the answer that it belongs to.
    `hidden_fields` are fields of the content, at any depth, that models are not given.
    """

    id: EmbedId
    type: EmbedType
    content: str
    preview: str
    content_hash: str
    length: int
    session_ids: tuple[SessionId, ...]
    message_id: MessageId
    source: Source
    created_at: datetime
    status: EmbedStatus = "finished"
    version: int = 1
    embed_ids: tuple[EmbedId, ...] | None = None
    parent_id: EmbedId | None = None
    hidden_fields: tuple[str, ...] = ()


@value
class EmbedRef:
    """The reference of an answer to an embed that the call `call_id` of a tool brought.

    It is all that a client needs to show a placeholder, and to know whether its own copy is the same.
    """

    id: EmbedId
    type: EmbedType
    call_id: str
    preview: str
    content_hash: str
    length: int
    source: Source
    version: int = 1
    embed_ids: tuple[EmbedId, ...] | None = None
    hidden_fields: tuple[str, ...] = ()


def compute_content_hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def build_preview(text: str) -> str:
    """Return the beginning of a text, in one line."""
    line = " ".join(text[: 4 * MAX_PREVIEW_CHARS].split())
    return line if len(line) <= MAX_PREVIEW_CHARS else f"{line[: MAX_PREVIEW_CHARS - 1]}…"


def list_ids(refs: Iterable[EmbedRef]) -> list[EmbedId]:
    """Return the ids of embeds and of their children."""
    return list(
        dict.fromkeys(chain.from_iterable([ref.id, *(ref.embed_ids or ())] for ref in refs))
    )


def parse_content(content: str) -> Any:
    """Return the JSON that a content is; a client's own may be text."""
    try:
        return from_json(content, allow_inf_nan=False)
    except ValueError:
        return content


def join_content(parent: Embed, children: Sequence[Embed]) -> Any:
    """Return the content that the tool returned, from its embeds.

    A parent says which field of the result, if any, is the list of the children; what it says is a client's
    after a resend, so nothing else is relied on.
    """
    content = parse_content(parent.content)
    if parent.embed_ids is None:
        return content
    entries = [parse_content(child.content) for child in children]
    about = content if isinstance(content, dict) else {}
    rest = about.get("result")
    name = about.get("list")
    return {**rest, name: entries} if isinstance(rest, dict) and isinstance(name, str) else entries


def build_ref(embed: Embed, call_id: str) -> EmbedRef:
    return EmbedRef(
        id=embed.id,
        type=embed.type,
        call_id=call_id,
        preview=embed.preview,
        content_hash=embed.content_hash,
        length=embed.length,
        source=embed.source,
        version=embed.version,
        embed_ids=embed.embed_ids,
        hidden_fields=embed.hidden_fields,
    )


def compare_versions(stored: int, offered: int) -> VersionOrder:
    """Say what becomes of an offered version: the same is there already, only a newer one replaces."""
    if offered == stored:
        return "same"
    return "newer" if offered > stored else "older"
