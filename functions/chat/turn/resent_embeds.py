"""Resent embeds: a client brings back what an answer refers to and is not here any more."""

from typing import Literal

from pydantic_core import from_json

from functions.chat.deps import ChatDeps
from shared.domain.apps.tool_data import MAX_DEPTH, EmbedType, is_deep, to_compact_json
from shared.domain.chats.chat import Message
from shared.domain.chats.embed import (
    Embed,
    EmbedRef,
    EmbedStatus,
    build_preview,
    compute_content_hash,
)
from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.ids import EmbedId, MessageId, UserId
from shared.domain.value import value


@value
class ResentEmbed:
    """What a client says about an embed; `content` is JSON text."""

    id: EmbedId
    message_id: MessageId
    type: EmbedType
    content: str
    version: int
    status: EmbedStatus


async def keep_resent(deps: ChatDeps, uid: UserId, resent: ResentEmbed) -> Literal["same", "newer"]:
    """Keep it if it is newer than what is here.

    Whose it is, and what belongs to it, the answer says, and not the client. Raises NotFound for an embed
    that the answer does not refer to, Conflict for an older version, and Invalid for what is no JSON.
    """
    message = await deps.stores.messages.get(uid, resent.message_id)
    ref = _find_ref(message, resent.id)
    order = await deps.stores.embeds.put(uid, _build_embed(resent, message, ref))
    if order == "older":
        raise Conflict("A newer version of this embed is here: load it before you change it.")
    return order


def _find_ref(message: Message, embed_id: EmbedId) -> EmbedRef:
    """Return the reference of an answer to an embed, or to its parent."""
    for ref in message.embeds:
        if embed_id == ref.id or embed_id in (ref.embed_ids or ()):
            return ref
    raise NotFound("Embed not found")


def _build_embed(resent: ResentEmbed, message: Message, ref: EmbedRef) -> Embed:
    content = clean_content(resent.content)
    is_child = resent.id != ref.id
    return Embed(
        id=resent.id,
        type=resent.type,
        status=resent.status,
        content=content,
        preview=build_preview(content),
        content_hash=compute_content_hash(content),
        length=len(content),
        version=resent.version,
        session_ids=(message.session_id,),
        message_id=message.id,
        source=ref.source,
        created_at=message.created_at,
        embed_ids=None if is_child else ref.embed_ids,
        parent_id=ref.id if is_child else None,
        hidden_fields=ref.hidden_fields,
    )


def clean_content(text: str) -> str:
    """Write JSON without spaces. Raises Invalid."""
    try:
        content = from_json(text, allow_inf_nan=False)
        compact = to_compact_json(content)
        compact.encode()
    except ValueError as error:
        raise Invalid(f"The content is not valid JSON: {error}") from None
    if is_deep(content):
        raise Invalid(f"The content nests in more than {MAX_DEPTH} levels.")
    return compact
