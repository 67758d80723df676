"""The embedded world has no devices: none of them can be dead, and nothing can fail."""

from shared.adapters.inbox_push import InboxPush
from shared.domain.ids import UserId
from shared.ports import PushMessage


async def test_no_device_is_reported_dead():
    message = PushMessage(title="t", body="b", data={}, tag="0123456789abcdef")

    assert await InboxPush().send(UserId("alice"), ["token"], message) == ()
