"""Judgement of a text that the crisis rules are unsure about, by a classifier.

Also called: crisis classifier.
"""

from collections.abc import Sequence
from typing import Protocol

import anyio

from functions.chat.deps import Limits
from functions.chat.safety.crisis_verdict import (
    DOUBTED,
    CrisisReading,
    judge_alone,
    judge_reading,
    mask_contacts,
)
from functions.chat.safety.model_outputs import CrisisOutput
from functions.chat.safety.token_blocks import split_text
from shared import prompts, telemetry
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.ids import UserId
from shared.domain.models.model import Prompt
from shared.domain.words import stands_in
from shared.models.windows import compute_data_tokens, count_data_tokens, cut_texts
from shared.ports import ChatModel, Models
from shared.safety.crisis_rules import CrisisFinding

_ATTEMPTS = 2
_ANSWER_TOKENS = 1_000
"""Room for a few words, and for what some models think before them."""
_MIN_ROOM_TOKENS = 400
_PROMPT = "chat/crisis"


class JudgeDeps(Protocol):
    """The part of the function's dependencies that a judgement needs."""

    @property
    def model(self) -> Models: ...

    @property
    def limits(self) -> Limits: ...


async def judge_text(
    deps: JudgeDeps, uid: UserId, text: str, finding: CrisisFinding, *, earlier: Sequence[str]
) -> CrisisVerdict:
    """Ask the classifier, twice at most; where it does not answer in time, the rules decide alone.

    `earlier` are texts of the same person that came before. A text that is longer than the model reads at
    once is read in pieces, of which the gravest counts.
    """
    model = deps.model.for_user(uid, is_masked=True, urgency="crisis")
    facts = deps.model.describe("fast")
    if facts.is_extractive and finding == DOUBTED:
        return judge_alone(finding)  # it knows the rules alone, which found nothing
    with anyio.move_on_after(deps.limits.crisis_timeout_s):
        asked = [
            await _read(model, prompt)
            for prompt in _build_prompts(facts.window_tokens, text, earlier)
        ]
        readings = [reading for reading in asked if reading is not None]
        if len(readings) == len(asked):
            gravest = max(readings, key=lambda each: (each.level, stands_in(each.quote, text)))
            return judge_reading(text, finding, gravest)
    return judge_alone(finding)


async def _read(model: ChatModel, prompt: Prompt) -> CrisisReading | None:
    for _ in range(_ATTEMPTS):
        try:
            output = await model.complete_structured("fast", prompt, CrisisOutput)
        except Exception as error:  # noqa: BLE001 - whatever fails, the rules decide
            telemetry.warning("text_not_judged", error=type(error).__name__)
        else:
            return CrisisReading(**output.model_dump())
    return None


def _build_prompts(window_tokens: int, text: str, earlier: Sequence[str]) -> list[Prompt]:
    """Build the prompt of each piece of a text; what came before gets the room that is left beside it."""
    instructions = prompts.render(_PROMPT)
    room = max(compute_data_tokens(window_tokens, instructions, _ANSWER_TOKENS), _MIN_ROOM_TOKENS)
    return [
        Prompt(
            name=_PROMPT,
            version=prompts.compute_version(_PROMPT),
            instructions=instructions,
            data={"message": mask_contacts(piece), "earlier": _fit(earlier, room, piece)},
            answer_tokens=_ANSWER_TOKENS,
        )
        for piece in split_text(text, room // 2)
    ]


def _fit(earlier: Sequence[str], room: int, piece: str) -> list[str]:
    masked = [mask_contacts(text) for text in earlier]
    return cut_texts(masked, room - count_data_tokens(piece))
