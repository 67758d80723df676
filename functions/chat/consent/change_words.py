"""Words about changes of the library: what an answer changed, in its owner's language, and how to take it back.

What a memory or a task says may be worded by others: it stands between backticks, in one line, and formats nothing.
"""

from collections.abc import Sequence
from functools import cache

from functions.chat import user_texts
from shared.domain.chats.library_change import LibraryChange
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.domain.words import normalise
from shared.languages import LANGUAGES, translate
from shared.security.visible_text import strip_invisible

MAX_SHOWN_CHARS = 200


def build_change_notice(changes: Sequence[LibraryChange], language: str | None) -> str:
    """Say in one line what was changed, and which reply undoes it."""
    told, reply = describe_changes(changes, language), translate(user_texts.REPLY_UNDO, language)
    return translate(user_texts.CHANGED, language, changes=told, reply=reply)


def describe_changes(changes: Sequence[LibraryChange], language: str | None) -> str:
    """Say what was changed, in a row."""
    return " ".join(_describe(change, language) for change in changes)


def is_undo(text: str) -> bool:
    """Tell whether a message is nothing but the word that undoes a change, in any of our languages."""
    return normalise(text) in _list_undo_words()


def _describe(change: LibraryChange, language: str | None) -> str:
    before, after = change.before, change.after
    if isinstance(after, Memory):
        sentence = (
            user_texts.MEMORY_CHANGED if isinstance(before, Memory) else user_texts.MEMORY_MADE
        )
        earlier = before.content if isinstance(before, Memory) else ""
        return translate(sentence, language, text=_quote(after.content), earlier=_quote(earlier))
    if isinstance(after, ActionItem):
        assert before is None or isinstance(before, ActionItem)
        return translate(_choose_sentence(before, after), language, text=_quote(after.description))
    return translate(user_texts.SUMMARIES_CHANGED, language)


def _choose_sentence(before: ActionItem | None, after: ActionItem) -> str:
    if before is None:
        return user_texts.TASK_MADE
    if before.completed == after.completed:
        return user_texts.TASK_CHANGED
    return user_texts.TASK_DONE if after.completed else user_texts.TASK_REOPENED


def _quote(text: str) -> str:
    line = " ".join(strip_invisible(text).replace("`", "'").split())
    return f"`{line if len(line) <= MAX_SHOWN_CHARS else f'{line[:MAX_SHOWN_CHARS]}…'}`"


@cache
def _list_undo_words() -> frozenset[str]:
    return frozenset(
        normalise(translate(user_texts.UNDO, language)) for language in (None, *LANGUAGES)
    )
