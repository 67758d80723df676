"""Given details: what an answer may have from memories and settings, so that its notes do without."""

import re
from collections.abc import Iterable, Iterator, Sequence

from functions.chat.consent.allowed_details import load_details
from functions.chat.notes.private_details import find_private_terms
from functions.chat.tools.toolkit import MAX_SHOWN_CHARS
from shared.data.memories.memories import Memories
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import Message
from shared.domain.chats.details_request import DetailKey
from shared.domain.chats.steps import CUT_NOTE, CallStep
from shared.domain.ids import UserId

_READING_TOOLS = frozenset({"get_memories", "search_memories"})
_WRITING_TOOLS = frozenset({"remember", "update_memory", "delete_memories"})
_QUOTED = re.compile(r"“([^”]*)”")
MAX_GIVEN_MEMORIES = 200
"""Most that one call gives."""


async def load_private_terms(
    memories: Memories,
    uid: UserId,
    profile: Profile,
    question: Message,
    messages: Sequence[Message],
    *,
    asked: Sequence[DetailKey] = (),
) -> frozenset[str]:
    """Return the terms that only memories and settings bring into an answer.

    `messages` are those that the model read, with the answer, and `asked` is what the chat may ever have
    been allowed to read. What its owner had remembered counts
    even where the question says it; a result that people were shown in part is read again.
    """
    read = [*_list_settings(profile), *_list_outputs(messages, _READING_TOOLS)]
    read += [m.text for m in messages if m.route == "command" and m.sender == "ai"]
    details = await load_details(memories, uid, profile, asked)
    read += [text for texts in details.values() for text in texts]
    if any(map(_is_cut, read)):
        newest = await memories.list_newest(uid, limit=MAX_GIVEN_MEMORIES)
        read += [memory.content for memory in newest]
    written = [
        words
        for output in _list_outputs(messages, _WRITING_TOOLS)
        for words in _QUOTED.findall(output)
    ]
    return find_private_terms(read, said=question.text) | find_private_terms(written, said="")


def _is_cut(text: str) -> bool:
    return len(text) >= MAX_SHOWN_CHARS or text.endswith(CUT_NOTE)


def _list_settings(profile: Profile) -> Iterator[str]:
    yield from (profile.name, profile.learning_style)
    yield from (*profile.own_names, *profile.interests)


def _list_outputs(messages: Iterable[Message], tools: frozenset[str]) -> list[str]:
    return [
        step.output
        for message in messages
        for step in message.steps
        if isinstance(step, CallStep) and step.tool in tools
    ]
