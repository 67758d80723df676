"""Wrapped models: what stands around a language model passes on whatever it does not change.

Also called: decorators, middleware of models.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from shared.domain.ids import UserId
from shared.domain.models.model import (
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    ToolSpec,
)
from shared.ports import ChatModel, Models

T = TypeVar("T")


class WrappedModel:
    """A ChatModel around another."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def name(self, role: ModelRole) -> str:
        return self._model.name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return self._model.describe(role)

    def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        return self._model.stream(role, messages, tools)

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        return await self._model.complete_structured(role, prompt, schema)


class WrappedModels:
    """Models around others, but for the choice of a user's."""

    def __init__(self, models: Models) -> None:
        self._models = models

    def name(self, role: ModelRole) -> str:
        return self._models.name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return self._models.describe(role)

    def check_room(self, uid: UserId) -> None:
        self._models.check_room(uid)

    def is_short(self) -> bool:
        return self._models.is_short()
