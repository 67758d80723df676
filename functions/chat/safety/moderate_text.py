"""Moderation of a text of the owner: what a moderator, which reads no addresses, rates in time.

Also called: content moderation, content filter.
"""

from typing import Protocol

import anyio

from functions.chat.deps import Limits
from shared import telemetry
from shared.domain.chats.safety import Moderation
from shared.ports import Moderator
from shared.reading.crisis_verdict import mask_contacts


class ModerationDeps(Protocol):
    """The part of the function's dependencies that rating a text needs."""

    @property
    def limits(self) -> Limits: ...
    @property
    def moderator(self) -> Moderator: ...


async def moderate_text(deps: ModerationDeps, text: str) -> Moderation | None:
    """Return the ratings, None where nobody gives any in time."""
    with anyio.move_on_after(deps.limits.moderation_timeout_s):
        try:
            return await deps.moderator.moderate(mask_contacts(text))
        except Exception as error:  # noqa: BLE001 - whatever fails, nobody has rated the text
            telemetry.warning("question_not_rated", error=type(error).__name__)
    return None
