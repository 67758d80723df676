"""Failures of calls to apps: a text for the model, and an error code for the app's developer."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.domain.errors import NotAllowed, TimedOut, TooLarge, ToolFailed, Unavailable, Unreadable

TIMEOUT_S = 30


class CallFailed(ToolFailed):
    """A call went out and failed; `error` tells the app's developer why.

    `is_down` means that the app did not do its part: no response, or a status of 500 or more.
    """

    def __init__(
        self, message: str, *, error: str, is_down: bool = False, connect_url: str | None = None
    ) -> None:
        super().__init__(message, connect_url=connect_url)
        self.error = error
        self.is_down = is_down


@contextmanager
def translate_egress_errors(name: str) -> Iterator[None]:
    """Raise CallFailed for the errors of Egress, in words for the model."""
    try:
        yield
    except TimedOut as timeout:
        message = (
            f"Error: Timeout calling {name}."
            f" The app endpoint did not respond within {TIMEOUT_S} seconds."
        )
        raise CallFailed(message, error="timeout", is_down=True) from timeout
    except (NotAllowed, TooLarge, Unreadable) as refusal:
        message = f"Error calling {name}: {refusal}"
        raise CallFailed(message, error=str(refusal), is_down=True) from refusal
    except Unavailable as unavailable:
        message = f"Error: Could not connect to {name}. The app endpoint may be unreachable."
        raise CallFailed(message, error="unreachable", is_down=True) from unavailable
