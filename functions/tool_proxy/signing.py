"""How an app knows that a call is ours: the headers of Standard Webhooks."""

from datetime import datetime

from shared.domain.app import App


def signature_headers(app: App, body: bytes, message_id: str, now: datetime) -> dict[str, str]:
    """Sign id, time and body with every secret that holds; a receiver needs to know one of them."""
    from standardwebhooks import Webhook

    text = body.decode()
    signatures = [Webhook(s).sign(message_id, now, text) for s in app.signing_secrets(now)]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
