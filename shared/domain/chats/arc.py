"""Arc: what one stretch of a chat was about. A stretch ends after a silence; pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

from shared.domain.chats.chat import Message
from shared.domain.chats.crisis import CrisisLevel
from shared.domain.chats.run import build_question_id
from shared.domain.chats.steps import CallStep
from shared.domain.ids import ArcId, MemoryId, MessageId, RunId, SessionId
from shared.domain.provenance import TextKinds
from shared.domain.value import value

SILENCE = timedelta(minutes=20)
MAX_SUMMARY_CHARS = 600
MAX_THEMES = 3
MAX_LINES = 5
MAX_LINE_CHARS = 120
MAX_STATEMENTS = 20

FORGETTING_TOOL = "delete_memories"

StatementUse = Literal["fact", "rule"]
"""A fact about the owner, or how they want to be answered."""


@value
class Statement:
    """What the owner said in a stretch and may be remembered, with their words for it, letter for letter.

    `term` is the thing that it is about, as they call it. `is_weak`: another stretch has to say it too.
    `is_sure`: it is written even if it was said once. `replaced_id` and `repeated_id` are memories, by
    the model's judgement.
    """

    text: str
    use: StatementUse
    message_id: MessageId
    said_at: datetime
    quote: str
    term: str = ""
    is_sure: bool = False
    is_weak: bool = False
    replaced_id: MemoryId | None = None
    repeated_id: MemoryId | None = None


@value
class Arc:
    """What a stretch was about, from `started_at` to `created_at`, its last message.

    `summary` has at most MAX_SUMMARY_CHARS, `turn_count` counts the owner's messages, and
    `crisis_level_max` is from the log of crises. `statements` wait to be written, or for another
    stretch that says them too; once `is_settled`, only the latter are left. `read_kinds` are the kinds of text of
    others that had been read in it, None where nobody knows.
    """

    id: ArcId
    session_id: SessionId
    started_at: datetime
    created_at: datetime
    turn_count: int
    summary: str
    themes: tuple[str, ...] = ()
    mood_opened: str = ""
    mood_closed: str = ""
    open_loops: tuple[str, ...] = ()
    resolved_threads: tuple[str, ...] = ()
    crisis_level_max: CrisisLevel = 0
    statements: tuple[Statement, ...] = ()
    is_settled: bool = False
    read_kinds: TextKinds | None = None

    @property
    def text(self) -> str:
        """All that it says, for a comparison with what is said elsewhere."""
        quotes = (statement.quote for statement in self.statements)
        return "\n".join([self.summary, *self.open_loops, *self.resolved_threads, *quotes])

    @property
    def full_text(self) -> str:
        """Every word that it holds."""
        statements = (statement.text for statement in self.statements)
        return "\n".join([self.text, *self.themes, self.mood_opened, self.mood_closed, *statements])


def take_stretch(
    newest_first: Sequence[Message], until: datetime, *, is_asked: bool = False
) -> list[Message]:
    """Return the stretch that ends at `until`, oldest first; nothing where it goes on after that.

    One whose end `is_asked` ends there, whatever is said next. What an app posts belongs to no stretch, and breaks no silence.
    """
    exchanged = [message for message in newest_first if not message.from_integration]
    later = [message for message in exchanged if message.created_at > until]
    if not is_asked and later and later[-1].created_at - until < SILENCE:
        return []
    ended = [message for message in exchanged if message.created_at <= until]
    return list(_take_until_silence(ended))[::-1]


def _take_until_silence(newest_first: Sequence[Message]) -> Iterator[Message]:
    yield from newest_first[:1]
    for newer, older in pairwise(newest_first):
        if newer.created_at - older.created_at >= SILENCE:
            return
        yield older


def select_own_exchanges(stretch: Sequence[Message]) -> list[Message]:
    """Leave out what came with a file, what no model answered, crises and commands, and forgetting."""
    unused = {m.id for m in stretch if m.sender == "ai" and (m.route != "answer" or _forgets(m))}
    unused |= {build_question_id(RunId(name)) for name in unused}
    return [message for message in stretch if not (message.is_imported or message.id in unused)]


def _forgets(answer: Message) -> bool:
    return any(isinstance(step, CallStep) and step.tool == FORGETTING_TOOL for step in answer.steps)
