"""ChatModel that the console sets: each call asks the model that the file names then."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from shared.adapters.embedded.model_file import ModelFile, ModelSetup
from shared.domain.model import (
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    ToolSpec,
)
from shared.ports import ChatModel

T = TypeVar("T")


class ConfiguredModel:
    """A change counts from the next call on; one that has begun ends with the model it began with."""

    def __init__(self, file: ModelFile, build: Callable[[ModelSetup | None], ChatModel]) -> None:
        """`build` makes the model of a setup, the offline model for None."""
        self._file = file
        self._build = build
        self._version = file.find_version()
        self._model = build(file.load())

    def name(self, role: ModelRole) -> str:
        return self._select().name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return self._select().describe(role)

    def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        return self._select().stream(role, messages, tools)

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        return await self._select().complete_structured(role, prompt, schema)

    def _select(self) -> ChatModel:
        version = self._file.find_version()
        if version != self._version:
            self._model = self._build(self._file.load())
            self._version = version
        return self._model
