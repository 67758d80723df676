"""Request bodies of the webhook entry points."""

from pydantic import Field

from shared.domain.ids import AppId, ConversationId, UserId
from shared.edge.schemas import ID_PATTERN, Wire


class ConversationProcessedIn(Wire):
    """The event `conversation.processed`."""

    uid: UserId
    conversation_id: ConversationId = Field(pattern=ID_PATTERN)
    content_hash: str


class WebhookTaskIn(ConversationProcessedIn):
    """One attempt to deliver a webhook to an app."""

    app_id: AppId
    attempt: int = Field(ge=1)
