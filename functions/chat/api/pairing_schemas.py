"""Bodies of pairings: the wrapped keys that a browser leaves, and the id under which another takes them."""

import base64
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field, field_validator

from functions.chat.api.sealed_schemas import decode_ciphertext
from shared.domain.chats.pairing import Pairing
from shared.edge.declare.schemas import ID_PATTERN, Wire

MAX_KEYS_BYTES = 4_000
MAX_KEYS_CHARS = 5_336
CodeId = Annotated[str, Field(pattern=ID_PATTERN, min_length=32)]


class PairingIn(Wire):
    """Keys that only a browser with the code can unwrap, in base64; `id` is derived from the code."""

    id: CodeId
    wrapped_keys: str = Field(max_length=MAX_KEYS_CHARS)

    @field_validator("wrapped_keys")
    @classmethod
    def _check(cls, text: str) -> str:
        decode_ciphertext(text, MAX_KEYS_BYTES)
        return text

    def to_pairing(self, now: datetime, ttl: timedelta) -> Pairing:
        wrapped_keys = base64.b64decode(self.wrapped_keys)
        return Pairing(code_id=self.id, wrapped_keys=wrapped_keys, expires_at=now + ttl)


class PairingOut(Wire):
    """A pairing that waits, and until when."""

    expires_at: datetime


class PairingIdIn(Wire):
    """Which pairing is taken."""

    id: CodeId


class WrappedKeysOut(Wire):
    """The wrapped keys in base64, which are deleted now."""

    wrapped_keys: str


def to_keys_out(wrapped_keys: bytes) -> WrappedKeysOut:
    return WrappedKeysOut(wrapped_keys=base64.b64encode(wrapped_keys).decode())
