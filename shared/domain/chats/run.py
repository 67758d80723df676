"""Run: one answer in progress, as numbered events that end in exactly one RunEnded.

Events are numbered from 1 and stored in the run's journal. A reader can start at any number, follow
to the end, and neither misses nor repeats an event.

Also called: event sourcing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.chats.chart import Chart
from shared.domain.chats.chat import ROOT, Card, FileCitation, Message, NumberedDocument
from shared.domain.chats.confirmation import Confirmation, Decision
from shared.domain.chats.crisis import CrisisLevel, Route
from shared.domain.chats.embed import EmbedRef
from shared.domain.chats.library_change import LibraryChange
from shared.domain.ids import AppId, BranchId, EmbedId, MemoryId, MessageId, RunId, SessionId
from shared.domain.provenance import Source
from shared.domain.value import positional_value, value

Outcome = Literal["completed", "limited", "stopped", "interrupted", "failed"]
"""How a run ended: `limited` by a limit, `stopped` by the user, `interrupted` with its process."""

StageName = Literal["thinking", "using_tools", "answering", "response_ready"]
"""Each model cycle begins with `thinking`; `response_ready` comes once, after the last word."""


@positional_value
class Stage:
    """The stage of the turn, for programs; sent only when it changes."""

    name: StageName


@positional_value
class Status:
    """The current activity, as text for the user; `app_id` where an app does it."""

    text: str
    app_id: AppId | None = None


@positional_value
class ReasoningText:
    """The next piece of the model's reasoning, where the provider shows it."""

    text: str


@positional_value
class AnswerText:
    """The next piece of the answer; its citation markers are those of CitationShown."""

    text: str


@positional_value
class OwnText(AnswerText):
    """A piece of the answer that our code wrote: people read it, no model is given it as its own."""


@positional_value
class AnswerWithdrawn:
    """The last `chars` characters of the answer so far were a thought: they are no part of it.

    Nor is what only they cite; its number may be given to another source. `chars` is at least 1.
    """

    chars: int


@value
class ToolStarted:
    """A tool call begins; `arguments` is JSON text as the model wrote it, perhaps broken or cut.

    It comes again for a call whose arguments were written anew, with those.
    """

    call_id: str
    tool: str
    arguments: str


@value
class ToolEnded:
    """A tool call ended; every ToolStarted has one. `output` is capped, for display only.

    `found` is the beginning of what the model read, where its summary is wanted.

    `skipped` tells that the call was not made, because the owner did not allow it.

    `source` is the source of the text it brought into the turn; None: only our own. `connect_url`
    is where the user can connect the account that was missing.
    """

    call_id: str
    output: str
    failed: bool = False
    skipped: bool = False
    source: Source | None = None
    connect_url: str | None = None
    found: str = ""


@positional_value
class ConfirmationRequested:
    """A call waits for a confirmation; it is resolved at its `expires_at` at the latest."""

    confirmation: Confirmation


@value
class ConfirmationResolved:
    """The answer to a confirmation; an approved call runs next."""

    id: str
    decision: Decision


@positional_value
class LibraryChanged:
    """A tool changed the owner's library."""

    change: LibraryChange


@positional_value
class ChartShown:
    """A chart of the answer, which shows the last one."""

    chart: Chart


@positional_value
class EmbedShown:
    """What a tool returned is stored, and the answer refers to it."""

    ref: EmbedRef


@positional_value
class EmbedsRequested:
    """Embeds of earlier answers that are not here: a client that has them sends them again."""

    ids: tuple[EmbedId, ...]


@value
class CitationShown:
    """The next piece cites a conversation for the first time, as `number`, from 1."""

    number: int
    card: Card


@positional_value
class FileCited:
    """The next piece cites a file for the first time; conversations and files share their numbers."""

    citation: FileCitation


@value
class DocumentsGiven:
    """The model reads these documents from here on; for the stored message alone.

    `last_number` is the greatest that the chat's counter gave. With `holds_library` they stand beside the question,
    with these facts or more of the owner's library.
    """

    documents: tuple[NumberedDocument, ...]
    last_number: int
    holds_library: bool = False
    facts: tuple[MemoryId, ...] = ()


@positional_value
class RunEnded:
    """The end. `message` is stored already."""

    message: Message
    outcome: Outcome


@positional_value
class AnswerExtended:
    """Words of ours that joined the stored answer after its end, at most once; `message` is as it is stored now.

    Whoever still follows the run reads it; no journal stores it.
    """

    message: Message
    text: str


