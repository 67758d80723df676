"""Pairings: a browser hands the wrapped keys of sealed chats to another browser of the same owner, once.

Also called: device linking, key transfer.
"""

from datetime import datetime, timedelta

from shared.domain.value import value

PAIRING_TTL = timedelta(minutes=5)
MAX_WRONG_GUESSES = 5


@value
class Pairing:
    """Keys under a key that both browsers derive from a code, which the server never sees.

    `code_id` is derived from that code too. It tells nothing of the key.
    """

    code_id: str
    wrapped_keys: bytes
    expires_at: datetime
    wrong_guesses: int = 0
