"""Encryption of a sealed chat on a device: AES-256-GCM, bound to where a ciphertext belongs."""

import base64
import secrets
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FORMAT = b"\x01"
KEY_BYTES = 32
NONCE_BYTES = 12


class NotOurs(Exception):
    """A ciphertext that does not decrypt here: it belongs elsewhere, or is damaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a ciphertext belongs; one without a message is what a device knows of the chat."""

    uid: str
    chat_id: str
    message_id: str = ""
    version: int

    @property
    def additional_data(self) -> bytes:
        parts = ("keepsake-v1", self.uid, self.chat_id, self.message_id, str(self.version))
        return "|".join(parts).encode()


def create_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def encrypt(key: bytes, text: str, place: Place, *, nonce: bytes | None = None) -> str:
    """Return a ciphertext in base64. A nonce is only given where a test vector names one."""
    nonce = nonce or secrets.token_bytes(NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, text.encode(), place.additional_data)
    return base64.b64encode(FORMAT + nonce + sealed).decode()


def decrypt(key: bytes, ciphertext: str, place: Place) -> str:
    """Raises NotOurs."""
    content = base64.b64decode(ciphertext)
    if content[:1] != FORMAT:
        raise NotOurs(place)
    nonce, sealed = content[1 : 1 + NONCE_BYTES], content[1 + NONCE_BYTES :]
    try:
        return AESGCM(key).decrypt(nonce, sealed, place.additional_data).decode()
    except (InvalidTag, ValueError) as error:
        raise NotOurs(place) from error