@positional_value
class RouteChosen:
    """Who writes the answer, where the question is not clear; for the stored message alone."""

    route: Route
    crisis_level: CrisisLevel

    @property
    def is_ours(self) -> bool:
        """Tell whether no model writes it."""
        return self.route in ("crisis", "command")


@value
class MemoriesListed:
    """Memories that the answer numbers, from 1; `is_choice`: the owner is asked for such numbers."""

    items: tuple[str, ...]
    is_choice: bool = False


@positional_value
class VoicesStarted:
    """Several models answer at once: the model of each voice, in order. The first event of such a run."""

    models: tuple[str, ...]


@positional_value
class VoiceEnded:
    """The end of one voice of several; the run goes on until all have ended."""

    outcome: Outcome


PlainEvent = (
    Stage
    | Status
    | ReasoningText
    | AnswerText
    | AnswerWithdrawn
    | ToolStarted
    | ToolEnded
    | ConfirmationRequested
    | ConfirmationResolved
    | LibraryChanged
    | ChartShown
    | EmbedShown
    | EmbedsRequested
    | CitationShown
    | FileCited
    | DocumentsGiven
    | RouteChosen
    | MemoriesListed
    | VoicesStarted
    | VoiceEnded
    | RunEnded
    | AnswerExtended
)


@positional_value
class VoiceEvent:
    """An event of a voice other than the first, by its number, from 1; never the end of the run."""

    voice: int
    event: PlainEvent


RunEvent = PlainEvent | VoiceEvent


@positional_value
class SequencedEvent:
    """An event and its number in its run, from 1. Merged text has the number of its last piece."""

    seq: int
    event: RunEvent


QUESTION_SUFFIX = "-q"


def build_question_id(run_id: RunId) -> MessageId:
    """Name the question that a run answers."""
    return MessageId(f"{run_id}{QUESTION_SUFFIX}")


def get_answering_run_id(message: Message) -> RunId | None:
    """Return the run that answers a message, None for what is no question of a run."""
    is_question = message.sender == "human" and message.id.endswith(QUESTION_SUFFIX)
    return RunId(message.id.removesuffix(QUESTION_SUFFIX)) if is_question else None


LEASE_TTL = timedelta(seconds=10)
JOURNAL_TTL = timedelta(hours=1)
RUN_TTL = timedelta(hours=24)
"""How long a key means the same question."""


@value
class Run:
    """A run as it is stored; `outcome` and `last_seq`, the end's number, come with its end.

    `branch` is where its answer belongs, whatever the chat shows by then. `model` answers, `voices` are
    all models where several answer at once, else empty.

    Its process holds the lease; after the lease, any reader of the run closes it. `fingerprint` is
    a hash of the question, `version` changes with every write.
    """

    id: RunId
    session_id: SessionId
    question_id: MessageId
    writer: str
    created_at: datetime
    lease_until: datetime
    model: str
    voices: tuple[str, ...] = ()
    branch: BranchId = ROOT
    app_id: AppId | None = None
    fingerprint: str = ""
    outcome: Outcome | None = None
    last_seq: int = 0
    version: str = ""

    @property
    def expires_at(self) -> datetime:
        return self.created_at + RUN_TTL

    def has_lapsed(self, now: datetime) -> bool:
        """Tell whether the run has no end and its lease is over."""
        return self.outcome is None and self.lease_until <= now

    def has_journal(self, now: datetime) -> bool:
        return now < self.created_at + JOURNAL_TTL


Signal = Literal["stop", "follow"]
"""What another process asks of a run: to end, or to store its events sooner because somebody follows there."""


@value
class JournalPlace:
    """A place in a run's journal: the number of the first event there, behind `rank` signals."""

    position: int = 1
    rank: int = 0


@value
class Batch:
    """A batch: what one write adds to a run's journal.

    The journal only grows at its end: a batch is created at `position`, one after the `last_seq` of
    the batch before, and the second writer there knows that it lost the run. Its events have
    consecutive numbers; a closing batch counts the RunEnded, which is not in `events`. A `signal` of
    another process takes the place of the run's next batch, by which the run notices it, and adds no event.
    """

    position: int
    events: Sequence[RunEvent]
    last_seq: int
    writer: str
    closing: bool = False
    rank: int = 0
    signal: Signal | None = None

    @property
    def first_seq(self) -> int:
        return self.last_seq - len(self.events) - self.closing + 1

    @property
    def place(self) -> JournalPlace:
        return JournalPlace(position=self.position, rank=self.rank)

    @property
    def next_place(self) -> JournalPlace:
        """The place of the batch that follows."""
        if self.signal is not None:
            return JournalPlace(position=self.position, rank=self.rank + 1)
        return JournalPlace(position=self.last_seq + 1)
