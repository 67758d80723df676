"""Webhook signature: the headers of Standard Webhooks, with which an app verifies our calls."""

import hashlib
from datetime import datetime

from shared.domain.app import App


def build_message_id(*parts: str) -> str:
    """Derive a message id from `parts`, the same for every attempt."""
    return "msg_" + hashlib.sha256("|".join(parts).encode()).hexdigest()[:32]


def sign(app: App, body: bytes, message_id: str, now: datetime) -> dict[str, str]:
    """Sign id, time and body with every valid secret; a receiver needs one of them."""
    from standardwebhooks import Webhook

    text = body.decode()
    signatures = [Webhook(s).sign(message_id, now, text) for s in app.get_signing_secrets(now)]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
