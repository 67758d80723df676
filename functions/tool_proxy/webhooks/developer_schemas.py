"""Request and response bodies of a user's own webhooks."""

from pydantic import Field

from shared.domain.apps.webhook import DeveloperWebhooks
from shared.edge.declare.schemas import Wire


class WebhookUrlIn(Wire):
    """An address; of audio bytes, with `,seconds` behind it. An empty one, or `,`, takes it away."""

    url: str = Field(max_length=2_000)


class WebhookUrlOut(Wire):
    """The address as it was entered, and the secret that signs what is sent there."""

    url: str
    signing_secret: str | None


class WebhooksStatusOut(Wire):
    """Which of a user's own webhooks are switched on."""

    memory_created: bool
    realtime_transcript: bool
    audio_bytes: bool
    day_summary: bool

    @classmethod
    def of(cls, webhooks: DeveloperWebhooks) -> "WebhooksStatusOut":
        return cls(
            memory_created=webhooks.get("memory_created").enabled,
            realtime_transcript=webhooks.get("realtime_transcript").enabled,
            audio_bytes=webhooks.get("audio_bytes").enabled,
            day_summary=webhooks.get("day_summary").enabled,
        )
