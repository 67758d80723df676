"""Profile of a user: name, time zone, language, preferences and devices.

Also called: user profile, user account, timezone setting.
"""

from dataclasses import field
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from shared.domain.account.hearing import Hearing
from shared.domain.account.notification_preferences import Preferences
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.chats.focus_mode import FocusMode, FocusModes
from shared.domain.chats.rule import Rules
from shared.domain.conversations.daily_summary import DailySummarySettings
from shared.domain.conversations.place import PlaceSharing
from shared.domain.ids import AppId, FocusModeId
from shared.domain.store.vector_home import VectorHome
from shared.domain.value import value

MAX_PROMPT_CHARS = 4_000
MAX_REMINDER_CHARS = 1_000
PreferredModel = Literal["auto", AgentRole]
"""The model that answers by default; `auto` leaves the choice to each question."""


@value
class Profile(PlaceSharing):
    """`time_zone` is an IANA name; every date the owner sees follows it.

    `language` is the one the owner chose, ISO 639-1; None until they do. `notifications` is what they
    want to hear of apps. Transcripts that are older than `retention_days` lose their text; 0 keeps
    them. `summary_app` is the app that writes their summaries, if they chose one.
    `acquisition_source` is how they came to us, in their words.
    With `keeps_audio`, the sound of a recording is kept beside its conversation; `hearing` helps to transcribe it.
    `own_names` are the names by which transcripts call them, as of `own_names_set_at`.
    `chat_prompt` is how the assistant shall answer, in their words, and `chat_reminder` what every model
    call ends with. A turn is told some of their `interests`, and their `learning_style`. A chat may have
    one of the `focus_modes`; all keep to the `rules`. With `summarises_results`, later turns read in a sentence what tools found. Answers use
    what is remembered only while the profile `recalls_memories`, and bring it up unasked if it
    `volunteers_memories`. What was said before `forgot_at`, when they last wanted something forgotten, is
    not remembered any more; they had all memories deleted `memory_wipes` times. What similar chats came to is told only while it also `recalls_chats`. A question is
    answered by the `preferred_model`, unless it or its chat names another. With `masks_private_data`, models read
    placeholders in the place of addresses, numbers and secrets. `vector_home` is kept once the user was
    moved in the vector index. All rows that they had then were built by `index_scheme`, and are being
    built anew by `next_index_scheme`.
    """

    name: str = ""
    time_zone: str = "UTC"
    language: str | None = None
    notifications: Preferences = field(default_factory=Preferences)
    retention_days: int = 0
    retention_set_at: datetime | None = None
    daily_summary: DailySummarySettings = field(default_factory=DailySummarySettings)
    summary_app: AppId | None = None
    is_onboarded: bool = False
    acquisition_source: str | None = None
    keeps_audio: bool = False
    hearing: Hearing = field(default_factory=Hearing)
    own_names: tuple[str, ...] = ()
    own_names_set_at: datetime | None = None
    chat_prompt: str = ""
    chat_reminder: str = ""
    interests: tuple[str, ...] = ()
    learning_style: str = ""
    focus_modes: FocusModes = ()
    rules: Rules = ()
    summarises_results: bool = False
    recalls_memories: bool = True
    volunteers_memories: bool = False
    recalls_chats: bool = True
    forgot_at: datetime | None = None
    memory_wipes: int = 0
    masks_private_data: bool = True
    preferred_model: PreferredModel = "auto"
    vector_home: VectorHome | None = None
    index_scheme: str | None = None
    next_index_scheme: str | None = None

    @property
    def all_names(self) -> tuple[str, ...]:
        """What the owner is called: by themselves, and those by which transcripts call them."""
        return (self.name, *self.own_names) if self.name else self.own_names

    @property
    def zone(self) -> ZoneInfo:
        """The owner's time zone; UTC where its name is none that is known here."""
        try:
            return ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError):
            return ZoneInfo("UTC")

    def has_forgotten(self, time: datetime) -> bool:
        """Tell whether the owner wanted something forgotten since then."""
        return self.forgot_at is not None and time <= self.forgot_at

    def find_focus_mode(self, mode_id: FocusModeId | None) -> FocusMode | None:
        """Return a saved mode; None for one that was deleted."""
        return next((mode for mode in self.focus_modes if mode.id == mode_id), None)


@value
class Device:
    """Somewhere a push can arrive; its id is `{platform}_{device hash}`."""

    id: str
    fcm_token: str
    time_zone: str
    updated_at: datetime

    @property
    def is_browser(self) -> bool:
        """Whether a push to it is a request to the address that its owner named."""
        return is_subscription(self.fcm_token)


def is_subscription(token: str) -> bool:
    """Tell whether a token is a PushSubscription of a browser."""
    return token.startswith("{")
