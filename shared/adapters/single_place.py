"""Single place of a model's server: what nobody reads along makes way for what somebody waits for."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import anyio

from shared.domain.models.model import (
    ModelEvent,
    ModelMessage,
    ModelRole,
    Prompt,
    ToolSpec,
)
from shared.models.wrapped_model import WrappedModel
from shared.ports import ChatModel

T = TypeVar("T")

MAX_YIELDS = 5
"""What made way so often is not kept waiting any more."""


class SinglePlace:
    """The place of one server in this process: how many wait for it, and who makes way for them."""

    def __init__(self) -> None:
        self._urgent = 0
        self._yielding: set[anyio.CancelScope] = set()
        self._is_free: asyncio.Event | None = None

    @contextmanager
    def take(self) -> Iterator[None]:
        """Take the place for somebody who waits; whoever can wait is cancelled at the server."""
        self._urgent += 1
        for scope in self._yielding:
            scope.cancel()
        try:
            yield
        finally:
            self._urgent -= 1
            if self._urgent == 0 and self._is_free is not None:
                self._is_free.set()
                self._is_free = None

    @contextmanager
    def borrow(self) -> Iterator[None]:
        """Use the place until somebody takes it; then the block ends where it is."""
        with anyio.CancelScope() as scope:
            self._yielding.add(scope)
            try:
                yield
            finally:
                self._yielding.discard(scope)

    async def wait_free(self) -> None:
        """Wait until nobody waits for the place."""
        while self._urgent:
            if self._is_free is None:
                self._is_free = asyncio.Event()
            await self._is_free.wait()


class _PlacedModel(WrappedModel):
    """A model whose calls share the one place of its server."""

    def __init__(self, model: ChatModel, place: SinglePlace) -> None:
        super().__init__(model)
        self._place = place


class UrgentModel(_PlacedModel):
    """A model that somebody waits for."""

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        with self._place.take():
            async with self._model.stream(role, messages, tools) as events:
                yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        with self._place.take():
            return await self._model.complete_structured(role, prompt, schema)


class YieldingModel(_PlacedModel):
    """A model for what can wait: notes, titles, transcripts. A call that made way is made again."""

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        await self._place.wait_free()
        async with self._model.stream(role, messages, tools) as events:
            yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        for _ in range(MAX_YIELDS):
            await self._place.wait_free()
            with self._place.borrow():
                return await self._model.complete_structured(role, prompt, schema)
        return await self._model.complete_structured(role, prompt, schema)
