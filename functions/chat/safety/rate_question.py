"""Rating of a question by a model, beside its answer: the chat before it in blocks, all at once."""

from collections.abc import Sequence

import anyio

from functions.chat.context.budget import compute_budget
from functions.chat.context.token_blocks import MAX_BLOCK_TOKENS, split_blocks
from functions.chat.safety.judge_text import JudgeDeps
from functions.chat.safety.model_outputs import RatingOutput
from shared import prompts, telemetry
from shared.domain.errors import RateLimited
from shared.domain.ids import UserId
from shared.domain.model import Prompt
from shared.domain.tokens import estimate_tokens
from shared.ports import ChatModel
from shared.safety.crisis_verdict import mask_contacts
from shared.safety.question_rating import QuestionRating, merge_ratings

_PROMPT = "chat/rating"
_PROMPT_TOKENS = 1_000
"""Room for the instructions and for the answer's form."""
_MIN_BLOCK_TOKENS = 1_000


async def rate_question(
    deps: JudgeDeps, uid: UserId, text: str, earlier: Sequence[str]
) -> QuestionRating:
    """Rate a question beside each block of `earlier`; a block that is not rated in time counts as harmless.

    While tokens are short there is more time, and a block that is not rated even so is said to lack them.
    """
    blocks = split_blocks(earlier, _compute_room(deps, text))
    model = deps.model.for_user(uid, is_masked=True)
    ratings: dict[int, QuestionRating] = {}
    all_rated = anyio.Event()

    async def rate(n: int) -> None:
        ratings[n] = await _rate_block(model, text, blocks[n])
        if len(ratings) == len(blocks):
            all_rated.set()

    async with anyio.create_task_group() as tasks:
        for n in range(len(blocks)):
            tasks.start_soon(rate, n)
        missing = await _wait_in_time(deps, all_rated)
        tasks.cancel_scope.cancel()
    return merge_ratings(ratings.get(n, missing) for n in range(len(blocks)))


async def _wait_in_time(deps: JudgeDeps, all_rated: anyio.Event) -> QuestionRating:
    """Wait as long as ratings may take; return what stands for one that is missing then."""
    with anyio.move_on_after(deps.limits.moderation_timeout_s):
        await all_rated.wait()
    if all_rated.is_set() or not deps.model.is_short():
        return QuestionRating()
    with anyio.move_on_after(deps.limits.token_wait_s):
        await all_rated.wait()
    return QuestionRating(lacked_tokens=True)


def _compute_room(deps: JudgeDeps, text: str) -> int:
    window = compute_budget(deps.model.describe("fast").window_tokens, ())
    return max(
        min(MAX_BLOCK_TOKENS, window - _PROMPT_TOKENS - estimate_tokens(text)), _MIN_BLOCK_TOKENS
    )


async def _rate_block(model: ChatModel, text: str, block: Sequence[str]) -> QuestionRating:
    prompt = Prompt(
        name=_PROMPT,
        version=prompts.compute_version(_PROMPT),
        instructions=prompts.render(_PROMPT),
        data={"message": mask_contacts(text), "earlier": list(map(mask_contacts, block))},
    )
    try:
        output = await model.complete_structured("fast", prompt, RatingOutput)
    except RateLimited:
        return QuestionRating(lacked_tokens=True)
    except Exception as error:  # noqa: BLE001 - whatever else fails, the block counts as harmless
        telemetry.warning("question_not_read", error=type(error).__name__)
        return QuestionRating()
    return QuestionRating(**output.model_dump())
