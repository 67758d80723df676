"""The HTTP contract of tool calls."""

from typing import Any

from pydantic import Field

from shared.domain.ids import AppId, UserId
from shared.edge.schemas import ID_PATTERN, Wire


class ToolCallIn(Wire):
    """A call for a user. A repeat with the same `call_id` reaches the app under the same message id."""

    uid: UserId
    app_id: AppId = Field(pattern=ID_PATTERN)
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = Field(default=None, max_length=128)


class ServiceCallIn(Wire):
    """A call of a connected service's tool for a user; one `call_id` names one call, repeated or not."""

    uid: UserId
    service: str
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = Field(default=None, max_length=128)


class ToolCallOut(Wire):
    """The text that the model reads."""

    text: str


class UserIn(Wire):
    """A user."""

    uid: UserId
