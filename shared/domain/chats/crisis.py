"""Crisis: how badly the writer of a question seems to be off, and which route its turn takes."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.value import value

CrisisLevel = Literal[0, 1, 2, 3]
"""None, in need of a gentle question, serious, acute."""
Route = Literal["answer", "crisis", "command", "lookup", "refusal"]
"""Who writes an answer: the model, in a crisis our own reviewed words, a command its result, the model
from what it looked up on the web alone, or we where it would do harm to others."""
Judge = Literal["rules", "classifier", "fallback"]
"""Who gave a verdict; `fallback`: the rules, because the classifier failed."""
CrisisDeed = Literal["answered", "asked", "missed_by_voice", "found_late"]
"""What was done about a question, or that a spoken turn went on without it, or an answer was out before it was found."""
CRISIS_EVENT_TTL = timedelta(days=90)
READING_END_S = 8.0
"""How long the end of an answer waits for the reading of its question."""
LOCAL_READING_S = 30.0
"""The same, where a local model reads."""


@value
class CrisisVerdict:
    """The verdict on a question, by the rules, a classifier, or the rules because that one failed.

    `country` is where its writer says to be (ISO 3166), `language` what they write in (ISO 639-1); None
    where that is not known. `is_self_harm`: its writer is the one who may hurt them. `adds_contacts` lets an answer end with whom to call: nobody could tell.
    """

    level: CrisisLevel = 0
    decided_by: Judge = "rules"
    country: str | None = None
    language: str | None = None
    is_self_harm: bool = True
    adds_contacts: bool = False

    @property
    def route(self) -> Route:
        return "crisis" if self.level >= 2 else "answer"

    @property
    def is_clear(self) -> bool:
        """Whether nothing speaks for a crisis, by a judge that did not fail."""
        return not self.level and not self.adds_contacts


CLEAR = CrisisVerdict()


@value
class CrisisEvent:
    """A question that was not harmless, as the safety log keeps it: no words, no names.

    `session` stands for the user and the chat together, `user` for the user, until the user is erased.
    """

    id: str
    kind: CrisisDeed
    session: str
    user: str | None
    level: CrisisLevel
    decided_by: Judge
    created_at: datetime
    resource_count: int = 0
    knows_country: bool = False

    @property
    def expires_at(self) -> datetime:
        return self.created_at + CRISIS_EVENT_TTL
