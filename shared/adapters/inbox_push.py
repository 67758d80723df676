"""Pushes in the embedded world, where nobody has a device."""

from collections.abc import Sequence

from shared import telemetry
from shared.domain.ids import UserId
from shared.ports import PushMessage


class InboxPush:
    """Leaves the message to the inbox, which holds it already and shows it once it is delivered."""

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> Sequence[str]:
        telemetry.info("push_left_to_inbox", uid=telemetry.opaque(uid), tag=message.tag)
        return ()
