"""Cached completion: one model call per stage and content, its answer stored for redeliveries.

Also called: LLM cache, memoization.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import anyio

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.counted_model import CountedModel
from functions.process_conversation.processing.failures import ModelOutage
from functions.process_conversation.processing.model_outputs import ProcessingOutput
from functions.process_conversation.processing.stored_answers import load_answer, store_answer
from functions.process_conversation.processing.transcript_parts import (
    Line,
    build_lines,
    describe_context,
)
from functions.process_conversation.processing.urgency import choose_urgency
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.account.profile import Profile
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import ModelFailed, TimedOut, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import ModelRole, Prompt
from shared.domain.value import value
from shared.ports import ChatModel

A = TypeVar("A", bound=ProcessingOutput)
StoredAnswer = Mapping[str, Any]
MAX_QUESTIONS = 2
"""How often an attempt asks for one answer, of which a part came malformed."""
LAST_QUESTION_AFTER = timedelta(minutes=4)
"""Past it an attempt asks nothing more: the platform ends a request after 540 seconds, and an answer may take long."""
LAST_ANSWER_AFTER = timedelta(minutes=8)
"""Past it an attempt waits for no answer, but for that of a model on this machine, where nobody ends a request."""


def _keep(answer: A) -> A:
    return answer


@value
class Extraction:
    """An attempt at reading a conversation: its lines as data, and the models of its owner."""

    deps: ProcessDeps
    uid: UserId
    conversation: Conversation
    profile: Profile
    model: ChatModel
    lines: Sequence[Line]
    began_at: datetime

    @property
    def context(self) -> Mapping[str, Any]:
        """What the data of each prompt says of the conversation beside its lines."""
        return describe_context(self.conversation, self.profile.zone)


async def start_extraction(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, profile: Profile
) -> Extraction:
    now = deps.clock.now()
    urgency = choose_urgency(conversation, now)
    model = deps.model.for_user(uid, is_masked=profile.masks_private_data, urgency=urgency)
    return Extraction(
        deps=deps,
        uid=uid,
        conversation=conversation,
        profile=profile,
        model=CountedModel(model, deps.quotas, uid, deps.clock),
        lines=await run_beside_the_loop(
            [conversation], partial(build_lines, conversation, profile.all_names)
        ),
        began_at=now,
    )


async def complete_once(
    extraction: Extraction,
    prompt: Prompt,
    *,
    role: ModelRole,
    schema: type[A],
    stage: str | None = None,
    covers: Mapping[str, Any] | None = None,
    finish: Callable[[A], A] = _keep,
) -> A:
    """Return the model's answer; it is stored before anything is derived from it.

    It is stored as that of a `stage`, the prompt's name unless given. An answer to another version of
    the prompt is not used again, nor one that covers something else than `covers`. `finish` adds what only
    this call knows. An answer of which a part came malformed is asked for once more, and so is a stored
    one. Raises ModelFailed where it does not serve without that part; what came stays stored. Raises ModelOutage also
    where the attempt has lasted so long that the next one had better go on.
    """
    stage, covers = stage or prompt.name.rpartition("/")[2], covers or {}
    stored = await load_stored(extraction, stage, versions={prompt.version})
    is_same = stored is not None and covers.items() <= stored.items()
    answer = schema.model_validate(stored["answer"]) if stored and is_same else None
    for _ in range(MAX_QUESTIONS):
        if answer is not None and answer.is_complete:
            return answer
        time_left = _compute_time_left(extraction, role)
        new_answer = finish(await ask_model(extraction.model, role, prompt, schema, time_left))
        answer = new_answer.add(answer) if answer is not None else new_answer
        record = {
            "prompt_version": prompt.version,
            "model": extraction.model.name(role),
            "answer": answer.model_dump(mode="json", exclude_none=True),
            **covers,
        }
        await store_answer(
            extraction.deps.claims, extraction.uid, extraction.conversation, stage, record
        )
    return _require_serving(answer, prompt)


async def load_stored(
    extraction: Extraction, stage: str, *, versions: Collection[str]
) -> StoredAnswer | None:
    """Return the stored answer of a stage, with what it covers, if it is one to any of these prompts."""
    documents = extraction.deps.stores.documents
    stored = await load_answer(documents, extraction.uid, extraction.conversation, stage)
    return stored if stored is not None and stored["prompt_version"] in versions else None


def _compute_time_left(extraction: Extraction, role: ModelRole) -> timedelta | None:
    """Return how long an answer may take, None for as long as it takes. Raises ModelOutage."""
    elapsed = extraction.deps.clock.now() - extraction.began_at
    if elapsed > LAST_QUESTION_AFTER:
        raise ModelOutage("The next attempt goes on") from TimedOut("The attempt lasted long")
    return None if extraction.model.describe(role).is_local else LAST_ANSWER_AFTER - elapsed


def _require_serving(answer: A | None, prompt: Prompt) -> A:
    if answer is None or not answer.can_serve:
        message = f"a part of the answer to {prompt.name!r} is missing"
        raise ModelFailed(message, reason="malformed_answer")
    return answer


async def ask_model(
    model: ChatModel, role: ModelRole, prompt: Prompt, schema: type[A], time_left: timedelta | None
) -> A:
    """Raises ModelOutage in place of Unavailable and past the time that is left, and ModelFailed."""
    try:
        with anyio.fail_after(None if time_left is None else time_left.total_seconds()):
            return await model.complete_structured(role, prompt, schema)
    except TimeoutError as error:
        raise ModelOutage("The answer took too long") from TimedOut(str(error))
    except Unavailable as error:
        raise ModelOutage("A model is away", retry_after_s=error.retry_after_s) from error
