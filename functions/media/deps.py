"""Dependencies of media: the ports and stores that files, recordings and uploads use."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING

from shared.domain.value import value
from shared.library.deps import EndpointDeps

if TYPE_CHECKING:
    from shared.data.account.quotas import Quotas
    from shared.data.apps.signing_secrets import SigningSecrets
    from shared.data.search.file_index import FileIndex
    from shared.data.stores import Stores
    from shared.ports import (
        Blobs,
        Egress,
        LiveTranscriber,
        NewId,
        Tasks,
        Transcriber,
    )


@value
class TranscribeDeps(EndpointDeps):
    """What turning a recording into a conversation needs."""

    new_id: NewId
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    tasks: Tasks
    transcriber: Transcriber


@value
class FileDeps(EndpointDeps):
    """What taking in, reading and deleting files needs.

    `public_url` is where links lead, without a slash at its end.
    """

    new_id: NewId
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    tasks: Tasks
    file_index: FileIndex
    public_url: str
    cors_origins: tuple[str, ...] = ()


@value
class ExpireUploadDeps(EndpointDeps):
    """What deleting an expired upload needs."""

    stores: Stores
    quotas: Quotas
    blobs: Blobs


@value
class LiveDeps(EndpointDeps):
    """What ending a live conversation needs."""

    new_id: NewId
    stores: Stores
    quotas: Quotas
    tasks: Tasks
    blobs: Blobs


@value
class ListenDeps(LiveDeps):
    """What hearing a device live needs, and telling others of it."""

    live_transcriber: LiveTranscriber
    egress: Egress
    signing_secrets: SigningSecrets
