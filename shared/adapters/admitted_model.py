"""Models whose calls are admitted one by one, so that all users together stay within a budget."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from pydantic_core import to_json

from shared.domain.ids import UserId
from shared.domain.models.model import (
    AssistantTurn,
    ModelEvent,
    ModelMessage,
    ModelRole,
    Prompt,
    ToolSpec,
    Urgency,
    UserText,
)
from shared.domain.models.tokens import estimate_tokens
from shared.models.windows import count_prompt_tokens
from shared.models.wrapped_model import WrappedModel, WrappedModels
from shared.ports import ChatModel, Models
from shared.resilience.admission import Admission

T = TypeVar("T")

ANSWER_TOKENS = 500
"""What an answer is assumed to take: its length is not known before."""


class AdmittedModels(WrappedModels):
    """Any Models, each call of which waits until it is admitted, or raises ModelBusy."""

    def __init__(self, models: Models, admission: Admission) -> None:
        super().__init__(models)
        self._admission = admission

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> ChatModel:
        model = self._models.for_user(uid, is_masked=is_masked, chat=chat, urgency=urgency)
        return AdmittedModel(model, self._admission, uid, urgency)

    def check_room(self, uid: UserId) -> None:
        self._admission.check_room(uid)

    def is_short(self) -> bool:
        return self._admission.is_short()


class AdmittedModel(WrappedModel):
    """The models of one user."""

    def __init__(
        self, model: ChatModel, admission: Admission, uid: UserId, urgency: Urgency
    ) -> None:
        super().__init__(model)
        self._admission = admission
        self._uid = uid
        self._urgency = urgency

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        tokens = sum(map(_count_message, messages)) + sum(map(_count_tool, tools))
        await self._admission.admit(self._uid, self._urgency, tokens + ANSWER_TOKENS)
        async with self._model.stream(role, messages, tools) as events:
            yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        tokens = count_prompt_tokens(prompt) + ANSWER_TOKENS
        await self._admission.admit(self._uid, self._urgency, tokens)
        return await self._model.complete_structured(role, prompt, schema)


def _count_message(message: ModelMessage) -> int:
    tokens = estimate_tokens(message.text)
    match message:
        case UserText(pictures=pictures):
            return tokens + sum(picture.tokens for picture in pictures)
        case AssistantTurn(tool_calls=calls):
            return tokens + sum(estimate_tokens(call.arguments) for call in calls)
        case _:
            return tokens


def _count_tool(tool: ToolSpec) -> int:
    return estimate_tokens(f"{tool.name} {tool.description} {to_json(tool.parameters).decode()}")
