"""Errors, named by who can act on them.

KeepsakeError
├── CallerError              the caller can do something: the edge maps each to a status
│   ├── Invalid              the request is malformed
│   ├── NotAuthenticated     the caller is unknown
│   ├── NotAllowed           the caller is known and may not do this
│   ├── NotFound             it does not exist for this caller
│   ├── Conflict             it contradicts what is stored
│   ├── Gone                 it existed and has expired
│   ├── TooLarge             more than is accepted
│   └── TooMany              over a limit; carries when to come back
├── ToolRefused              the model can fix its call: unknown tool, bad arguments
├── ToolFailed               the call was right and did not work: the model adapts its answer
├── Unavailable              a passing failure: retry
│   ├── TimedOut             no answer in time; the request may have had its effect
│   └── Unreadable           the answer is not of a type that was asked for
├── CannotUnwrap             the wrapped secret is damaged, or was wrapped for something else
├── ModelFailed              the model refused, or its answer cannot be used: do not retry
└── PreconditionFailed       a document was not as the write required
    └── AlreadyExists        create() found one there
"""


class KeepsakeError(Exception):
    """The base of everything we raise on purpose. The message never holds private content."""


class CallerError(KeepsakeError):
    """The caller can do something about it; the message is the exact text they see."""


class Invalid(CallerError):
    """The request is malformed."""


class NotAuthenticated(CallerError):
    """Nobody, or nobody we can verify, is asking."""


class NotAllowed(CallerError):
    """The caller is known and may not."""


class NotFound(CallerError):
    """It is not there, or it belongs to somebody else: both look the same from outside."""


class Conflict(CallerError):
    """It stands against what is stored."""


class Gone(CallerError):
    """It was there, and its time is over."""


class TooLarge(CallerError):
    """It is more than we accept."""


class TooMany(CallerError):
    """A limit is reached."""

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ToolRefused(KeepsakeError):
    """Raise when the model can repair its call. Raise ToolFailed when the call was right."""


class ToolFailed(KeepsakeError):
    """Raise when a right call did not work. Raise ToolRefused when the call itself was wrong.

    `connect_url` is where the user can connect an account, where that is what is missing.
    """

    def __init__(self, message: str, *, connect_url: str | None = None) -> None:
        super().__init__(message)
        self.connect_url = connect_url


class Unavailable(KeepsakeError):
    """A part we need does not answer now; the same request may succeed later.

    `retry_after_s` is when, in seconds from now, where that part said so.
    """

    def __init__(self, message: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TimedOut(Unavailable):
    """No whole answer came in time; what was asked for may have happened all the same."""


class Unreadable(Unavailable):
    """An answer came that nobody asked for: of another type, or packed in a way that breaks."""


class CannotUnwrap(KeepsakeError):
    """What was wrapped is damaged, or was wrapped by another key or for something else."""


class ModelFailed(KeepsakeError):
    """The model refused, or what it said cannot be used."""


class PreconditionFailed(KeepsakeError):
    """A document was not as the write required; nothing was written."""


class AlreadyExists(PreconditionFailed):
    """There is a document at this path already."""
