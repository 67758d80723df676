"""Dependencies of what several rooms do to an owner's library."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from shared.domain.value import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.data.account.erasures import Erasures
    from shared.data.account.quotas import Quotas
    from shared.data.chats.crisis_log import CrisisLog
    from shared.data.search.library_index import LibraryIndex
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.data.search.search import Search
    from shared.data.stores import Stores
    from shared.domain.files.wearable_name import WearableName
    from shared.ports import (
        Blobs,
        Clock,
        Egress,
        Events,
        Identity,
        Keys,
        Models,
        NewId,
        ServiceIdentity,
        Tasks,
        Transcriber,
    )
    from shared.resilience.key_rate_limiter import KeyRateLimiter


@value
class EndpointDeps:
    """What every entry point needs."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock


@value
class IntegrationDeps(EndpointDeps):
    """What apps need that read or write a user's library."""

    new_id: NewId
    stores: Stores
    quotas: Quotas
    index: LibraryIndex
    search: Search


@value
class ImportDeps(IntegrationDeps):
    """What reading and keeping imported files needs, and fetching what a wearable recorded.

    `signing_keys` seal a wearable's key, `wearable_addresses` are those of the APIs.
    """

    tasks: Tasks
    blobs: Blobs
    transcriber: Transcriber
    egress: Egress
    signing_keys: Keys
    wearable_addresses: Mapping[WearableName, str]


@value
class LibraryDeps(ImportDeps):
    """What the owner's library needs, by HTTP and by MCP.

    `erasure_note` says for people what outlives an erasure here, and for how long. `public_url` is where
    links lead, without a slash at its end.
    """

    model: Models
    events: Events
    meanings: QuestionMeanings
    crisis_log: CrisisLog
    erasures: Erasures
    erasure_note: str
    public_url: str
    key_rate_limiter: KeyRateLimiter
    share_rate_limiter: KeyRateLimiter
    cors_origins: tuple[str, ...] = ()


class IngestionDeps(Protocol):
    """What storing a conversation needs, of whichever dependencies."""

    @property
    def clock(self) -> Clock: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def quotas(self) -> Quotas: ...
