"""Replies to questions: an owner's message that is nothing but yes, always or no decides a call."""

from collections.abc import Mapping, Sequence

from functions.chat.consent.consent_reply import Reply, parse_reply
from functions.chat.deps import ChatDeps
from shared.domain.chats.chat import QUESTION_KEY, QUESTION_WORDS_KEY, Message
from shared.domain.chats.confirmation import Confirmation, Decision
from shared.domain.ids import RunId, UserId
from shared.domain.words import normalise

_DECISION_BY_REPLY: Mapping[Reply, Decision] = {
    "yes": "approved",
    "always": "always",
    "no": "refused",
}


async def accept_reply(
    deps: ChatDeps, uid: UserId, run_id: RunId, text: str, newest_first: Sequence[Message]
) -> Confirmation | None:
    """Decide the call that the newest message asks about, if `text` is a reply to it.

    None where there is no open question, or where another message came in between.
    """
    newest = newest_first[0] if newest_first else None
    confirmation_id = newest.metadata.get(QUESTION_KEY) if newest is not None else None
    if newest is None or confirmation_id is None:
        return None
    reply = _parse(text, newest.metadata.get(QUESTION_WORDS_KEY, ""))
    if reply is None:
        return None
    return await deps.stores.confirmations.answer_by_reply(
        uid,
        newest,
        confirmation_id,
        _DECISION_BY_REPLY[reply],
        answered_in=run_id,
        now=deps.clock.now(),
    )


def _parse(text: str, typed_words: str) -> Reply | None:
    """Return the reply of a message; where words have to be typed, they alone mean yes."""
    if not typed_words:
        return parse_reply(text)
    if normalise(text) == normalise(typed_words):
        return "yes"
    return "no" if parse_reply(text) == "no" else None
