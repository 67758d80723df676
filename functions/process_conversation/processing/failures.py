"""Failures of processing: the reason of an error in words for people."""

from dataclasses import replace

from shared.data.conversations.conversations import IncompleteTranscript
from shared.domain.errors import (
    Invalid,
    KeepsakeError,
    ModelFailed,
    ModelUnreachable,
    RateLimited,
    ReadingUsedUp,
    Unavailable,
)
from shared.domain.failure import Failure
from shared.domain.models.model_failure import ModelPlace, describe_model_failure

NO_ANSWER = "Something that processing needs did not answer."


class ModelOutage(Unavailable):
    """A model is away for a time; its cause says how. The conversation waits, however long it takes."""


def describe_failure(error: KeepsakeError, place: ModelPlace) -> Failure:
    """Return why an attempt ended; the message of an error of ours holds nothing private."""
    match error:
        case ModelOutage(__cause__=Unavailable() as cause):
            return describe_failure(cause, place)
        case (
            ModelFailed(reason=reason)
            | ModelUnreachable(reason=reason)
            | RateLimited(reason=reason)
            | ReadingUsedUp(reason=reason)
        ):
            return Failure(reason=reason, detail=describe_model_failure(reason, place))
        case Invalid():  # too large for a document
            return Failure(reason="too_long", detail=str(error))
        case Unavailable() if not isinstance(error, IncompleteTranscript):
            return Failure(reason="other", detail=NO_ANSWER)
        case _:
            return Failure(reason="other", detail=str(error))


def describe_exhaustion(attempts: int, outage: Failure | None) -> Failure:
    """Return why a message was given up: what ended its last attempt, where that is known."""
    cause = outage or Failure(reason="no_connection", detail=NO_ANSWER)
    return replace(cause, detail=f"{cause.detail} It was tried {attempts} times.")
