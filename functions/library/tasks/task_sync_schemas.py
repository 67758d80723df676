"""Schemas of the synchronisation of tasks with the task apps of a phone."""

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from functions.library.tasks.action_item_schemas import ActionItemOut
from shared.data.tasks.task_integrations import Setting
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Label

DEFAULT_PLATFORM = "apple_reminders"
"""The only task app that phones sync with by themselves; an export may leave it out."""
MAX_SETTINGS = 20
MAX_NAME_CHARS = 64
MAX_SETTING_CHARS = 500
SECRET_NAMES = frozenset({"access_token", "refresh_token", "id_token", "client_secret"})


class PendingSyncQuery(Wire):
    platform: Label = DEFAULT_PLATFORM


class PendingSyncOut(Wire):
    """`pending_export` is to be exported; `synced_items` stand in the task app already."""

    pending_export: list[ActionItemOut]
    synced_items: list[ActionItemOut]


class TaskIntegrationIn(Wire):
    """Whether a phone is connected with a task app, and its settings there: short texts and numbers.

    Tokens are left out: nothing here reads them.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Setting] = Field(init=False)

    connected: bool = True

    @model_validator(mode="after")
    def _validate_settings(self) -> "TaskIntegrationIn":
        if len(self.to_settings()) > MAX_SETTINGS:
            raise ValueError(f"there must be at most {MAX_SETTINGS} settings")
        for name, setting in self.to_settings().items():
            if len(name) > MAX_NAME_CHARS or len(str(setting)) > MAX_SETTING_CHARS:
                raise ValueError(f"a setting must have at most {MAX_SETTING_CHARS} characters")
        return self

    def to_settings(self) -> dict[str, Setting]:
        settings = self.model_dump()
        return {name: value for name, value in settings.items() if name not in SECRET_NAMES}


class TaskIntegrationsOut(Wire):
    """`default_app` is the app that was connected last."""

    integrations: dict[Annotated[str, Field(max_length=64)], dict[str, Setting]]
    default_app: str | None
