"""Command turn: whose command it is, and how its answer is worded."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from functions.chat import user_texts
from functions.chat.commands.command import ALL
from functions.chat.context.word_match import has_words, parse_words
from functions.chat.deps import ChatDeps
from shared.domain.chat import Card
from shared.domain.confirmation import Confirmation
from shared.domain.ids import MemoryId, RunId, UserId
from shared.domain.library_change import LibraryChange
from shared.domain.memory import Memory
from shared.domain.value import value
from shared.languages import translate

MAX_FOUND = 50
MAX_SIMILAR = 5
"""How many memories are offered that have a similar meaning, where none has the words."""


@value
class CommandReply:
    """The answer of a command. `listed` names the memories that it numbers, from 1.

    `is_choice`: the owner's next message may choose of them by number. `card` is what it cites.
    """

    text: str
    listed: Sequence[str] = ()
    is_choice: bool = False
    confirmation: Confirmation | None = None
    card: Card | None = None
    change: LibraryChange | None = None


@value
class CommandTurn:
    """The turn of one command. What changes anything is refused unless it `may_write`."""

    deps: ChatDeps
    uid: UserId
    run_id: RunId
    zone: ZoneInfo
    language: str | None
    may_write: bool

    async def find(self, words: str) -> Sequence[Memory]:
        """Return memories that have all the words, or else those that mean something similar."""
        similar = await self.deps.search.search_memories(self.uid, words, limit=MAX_FOUND)
        wanted = parse_words(words)
        return [m for m in similar if has_words(m.content, wanted)] or similar[:MAX_SIMILAR]

    async def load(self, items: Sequence[str]) -> Sequence[Memory]:
        """Return the current memories of these names, in their order."""
        names = [MemoryId(item.removeprefix("memory/")) for item in items]
        stored = await self.deps.stores.memories.get_many(self.uid, names)
        return [stored[name] for name in names if name in stored and stored[name].is_current]

    def number(self, head: str, memories: Sequence[Memory]) -> CommandReply:
        """List memories with the numbers by which the next command names them."""
        if not memories:
            return self.say(user_texts.NO_SUCH_MEMORY)
        lines = [f"{number}. {to_line(memory)}" for number, memory in enumerate(memories, 1)]
        text = f"{self.translate(head, all=ALL)}\n\n" + "\n".join(lines)
        return CommandReply(text=text, listed=[build_name(memory) for memory in memories])

    def say(self, sentence: str) -> CommandReply:
        return CommandReply(text=self.translate(sentence))

    def translate(self, sentence: str, **slots: object) -> str:
        return translate(sentence, self.language, **slots)


def build_name(memory: Memory) -> str:
    """Name a memory in a list."""
    return f"memory/{memory.id}"


def to_line(memory: Memory) -> str:
    return " ".join(memory.said_to_owner.split())
