"""End notices: sentences of ours below an answer that failed, or that its model did not end by itself.

Also called: finish reason, partial answer.
"""

import math
from collections.abc import Mapping

from functions.chat import user_texts
from shared.domain.errors import (
    ModelBusy,
    ModelFailed,
    ModelSilent,
    ModelUnreachable,
    RateLimited,
    Unavailable,
)
from shared.domain.models.model import FinishReason
from shared.domain.models.model_failure import ModelPlace, list_failure_sentences
from shared.languages import translate

NOTICE_BY_END: Mapping[FinishReason, str] = {
    "length": user_texts.ANSWER_AT_BOUND,
    "cut": user_texts.ANSWER_CUT,
    "repetition": user_texts.ANSWER_REPEATING,
}
_UNITS = (("s", 1), ("min", 60), ("h", 3_600))
"""Written the same in all languages of ours, with their seconds."""


def explain_failure(
    error: Exception, place: ModelPlace, language: str | None, *, has_text: bool
) -> str:
    """Say what failed, and where that can be changed or when to try again.

    Where the answer `has_text` already, what broke it off may just be tried again.
    """
    return " ".join(
        translate(sentence, language, **_list_values(error))
        for sentence in _list_sentences(error, place, has_text=has_text)
    )


def _list_sentences(error: Exception, place: ModelPlace, *, has_text: bool) -> list[str]:
    match error:
        case ModelFailed(reason=reason):
            return list_failure_sentences(reason, place)
        case ModelBusy():
            return [user_texts.MODEL_BUSY]
        case RateLimited(retry_after_s=wait_s):
            again = user_texts.TRY_LATER if wait_s is None else user_texts.TRY_IN
            return [user_texts.PROVIDER_LIMIT, again]
        case ModelUnreachable() if not has_text:
            return list_failure_sentences("no_connection", place)
        case Unavailable() if not has_text:
            is_silent = isinstance(error, ModelSilent)
            return [user_texts.ANSWER_EMPTY if is_silent else user_texts.MODEL_DOWN]
    return [user_texts.INTERNAL_ERROR]


def _list_values(error: Exception) -> dict[str, str]:
    """Return what fills the slots of a sentence."""
    if not isinstance(error, RateLimited) or error.retry_after_s is None:
        return {}
    return {"wait": _describe_wait(error.retry_after_s)}


def _describe_wait(seconds: float) -> str:
    """Round a time up, in the smallest unit of which it has at most 90."""
    unit, size = next((each for each in _UNITS if seconds <= 90 * each[1]), _UNITS[-1])
    return f"{math.ceil(seconds / size)} {unit}"
