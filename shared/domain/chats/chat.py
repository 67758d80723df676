"""Chat messages and chat sessions, as they are stored."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal

from shared.domain.chats.chart import Chart
from shared.domain.chats.chat_notes import AnswerNotes, ChatNotes
from shared.domain.chats.crisis import CrisisLevel, Route
from shared.domain.chats.details_request import Requests
from shared.domain.chats.embed import EmbedRef
from shared.domain.chats.exercise import ActiveExercise
from shared.domain.chats.safety import SafetyScore
from shared.domain.chats.steps import Step
from shared.domain.chats.storage_mode import is_incognito, is_private, is_sealed
from shared.domain.ids import (
    AgentId,
    AppId,
    BranchId,
    ConversationId,
    FileId,
    FocusModeId,
    MessageId,
    ProjectId,
    SessionId,
)
from shared.domain.provenance import Source, TextKinds, join_kinds
from shared.domain.value import value

MAIN_SESSION = SessionId("main")
QUESTION_KEY = "question"
"""In the metadata of an answer: the confirmation that the owner's next message decides."""
QUESTION_WORDS_KEY = "question_words"
"""In the metadata of an answer: what the owner has to type where yes is not enough."""
LISTED_KEY = "listed"
"""In the metadata of an answer: the memories that it numbers, for the commands that follow."""
CORRECTS_KEY = "corrects"
"""In the metadata of an answer that we wrote again: the one that it corrects, and why."""
ROOT = BranchId("")
"""The branch of a chat's first messages, and of all of them until there are versions."""

Position = tuple[datetime, MessageId]
"""The position of a message in its session: its time, then its id."""


@value
class Card:
    """A cited conversation as the client shows it.

    `words_hash` is that of its words when it was cited; None where they were not at hand, or nobody kept it.
    """

    id: ConversationId
    created_at: datetime
    title: str
    emoji: str
    words_hash: str | None = None


@value
class FileCard:
    """A file that came with a message, as it was called then; it may be deleted since."""

    id: FileId
    created_at: datetime
    name: str
    media_type: str
    thumbnail: str | None = None


@value
class FilePage:
    """A file of the owner as an answer cites it; `page` from 1, None for the whole."""

    id: FileId
    name: str
    page: int | None = None


@value
class FileCitation:
    """A file that an answer cites as `number`."""

    number: int
    file: FilePage


DocumentKind = Literal["conversation", "file"]


@value
class NumberedDocument:
    """What a number stands for in its chat, never its text; `page` of a file from 1, None for the whole."""

    number: int
    kind: DocumentKind
    id: str
    page: int | None = None


LinkState = Literal["found", "counted", "checked"]


@value
class LinkChoice:
    """Addresses of an answer that may be looked up, and the bits that this tells those who serve them.

    `state`: the bits of `counted` ones are in the day's ledger; `checked` ones all lead somewhere.
    """

    urls: tuple[str, ...]
    bits: float
    state: LinkState = "found"


@value
class Message:
    """One message.

    `text` of an answer has no citation markers; `cards` are the conversations that it cites, in
    order, and `file_citations` the files. `marked_text` keeps the `[n]` markers for clients that link
    them; n is the number of a file, or else the next position in `memories_id`, from 1.
    `model_text` is what a model wrote of `text`, where our code wrote the rest of it; None where that is not
    known to be so. No model is given the rest as words of its own.
    `steps` are the reasoning and the tool calls of an answer, for its owner alone, `embeds` what they returned.
    `voices` are the models that answered at once, empty for one alone, and `voice` is the number of the
    one whose answer this is; those of the others are its alternatives. `route` and `crisis_level` are the
    verdict on the question that it answers, for its owner alone. `harm` is how harmful an answer was rated
    after it was given, 0 to 10, None for one that nobody rated. `links` are those of an answer that may be
    looked up, to see whether they still lead anywhere. `injection_score` of a question is how likely a text
    that it quotes holds instructions for a model, 0 to 10; kept where that is likely.
    `diagnostics` are names, counts and times of the turn. `branch` is the part of the chat to which
    it belongs; a notification of an app belongs to all of them. One that `is_imported` came with a file:
    whoever it names as its sender, it counts as nobody's words. `notes` of an answer are made after its
    turn; None until then. `documents` are those that an answer's model was given, by the numbers that they keep in
    the chat, whose greatest so far is `last_number`. `read_kinds` are the kinds of text of others that the model of
    an answer had read, and those that a message of the owner may be, None where nobody knows.
    """

    id: MessageId
    session_id: SessionId
    text: str
    sender: Literal["human", "ai"]
    created_at: datetime
    branch: BranchId = ROOT
    app_id: AppId | None = None
    type: Literal["text", "day_summary"] = "text"
    from_integration: bool = False
    is_imported: bool = False
    memories_id: tuple[ConversationId, ...] = ()
    cards: tuple[Card, ...] = ()
    file_citations: tuple[FileCitation, ...] = ()
    documents: tuple[NumberedDocument, ...] = ()
    last_number: int = 0
    marked_text: str | None = None
    model_text: str | None = None
    files: tuple[FileCard, ...] = ()
    steps: tuple[Step, ...] = ()
    chart: Chart | None = None
    embeds: tuple[EmbedRef, ...] = ()
    voices: tuple[str, ...] = ()
    voice: int = 0
    route: Route = "answer"
    crisis_level: CrisisLevel = 0
    harm: float | None = None
    links: LinkChoice | None = None
    injection_score: float = 0.0
    reported: bool = False
    report_reason: str | None = None
    rating: Literal[1, -1] | None = None
    rating_reason: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notes: AnswerNotes | None = None
    read_kinds: TextKinds | None = None

    @property
    def position(self) -> Position:
        return self.created_at, self.id

    @property
    def is_owners(self) -> bool:
        """Tell whether the owner wrote it here."""
        return self.sender == "human" and not self.is_imported

    @property
    def text_kinds(self) -> TextKinds:
        """The kinds of text of others that it may hold."""
        if self.is_imported or self.from_integration:
            return ("import",) if self.is_imported else ("app",)
        if self.read_kinds is not None:
            return self.read_kinds
        sources = (Source(**source) for source in self.metadata.get("sources", ()))
        return join_kinds(source.text_kind for source in sources)

    @property
    def is_noted(self) -> bool:
        """Tell whether it gets notes: an ordinary answer of the assistant, and none in a crisis."""
        is_answer = self.sender == "ai" and self.route in ("answer", "lookup")
        is_ours = not self.from_integration and not self.is_imported
        return (
            is_answer
            and is_ours
            and not self.crisis_level
            and self.metadata.get("outcome") != "failed"
        )


