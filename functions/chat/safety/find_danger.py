"""Danger in a text: what rules and examples find in it, before or without a model."""

from dataclasses import replace
from functools import partial

import anyio
from anyio import to_thread

from functions.chat.deps import ChatDeps
from functions.chat.safety.countries import find_country
from functions.chat.safety.crisis_rules import CrisisFinding, find_crisis
from functions.chat.safety.crisis_verdict import DOUBTED, add_danger
from shared import telemetry
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.safety.crisis_plan import list_countries

WAIT_S = 3.0


async def find_danger(deps: ChatDeps, uid: UserId, text: str) -> CrisisFinding:
    """Return what is found; a text that the encoder does not compare in time is doubted."""
    return await find_place(await _compare(deps, uid, text), text, None)


async def find_place(finding: CrisisFinding, text: str, language: str | None) -> CrisisFinding:
    """Add the country that a text names in which something was found; `language` is that of its writer."""
    if finding.certainty == "clear":
        return finding
    find = partial(find_country, text, list_countries(), finding.language or language)
    return replace(finding, country=await to_thread.run_sync(find))  # it reads names from files


async def _compare(deps: ChatDeps, uid: UserId, text: str) -> CrisisFinding:
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
