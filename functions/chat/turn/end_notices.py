"""End notices: sentences of ours below an answer that failed, or that its model did not end by itself.

Also called: finish reason, partial answer.
"""

from collections.abc import Mapping

from functions.chat import user_texts
from shared.domain.amounts import describe_seconds
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
    return {"wait": describe_seconds(error.retry_after_s)}
