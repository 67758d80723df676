"""ChatModel whose models read placeholders for private data, and that answers with the originals."""

import hashlib
import hmac
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar, cast

from anyio import to_thread
from pydantic import BaseModel
from pydantic_core import to_json, to_jsonable_python

from shared import prompts, telemetry
from shared.domain.ids import UserId
from shared.domain.models.masking import Masking
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelMessage,
    ModelRole,
    Prompt,
    ReasoningDelta,
    SystemText,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    ToolCallRequested,
    ToolLeftOut,
    ToolSpec,
    Urgency,
)
from shared.models.wrapped_model import WrappedModel, WrappedModels
from shared.ports import ChatModel, Models
from shared.security.masking import (
    Change,
    Masker,
    PrivateSpans,
    StreamRestorer,
    change_json_strings,
    change_strings,
)

T = TypeVar("T")


class MaskedModels(WrappedModels):
    """Models that are asked about one user's words by masking them, as settings and user want it."""

    def __init__(self, models: Models, *, masking: Masking, secret: bytes) -> None:
        """`secret` is the server's: without it nobody can try out what a placeholder stands for."""
        super().__init__(models)
        self._masking = masking
        self._secret = secret
        self._spans = PrivateSpans()

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> ChatModel:
        model = self._models.for_user(uid, is_masked=is_masked, chat=chat, urgency=urgency)
        if self._masking == "off" or not is_masked:
            return model
        key = derive_masking_key(self._secret, uid, chat)
        return MaskedModel(model, Masker(key, self._spans.find), also_local=self._masking == "on")


def derive_masking_key(secret: bytes, uid: UserId, chat: str = "") -> bytes:
    """Derive the key of a user's placeholders, or of one chat of theirs."""
    return hmac.digest(secret, f"masking: {uid}/{chat}".encode(), hashlib.sha256)


class MaskedModel(WrappedModel):
    """Masks what a model reads, and restores what it answers before anybody else sees it."""

    def __init__(self, model: ChatModel, masker: Masker, *, also_local: bool) -> None:
        super().__init__(model)
        self._masker = masker
        self._also_local = also_local

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        if not self._masks(role):
            async with self._model.stream(role, messages, tools) as events:
                yield events
            return
        masked, specs = await to_thread.run_sync(self._mask_input, messages, tools)
        telemetry.add_fields(masked=self._masker.count_values())
        async with (
            self._model.stream(role, masked, specs) as events,
            aclosing(_restore_events(events, self._masker)) as restored,
        ):
            yield restored

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        if not self._masks(role):
            return await self._model.complete_structured(role, prompt, schema)
        masked = await to_thread.run_sync(self._mask_prompt, prompt)
        answer = await self._model.complete_structured(role, masked, schema)
        return cast("T", _restore_fields(answer, self._masker.restore))

    def _masks(self, role: ModelRole) -> bool:
        return self._also_local or not self._model.describe(role).is_local

    def _mask_input(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]
    ) -> tuple[list[ModelMessage], list[ToolSpec]]:
        masked = [SystemText(text=_build_note()), *map(self._mask_message, messages)]
        return masked, [*map(self._mask_tool, tools)]

    def _mask_prompt(self, prompt: Prompt) -> Prompt:
        instructions = f"{self._masker.mask(prompt.instructions)}\n\n{_build_note()}"
        data = change_strings(to_jsonable_python(prompt.data), self._masker.mask)
        return replace(prompt, instructions=instructions, data=data)

    def _mask_message(self, message: ModelMessage) -> ModelMessage:
        masked = replace(message, text=self._masker.mask(message.text))
        if isinstance(masked, AssistantTurn):
            calls = (_change_arguments(call, self._masker.mask) for call in masked.tool_calls)
            return replace(masked, tool_calls=tuple(calls))
        return masked

    def _mask_tool(self, tool: ToolSpec) -> ToolSpec:
        """Mask a tool; most have nothing private, which a look at the whole of it tells."""
        text = f"{tool.description}\n{to_json(tool.parameters).decode()}"
        if self._masker.mask(text) == text:
            return tool
        return replace(
            tool,
            description=self._masker.mask(tool.description),
            parameters=change_strings(tool.parameters, self._masker.mask),
        )


class _EventRestorer:
    """Restores the events of one model call, text and reasoning each for itself."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._text = StreamRestorer(masker)
        self._reasoning = StreamRestorer(masker)

    def restore(self, event: ModelEvent) -> Iterator[ModelEvent]:
        """Yield what is certain with the next event: what precedes it may have waited."""
        match event:
            case TextDelta(piece):
                yield from _build_delta(TextDelta, self._text.feed(piece))
            case ReasoningDelta(piece):
                yield from _build_delta(ReasoningDelta, self._reasoning.feed(piece))
            case ToolCallRequested(call):
                yield from self._flush()
                yield ToolCallRequested(_change_arguments(call, self._masker.restore))
            case ModelCallFinished() | TextWithdrawn() | ToolLeftOut():
                yield from self._flush()
                yield event

    def _flush(self) -> Iterator[ModelEvent]:
        yield from _build_delta(ReasoningDelta, self._reasoning.flush())
        yield from _build_delta(TextDelta, self._text.flush())


async def _restore_events(
    events: AsyncIterator[ModelEvent], masker: Masker
) -> AsyncGenerator[ModelEvent, None]:
    restorer = _EventRestorer(masker)
    async for event in events:
        for restored in restorer.restore(event):
            yield restored


def _build_delta(
    kind: type[TextDelta] | type[ReasoningDelta], text: str
) -> Iterator[TextDelta | ReasoningDelta]:
    if text:
        yield kind(text)


def _change_arguments(call: ToolCall, change: Change) -> ToolCall:
    return replace(call, arguments=change_json_strings(call.arguments, change))


def _restore_fields(value: Any, restore: Change) -> Any:
    """Restore the strings of a structured answer, after its schema was checked."""
    match value:
        case BaseModel():
            fields = {name: _restore_fields(field, restore) for name, field in value}
            return value.model_copy(update=fields)
        case str():
            restored = restore(value)
            return value if restored == value else restored  # an enum's member stays one
        case Mapping():
            return {key: _restore_fields(item, restore) for key, item in value.items()}
        case list() | tuple():
            return type(value)(_restore_fields(item, restore) for item in value)
    return value


def _build_note() -> str:
    return prompts.render("masking")
