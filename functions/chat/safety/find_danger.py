"""Danger in a text: what rules and examples find in it, before or without a model."""

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.safety.crisis_rules import CrisisFinding, find_crisis
from functions.chat.safety.crisis_verdict import DOUBTED, add_danger
from shared import telemetry
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId

WAIT_S = 3.0


async def find_danger(deps: ChatDeps, uid: UserId, text: str) -> CrisisFinding:
    """Return what is found; a text that the encoder does not compare in time is doubted."""
    finding = find_crisis(text)
    with anyio.move_on_after(WAIT_S):
        try:
            meaning = await deps.meanings.read(uid, text)
        except ModelFailed:
            return finding  # this machine cannot run the encoder
        except Exception as error:  # noqa: BLE001 - whatever fails, the text is doubted
            telemetry.warning("text_not_compared", error=type(error).__name__)
        else:
            return add_danger(finding, meaning)
    return finding if finding.level else DOUBTED
