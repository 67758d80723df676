"""What routes of several kinds answer."""

from typing import Literal

from shared.edge.http import Wire


class ToolProxyOkOut(Wire):
    """It is done."""

    status: Literal["ok"] = "ok"


class ToolCallOut(Wire):
    """What the model reads."""

    text: str
