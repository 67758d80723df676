"""ChatModel over models that fail at times: two attempts at one, then the one that stands in."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from shared import telemetry
from shared.domain.attempts import ATTEMPTS, pause_s
from shared.domain.breaker import Breaker
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.model import ModelEvent, ModelMessage, ModelRole, Prompt, ToolSpec
from shared.domain.value import value
from shared.ports import ChatModel, Clock

T = TypeVar("T")

Ask = Callable[[ChatModel], AsyncGenerator[T, None]]
"""Asks a model once and yields what it tells."""


@value
class _Guarded:
    """A model as one role asks it."""

    name: str
    model: ChatModel
    breaker: Breaker
    stands_in: bool


class ResilientModel:
    """Asks a role's models in their order until one has begun to answer.

    Only what passes (Unavailable) is tried again, and only before the first event: nobody ever
    reads the beginnings of two answers. A model whose breaker is open is passed over.
    """

    def __init__(self, models: Mapping[ModelRole, Sequence[ChatModel]], clock: Clock) -> None:
        """`models` holds at least one for each role, in the order they are asked."""
        self._clock = clock
        self._guarded = {
            role: [_guarded(model, role, stands_in=n > 0) for n, model in enumerate(each)]
            for role, each in models.items()
        }

    def name(self, role: ModelRole) -> str:
        """Name the model that is asked first; Finished names the one that answered."""
        return self._guarded[role][0].name

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async def ask(model: ChatModel) -> AsyncGenerator[ModelEvent, None]:
            async with model.stream(role, messages, tools) as events:
                async for event in events:
                    yield event

        async with aclosing(self._first_to_begin(role, ask)) as events:
            yield events

    async def structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        async def ask(model: ChatModel) -> AsyncGenerator[T, None]:
            yield await model.structured(role, prompt, schema)

        async with aclosing(self._first_to_begin(role, ask)) as answers:
            [answer] = [answer async for answer in answers]
        return answer

    async def _first_to_begin(self, role: ModelRole, ask: Ask[T]) -> AsyncGenerator[T, None]:
        failure = Unavailable(f"the {role} models have failed just now and are left alone")
        failed = None
        for guarded in _attempts(self._guarded[role]):
            if not await self._may_try(guarded, failure if guarded is failed else None):
                continue
            begun = False
            try:
                async with aclosing(self._watched(guarded, ask)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except Unavailable as passing:
                if begun:
                    raise
                failure, failed = passing, guarded
            else:
                return
        raise failure

    async def _may_try(self, guarded: _Guarded, earlier: Unavailable | None) -> bool:
        """Wait before a second attempt. False for a model that is to be left alone."""
        if not guarded.breaker.admits(self._clock.now()):
            return False
        if earlier is None:
            return True
        wait_s = pause_s(earlier)
        if wait_s is not None:
            await self._clock.sleep(wait_s)
        return wait_s is not None

    async def _watched(self, guarded: _Guarded, ask: Ask[T]) -> AsyncGenerator[T, None]:
        """Make one attempt, and let its end be known; one that is left says nothing."""
        telemetry.count(model_attempts=1)
        if guarded.stands_in:
            telemetry.note(fallback_model=guarded.name)
        try:
            async with aclosing(ask(guarded.model)) as events:
                async for event in events:
                    yield event
        except Unavailable as failure:
            guarded.breaker.failed(self._clock.now())
            telemetry.warning("model_unavailable", model=guarded.name, reason=str(failure))
            raise
        except ModelFailed:
            guarded.breaker.succeeded()  # it is at work: what it was asked is at fault
            raise
        guarded.breaker.succeeded()


def _guarded(model: ChatModel, role: ModelRole, *, stands_in: bool) -> _Guarded:
    return _Guarded(name=model.name(role), model=model, breaker=Breaker(), stands_in=stands_in)


def _attempts(models: Sequence[_Guarded]) -> list[_Guarded]:
    return [guarded for guarded in models for _ in range(ATTEMPTS)]
