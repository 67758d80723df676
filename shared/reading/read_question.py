"""Reading of a question, with what was said before it, by one call of a model.

Also called: crisis classifier, safety rating.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import anyio

from shared import prompts, telemetry
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.ids import UserId
from shared.domain.models.model import Prompt, Urgency
from shared.models.windows import compute_data_tokens, count_data_tokens, cut_texts
from shared.ports import ChatModel, Models
from shared.reading.crisis_rules import CrisisFinding
from shared.reading.crisis_verdict import judge_alone, judge_reading, mask_contacts
from shared.reading.reading import Reading, merge_readings
from shared.reading.reading_output import ReadingOutput
from shared.reading.token_blocks import split_text

MAX_TOKENS = 8_000
"""Of a question and the messages before it."""
_ATTEMPTS = 2
_ANSWER_TOKENS = 1_000
"""Room for a few words and numbers, and for what some models think before them."""
_MIN_ROOM_TOKENS = 400
_PROMPT = "chat/reading"


class ReadingDeps(Protocol):
    """The part of the function's dependencies that a reading needs."""

    @property
    def model(self) -> Models: ...


async def read_question(
    deps: ReadingDeps, uid: UserId, text: str, earlier: Sequence[str], *, urgency: Urgency
) -> Reading | None:
    """Let a model read a question, twice at most; None where it fails.

    `earlier` are the messages before it. One that is longer than the model reads at once is read in pieces.
    """
    model = deps.model.for_user(uid, is_masked=True, urgency=urgency)
    window_tokens = deps.model.describe("fast").window_tokens
    built = _build_prompts(window_tokens, text, earlier)
    readings = await asyncio.gather(*(_read(model, prompt) for prompt in built))
    found = [reading for reading in readings if reading is not None]
    return merge_readings(found) if len(found) == len(built) else None


async def judge_text(
    deps: ReadingDeps,
    uid: UserId,
    text: str,
    finding: CrisisFinding,
    *,
    earlier: Sequence[str] = (),
    wait_s: float,
) -> CrisisVerdict:
    """Judge a text for which somebody waits: by its reading, or alone where that does not come within `wait_s`."""
    if deps.model.describe("fast").is_extractive:
        return judge_alone(finding)
    with anyio.move_on_after(wait_s):
        reading = await read_question(deps, uid, text, earlier, urgency="crisis")
        if reading is not None:
            return judge_reading(text, finding, reading)
    return judge_alone(finding)


async def _read(model: ChatModel, prompt: Prompt) -> Reading | None:
    for _ in range(_ATTEMPTS):
        try:
            output = await model.complete_structured("fast", prompt, ReadingOutput)
        except Exception as error:  # noqa: BLE001 - whatever fails, the examples decide
            telemetry.warning("question_not_read", error=type(error).__name__)
        else:
            return Reading(**output.model_dump())
    return None


def _build_prompts(window_tokens: int, text: str, earlier: Sequence[str]) -> list[Prompt]:
    """Build the prompt of each piece of a text; what came before gets the room that is left beside it."""
    instructions = prompts.render(_PROMPT)
    room = compute_data_tokens(window_tokens, instructions, _ANSWER_TOKENS)
    room = max(min(room, MAX_TOKENS), _MIN_ROOM_TOKENS)
    return [
        prompts.build_prompt(
            _PROMPT,
            {"message": mask_contacts(piece), "earlier": _fit(earlier, room, piece)},
            answer_tokens=_ANSWER_TOKENS,
        )
        for piece in split_text(text, room * 3 // 4)
    ]


def _fit(earlier: Sequence[str], room: int, piece: str) -> list[str]:
    masked = [mask_contacts(text) for text in earlier]
    return cut_texts(masked, room - count_data_tokens(piece))
