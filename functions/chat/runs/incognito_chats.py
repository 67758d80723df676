"""Incognito chats of a process: how many there may be, and for how long.

Also called: temporary chat, ephemeral chat, private mode.
"""

from collections import OrderedDict
from datetime import datetime, timedelta

from shared.domain.chats.chat import Session
from shared.domain.errors import Conflict
from shared.domain.ids import SessionId, UserId

IDLE_TIME = timedelta(hours=1)
MAX_CHATS = 500
MAX_CHATS_OF_USER = 5
MAX_MESSAGES = 200
TOO_LONG = f"An incognito chat has at most {MAX_MESSAGES} messages. Begin another one."
ChatKey = tuple[UserId, SessionId]


class IncognitoChats:
    """Which incognito chats the process holds, the one that was used last at the end."""

    def __init__(self) -> None:
        self._used_at: OrderedDict[ChatKey, datetime] = OrderedDict()

    def use(self, uid: UserId, session_id: SessionId, now: datetime) -> list[ChatKey]:
        """Note that a chat is used; return those that have to go, which it forgets."""
        self._used_at[uid, session_id] = now
        self._used_at.move_to_end((uid, session_id))
        leaving = {key: None for key, used_at in self._used_at.items() if is_idle(used_at, now)}
        of_user = [key for key in self._used_at if key[0] == uid]
        leaving |= dict.fromkeys(of_user[:-MAX_CHATS_OF_USER])
        leaving |= dict.fromkeys([*self._used_at][:-MAX_CHATS])
        for key in leaving:
            del self._used_at[key]
        return [*leaving]


def is_idle(used_at: datetime, now: datetime) -> bool:
    return used_at + IDLE_TIME <= now


def check_room(session: Session) -> None:
    """Raises Conflict where an incognito chat can hold no more."""
    if session.is_incognito and session.message_count >= MAX_MESSAGES:
        raise Conflict(TOO_LONG)
