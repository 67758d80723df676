"""What can go wrong, named by who can act on it.

KeepsakeError
├── CallerError              the caller can do something: the edge maps each to a status
│   ├── Invalid              the request is malformed
│   ├── NotAuthenticated     we do not know who is asking
│   ├── NotAllowed           we know, and the answer is no
│   ├── NotFound             there is no such thing for this caller
│   ├── Conflict             it stands against what is stored
│   ├── Gone                 it was there, and its time is over
│   ├── TooLarge             more than we accept
│   └── TooMany              over a limit; carries when to come back
├── ToolRefused              the model can fix its call: unknown tool, bad arguments
├── ToolFailed               the call was right and did not work: the model adapts its answer
├── Unavailable              time can help: retry
│   ├── TimedOut             no answer in time; what was asked for may have happened
│   └── Unreadable           an answer came, and it is not of a kind that was asked for
├── CannotUnwrap             what was wrapped is damaged, or was wrapped for something else
├── ModelFailed              the model refused, or its answer cannot be used: a retry would not help
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
