"""Parts of stored answers, in the form in which the AI SDK shows the ones that it streamed."""

from collections.abc import Sequence
from typing import Any

from functions.chat.api.message_schemas import MessageOut
from functions.chat.api.ui_chunks import (
    TOOL_ABANDONED,
    build_chart_part,
    build_embed_part,
    parse_input,
)
from shared.domain.chats.branches import build_shown_path, omit_foreign_summary
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.steps import CallStep, Step


def add_parts(
    listed: Sequence[MessageOut], session: Session, messages: Sequence[Message]
) -> list[MessageOut]:
    """Return messages of a chat with their parts, and a mark on those that its summary covers."""
    summarised = omit_foreign_summary(session, build_shown_path(session.forks))
    return [
        out.model_copy(update={"metadata": out.metadata | _build_metadata(message, summarised)})
        for out, message in zip(listed, messages, strict=True)
    ]


def _build_metadata(message: Message, session: Session) -> dict[str, Any]:
    parts = {"parts": build_parts(message)} if message.sender == "ai" else {}
    return parts | ({"summarised": True} if session.is_summarised(message) else {})


def build_parts(message: Message) -> list[dict[str, Any]]:
    """Return the steps of an answer, what they returned, its chart, and its text with the markers of what it cites."""
    text = message.text if message.marked_text is None else message.marked_text
    chart = [build_chart_part(message.chart)] if message.chart else []
    text_part = {"type": "text", "text": text, "state": "done"}
    embeds = map(build_embed_part, message.embeds)
    return [*map(_to_part, message.steps), *embeds, *chart, text_part]


def _to_part(step: Step) -> dict[str, Any]:
    if not isinstance(step, CallStep):
        return {"type": "reasoning", "text": step.text, "state": "done"}
    call = {
        "type": "dynamic-tool",
        "toolName": step.tool,
        "toolCallId": step.call_id,
        "input": parse_input(step.arguments),
        "providerExecuted": True,
    }
    if step.state == "done":
        return call | {"state": "output-available", "output": step.output}
    error_text = TOOL_ABANDONED if step.state == "abandoned" else step.output
    return call | {"state": "output-error", "errorText": error_text}
