"""Room for data: what the window of a model leaves for it, and less after each refusal for its length."""

from dataclasses import replace

from shared.domain.errors import ModelFailed
from shared.domain.models.model import ModelRole, Prompt
from shared.models.fit_data import fit_data
from shared.models.windows import compute_answer_tokens, compute_data_tokens
from shared.ports import ChatModel

LEAST_TOKENS = 200
"""Less data is not asked about: its instructions are what is too long then."""


class DataRoom:
    """What the window of a model leaves for data, as it is known at the moment.

    Windows are learned from refusals too, and a server may count more than we do: what was too long
    once is halved for all that follows.
    """

    def __init__(self, model: ChatModel, role: ModelRole, *, max_tokens: int) -> None:
        """It is never more than `max_tokens`."""
        self._model = model
        self._role: ModelRole = role
        self._max_tokens = max_tokens
        self._has_doubted = False
        self._short_answer_tokens: int | None = None

    def compute(self, instructions: str, answer_tokens: int) -> int:
        """Return the tokens of data beside these instructions, LEAST_TOKENS at the least."""
        window_tokens = self._model.describe(self._role).window_tokens
        room = compute_data_tokens(window_tokens, instructions, answer_tokens)
        bound = compute_answer_tokens(window_tokens, answer_tokens)
        self._short_answer_tokens = bound if bound < answer_tokens else None
        return max(min(room, self._max_tokens), LEAST_TOKENS)

    def halve(self, data_tokens: int, error: ModelFailed) -> None:
        """Allow half of the data that a model failed at.

        Raises the error where its length is not why, or can hardly be: an unknown refusal halves once, and
        an unusable answer only where the window leaves it less room than its data takes: it may be cut.
        """
        tried_tokens = min(data_tokens, self._max_tokens)
        if tried_tokens <= LEAST_TOKENS or not self._may_help(data_tokens, error):
            raise error
        self._has_doubted = self._has_doubted or error.may_be_too_long
        self._max_tokens = max(tried_tokens // 2, LEAST_TOKENS)

    def _may_help(self, data_tokens: int, error: ModelFailed) -> bool:
        if error.reason == "malformed_answer":
            return self._short_answer_tokens is not None and data_tokens > self._short_answer_tokens
        is_doubt = error.may_be_too_long and not self._has_doubted
        return error.reason == "too_long" or is_doubt


def fit_prompt(model: ChatModel, role: ModelRole, prompt: Prompt) -> Prompt:
    """Return a prompt whose data is cut to what the window of its model holds, as it is known at the moment."""
    window_tokens = model.describe(role).window_tokens
    room = compute_data_tokens(window_tokens, prompt.instructions, prompt.answer_tokens)
    return replace(prompt, data=fit_data(prompt.data, max(room, 0)))
