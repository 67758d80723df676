"""ChatModel that the console sets: each call asks the model that the file names then."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from shared.adapters.embedded.chosen import Chosen
from shared.adapters.shared_model import ask_as
from shared.domain.ids import UserId
from shared.domain.models.model import (
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    ToolSpec,
)
from shared.ports import ChatModel

T = TypeVar("T")
NOBODY = UserId("")


class ConfiguredModel:
    """A change counts from the next call on; one that has begun ends with the model it began with."""

    def __init__(self, chosen: Chosen[ChatModel], asker: UserId = NOBODY) -> None:
        self._chosen = chosen
        self._asker = asker

    def for_asker(self, uid: UserId) -> "ConfiguredModel":
        return ConfiguredModel(self._chosen, uid)

    def name(self, role: ModelRole) -> str:
        return self._chosen.get().name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return self._chosen.get().describe(role)

    def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        return self._get_model().stream(role, messages, tools)

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        return await self._get_model().complete_structured(role, prompt, schema)

    def _get_model(self) -> ChatModel:
        return ask_as(self._chosen.get(), self._asker)
