"""Request and response bodies of tool calls."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field

from shared.domain.apps.tool_data import EmbedType, ToolData
from shared.domain.ids import AppId, UserId
from shared.edge.declare.schemas import ID_PATTERN, Wire


class UserIn(Wire):
    """A call for the user whom the delegation names; a body that names another is refused."""

    uid: UserId | None = None


class CallIn(UserIn):
    """A call of a tool. Repeats of a call share one `call_id`, which the delegation names."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    call_id: str = Field(max_length=128)


class ToolCallIn(CallIn):
    """A call of an app's tool, meant for the version that `pin` names.

    Over HTTP, repeats reach the app under one message id; MCP has none.
    """

    pin: str = Field(max_length=64)
    app_id: AppId = Field(pattern=ID_PATTERN)


class ToolCallOut(Wire):
    """What the tool returned: text, or JSON. `hidden_fields` are not for models, `shown_text` is for people."""

    content: Any
    entry_type: EmbedType | None
    hidden_fields: Sequence[str]
    shown_text: str

    @classmethod
    def of(cls, data: ToolData) -> Self:
        return cls(
            content=data.content,
            entry_type=data.entry_type,
            hidden_fields=data.hidden_fields,
            shown_text=data.shown_text,
        )
