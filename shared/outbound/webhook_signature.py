"""Signatures of our calls to apps: Standard Webhooks over the body, and one over the whole request.

Also called: HMAC signature, request signing.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

from shared.security.egress_rules import read_request_target

REQUEST_SIGNATURE_HEADER = "keepsake-signature"


def build_message_id(*parts: str) -> str:
    """Derive a message id from `parts`, the same for every attempt."""
    return "msg_" + hashlib.sha256("|".join(parts).encode()).hexdigest()[:32]


def sign(
    secrets: Sequence[str], message_id: str, now: datetime, *, method: str, url: str, body: bytes
) -> dict[str, str]:
    """Return the headers that sign a request with every secret; a receiver needs one of them.

    `webhook-signature` covers id, time and body, as every library of Standard Webhooks checks;
    `keepsake-signature` covers method, path and query as well.
    """
    from standardwebhooks import Webhook

    text = body.decode()
    return {
        **sign_bytes(secrets, message_id, now, method=method, url=url, body=body),
        "webhook-signature": " ".join(Webhook(s).sign(message_id, now, text) for s in secrets),
    }


def sign_bytes(
    secrets: Sequence[str], message_id: str, now: datetime, *, method: str, url: str, body: bytes
) -> dict[str, str]:
    """Return the headers that sign a request whose body is no text, which Standard Webhooks knows none of."""
    timestamp = str(int(now.timestamp()))
    signed_content = _join_request(message_id, timestamp, method, url, body)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        REQUEST_SIGNATURE_HEADER: " ".join(_sign_request(s, signed_content) for s in secrets),
    }


def _join_request(message_id: str, timestamp: str, method: str, url: str, body: bytes) -> bytes:
    """Join what is signed. Only the target may hold a dot, so no two requests read the same."""
    body_digest = hashlib.sha256(body).hexdigest()
    return ".".join([message_id, timestamp, method, read_request_target(url), body_digest]).encode()


def _sign_request(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
