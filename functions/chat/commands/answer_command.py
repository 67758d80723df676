"""Answers of commands: what is remembered is shown, explained, written and forgotten, without a model."""

from asyncio import gather
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from functions.chat import user_texts
from functions.chat.commands.command import Command, CommandName
from functions.chat.commands.command_turn import CommandReply, CommandTurn, Item, to_line
from functions.chat.commands.forgetting import ask_to_wipe, choose, decide, forget
from functions.chat.commands.undo import undo
from functions.chat.tools.memory_tools import write_fact
from functions.chat.tools.recall_tools import PAUSED, RESUMED
from shared.domain.chats.arc import Arc
from shared.domain.chats.card import build_card
from shared.domain.chats.rule import MAX_CHARS, MAX_WORDS, Rule, add_rule
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.day_words import describe_time
from shared.domain.errors import Invalid
from shared.domain.ids import RuleId
from shared.domain.memories.memory import Memory

MAX_LISTED = 20
MAX_LISTED_ARCS = 5
MAX_FACT_CHARS = 500
READING = frozenset({"memories", "why", "rules", "incognito", "commands"})
"""Commands that change nothing, which an incognito chat has too."""
RECALL_SETTINGS = {"on": True, "off": False}


async def answer_command(turn: CommandTurn, command: Command) -> CommandReply:
    """Run a command. Raises Unavailable."""
    if command.name not in READING and not turn.may_write:
        return turn.say(user_texts.READS_ONLY)
    return await _ANSWERS[command.name](turn, command)


async def _list(turn: CommandTurn, command: Command) -> CommandReply:
    if command.argument:
        return turn.number(user_texts.MEMORIES_FOUND, await turn.find(command.argument))
    memories, arcs, rules = await gather(
        turn.deps.stores.memories.list_newest(turn.uid, limit=MAX_LISTED + 1),
        turn.deps.stores.arcs.list_newest(turn.uid, limit=MAX_LISTED_ARCS),
        turn.list_rules(),
    )
    has_more = len(memories) > MAX_LISTED
    head = user_texts.NEWEST_MEMORIES if has_more else user_texts.ALL_MEMORIES
    parts: Sequence[tuple[str, Sequence[Item]]] = [
        (head, memories[:MAX_LISTED]),
        (user_texts.NEWEST_ARCS, arcs),
        (user_texts.RULES, rules),
    ]
    return _join_lists(turn, parts)


def _join_lists(turn: CommandTurn, parts: Sequence[tuple[str, Sequence[Item]]]) -> CommandReply:
    """Number what several lists hold, from one to the next."""
    texts: list[str] = []
    listed: list[str] = []
    for head, items in parts:
        if items:
            part = turn.number(head, items, first=len(listed) + 1)
            texts.append(part.text)
            listed += part.listed
    if not listed:
        return turn.say(user_texts.NOTHING_REMEMBERED)
    return CommandReply(text="\n\n".join(texts), listed=listed)


async def _list_rules(turn: CommandTurn, _: Command) -> CommandReply:
    rules = await turn.list_rules()
    return turn.number(user_texts.RULES, rules) if rules else turn.say(user_texts.NO_RULES)


async def _add_rule(turn: CommandTurn, command: Command) -> CommandReply:
    """Add a rule, word for word."""
    text = " ".join(command.argument.split())
    if not text:
        return turn.say(user_texts.COMMANDS)
    now = turn.deps.clock.now()
    rule = Rule(id=RuleId(turn.deps.new_id()), text=text, created_at=now)
    try:
        await turn.deps.stores.profiles.change_rules(
            turn.uid, partial(add_rule, rule=rule, now=now)
        )
    except Invalid:
        return CommandReply(
            text=turn.translate(user_texts.RULE_TOO_LONG, words=MAX_WORDS, chars=MAX_CHARS)
        )
    return await _list_rules(turn, command)


async def _explain(turn: CommandTurn, command: Command) -> CommandReply:
    items = await turn.load(command.pick())
    if len(items) != 1:
        return turn.say(user_texts.NO_SUCH_NUMBER)
    item = items[0]
    if isinstance(item, Memory):
        return await _explain_memory(turn, item)
    return _explain_arc(turn, item) if isinstance(item, Arc) else _explain_rule(turn, item)


def _explain_arc(turn: CommandTurn, arc: Arc) -> CommandReply:
    time = describe_time(arc.created_at, turn.zone, turn.language)
    return CommandReply(text=f"{to_line(arc)}\n\n{turn.translate(user_texts.HEARD, time=time)}")


def _explain_rule(turn: CommandTurn, rule: Rule) -> CommandReply:
    time = describe_time(rule.created_at, turn.zone, turn.language)
    sentence = user_texts.SAID_IN_WORDS if rule.quote else user_texts.WRITTEN_BY_OWNER
    return CommandReply(
        text=f"{to_line(rule)}\n\n{turn.translate(sentence, time=time, quote=rule.quote)}"
    )


async def _explain_memory(turn: CommandTurn, memory: Memory) -> CommandReply:
    conversation = await _find_conversation(turn, memory)
    origin = _describe_origin(turn, memory, conversation)
    text = f"{to_line(memory)}\n\n{origin}"
    if conversation is None:
        return CommandReply(text=text)
    return CommandReply(text=f"{text} [1]", card=build_card(conversation))


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
    if conversation is not None:
        return turn.translate(user_texts.HEARD, time=time)
    sentence = (
        user_texts.WRITTEN_AFTER_READING if memory.read_kinds else user_texts.WRITTEN_BY_OWNER
    )
    return turn.translate(sentence, time=time)


async def _remember(turn: CommandTurn, command: Command) -> CommandReply:
    fact = command.argument
    if not 0 < len(fact) <= MAX_FACT_CHARS:
        return turn.say(user_texts.COMMANDS)
    change = await write_fact(turn.deps, turn.uid, fact)
    sentence = user_texts.REMEMBERED if change else user_texts.KNOWN_ALREADY
    return CommandReply(text=turn.translate(sentence, fact=fact), change=change)


async def _set_recall(turn: CommandTurn, command: Command) -> CommandReply:
    if command.argument not in RECALL_SETTINGS:
        return turn.say(user_texts.COMMANDS)
    recalls = RECALL_SETTINGS[command.argument]
    await turn.deps.stores.profiles.change(turn.uid, recalls_memories=recalls)
    return turn.say(RESUMED if recalls else PAUSED)


async def _tell_incognito(turn: CommandTurn, _: Command) -> CommandReply:
    return turn.say(user_texts.HOW_TO_GO_INCOGNITO)


async def _tell_commands(turn: CommandTurn, _: Command) -> CommandReply:
    return turn.say(user_texts.COMMANDS)


_ANSWERS: Mapping[CommandName, Callable[[CommandTurn, Command], Awaitable[CommandReply]]] = {
    "memories": _list,
    "why": _explain,
    "rules": _list_rules,
    "incognito": _tell_incognito,
    "commands": _tell_commands,
    "forget": forget,
    "choose": choose,
    "decide": decide,
    "remember": _remember,
    "rule": _add_rule,
    "recall": _set_recall,
    "wipe": ask_to_wipe,
    "undo": undo,
}
