"""Cached completion: one model call per stage and content, its answer stored for redeliveries."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.failures import ModelOutage
from functions.process_conversation.processing.model_outputs import ProcessingOutput
from functions.process_conversation.processing.stored_answers import load_answer, store_answer
from functions.process_conversation.processing.urgency import choose_urgency
from shared import prompts
from shared.domain.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.model import ModelRole, Prompt
from shared.domain.profile import Profile
from shared.domain.sizes import split_by_size
from shared.domain.tokens import estimate_tokens
from shared.ports import ChatModel

A = TypeVar("A", bound=ProcessingOutput)
MAX_QUESTIONS = 2
"""How often an attempt asks for one answer, of which a part came malformed."""
MAX_BLOCK_TOKENS = 150_000
"""What a model reads of a transcript at once; a longer one is read in blocks."""
_LINE_TOKENS = 30
"""What a line of the transcript takes beside its text."""


def _keep(answer: A) -> A:
    return answer


async def complete_once(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    prompt: Prompt,
    *,
    profile: Profile,
    role: ModelRole,
    schema: type[A],
    block: int = 0,
    stage: str | None = None,
    finish: Callable[[A], A] = _keep,
) -> A:
    """Return the model's answer; it is stored before anything is derived from it.

    An answer to another version of the prompt is not used again. It is stored as that of a `stage`,
    the prompt's name unless given, and its block. The model is that of `profile`. `finish` adds what only this call knows.
    An answer of which a part came malformed is asked for once more, and so is a stored one. Raises
    ModelFailed where a part is missing all the same; what came stays stored.
    """
    stage = (stage or prompt.name.rpartition("/")[2]) + (f"-{block}" if block else "")
    stored_answer = await load_answer(deps.stores.documents, uid, conversation, stage)
    answer: A | None = None
    if stored_answer is not None and stored_answer["prompt_version"] == prompt.version:
        answer = schema.model_validate(stored_answer["answer"])
    urgency = choose_urgency(conversation, deps.clock.now())
    model = deps.model.for_user(uid, is_masked=profile.masks_private_data, urgency=urgency)
    for _ in range(MAX_QUESTIONS):
        if answer is not None and answer.is_complete:
            return answer
        new_answer = finish(await ask_model(model, role, prompt, schema))
        answer = new_answer.add(answer) if answer is not None else new_answer
        record = {
            "prompt_version": prompt.version,
            "model": model.name(role),
            "answer": answer.model_dump(mode="json", exclude_none=True),
        }
        await store_answer(deps.claims, uid, conversation, stage, record)
    return _require_complete(answer, prompt)


def _require_complete(answer: A | None, prompt: Prompt) -> A:
    if answer is None or not answer.is_complete:
        message = f"a part of the answer to {prompt.name!r} is missing"
        raise ModelFailed(message, reason="malformed_answer")
    return answer


async def ask_model(model: ChatModel, role: ModelRole, prompt: Prompt, schema: type[A]) -> A:
    """Raises ModelOutage in place of Unavailable, and ModelFailed."""
    try:
        return await model.complete_structured(role, prompt, schema)
    except Unavailable as error:
        raise ModelOutage("A model is away", retry_after_s=error.retry_after_s) from error


def build_prompt(name: str, data: Mapping[str, Any], **slots: str) -> Prompt:
    full_name = f"process_conversation/{name}"
    return Prompt(
        name=full_name,
        version=prompts.compute_version(full_name),
        instructions=prompts.render(full_name, **slots),
        data=data,
    )


def split_transcript(conversation: Conversation, time_zone: str) -> list[Mapping[str, Any]]:
    """Return a conversation as data for prompts; segments keep their numbers over all blocks."""
    lines = [
        {"segment": n, "speaker": s.speaker, "is_user": s.is_user, "text": s.text}
        for n, s in enumerate(conversation.named_segments)
    ]
    context = {
        "started_at": conversation.started_at.isoformat(),
        "time_zone": time_zone,
        "language": conversation.language,
    }
    blocks = split_by_size(lines, count_line_tokens, MAX_BLOCK_TOKENS)
    return [{"transcript": block, **context} for block in list(blocks) or [[]]]


def count_line_tokens(line: Mapping[str, Any]) -> int:
    """Estimate what a line of a transcript takes of a prompt."""
    return estimate_tokens(line["text"]) + _LINE_TOKENS
