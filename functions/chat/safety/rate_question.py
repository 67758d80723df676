"""Rating of a question by a model, beside its answer: the chat before it in blocks, all at once."""

from collections.abc import Sequence

import anyio

from functions.chat.safety.crisis_verdict import mask_contacts
from functions.chat.safety.judge_text import JudgeDeps
from functions.chat.safety.model_outputs import RatingOutput
from functions.chat.safety.question_rating import QuestionRating, merge_ratings
from functions.chat.safety.token_blocks import MAX_BLOCK_TOKENS, split_blocks, split_text
from shared import prompts, telemetry
from shared.domain.errors import RateLimited
from shared.domain.ids import UserId
from shared.domain.models.model import Prompt
from shared.models.windows import compute_data_tokens, count_data_tokens
from shared.ports import ChatModel

_PROMPT = "chat/rating"
_ANSWER_TOKENS = 1_000
"""Room for five numbers, and for what some models think before them."""
_MIN_ROOM_TOKENS = 400


async def rate_question(
    deps: JudgeDeps, uid: UserId, text: str, earlier: Sequence[str]
) -> QuestionRating:
    """Rate a question beside each block of `earlier`; a block that is not rated in time counts as harmless.

    A question that is longer than the model reads at once is rated in pieces.
    While tokens are short there is more time, and a block that is not rated even so is said to lack them.
    """
    readings = _split(deps.model.describe("fast").window_tokens, text, earlier)
    model = deps.model.for_user(uid, is_masked=True)
    ratings: dict[int, QuestionRating] = {}
    all_rated = anyio.Event()

    async def rate(n: int) -> None:
        ratings[n] = await _rate(model, *readings[n])
        if len(ratings) == len(readings):
            all_rated.set()

    async with anyio.create_task_group() as tasks:
        for n in range(len(readings)):
            tasks.start_soon(rate, n)
        missing = await _wait_in_time(deps, all_rated)
        tasks.cancel_scope.cancel()
    return merge_ratings(ratings.get(n, missing) for n in range(len(readings)))


async def _wait_in_time(deps: JudgeDeps, all_rated: anyio.Event) -> QuestionRating:
    """Wait as long as ratings may take; return what stands for one that is missing then."""
    with anyio.move_on_after(deps.limits.moderation_timeout_s):
        await all_rated.wait()
    if all_rated.is_set() or not deps.model.is_short():
        return QuestionRating()
    with anyio.move_on_after(deps.limits.token_wait_s):
        await all_rated.wait()
    return QuestionRating(lacked_tokens=True)


def _split(
    window_tokens: int, text: str, earlier: Sequence[str]
) -> list[tuple[str, Sequence[str]]]:
    """Return what is read at once: a text beside each block of the chat, and the rest of a long one alone."""
    room = compute_data_tokens(window_tokens, prompts.render(_PROMPT), _ANSWER_TOKENS)
    head, *rest = split_text(text, max(room, _MIN_ROOM_TOKENS) // 2)
    left = max(room - count_data_tokens(head), _MIN_ROOM_TOKENS // 2)
    blocks = split_blocks(earlier, min(left, MAX_BLOCK_TOKENS))
    return [*((head, block) for block in blocks), *((piece, ()) for piece in rest)]


async def _rate(model: ChatModel, text: str, block: Sequence[str]) -> QuestionRating:
    prompt = Prompt(
        name=_PROMPT,
        version=prompts.compute_version(_PROMPT),
        instructions=prompts.render(_PROMPT),
        data={"message": mask_contacts(text), "earlier": list(map(mask_contacts, block))},
        answer_tokens=_ANSWER_TOKENS,
    )
    try:
        output = await model.complete_structured("fast", prompt, RatingOutput)
    except RateLimited:
        return QuestionRating(lacked_tokens=True)
    except Exception as error:  # noqa: BLE001 - whatever else fails, the block counts as harmless
        telemetry.warning("question_not_read", error=type(error).__name__)
        return QuestionRating()
    return QuestionRating(**output.model_dump())
