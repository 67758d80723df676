"""Moderator where no service rates texts: nothing is known to be harmful."""


class SilentModerator:
    async def rate_harm(self, text: str) -> float:
        return 0.0
