"""One question to the model per stage and content: asked once, stored, read again on redelivery."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from functions.process_conversation.answers import Answer
from functions.process_conversation.wiring import ProcessDeps
from shared import prompts
from shared.domain.conversation import Conversation
from shared.domain.ids import UserId
from shared.domain.model import ModelRole, Prompt

A = TypeVar("A", bound=Answer)
BLOCK_CHARS = 600_000
"""What a model reads at once, some 150,000 tokens; a longer transcript is read in blocks."""


async def ask(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    prompt: Prompt,
    *,
    role: ModelRole,
    schema: type[A],
    block: int = 0,
) -> A:
    """Return the model's answer, which is stored before anyone derives anything from it."""
    stage = prompt.name.rpartition("/")[2] + (f"-{block}" if block else "")
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


def blocks(conversation: Conversation, time_zone: str) -> list[Mapping[str, Any]]:
    """Return a conversation as data for prompts; segments keep their numbers over all blocks."""
    lines = [
        {"segment": n, "speaker": s.speaker, "is_user": s.is_user, "text": s.text}
        for n, s in enumerate(conversation.spoken)
    ]
    about = {
        "started_at": conversation.started_at.isoformat(),
        "time_zone": time_zone,
        "language": conversation.language,
    }
    return [{"transcript": block, **about} for block in _cut(lines)]


def _cut(lines: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Cut between segments, so that every word stands in exactly one block."""
    cut: list[list[dict[str, Any]]] = [[]]
    size = 0
    for line in lines:
        size += len(line["text"])
        if cut[-1] and size > BLOCK_CHARS:
            cut.append([])
            size = len(line["text"])
        cut[-1].append(line)
    return cut
