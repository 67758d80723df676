"""Counted model: each call about a conversation is taken from a day's quota before it is made.

However a conversation comes to be processed (handed in, imported, written to Firestore, processed again, renamed),
its models are asked through this.
"""

from contextlib import suppress
from typing import TypeVar

from shared.data.account.quotas import Quotas
from shared.domain.errors import QuotaExceeded, ReadingUsedUp, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import ModelRole, Prompt
from shared.models.windows import count_prompt_tokens
from shared.models.wrapped_model import WrappedModel
from shared.ports import ChatModel, Clock

T = TypeVar("T")


class CountedModel(WrappedModel):
    """The models of one user. Answers are structured here; a stream is passed on uncounted."""

    def __init__(self, model: ChatModel, quotas: Quotas, uid: UserId, clock: Clock) -> None:
        super().__init__(model)
        self._quotas = quotas
        self._uid = uid
        self._clock = clock

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        """Raises ReadingUsedUp where the day's tokens do not suffice for what is read.

        What no model read is given back.
        """
        tokens = count_prompt_tokens(prompt)
        now = self._clock.now()
        try:
            await self._quotas.take(self._uid, "reading_tokens", tokens, now=now)
        except QuotaExceeded as refusal:
            raise ReadingUsedUp(str(refusal)) from refusal
        try:
            return await self._model.complete_structured(role, prompt, schema)
        except Unavailable:
            with suppress(Unavailable):
                await self._quotas.give_back(self._uid, "reading_tokens", tokens, now=now)
            raise
