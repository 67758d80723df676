"""Memory: one fact about the user, with the words that prove it."""

from datetime import datetime
from typing import Literal

from shared.domain.changing import find_exclusive_key
from shared.domain.ids import AppId, ConversationId, MemoryId
from shared.domain.value import value
from shared.domain.words import MAX_WORDING_CHARS, normalise

MemoryCategory = Literal["interesting", "system", "manual"]


@value
class Memory:
    """A fact of at most 15 words. `evidence` is quoted verbatim from segment `segment` (0-based).

    It holds from `created_at`, when it was said, until `valid_to`, when the memory `superseded_by`
    took its place: then it is kept, and no longer retrieved. `seen_in` names the later conversations
    that said it again. What an app wrote carries its `app_id`: it is not the owner's word.
    `wording` and `aspect` follow the content: facts in the same words share the one, facts that
    cannot hold side by side the other.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "wording", normalise(self.content)[:MAX_WORDING_CHARS])
        object.__setattr__(self, "aspect", find_exclusive_key(self.content))

    @property
    def is_user_owned(self) -> bool:
        """Whether the owner wrote, changed or confirmed it: processing then leaves it alone."""
        is_user_edited = self.manually_added or self.edited or self.reviewed
        return is_user_edited or self.category == "manual"

    @property
    def is_current(self) -> bool:
        return self.valid_to is None

    @property
    def user_review(self) -> bool | None:
        """True once the owner confirmed it; one that they called wrong is not kept."""
        return True if self.reviewed else None
