"""Request and response bodies of tool calls."""

from typing import Any

from pydantic import Field

from shared.domain.ids import AppId, UserId
from shared.edge.schemas import ID_PATTERN, Wire


class ToolCallIn(Wire):
    """A call for a user. Repeats with one `call_id` reach the app under one message id."""

    uid: UserId
    app_id: AppId = Field(pattern=ID_PATTERN)
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = Field(default=None, max_length=128)


class ServiceCallIn(Wire):
    """A call of a connected service's tool for a user. Repeats of a call share one `call_id`."""

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
