"""Command turn: whose command it is, and how its answer is worded."""

from asyncio import gather
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from functions.chat import user_texts
from functions.chat.commands.command import ALL
from functions.chat.context.word_match import has_words, parse_words
from functions.chat.deps import ChatDeps
from shared.domain.chats.arc import Arc
from shared.domain.chats.chat import Card
from shared.domain.chats.confirmation import Confirmation
from shared.domain.chats.library_change import LibraryChange
from shared.domain.chats.rule import Rule, list_active
from shared.domain.ids import ArcId, MemoryId, RunId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.value import value
from shared.languages import translate

MEMORY = "memory/"
RULE = "rule/"
ARC = "arc/"
Item = Memory | Rule | Arc
"""What a list shows and a command names by its number."""
MAX_FOUND = 50
MAX_READ = 300
"""How many of the newest memories and arcs are looked through."""
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

    async def find(self, words: str) -> Sequence[Item]:
        """Return memories and arcs that have all the words, or else memories that mean something similar.

        Held ones are among them, and what waits in arcs: nothing may be left about somebody who is to
        be forgotten. The newest are read themselves: a forgetting that was interrupted left no rows.
        """
        stores, now = self.deps.stores, self.deps.clock.now()
        similar, newest, held, arcs = await gather(
            self.deps.search.search_memories(self.uid, words, limit=MAX_FOUND),
            stores.memories.list_newest(self.uid, limit=MAX_READ),
            stores.memories.list_held(self.uid, now=now, limit=MAX_FOUND),
            stores.arcs.list_newest(self.uid, limit=MAX_READ),
        )
        wanted = parse_words(words)
        by_id = {memory.id: memory for memory in (*similar, *newest, *held)}
        found = [m for m in by_id.values() if has_words(m.content, wanted)][:MAX_FOUND]
        told = [arc for arc in arcs if has_words(arc.full_text, wanted)]
        return [*found, *told] or similar[:MAX_SIMILAR]

    async def load(self, names: Sequence[str]) -> Sequence[Item]:
        """Return the current and the held memories, rules and arcs of these names, in their order."""
        ids = [MemoryId(name.removeprefix(MEMORY)) for name in names if name.startswith(MEMORY)]
        arc_ids = [ArcId(name.removeprefix(ARC)) for name in names if name.startswith(ARC)]
        memories, arcs, rules = await gather(
            self.deps.stores.memories.get_many(self.uid, ids),
            self.deps.stores.arcs.get_many(self.uid, arc_ids),
            self.list_rules(),
        )
        stored: Sequence[Item] = [*filter(_is_listed, memories.values()), *arcs, *rules]
        by_name = {build_name(item): item for item in stored}
        return [by_name[name] for name in names if name in by_name]

    async def list_rules(self) -> Sequence[Rule]:
        return list_active((await self.deps.stores.profiles.get(self.uid)).rules)

    def number(self, head: str, items: Sequence[Item], *, first: int = 1) -> CommandReply:
        """List items with the numbers by which the next command names them, from `first` on."""
        if not items:
            return self.say(user_texts.NO_SUCH_MEMORY)
        lines = [f"{number}. {to_line(item)}" for number, item in enumerate(items, first)]
        text = f"{self.translate(head, all=ALL)}\n\n" + "\n".join(lines)
        return CommandReply(text=text, listed=[build_name(item) for item in items])

    def say(self, sentence: str) -> CommandReply:
        return CommandReply(text=self.translate(sentence))

    def translate(self, sentence: str, **slots: object) -> str:
        return translate(sentence, self.language, **slots)


def build_name(item: Item) -> str:
    """Name what a list shows."""
    prefix = MEMORY if isinstance(item, Memory) else ARC if isinstance(item, Arc) else RULE
    return f"{prefix}{item.id}"


def to_line(item: Item) -> str:
    if isinstance(item, Memory):
        return " ".join(item.said_to_owner.split())
    return item.summary if isinstance(item, Arc) else item.text


def _is_listed(memory: Memory) -> bool:
    return memory.is_current or memory.is_held
