"""Request and response bodies of tool calls."""

from typing import Any

from pydantic import Field

from shared.domain.ids import AppId, UserId
from shared.edge.schemas import ID_PATTERN, Wire


class UserIn(Wire):
    """A user."""

    uid: UserId


class _CallIn(UserIn):
    """A call for a user. Repeats of a call share one `call_id`."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = Field(default=None, max_length=128)


class ToolCallIn(_CallIn):
    """A call of an app's tool. Over HTTP, repeats reach the app under one message id; MCP has none."""

    app_id: AppId = Field(pattern=ID_PATTERN)


class ServiceCallIn(_CallIn):
    """A call of a connected service's tool."""

    service: str


class ToolCallOut(Wire):
    """The text that the model reads."""

    text: str
