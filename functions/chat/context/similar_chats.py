"""Similar chats: what the owner's other chats came to that share most tags with this one, as data; pure."""

import json
from collections.abc import Sequence

from shared import prompts
from shared.domain.chats.chat import Session
from shared.domain.provenance import LIBRARY
from shared.domain.value import value
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible

MAX_SIMILAR = 3
MAX_COMPARED = 20
"""Of the chats that share a tag, the newest that are compared: so many documents a turn reads at most."""
MAX_TITLE_CHARS = 120
MAX_SUMMARY_CHARS = 600


@value
class SimilarChat:
    """A chat of the same owner: its title, and what it came to."""

    title: str
    summary: str


def select_similar(session: Session, newest_first: Sequence[Session]) -> list[SimilarChat]:
    """Return the chats that share most tags with one, of equals the newest; only such as have a summary."""
    wanted = _fold_tags(session)
    shared = {
        chat.id: len(wanted & _fold_tags(chat))
        for chat in newest_first
        if chat.id != session.id and chat.notes.summary
    }
    similar = [chat for chat in newest_first if shared.get(chat.id)]
    best = sorted(similar, key=lambda chat: -shared[chat.id])[:MAX_SIMILAR]
    return [SimilarChat(title=chat.title, summary=chat.notes.summary) for chat in best]


def build_similar_text(chats: Sequence[SimilarChat]) -> str:
    """Return the summaries as fenced data; empty without any."""
    if not chats:
        return ""
    rows = [
        {"title": chat.title[:MAX_TITLE_CHARS], "summary": chat.summary[:MAX_SUMMARY_CHARS]}
        for chat in chats[:MAX_SIMILAR]
    ]
    data = strip_invisible(json.dumps({"chats": rows}, ensure_ascii=False))
    return prompts.render("chat/similar_chats", chats=fence_untrusted(data, LIBRARY))


def _fold_tags(session: Session) -> frozenset[str]:
    return frozenset(tag.casefold() for tag in session.notes.tags)
