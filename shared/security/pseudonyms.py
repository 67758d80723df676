"""Pseudonyms of users: a keyed hash that stays after an erasure, and ids sealed until it ends.

Also called: pseudonymization.
"""

import base64
import hashlib
import hmac
import secrets

from shared.domain.ids import SessionId, UserId

_NONCE_BYTES = 12


class Pseudonyms:
    """Names users by one secret key: without it nobody can tell whom a pseudonym stands for."""

    def __init__(self, key: bytes) -> None:
        self._hash_key = _derive_key(key, b"hash")
        self._session_key = _derive_key(key, b"session")
        self._seal_key = _derive_key(key, b"seal")

    def hash(self, uid: UserId) -> str:
        """Return 32 hex digits, the same for the same user."""
        return hmac.digest(self._hash_key, uid.encode(), hashlib.sha256).hex()[:32]

    def hash_session(self, uid: UserId, session_id: SessionId) -> str:
        """Return 32 hex digits for a user's chat; chats of several users may have one name."""
        content = f"{uid}/{session_id}".encode()
        return hmac.digest(self._session_key, content, hashlib.sha256).hex()[:32]

    def seal(self, uid: UserId) -> str:
        """Encrypt an id, as URL-safe text."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed_id = nonce + AESGCM(self._seal_key).encrypt(nonce, uid.encode(), None)
        return base64.urlsafe_b64encode(sealed_id).decode()

    def unseal(self, text: str) -> UserId:
        """Decrypt what `seal` returned under the same key."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        sealed_id = base64.urlsafe_b64decode(text)
        nonce, ciphertext = sealed_id[:_NONCE_BYTES], sealed_id[_NONCE_BYTES:]
        return UserId(AESGCM(self._seal_key).decrypt(nonce, ciphertext, None).decode())


def _derive_key(key: bytes, purpose: bytes) -> bytes:
    return hmac.digest(key, b"pseudonyms of users: " + purpose, hashlib.sha256)
