"""Similar chats: what the owner's other chats came to whose tags this question and its chat share, as data; pure."""

import json
from collections.abc import Sequence

from shared import prompts
from shared.domain.chats.chat import Session
from shared.domain.provenance import LIBRARY, TextKinds, describe_origin
from shared.domain.value import value
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import find_words, tokenize
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible

MAX_SIMILAR = 3
MAX_COMPARED = 20
"""Of the chats that share a tag, the newest that are compared: so many documents a turn reads at most."""
MAX_WORDS = 5
RARE_WEIGHT = 5.0
"""Weight of a word by which a chat may be similar."""
MAX_READ_CHARS = 2_000
MAX_WORD_CHARS = 60
MAX_TITLE_CHARS = 120
MAX_SUMMARY_CHARS = 600


@value
class SimilarChat:
    """A chat of the same owner: its title, and what it came to, with what had been read for that."""

    title: str
    summary: str
    read_kinds: TextKinds | None = None


def list_wanted_tags(question: str, session: Session) -> list[str]:
    """Return the words and tags by which chats are like a question in this one, its own rarer words first."""
    spans = list(find_words(question[:MAX_READ_CHARS]))
    words = {question[a:b]: None for a, b, _ in spans if b - a <= MAX_WORD_CHARS}
    weights = {word: max(map(get_term_weight, tokenize(word)), default=0.0) for word in words}
    rare = sorted((w for w in weights if weights[w] >= RARE_WEIGHT), key=lambda w: -weights[w])
    return [*rare[:MAX_WORDS], *session.notes.tags]


def select_similar(
    wanted: Sequence[str], session: Session, newest_first: Sequence[Session]
) -> list[SimilarChat]:
    """Return the other chats that have most of the wanted tags, of equals the newest; only such as have a summary."""
    tags = _fold(wanted)
    shared = {
        chat.id: len(tags & _fold(chat.notes.tags))
        for chat in newest_first
        if chat.id != session.id and chat.notes.summary
    }
    similar = [chat for chat in newest_first if shared.get(chat.id)]
    best = sorted(similar, key=lambda chat: -shared[chat.id])[:MAX_SIMILAR]
    return [
        SimilarChat(title=chat.title, summary=chat.notes.summary, read_kinds=chat.notes.read_kinds)
        for chat in best
    ]


def build_similar_text(chats: Sequence[SimilarChat]) -> str:
    """Return the summaries as fenced data; empty without any."""
    if not chats:
        return ""
    rows = [
        {
            "title": chat.title[:MAX_TITLE_CHARS],
            "summary": chat.summary[:MAX_SUMMARY_CHARS],
            "origin": describe_origin(chat.read_kinds),
        }
        for chat in chats[:MAX_SIMILAR]
    ]
    data = strip_invisible(json.dumps({"chats": rows}, ensure_ascii=False))
    return prompts.render("chat/similar_chats", chats=fence_untrusted(data, LIBRARY))


def _fold(tags: Sequence[str]) -> frozenset[str]:
    return frozenset(tag.casefold() for tag in tags)
