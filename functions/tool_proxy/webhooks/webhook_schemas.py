"""Request bodies of the webhook entry points."""

from pydantic import Field

from shared.domain.apps.webhook import Trigger
from shared.domain.ids import AppId, ConversationId, UserId
from shared.edge.declare.schemas import ID_PATTERN, Wire


class ConversationProcessedIn(Wire):
    """The event `conversation.processed`; its hash says nothing that the conversation does not."""

    uid: UserId
    conversation_id: ConversationId = Field(pattern=ID_PATTERN)


class WebhookTaskIn(Wire):
    """One attempt to deliver a webhook; an empty `app_id` stands for the user's own server."""

    uid: UserId
    app_id: AppId
    trigger: Trigger
    subject_id: str = Field(pattern=ID_PATTERN)
    version: str = ""
    attempt: int = Field(ge=1)
