"""Moderator that the console sets: each call asks the one whose key the model file holds then."""

from shared.adapters.embedded.chosen import Chosen
from shared.domain.chats.safety import Moderation
from shared.ports import Moderator


class ConfiguredModerator:
    """A change counts from the next call on."""

    def __init__(self, chosen: Chosen[Moderator]) -> None:
        self._chosen = chosen

    async def moderate(self, text: str) -> Moderation | None:
        return await self._chosen.get().moderate(text)
