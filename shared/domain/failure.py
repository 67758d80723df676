"""Failure of processing: why a conversation has no summary, and whether trying again can help."""

from typing import Literal

from shared.domain.value import value

FailureReason = Literal[
    "refused_key",
    "unknown_model",
    "no_quota",
    "day_used_up",
    "no_connection",
    "busy",
    "malformed_answer",
    "too_long",
    "filtered",
    "wrong_server",
    "other",
]


@value
class Failure:
    """`detail` is a plain sentence for the user, without private content."""

    reason: FailureReason
    detail: str

    @property
    def can_retry(self) -> bool:
        """Whether the same conversation may succeed later: what is filtered never does."""
        return self.reason != "filtered"
