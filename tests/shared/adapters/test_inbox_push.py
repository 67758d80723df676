"""The embedded world has no devices: none of them can be dead, and nothing can fail."""

from shared.adapters.embedded.inbox_push import InboxPush
from shared.domain.ids import UserId
from shared.ports import PushMessage, PushOutcome


async def test_every_device_counts_as_reached():
    message = PushMessage(title="t", body="b", data={}, tag="0123456789abcdef")

    assert await InboxPush().send(UserId("alice"), ["token"], message) == PushOutcome(
        sent_tokens=["token"]
    )
