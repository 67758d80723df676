"""Sealed chats: what lasts of one is the ciphertexts of its clients, which the server cannot read.

Also called: end-to-end encryption, E2EE, client-side encryption.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.domain.chats.storage_mode import belongs_to
from shared.domain.errors import Invalid
from shared.domain.history_reason import HistoryReason
from shared.domain.ids import MessageId, RunId, SessionId
from shared.domain.value import value

CACHE_TTL = timedelta(hours=24)
"""How long the server reads again what it wrote of a sealed chat."""
MAX_CACHED_CHATS = 3


@value
class SealedChat:
    """A chat as its clients keep it; `ciphertext` holds its title and whatever else they know of it.

    `version` counts what was stored, from 1; 0 before the first ciphertext. `changed_at` is when the chat or
    one of its messages was. A deleted chat stays as a mark, without a ciphertext.
    """

    id: SessionId
    created_at: datetime
    changed_at: datetime
    version: int = 0
    ciphertext: bytes | None = None
    is_deleted: bool = False
    message_count: int = 0


@value
class SealedMessage:
    """A message as its clients keep it; without a ciphertext it was deleted. `created_at` orders them."""

    id: MessageId
    created_at: datetime
    version: int
    ciphertext: bytes | None


@value
class CachedChat:
    """A sealed chat that the server can answer in, and when that began."""

    id: SessionId
    cached_at: datetime
    used_at: datetime

    def is_expired(self, now: datetime) -> bool:
        return self.cached_at + CACHE_TTL <= now


@value
class HistoryRequest:
    """A question that waits until its client sends the messages before it.

    `id` is the run that will answer it, `fingerprint` a hash of the whole question.
    """

    id: RunId
    session_id: SessionId
    reason: HistoryReason
    fingerprint: str
    created_at: datetime


def require_own_ids(chat_id: str, ids: Sequence[str]) -> None:
    """Raises Invalid."""
    foreign = [name for name in ids if not belongs_to(chat_id, name)]
    if foreign:
        raise Invalid(f"{foreign[0]!r} is no id of this chat: those begin with '{chat_id}-'.")
    if len(set(ids)) < len(ids):
        raise Invalid("An id comes twice; each message is named once.")
