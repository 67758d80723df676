"""Dependencies of process_conversation: the ports and stores that the stories of each entry point use."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING

from shared.domain.value import value
from shared.library.deps import EndpointDeps

if TYPE_CHECKING:
    from functions.process_conversation.processing.claims import Claims
    from shared.data.account.erasures import Erasures
    from shared.data.account.quotas import Quotas
    from shared.data.conversations.reindexings import Reindexings
    from shared.data.search.file_index import FileIndex
    from shared.data.search.library_index import LibraryIndex
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.data.search.search import Search
    from shared.data.store.omi_form import OmiForm
    from shared.data.stores import Stores
    from shared.domain.models.model_failure import ModelPlace
    from shared.ports import (
        Blobs,
        Documents,
        DueDocuments,
        Events,
        Models,
        NewId,
        Tasks,
        UserList,
    )


@value
class ProcessDeps(EndpointDeps):
    """What processing a conversation needs."""

    model: Models
    events: Events
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    claims: Claims
    index: LibraryIndex
    search: Search
    meanings: QuestionMeanings
    model_place: ModelPlace = "service"


@value
class DayDeps(EndpointDeps):
    """What summarising a day when it is due needs."""

    model: Models
    tasks: Tasks
    stores: Stores
    quotas: Quotas


@value
class RetentionDeps(EndpointDeps):
    """What deleting old transcripts needs."""

    claims: Claims
    tasks: Tasks
    stores: Stores
    quotas: Quotas
    blobs: Blobs
    index: LibraryIndex


@value
class MergeDeps(EndpointDeps):
    """What making a merge final needs."""

    stores: Stores


@value
class MarkingDeps(EndpointDeps):
    """What marking the owner in stored conversations needs."""

    tasks: Tasks
    stores: Stores


@value
class RenewalDeps(EndpointDeps):
    """What having conversations read again needs."""

    events: Events
    stores: Stores
    quotas: Quotas


@value
class TriggerDeps(EndpointDeps):
    """What the trigger needs to publish a change."""

    events: Events
    omi_form: OmiForm


@value
class SweepDeps(EndpointDeps):
    """What beginning again what is stuck needs."""

    documents: Documents
    due_documents: DueDocuments
    user_list: UserList
    events: Events
    tasks: Tasks
    stores: Stores
    quotas: Quotas


@value
class ReindexDeps(EndpointDeps):
    """What building the rows of all users anew needs; `index` and `file_index` await the embedder."""

    user_list: UserList
    reindexings: Reindexings
    tasks: Tasks
    stores: Stores
    blobs: Blobs
    index: LibraryIndex
    file_index: FileIndex


@value
class DeadLetterDeps(EndpointDeps):
    """What recording dead letters needs."""

    new_id: NewId
    stores: Stores
    erasures: Erasures
