"""Keys of Web Push: with the private one we sign for push services, by the public one browsers subscribe.

Also called: VAPID.
"""

import hashlib
from typing import TYPE_CHECKING

from shared.domain.value import value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@value
class WebPushKeys:
    """One pair on the curve P-256, as PEM."""

    private_pem: bytes
    public_pem: bytes

    def to_application_server_key(self) -> str:
        """Return the public key as a browser's PushManager takes it: base64url."""
        from webpush.vapid import VAPID

        vapid = VAPID(self.private_pem, self.public_pem)
        key: str = VAPID.get_application_server_key(vapid.public_key)
        return key


def load_keys(private_pem: bytes) -> WebPushKeys:
    """Return the pair of a private key. Raises ValueError."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        PublicFormat,
        load_pem_private_key,
    )

    public_key = load_pem_private_key(private_pem, password=None).public_key()
    return WebPushKeys(
        private_pem=private_pem,
        public_pem=public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
    )


def generate_private_pem() -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec

    return _to_pem(ec.generate_private_key(ec.SECP256R1()))


def derive_private_pem(secret: str) -> bytes:
    """Return the private key of a secret text, the same on every call and in every process."""
    from cryptography.hazmat.primitives.asymmetric import ec

    number = int.from_bytes(hashlib.sha512(b"keepsake web push " + secret.encode()).digest())
    return _to_pem(ec.derive_private_key(1 + number % (P256_ORDER - 1), ec.SECP256R1()))


def _to_pem(key: "EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
