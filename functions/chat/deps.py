"""Dependencies of the chat function: the ports, stores and limits that its stories use."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from shared.domain.chats.crisis import LOCAL_READING_S, READING_END_S
from shared.domain.chats.safety import SafetyThresholds
from shared.domain.value import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions.chat.runs.incognito_chats import IncognitoChats
    from functions.chat.runs.run_registry import RunRegistry
    from shared.data.account.data_keys import DataKeys
    from shared.data.account.quotas import Quotas
    from shared.data.apps.cached_apps import CachedApps
    from shared.data.chats.crisis_log import CrisisLog
    from shared.data.search.file_index import FileIndex
    from shared.data.search.library_index import LibraryIndex
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.data.search.search import Search
    from shared.data.stores import Stores
    from shared.domain.models.model import ModelFacts
    from shared.domain.models.model_failure import ModelPlace
    from shared.ports import (
        Blobs,
        Clock,
        Events,
        Identity,
        LinkChecker,
        Models,
        Moderator,
        NewId,
        Realtime,
        ServiceIdentity,
        Tasks,
        ToolBox,
        Transcriber,
    )


@value
class Limits:
    """How far one question may go."""

    cycles: int = 6
    tool_calls: int = 10
    context_tokens: int = 500_000
    call_timeout_s: float = 30.0
    deadline_s: float = 150.0
    reading_deadlines: float = 4.0
    """How many deadlines a local model may read before its first words; its deadline counts from there."""
    answer_chars: int = 60_000
    moderation_timeout_s: float = 3.0
    reading_wait_s: float = 3.0
    """How long the first word waits for the reading of a doubted question."""
    reading_end_s: float = READING_END_S
    local_reading_s: float = LOCAL_READING_S
    """Both, where a local model reads."""
    late_reading_s: float = 60.0
    """How long a reading may come after the end, and still add to the answer."""

    def wait_reading_s(self, facts: ModelFacts) -> float:
        """Return the seconds that a first word waits for the reading of a doubted question."""
        return self.local_reading_s if facts.is_local else self.reading_wait_s

    def end_reading_s(self, facts: ModelFacts) -> float:
        """Return the seconds that the end of an answer waits for the reading of its question."""
        return self.local_reading_s if facts.is_local else self.reading_end_s

    def allow_reading_s(self, facts: ModelFacts) -> float:
        """Return the seconds that a model may read in a turn without a loss of time."""
        return self.reading_deadlines * self.deadline_s if facts.is_local else 0.0


@value
class OpeningDeps:
    """What the routes need by which a chat is opened."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    stores: Stores
    incognito_chats: IncognitoChats


@value
class ChatDeps(OpeningDeps):
    """What a turn needs, and the routes beside it; what hears and speaks is loaded when it is asked for."""

    model: Models
    moderator: Moderator
    build_transcriber: Callable[[], Transcriber]
    build_realtime: Callable[[], Realtime]
    events: Events
    tasks: Tasks
    toolbox: ToolBox
    data_keys: DataKeys
    search: Search
    meanings: QuestionMeanings
    crisis_log: CrisisLog
    index: LibraryIndex
    file_index: FileIndex
    blobs: Blobs
    offered_apps: CachedApps
    active_runs: RunRegistry
    quotas: Quotas
    limits: Limits
    thresholds: SafetyThresholds = SafetyThresholds()
    model_place: ModelPlace = "service"
    persona_place: ModelPlace = "service"
    web_search: bool = False


@value
class AfterTurnDeps:
    """What follows a turn: titles, summaries and corrections, and the end of its stretch.

    An answer whose harm is rated `harm_limit` or more, of 0 to 10, is written again. Without a
    `link_checker`, links are not looked up.
    """

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    tasks: Tasks
    model: Models
    stores: Stores
    quotas: Quotas
    meanings: QuestionMeanings
    harm_limit: float = inf
    link_checker: LinkChecker | None = None


@value
class StretchDeps:
    """What the end of a stretch of a chat needs."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    model: Models
    stores: Stores
    index: LibraryIndex
    search: Search
    meanings: QuestionMeanings
    crisis_log: CrisisLog
    quotas: Quotas


@value
class ClosingDeps:
    """What closing a lapsed run needs."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    stores: Stores
