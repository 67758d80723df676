"""Push of the embedded world, which has no devices: the inbox shows the notification."""

from collections.abc import Sequence

from shared import telemetry
from shared.domain.ids import UserId
from shared.ports import PushMessage, PushOutcome


class InboxPush:
    """Sends nothing: the inbox shows the message already."""

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> PushOutcome:
        telemetry.info("push_left_to_inbox", uid=telemetry.hash_id(uid), tag=message.tag)
        return PushOutcome(sent_tokens=tokens)
