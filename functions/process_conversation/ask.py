"""One question to the model per stage and content: asked once, stored, read again on redelivery."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from functions.process_conversation.answers import Answer
from functions.process_conversation.wiring import ProcessDeps
from shared import prompts
from shared.domain.conversation import Conversation
from shared.domain.ids import UserId
from shared.domain.model import ModelRole, Prompt

A = TypeVar("A", bound=Answer)
TRANSCRIPT_CHARS = 600_000
"""What a model reads of a transcript; of a longer one, the beginning and the end."""


async def ask(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    prompt: Prompt,
    *,
    role: ModelRole,
    schema: type[A],
) -> A:
    """Return the model's answer, which is stored before anyone derives anything from it."""
    stage = prompt.name.rpartition("/")[2]
    stored = await deps.claims.kept(uid, conversation, stage)
    known = _parsed(stored["answer"], schema) if stored else None
    if known is not None:
        return known
    answer = await deps.model.structured(role, prompt, schema)
    kept = {
        "prompt_version": prompt.version,
        "model": deps.model.name(role),
        "answer": answer.model_dump(mode="json"),
    }
    await deps.claims.keep(uid, conversation, stage, kept)
    return answer


def _parsed(answer: object, schema: type[A]) -> A | None:
    """Return None for an answer in an older shape: it is asked for anew."""
    try:
        return schema.model_validate(answer)
    except ValidationError:
        return None


def question(name: str, data: Mapping[str, Any], **slots: str) -> Prompt:
    full = f"process_conversation/{name}"
    return Prompt(
        name=full,
        version=prompts.version(full),
        instructions=prompts.render(full, **slots),
        data=data,
    )


def transcript(conversation: Conversation, time_zone: str) -> dict[str, Any]:
    """Return a conversation as data for a prompt; segments keep their numbers."""
    lines = [
        {"segment": n, "speaker": s.speaker, "is_user": s.is_user, "text": s.text}
        for n, s in enumerate(conversation.spoken)
    ]
    return {
        "transcript": _within(lines, TRANSCRIPT_CHARS),
        "started_at": conversation.started_at.isoformat(),
        "time_zone": time_zone,
        "language": conversation.language,
    }


def _within(lines: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    """Leave out the middle of what is too long."""
    head = _prefix(lines, budget)
    if head == len(lines):
        return lines
    head = _prefix(lines, budget // 2)
    tail = _prefix(lines[:head:-1], budget // 2)
    return lines[:head] + lines[len(lines) - tail :]


def _prefix(lines: list[dict[str, Any]], budget: int) -> int:
    used = 0
    for n, line in enumerate(lines):
        used += len(line["text"])
        if used > budget:
            return n
    return len(lines)