@value
class Fork:
    """The beginning of a branch: another version of one message of its `parent`.

    The branch follows what the parent has before `question`, and the question too where its answer
    is asked again. `head` is the first message of the branch. All versions of one message have the
    same `parent` and `original`; at most one of them `is_shown`, else the original is.
    """

    id: BranchId
    parent: BranchId
    question: Position
    keeps_question: bool
    original: MessageId
    head: MessageId
    is_shown: bool = True


@value
class Session:
    """A chat.

    There is one main session for each app, whose id is the app's, or `main`. `updated_at` is the
    time of its last message, `preview` the beginning of that message. `title` is empty until the
    user or the first answer sets one. `summary` covers the messages up to `summarised_until` in
    `summarised_branch`, which stay stored; None without a summary. `summarised_files` came with them, the
    latest last. `forks` are its versions, oldest
    first. `share_token` is the secret of the link by which anyone may read it. `focus` is the focus
    mode that is active, `agent_id` the custom agent that answers, unless it was deleted. It belongs to
    the project of `project_id`, whose files each question gets. A guided `exercise` goes on in it until it
    ends; a crisis interrupts it and leaves it where it is. `safety` is what its questions asked for
    against others. `notes` are what was noted of it after its last answer, for people and for later turns.
    `requests` are what the assistant asked to read of its owner in it. `title_kinds` and `summary_kinds` are the
    kinds of text of others that had been read when the title and the `summary` were written; None where nobody knows.
    """

    id: SessionId
    created_at: datetime
    updated_at: datetime
    app_id: AppId | None = None
    title: str = ""
    starred: bool = False
    message_count: int = 0
    preview: str = ""
    summary: str = ""
    summarised_until: Position | None = None
    summarised_branch: BranchId = ROOT
    summarised_files: tuple[FileId, ...] = ()
    forks: tuple[Fork, ...] = ()
    share_token: str | None = None
    focus: FocusModeId | None = None
    agent_id: AgentId | None = None
    project_id: ProjectId | None = None
    exercise: ActiveExercise | None = None
    safety: SafetyScore = SafetyScore()
    notes: ChatNotes = ChatNotes()
    requests: Requests = ()
    title_kinds: TextKinds | None = None
    summary_kinds: TextKinds | None = None

    @property
    def is_main(self) -> bool:
        """Whether the session begins by itself; the user creates all others."""
        return self.id == build_main_session_id(self.app_id)

    @property
    def is_incognito(self) -> bool:
        """Whether nothing of it is stored; decided once, when it begins."""
        return is_incognito(self.id)

    @property
    def is_sealed(self) -> bool:
        """Whether only its owner's devices keep its words; decided once, when it begins."""
        return is_sealed(self.id)

    @property
    def is_private(self) -> bool:
        """Whether it is incognito or sealed: no tool writes, nothing is derived from it."""
        return is_private(self.id)

    @property
    def summarised_kinds(self) -> TextKinds:
        """The kinds of text of others that its summary may hold."""
        if not self.summary:
            return ()
        return ("chat",) if self.summary_kinds is None else self.summary_kinds

    def without_summary(self) -> "Session":
        """Return it as if no message had been summarised."""
        return replace(
            self,
            summary="",
            summary_kinds=None,
            summarised_until=None,
            summarised_branch=ROOT,
            summarised_files=(),
        )

    def without_notes(self) -> "Session":
        """Return it without all that was derived from its messages, its title among it."""
        return replace(self.without_summary(), title="", title_kinds=None, notes=ChatNotes())

    @property
    def derived_text(self) -> str:
        """Every word that was derived from its messages."""
        notes = self.notes
        return "\n".join([self.title, self.summary, notes.summary, *notes.tags, *notes.new_chats])

    def is_summarised(self, message: Message) -> bool:
        """Tell whether the summary covers this message."""
        return self.summarised_until is not None and message.position <= self.summarised_until


def build_session(
    session_id: SessionId, *, app_id: AppId | None, now: datetime, title: str = ""
) -> Session:
    """Return a chat without messages; a `title` is its owner's."""
    return Session(
        id=session_id,
        created_at=now,
        updated_at=now,
        app_id=app_id,
        title=title,
        title_kinds=() if title else None,
    )


def build_greeting_id(session_id: SessionId) -> MessageId:
    """Name the greeting with which a chat begins."""
    return MessageId(f"initial-{session_id}")


def build_main_session_id(app_id: AppId | None) -> SessionId:
    """Name the session that the mobile app means when it names only an app."""
    return SessionId(app_id) if app_id else MAIN_SESSION
