"""Sealed chats: what lasts of one is the ciphertexts of its clients, which the server cannot read."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.errors import Conflict
from shared.domain.ids import MessageId, RunId, SessionId
from shared.domain.value import value

HistoryReason = Literal["cache_miss", "decryption_failed", "insufficient_history"]
"""Why a question cannot be answered from the cache."""
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


class HistoryMissing(Conflict):
    """The server cannot read enough of a sealed chat; its clients can send it."""

    def __init__(self, reason: HistoryReason) -> None:
        super().__init__(
            "The server cannot read this chat's messages any more. Ask a question in it first: your app then "
            "sends them again."
        )
        self.reason: HistoryReason = reason
