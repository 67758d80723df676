"""Answers of commands: what is remembered is shown, explained, written and forgotten, without a model."""

from functions.chat import user_texts
from functions.chat.commands.command import Command
from functions.chat.commands.command_turn import CommandReply, CommandTurn, to_line
from functions.chat.commands.forgetting import ask_to_forget, ask_to_wipe, decide, forget
from functions.chat.tools.memory_tools import write_fact
from functions.chat.tools.recall_tools import PAUSED, RESUMED
from shared.domain.chat import Card
from shared.domain.conversation import Conversation
from shared.domain.day_words import describe_time
from shared.domain.memory import Memory

MAX_LISTED = 20
MAX_FACT_CHARS = 500
RECALL_SETTINGS = {"on": True, "off": False}


async def answer_command(turn: CommandTurn, command: Command) -> CommandReply:
    """Run a command. Raises Unavailable."""
    match command.name:
        case "memories":
            return await _list(turn, command.argument)
        case "why":
            return await _explain(turn, command)
        case "incognito":
            return turn.say(user_texts.HOW_TO_GO_INCOGNITO)
        case "commands":
            return turn.say(user_texts.COMMANDS)
    return await _change(turn, command) if turn.may_write else turn.say(user_texts.READS_ONLY)


async def _change(turn: CommandTurn, command: Command) -> CommandReply:
    match command.name:
        case "forget":
            return await forget(turn, command)
        case "choose":
            return await ask_to_forget(turn, command.pick())
        case "remember":
            return await _remember(turn, command.argument)
        case "recall":
            return await _set_recall(turn, command.argument)
        case "wipe":
            return await ask_to_wipe(turn)
    return await decide(turn, command.decided)


async def _list(turn: CommandTurn, words: str) -> CommandReply:
    if words:
        memories = await turn.find(words)
        return turn.number(user_texts.MEMORIES_FOUND, memories)
    memories = await turn.deps.stores.memories.list_newest(turn.uid, limit=MAX_LISTED + 1)
    if not memories:
        return turn.say(user_texts.NOTHING_REMEMBERED)
    has_more = len(memories) > MAX_LISTED
    head = user_texts.NEWEST_MEMORIES if has_more else user_texts.ALL_MEMORIES
    return turn.number(head, memories[:MAX_LISTED])


async def _explain(turn: CommandTurn, command: Command) -> CommandReply:
    memories = await turn.load(command.pick())
    if len(memories) != 1:
        return turn.say(user_texts.NO_SUCH_NUMBER)
    memory = memories[0]
    conversation = await _find_conversation(turn, memory)
    origin = _describe_origin(turn, memory, conversation)
    text = f"{to_line(memory)}\n\n{origin}"
    if conversation is None:
        return CommandReply(text=text)
    return CommandReply(text=f"{text} [1]", card=_build_card(conversation))


async def _find_conversation(turn: CommandTurn, memory: Memory) -> Conversation | None:
    if memory.conversation_id is None:
        return None
    found = await turn.deps.stores.conversations.find_many(turn.uid, [memory.conversation_id])
    return next(iter(found), None)


def _describe_origin(turn: CommandTurn, memory: Memory, conversation: Conversation | None) -> str:
    time = describe_time(memory.created_at, turn.zone, turn.language)
    if memory.app_id is not None:
        return turn.translate(user_texts.WRITTEN_BY_APP, app=memory.app_id, time=time)
    if memory.evidence:
        quote = " ".join(memory.evidence.split())
        return turn.translate(user_texts.SAID_IN_WORDS, quote=quote, time=time)
    sentence = user_texts.HEARD if conversation else user_texts.WRITTEN_BY_OWNER
    return turn.translate(sentence, time=time)


async def _remember(turn: CommandTurn, fact: str) -> CommandReply:
    if not 0 < len(fact) <= MAX_FACT_CHARS:
        return turn.say(user_texts.COMMANDS)
    change = await write_fact(turn.deps, turn.uid, fact)
    sentence = user_texts.REMEMBERED if change else user_texts.KNOWN_ALREADY
    return CommandReply(text=turn.translate(sentence, fact=fact), change=change)


async def _set_recall(turn: CommandTurn, setting: str) -> CommandReply:
    if setting not in RECALL_SETTINGS:
        return turn.say(user_texts.COMMANDS)
    recalls = RECALL_SETTINGS[setting]
    await turn.deps.stores.profiles.change(turn.uid, recalls_memories=recalls)
    return turn.say(RESUMED if recalls else PAUSED)


def _build_card(conversation: Conversation) -> Card:
    structured = conversation.structured
    return Card(
        id=conversation.id,
        created_at=conversation.created_at,
        title=structured.title,
        emoji=structured.emoji,
    )
