"""Judgement of a text that the crisis rules are unsure about, by a classifier."""

from collections.abc import Sequence
from typing import Protocol

import anyio

from functions.chat.deps import Limits
from functions.chat.safety.model_outputs import CrisisOutput
from shared import prompts, telemetry
from shared.domain.crisis import CrisisVerdict
from shared.domain.ids import UserId
from shared.domain.model import Prompt
from shared.ports import Models
from shared.safety.crisis_rules import CrisisFinding
from shared.safety.crisis_verdict import CrisisReading, judge_alone, judge_reading, mask_contacts

_ATTEMPTS = 2
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

    `earlier` are texts of the same person that came before.
    """
    prompt = _build_prompt(text, earlier)
    model = deps.model.for_user(uid, is_masked=True, urgency="crisis")
    with anyio.move_on_after(deps.limits.crisis_timeout_s):
        for _ in range(_ATTEMPTS):
            try:
                output = await model.complete_structured("fast", prompt, CrisisOutput)
            except Exception as error:  # noqa: BLE001 - whatever fails, the rules decide
                telemetry.warning("text_not_judged", error=type(error).__name__)
            else:
                return judge_reading(text, finding, CrisisReading(**output.model_dump()))
    return judge_alone(finding)


def _build_prompt(text: str, earlier: Sequence[str]) -> Prompt:
    return Prompt(
        name=_PROMPT,
        version=prompts.compute_version(_PROMPT),
        instructions=prompts.render(_PROMPT),
        data={"message": mask_contacts(text), "earlier": list(map(mask_contacts, earlier))},
    )
