"""Moderator that the console sets: each call asks the one whose key the model file holds then."""

from shared.adapters.embedded.chosen import Chosen
from shared.ports import Moderator


class ConfiguredModerator:
    """A change counts from the next call on."""

    def __init__(self, chosen: Chosen[Moderator]) -> None:
        self._chosen = chosen

    async def rate_harm(self, text: str) -> float:
        return await self._chosen.get().rate_harm(text)
