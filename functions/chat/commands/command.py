"""Command: a message that begins with a slash, or that answers a question of the command before.

Also called: slash commands.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args

from functions.chat.consent.change_words import is_undo
from functions.chat.consent.consent_reply import parse_reply
from shared.data.chats.answer_changes import METADATA_FIELD
from shared.domain.chats.built_in_names import SlashName
from shared.domain.chats.chat import LISTED_KEY, QUESTION_WORDS_KEY, Message
from shared.domain.chats.confirmation import CONFIRMATION_TIMEOUT, Confirmation
from shared.domain.value import value

CommandName = SlashName | Literal["choose", "decide", "undo"]
FORGET = "forget"
WIPE = "wipe"
ALL = 0
"""The number that chooses all that is listed."""
_SLASH_NAMES: Mapping[str, SlashName] = {name: name for name in get_args(SlashName)}
_SLASH = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)
_NUMBERS = re.compile(r"\d{1,3}(?:[\s,]+\d{1,3})*\.?")

UNDO_MESSAGES = 10
"""Of a chat, among which “undo” looks for the last change."""


@value
class Command:
    """`argument` is what follows the name; of `undo`, the answer that made the changes. `listed` names what the last list showed, by its numbers.

    `decided` is the question that the owner's message answers.
    """

    name: CommandName
    argument: str = ""
    listed: Sequence[str] = ()
    decided: Confirmation | None = None

    @property
    def keeps_words(self) -> bool:
        """Whether it stores free words of the owner, which models read later."""
        return self.name in ("remember", "rule")

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers that the argument consists of; none where it says anything else."""
        if not _NUMBERS.fullmatch(self.argument):
            return ()
        return [int(number) for number in re.findall(r"\d+", self.argument)]

    def pick(self) -> Sequence[str]:
        """Return what its numbers name in the list; nothing where one of them is not there."""
        if list(self.numbers) == [ALL]:
            return self.listed
        if not all(1 <= number <= len(self.listed) for number in self.numbers):
            return ()
        return list(dict.fromkeys(self.listed[number - 1] for number in self.numbers))


def _find_changed(newest_first: Sequence[Message]) -> str | None:
    """Return the last answer that changed something, of a chat's latest messages."""
    latest = newest_first[:UNDO_MESSAGES]
    return next((message.id for message in latest if message.metadata.get(METADATA_FIELD)), None)


def read_command(
    text: str, newest_first: Sequence[Message], decided: Confirmation | None, *, now: datetime
) -> Command | None:
    """Return the command that a message is; None where it is for the model."""
    if decided is not None:
        is_ours = decided.tool in (FORGET, WIPE) and not decided.maker
        return Command(name="decide", decided=decided) if is_ours else None
    if _is_choice(text, newest_first, now):
        return Command(name="choose", argument=text, listed=_find_listed(newest_first))
    if newest_first and newest_first[0].metadata.get(QUESTION_WORDS_KEY) and _is_yes(text):
        return Command(name="wipe")  # yes is not enough: say again what is
    if is_undo(text) and (changed := _find_changed(newest_first)):
        return Command(name="undo", argument=changed)
    match = _SLASH.fullmatch(text)
    if match is None or match[1] not in _SLASH_NAMES:
        return None
    argument = (match[2] or "").strip()
    return Command(
        name=_SLASH_NAMES[match[1]], argument=argument, listed=_find_listed(newest_first)
    )


def _is_yes(text: str) -> bool:
    return parse_reply(text) == "yes"


def _is_choice(text: str, newest_first: Sequence[Message], now: datetime) -> bool:
    """Tell whether the message before asked for a number, not long ago, and this one gives it."""
    if not newest_first or not _NUMBERS.fullmatch(text):
        return False
    listed = newest_first[0].metadata.get(LISTED_KEY, {})
    is_open = now - newest_first[0].created_at < CONFIRMATION_TIMEOUT
    return is_open and bool(listed.get("is_choice"))


def _find_listed(newest_first: Sequence[Message]) -> Sequence[str]:
    found = (message.metadata.get(LISTED_KEY) for message in newest_first)
    return next((listed["items"] for listed in found if listed), ())
