"""ChatModel with a retry and a fallback: two attempts at one model, then the next of its role.

Also called: failover, model fallback.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from copy import copy
from typing import Self, TypeVar

from shared import telemetry
from shared.domain.errors import ModelFailed, ModelUnreachable, TierRefused, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import (
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    ToolSpec,
)
from shared.domain.value import value
from shared.ports import ChatModel, Clock
from shared.resilience.retry import MAX_ATTEMPTS, compute_backoff_s
from shared.resilience.shared_breaker import Blame, SharedBreaker

T = TypeVar("T")

Attempt = Callable[[ChatModel], AsyncGenerator[T, None]]
"""Calls a model once and yields its events."""


@value
class _GuardedModel:
    """A model of one role."""

    name: str
    model: ChatModel
    breaker: SharedBreaker
    is_fallback: bool

    def find_blame(self, role: ModelRole, failure: Unavailable) -> Blame:
        """Say what may be at fault: a server without a connection alone is, whatever it was asked.

        A local server has few places: who waits for one behind a long request fails by that request.
        """
        if isinstance(failure, ModelUnreachable):
            return "service"
        return "request" if self.model.describe(role).is_local else "unknown"


class ResilientModel:
    """Calls a role's models in order until one has begun to answer.

    Only a passing failure (Unavailable) is retried, and only before the first event, so that no
    reader sees the beginnings of two answers. A model with an open circuit breaker is skipped; the
    requests of one user alone open it for that user alone.
    A tier that refused counts as failed once another one has answered the same request.
    """

    def __init__(self, models: Mapping[ModelRole, Sequence[ChatModel]], clock: Clock) -> None:
        """`models` has at least one for each role, in the order of use."""
        self._clock = clock
        self.asker = UserId("")
        self._failure_kinds: dict[ModelRole, type[Unavailable]] = {}
        self._models_by_role = {
            role: [
                _GuardedModel(
                    name=model.name(role), model=model, breaker=SharedBreaker(), is_fallback=n > 0
                )
                for n, model in enumerate(role_models)
            ]
            for role, role_models in models.items()
        }

    def for_asker(self, uid: UserId) -> Self:
        """Return the same models, and what is known of their failures, as one user asks them."""
        model = copy(self)
        model.asker = uid
        return model

    def name(self, role: ModelRole) -> str:
        """Name the first model; ModelCallFinished names the one that answered."""
        return self._models_by_role[role][0].name

    def describe(self, role: ModelRole) -> ModelFacts:
        """Return what the first model and its fallback can both be given."""
        first, *others = self._models_by_role[role]
        if not others:
            return first.model.describe(role)
        facts = [candidate.model.describe(role) for candidate in (first, *others)]
        return ModelFacts(
            window_tokens=min(each.window_tokens for each in facts),
            takes_images=all(each.takes_images for each in facts),
            is_local=all(each.is_local for each in facts),
            is_extractive=facts[0].is_extractive,
            reads_per_s=facts[0].reads_per_s,
            places=facts[0].places,
            parameters=facts[0].parameters,
        )

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async def ask(model: ChatModel) -> AsyncGenerator[ModelEvent, None]:
            async with model.stream(role, messages, tools) as events:
                async for event in events:
                    yield event

        async with aclosing(self._stream_first_available(role, ask)) as events:
            yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        async def ask(model: ChatModel) -> AsyncGenerator[T, None]:
            yield await model.complete_structured(role, prompt, schema)

        async with aclosing(self._stream_first_available(role, ask)) as answers:
            [answer] = [answer async for answer in answers]
        return answer

    async def _stream_first_available(
        self, role: ModelRole, ask: Attempt[T]
    ) -> AsyncGenerator[T, None]:
        kind = self._failure_kinds.get(role, Unavailable)
        failure = kind(f"the {role} models have failed just now and are left alone")
        failed_model = None
        refusing_models: list[_GuardedModel] = []
        attempts = [model for model in self._models_by_role[role] for _ in range(MAX_ATTEMPTS)]
        for candidate in attempts:
            if not await self._prepare_attempt(
                candidate, failure if candidate is failed_model else None
            ):
                continue
            has_begun = False
            try:
                async with aclosing(self._attempt_once(role, candidate, ask)) as events:
                    async for event in events:
                        has_begun = True
                        yield event
            except Unavailable as error:
                if has_begun:
                    raise
                failure, failed_model = error, candidate
                if isinstance(error, TierRefused):
                    refusing_models.append(candidate)
            else:
                self._record_failures(refusing_models, "service")
                return
        self._failure_kinds[role] = type(failure)
        raise failure

    def _record_failures(self, models: Sequence[_GuardedModel], blame: Blame) -> None:
        for model in models:
            model.breaker.record_failure(self._clock.now(), self.asker, blame)

    async def _prepare_attempt(
        self, candidate: _GuardedModel, earlier_failure: Unavailable | None
    ) -> bool:
        """Wait before a second attempt. Return False if there is to be none."""
        if not candidate.breaker.allow(self._clock.now(), self.asker):
            return False
        if earlier_failure is None:
            return True
        wait_s = compute_backoff_s(1, earlier_failure)
        if wait_s is not None:
            await self._clock.sleep(wait_s)
        return wait_s is not None

    async def _attempt_once(
        self, role: ModelRole, candidate: _GuardedModel, ask: Attempt[T]
    ) -> AsyncGenerator[T, None]:
        """Make one attempt and record its result.

        An attempt that the caller leaves records nothing.
        """
        telemetry.count(model_attempts=1)
        if candidate.is_fallback:
            telemetry.add_fields(fallback_model=candidate.name)
        try:
            async with aclosing(ask(candidate.model)) as events:
                async for event in events:
                    yield event
        except Unavailable as failure:
            if not isinstance(failure, TierRefused):
                self._record_failures([candidate], candidate.find_blame(role, failure))
            telemetry.warning("model_unavailable", model=candidate.name, reason=str(failure))
            raise
        except ModelFailed as failure:
            telemetry.warning("model_failed", model=candidate.name, reason=failure.reason)
            candidate.breaker.record_success()  # it is at work: what it was asked is at fault
            raise
        candidate.breaker.record_success()
