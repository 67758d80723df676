"""Realtime voice where no key is set: it says so."""

from shared.domain.chats.voice_session import RealtimeSecret, RealtimeSetup
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId

NOT_SET_UP = "Nothing is set up to speak with. Choose OpenAI as the model in the console, or set OPENAI_API_KEY."


class MissingRealtime:
    is_ready = False

    async def create_secret(self, uid: UserId, setup: RealtimeSetup) -> RealtimeSecret:
        raise ModelFailed(NOT_SET_UP, reason="refused_key")

    async def open_call(self, uid: UserId, setup: RealtimeSetup, offer: str) -> str:
        raise ModelFailed(NOT_SET_UP, reason="refused_key")
