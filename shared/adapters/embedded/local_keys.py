"""Keys of the embedded world: AES-GCM with a key of the data directory."""

import secrets

from shared.domain.errors import CannotUnwrap

_NONCE_BYTES = 12


class LocalKeys:
    """Wraps with one 256-bit key; the ciphertext begins with its nonce."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    async def wrap(self, secret: bytes, *, bound_to: str) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self._key).encrypt(nonce, secret, bound_to.encode())

    async def unwrap(self, wrapped: bytes, *, bound_to: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, ciphertext = wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:]
        try:
            return AESGCM(self._key).decrypt(nonce, ciphertext, bound_to.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotUnwrap("This was not wrapped here, or not for this") from error
