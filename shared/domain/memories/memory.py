"""Memory: one fact about the user, with the words that prove it.

Also called: long-term memory.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, Self

from shared.domain.ids import AppId, ConversationId, MemoryId, MessageId, SessionId
from shared.domain.provenance import TextKinds
from shared.domain.tasks.owner_words import address_owner
from shared.domain.value import value
from shared.domain.words import build_wording, count_words

MemoryCategory = Literal["interesting", "system", "manual"]
MAX_WORDS = 15
"""Maximum of a fact that was extracted; the owner's own words are of any length."""
MAX_SEEN_IN = 50
"""Conversations that a fact lists: it is deleted by one commit, with a mark in each."""
HOLD_TIME = timedelta(days=90)
"""How long a fact waits to be said again."""


@value
class Memory:
    """A fact of at most 15 words. `evidence` is quoted verbatim from segment `segment` (0-based).

    It is true from `created_at`, when it was said, until `valid_to`, when the memory `superseded_by`
    took its place: from then on it is stored, but not retrieved. `seen_in` lists the later
    conversations that repeat it. `app_id` names the app that wrote it: not a statement of the owner.
    Two lookup fields are set when it is written: facts in the same words share their `wording`, facts
    that contradict each other their `aspect` (shared/library/exclusive_facts.py). One that was said in a
    chat names it and the message, `session_id` and `message_id`. `tags` are words of
    the program that wrote it. One that is held is not true yet: it waits until `held_until`, which is
    its `valid_to` as well, for another conversation that says it too. `read_kinds` are the kinds of text of
    others from which its words may come: none where they are the owner's own, None where nobody knows.
    """

    id: MemoryId
    content: str
    category: MemoryCategory
    created_at: datetime
    updated_at: datetime
    conversation_id: ConversationId | None = None
    evidence: str = ""
    segment: int | None = None
    visibility: Literal["private", "public"] = "private"
    manually_added: bool = False
    edited: bool = False
    reviewed: bool = False
    seen_in: tuple[ConversationId, ...] = ()
    valid_to: datetime | None = None
    superseded_by: MemoryId | None = None
    app_id: AppId | None = None
    wording: str = ""
    aspect: str | None = None
    session_id: SessionId | None = None
    message_id: MessageId | None = None
    tags: tuple[str, ...] = ()
    held_until: datetime | None = None
    read_kinds: TextKinds | None = None

    def hold(self, until: datetime) -> Self:
        """Return it as it waits to be said again."""
        return replace(self, valid_to=until, held_until=until)

    def release(self) -> Self:
        """Return it as it is true from now on; one that is not held stays as it is."""
        return replace(self, valid_to=None, held_until=None) if self.is_held else self

    def with_wording(self) -> Self:
        """Return it as it is stored: findable by its words."""
        return replace(self, wording=build_wording(self.content))

    @property
    def is_user_owned(self) -> bool:
        """Whether the user wrote, changed or confirmed it: processing does not touch it then."""
        is_user_edited = self.manually_added or self.edited or self.reviewed
        return is_user_edited or self.category == "manual"

    @property
    def said_to_owner(self) -> str:
        """What it says, addressed to its owner; models and programs read `content`."""
        return address_owner(self.content)

    @property
    def is_current(self) -> bool:
        return self.valid_to is None

    @property
    def is_held(self) -> bool:
        return self.held_until is not None

    @property
    def user_review(self) -> bool | None:
        """True once the owner confirmed it; a memory that they reject is deleted."""
        return True if self.reviewed else None


def is_short_enough(category: str, content: str) -> bool:
    """Tell whether a fact is as short as those of its category are."""
    return category == "manual" or count_words(content) <= MAX_WORDS
