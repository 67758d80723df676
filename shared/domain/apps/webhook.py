"""Webhooks: what they tell of, a user's own ones, and who is to hear of a new conversation."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Literal, get_args

from shared.domain.apps.app import AppTrigger
from shared.domain.ids import AppId, ConversationId, UserId
from shared.domain.value import value

DeveloperTrigger = Literal["memory_created", "day_summary", "realtime_transcript"]
Trigger = AppTrigger | DeveloperTrigger
DeveloperWebhookType = Literal[
    "memory_created", "realtime_transcript", "audio_bytes", "day_summary"
]
"""A user's own webhooks, by the names of the old product."""
DEVELOPER_WEBHOOK_TYPES: tuple[DeveloperWebhookType, ...] = get_args(DeveloperWebhookType)
OWN_WEBHOOK = AppId("")
"""Stands for the user's own webhook among the apps that receive something."""

ANNOUNCEMENT_WINDOW = timedelta(days=14)
"""A conversation that is older was announced, or nobody was to hear of it."""
ANNOUNCEMENT_TTL = timedelta(days=30)
"""Longer than the window and all attempts of a delivery."""


@value
class DeveloperWebhook:
    """A user's own webhook. `url` is as the user entered it: of audio bytes, with `,seconds`."""

    url: str = ""
    enabled: bool = False

    @property
    def address(self) -> str:
        """The address to call; empty where there is none."""
        return self.url.partition(",")[0].strip()

    @property
    def every_s(self) -> int:
        """How many seconds of sound one call brings, as the user entered it; 0 where they did not."""
        text = self.url.partition(",")[2].strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0

    @property
    def is_on(self) -> bool:
        return self.enabled and bool(self.address)


@value
class DeveloperWebhooks:
    """All of a user's own webhooks. `signing_secret` signs their calls; it is stored wrapped."""

    signing_secret: str = ""
    webhooks: Mapping[DeveloperWebhookType, DeveloperWebhook] = field(default_factory=dict)

    def get(self, webhook_type: DeveloperWebhookType) -> DeveloperWebhook:
        return self.webhooks.get(webhook_type, DeveloperWebhook())

    def put(
        self, webhook_type: DeveloperWebhookType, webhook: DeveloperWebhook
    ) -> "DeveloperWebhooks":
        return replace(self, webhooks={**self.webhooks, webhook_type: webhook})

    def with_secret(self, signing_secret: str) -> "DeveloperWebhooks":
        """Return these with the secret, unless they have one."""
        return self if self.signing_secret else replace(self, signing_secret=signing_secret)


@value
class Announcement:
    """Who is to hear of a new conversation, decided once; its id is the conversation's.

    `version` is that of the conversation at the time. A receiver is an app, or OWN_WEBHOOK.
    `is_queued` once each of them has its delivery.
    """

    id: ConversationId
    version: datetime
    receivers: tuple[AppId, ...]
    expires_at: datetime
    is_queued: bool = False


@value
class WebhookDelivery:
    """One attempt to tell a receiver of a conversation or a daily summary, its `subject_id`.

    `version` tells updates of one conversation apart, and is the batch of live words. A receiver is an app, or OWN_WEBHOOK.
    """

    uid: UserId
    app_id: AppId
    trigger: Trigger
    subject_id: str
    version: str = ""
    attempt: int = 1

    @property
    def next_attempt(self) -> "WebhookDelivery":
        return replace(self, attempt=self.attempt + 1)
