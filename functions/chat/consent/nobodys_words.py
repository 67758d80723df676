"""Nobody's words: messages that say what their writer did not word, so that they prove nothing of them.

Such are a suggestion that was picked, and what looks pasted. A short paste without a mark is not recognised.
"""

import re

from shared.domain.chats.chat import Message
from shared.domain.provenance import TextKinds

LONG_CHARS = 1_200
"""A question as long as this is taken for pasted."""
_QUOTED_CHARS = 120
_MARKED_LINE = re.compile(r"^\s*(>|```|~~~)", re.MULTILINE)
_QUOTATION = re.compile(rf"[\"“„«「『]([^\"“”„«»「」『』]{{{_QUOTED_CHARS},}})[\"”“»」』]")


def find_writers(text: str, *, is_offered: bool) -> TextKinds:
    """Return the kinds of text of others that a message may be; none where it is its owner's word.

    `is_offered`: it equals a suggestion that they were offered of late.
    """
    if is_offered:
        return ("chat",)
    return ("paste",) if has_pasted_text(text) else ()


def is_owners_word(message: Message) -> bool:
    """Tell whether an owner worded a message themselves."""
    return message.is_owners and not message.text_kinds and not has_pasted_text(message.text)


def has_pasted_text(text: str) -> bool:
    """Tell whether a message holds words that may be somebody else's."""
    return (
        len(text) >= LONG_CHARS
        or _MARKED_LINE.search(text) is not None
        or _QUOTATION.search(text) is not None
    )
