"""Errors, named by who can act on them.

KeepsakeError
├── CallerError              the caller can do something: the edge maps each to a status
│   ├── Invalid              the request is malformed
│   │   └── LocalAddress     an app's server is on this machine; carries where, to be allowed
│   ├── NotAuthenticated     the caller is unknown
│   ├── NotAllowed           the caller is known and may not do this
│   ├── NotFound             it does not exist for this caller
│   ├── Conflict             it contradicts what is stored
│   │   └── HistoryMissing   the messages of a sealed chat are not cached; carries why
│   ├── Gone                 it existed and has expired
│   ├── ChatLocked           a chat answers no more for a while; carries until when
│   ├── TooLarge             more than is accepted
│   ├── TooMany              over a limit; carries when to come back
│   │   └── QuotaExceeded    over a quota of the user; carries which and how much
│   ├── SetupIncomplete      an app's user has not finished what the app needs
│   ├── NoManifest           an app names no server that may be asked for its tools
│   └── ManifestFailed       an app's server did not list usable tools
├── ToolRefused              the model can fix its call: unknown tool, bad arguments
├── ToolFailed               the call was right and did not work: the model adapts its answer
├── Unavailable              a passing failure: retry
│   ├── ModelUnreachable     no connection to the model's server
│   ├── ModelSilent          the model ended without a word
│   ├── RateLimited          tokens are used up: the provider takes no more calls for now
│   │   └── ModelBusy        so many that the provider would refuse: it was not asked
│   ├── ReadingUsedUp        what may be read of a user's recordings in a day is used up
│   ├── TierRefused          a cheaper tier of processing refused; the usual one tells whether the request is at fault
│   ├── TimedOut             no answer in time; the request may have had its effect
│   └── Unreadable           the answer is not of a type that was asked for
├── CannotUnwrap             the wrapped secret is damaged, or was wrapped for something else
├── ModelFailed              the model refused, or its answer cannot be used: do not retry
└── PreconditionFailed       a document was not as the write required
    ├── AlreadyExists        create() found one there
    └── AccountErased        its owner was erased after this work began

Also called: exceptions, exception hierarchy, error handling.
"""

from collections.abc import Sequence
from datetime import datetime

from shared.domain.failure import FailureReason
from shared.domain.history_reason import HistoryReason


class KeepsakeError(Exception):
    """The base of all our own errors. The message never holds private content."""


class CallerError(KeepsakeError):
    """The caller can do something about it; the message is the exact text they see."""


class Invalid(CallerError):
    """The request is malformed."""


class LocalAddress(Invalid):
    """An app names servers on this machine (`origins`), and its developer did not allow that."""

    def __init__(self, origins: Sequence[str]) -> None:
        super().__init__(
            f"{' and '.join(origins)} is on this machine, where Keepsake calls only what you allow. If the "
            "server is yours, send this again with `allow_local` as true."
        )
        self.origins = origins


class NotAuthenticated(CallerError):
    """The caller is unknown, or cannot be verified."""


class NotAllowed(CallerError):
    """The caller is known and may not do this."""


class NotFound(CallerError):
    """It does not exist or belongs to another user: both look the same to the caller."""


class Conflict(CallerError):
    """It contradicts what is stored."""


class HistoryMissing(Conflict):
    """The server cannot read enough of a sealed chat; its clients can send it."""

    def __init__(self, *, reason: HistoryReason) -> None:
        super().__init__(
            "The server cannot read this chat's messages any more. Ask a question in it first: your app then "
            "sends them again."
        )
        self.reason: HistoryReason = reason


class Gone(CallerError):
    """It existed and has expired."""


class ChatLocked(CallerError):
    """The chat answers no more until `locked_until`, because of what was asked in it."""

    def __init__(self, message: str, *, locked_until: datetime) -> None:
        super().__init__(message)
        self.locked_until = locked_until


class TooLarge(CallerError):
    """It is larger than we accept."""


class TooMany(CallerError):
    """A limit is reached."""

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class QuotaExceeded(TooMany):
    """A quota of the user is used up.

    `policy` names it in headers; `resets_at` is None where it depends on what the user does.
    """

    def __init__(
        self,
        message: str,
        *,
        policy: str,
        limit: int,
        retry_after_s: int,
        resets_at: datetime | None = None,
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.policy = policy
        self.limit = limit
        self.resets_at = resets_at


class SetupIncomplete(CallerError):
    """The user has not finished what an app needs before it is installed, or its server does not say."""


class NoManifest(CallerError):
    """The app names no manifest, or one at a refused address; its developer can fix that."""


class ManifestFailed(CallerError):
    """The app's server did not return a usable manifest; the message is the reason."""


class ToolRefused(KeepsakeError):
    """The model can fix its call. Raise ToolFailed for a valid call that did not work."""


class ToolFailed(KeepsakeError):
    """A valid call did not work. Raise ToolRefused for an invalid one.

    `connect_url` is where the user can connect the account that is missing.
    """

    def __init__(self, message: str, *, connect_url: str | None = None) -> None:
        super().__init__(message)
        self.connect_url = connect_url


class Unavailable(KeepsakeError):
    """A part we need does not answer now; the same request may succeed later.

    `retry_after_s` is when, in seconds from now, if the part said so.
    """

    def __init__(self, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TimedOut(Unavailable):
    """No complete answer in time; the request may have had its effect all the same."""


class Unreadable(Unavailable):
    """The answer is of another type than requested, or cannot be unpacked."""


class ModelUnreachable(Unavailable):
    """No connection to the server of a model: it is not running, or its address is wrong."""

    reason: FailureReason = "no_connection"


class ModelSilent(Unavailable):
    """The model ended without a word or a call; asked once more, most say something."""


class RateLimited(Unavailable):
    """The provider takes no more calls for now; they come back by themselves."""

    reason: FailureReason = "busy"


class ModelBusy(RateLimited):
    """The tokens that our users may use in a minute are used up; the model itself was not asked."""


class ReadingUsedUp(Unavailable):
    """What models may read of a user's recordings in a day is used up; the next day's is there by itself."""

    reason: FailureReason = "day_used_up"


class TierRefused(Unavailable):
    """A cheaper tier of processing refused: there is none for this model, or the request is at fault.

    The usual tier tells which.
    """


class CannotUnwrap(KeepsakeError):
    """The secret is damaged, or was wrapped by another key or for something else."""


class ModelFailed(KeepsakeError):
    """The model refused, or its answer cannot be used.

    `may_be_too_long`: a refusal without a known reason, of a text so long that its length may be it.
    """

    def __init__(
        self,
        message: str = "",
        *,
        reason: FailureReason = "malformed_answer",
        may_be_too_long: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.may_be_too_long = may_be_too_long


class PreconditionFailed(KeepsakeError):
    """A document was not as the write required; nothing was written."""


class AlreadyExists(PreconditionFailed):
    """A document exists at this path."""


class AccountErased(PreconditionFailed):
    """The owner of a document was erased after this work began; nothing was written."""
