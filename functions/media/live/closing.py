"""Closing: why a stream ends, as a code of WebSocket (RFC 6455) and words for people."""

from shared.domain.errors import (
    AccountErased,
    CallerError,
    KeepsakeError,
    ModelFailed,
    NotAuthenticated,
)
from shared.domain.value import value

NORMAL, GOING_AWAY, UNSUPPORTED, REFUSED, TOO_BIG, FAILED = 1000, 1001, 1003, 1008, 1009, 1011
_MAX_REASON_BYTES = 123
"""What a closing frame holds."""


@value
class Closing:
    """`reason` is cut to what a closing frame holds; it never holds what was said."""

    code: int
    reason: str = ""

    @property
    def short_reason(self) -> str:
        return self.reason.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")


LEFT = Closing(code=NORMAL)
BROKEN = Closing(code=FAILED, reason="The stream failed. Connect again.")
LONG = Closing(code=GOING_AWAY, reason="Connect again to go on.")
SILENT = Closing(code=GOING_AWAY, reason="No sound came for a while.")
ELSEWHERE = Closing(code=GOING_AWAY, reason="This device goes on over another connection.")
DEAF = Closing(code=GOING_AWAY, reason="The device reads nothing.")
FAST = Closing(code=REFUSED, reason="Sound comes faster than it is recorded.")
LARGE = Closing(code=TOO_BIG, reason="A frame is larger than any device sends.")
UNREADABLE = Closing(code=UNSUPPORTED, reason="The frames are not of the codec that was named.")


def explain(error: KeepsakeError) -> Closing:
    """Say what ends a stream, for the device and its owner."""
    if isinstance(error, AccountErased | NotAuthenticated):
        return Closing(code=REFUSED, reason="Sign in again.")
    if isinstance(error, CallerError):
        return Closing(code=REFUSED, reason=str(error))
    if isinstance(error, ModelFailed):
        return Closing(code=FAILED, reason=str(error))
    return Closing(code=FAILED, reason="A part of the service does not answer. Connect again.")
