"""Forgetting by command: the owner is asked first, and what they were shown goes, and nothing else."""

import json
from asyncio import gather
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from functions.chat import user_texts
from functions.chat.commands.command import FORGET, WIPE, Command
from functions.chat.commands.command_turn import (
    MAX_FOUND,
    CommandReply,
    CommandTurn,
    Item,
    build_name,
    to_line,
)
from functions.chat.context.word_match import has_words, parse_words
from shared.domain.chats.arc import Arc
from shared.domain.chats.confirmation import CONFIRMATION_TIMEOUT, Confirmation
from shared.domain.chats.rule import Rule, remove_rule
from shared.domain.errors import NotFound
from shared.domain.memories.memory import Memory
from shared.domain.provenance import LIBRARY
from shared.library.owner_memories import delete_all_memories, forget_memories
from shared.resilience.retry import retry
from shared.retrieval.term_weights import RARE_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

CHATS_A_PAGE = 50
"""So many chats are changed at once."""


async def forget(turn: CommandTurn, command: Command) -> CommandReply:
    if not command.argument:
        return turn.say(user_texts.COMMANDS)
    if command.numbers:
        return await _ask_to_forget(turn, command.pick())
    found = await turn.find(command.argument)
    if not found:
        await _leave_out_what_was_said(turn)
        wanted = parse_words(command.argument)
        await _forget_notes(turn, lambda text: has_words(text, wanted))
    if len(found) < 2:
        return await _ask_to_forget(turn, [build_name(memory) for memory in found])
    choice = turn.number(user_texts.WHICH_TO_FORGET, found)
    more = f"\n\n{turn.translate(user_texts.MORE_FOUND)}"
    text = choice.text + (more if len(found) >= MAX_FOUND else "")
    return CommandReply(text=text, listed=choice.listed, is_choice=True)


async def choose(turn: CommandTurn, command: Command) -> CommandReply:
    """Ask about those that the owner chose of a list."""
    return await _ask_to_forget(turn, command.pick())


async def _ask_to_forget(turn: CommandTurn, items: Sequence[str]) -> CommandReply:
    listed = turn.number(user_texts.ASK_TO_FORGET, await turn.load(items))
    if not listed.listed:
        return listed
    question = await _ask(turn, FORGET, {"items": listed.listed})
    text = f"{listed.text}\n\n{turn.translate(user_texts.REPLY_ONCE)}"
    return CommandReply(text=text, confirmation=question)


async def ask_to_wipe(turn: CommandTurn, _: Command) -> CommandReply:
    stores = turn.deps.stores
    memories, arcs, rules, chats = await gather(
        stores.memories.list_all(turn.uid, limit=1),
        stores.arcs.list_newest(turn.uid, limit=1),
        turn.list_rules(),
        stores.sessions.list_page(turn.uid, limit=CHATS_A_PAGE),
    )
    is_noted = any(chat.notes.noted_until or chat.summary for chat in chats.items)
    if not (memories or arcs or rules or is_noted):
        await _leave_out_what_was_said(turn)
        return turn.say(user_texts.NOTHING_REMEMBERED)
    words = turn.translate(user_texts.WIPE_WORDS)
    question = await _ask(turn, WIPE, {}, typed_words=words)
    text = turn.translate(user_texts.ASK_TO_WIPE, words=words)
    return CommandReply(text=text, confirmation=question)


async def decide(turn: CommandTurn, command: Command) -> CommandReply:
    """Do what the owner was asked about, exactly, or nothing."""
    decided = command.decided
    if decided is None or decided.decision not in ("approved", "always"):
        return turn.say(user_texts.NOTHING_FORGOTTEN)
    if decided.tool == WIPE:
        await turn.deps.stores.profiles.begin_wipe(turn.uid, now=turn.deps.clock.now())
        await delete_all_memories(turn.deps.stores.memories, turn.deps.index, turn.uid)
        await turn.deps.stores.bin_entries.forget_memories(turn.uid)
        await turn.deps.stores.arcs.forget_all(turn.uid)
        await turn.deps.stores.profiles.change(turn.uid, rules=())
        await _forget_notes(turn, lambda _: True)
        return turn.say(user_texts.WIPED)
    await _leave_out_what_was_said(turn)
    items = await turn.load(json.loads(decided.arguments)["items"])
    memories = [item for item in items if isinstance(item, Memory)]
    await forget_memories(turn.deps.stores.memories, turn.deps.index, turn.uid, memories)
    for item in items:
        if not isinstance(item, Memory):
            await _delete(turn, item)
    told = {term for item in items for term in _list_telling_terms(item)}
    await _forget_notes(turn, lambda text: not told.isdisjoint(tokenize(text)))
    return CommandReply(text=turn.number(user_texts.FORGOTTEN, items).text)


async def _leave_out_what_was_said(turn: CommandTurn) -> None:
    """Let no stretch that is still to be read bring back what is forgotten now."""
    await turn.deps.stores.profiles.change(turn.uid, forgot_at=turn.deps.clock.now())


async def _forget_notes(turn: CommandTurn, tells: Callable[[str], bool]) -> None:
    """Delete the titles, summaries, tags and suggestions of chats whose words tell of what is forgotten."""
    sessions, cursor = turn.deps.stores.sessions, None
    while True:
        page = await sessions.list_page(turn.uid, limit=CHATS_A_PAGE, after=cursor)
        told = [
            chat for chat in page.items if chat.derived_text.strip() and tells(chat.derived_text)
        ]
        await gather(*(sessions.forget_notes(turn.uid, chat) for chat in told))
        cursor = page.next
        if cursor is None:
            return


def _list_telling_terms(item: Item) -> list[str]:
    """Return the words that tell an item from others: everyday words are in most."""
    text = item.full_text if isinstance(item, Arc) else to_line(item)
    return [term for term in tokenize(text) if get_term_weight(term) >= RARE_WEIGHT]


async def _delete(turn: CommandTurn, item: Arc | Rule) -> None:
    """Delete what may be gone already."""
    stores = turn.deps.stores
    with suppress(NotFound):
        if isinstance(item, Arc):
            await stores.arcs.forget(turn.uid, item.id)
        else:
            await stores.profiles.change_rules(turn.uid, partial(remove_rule, rule_id=item.id))


async def _ask(
    turn: CommandTurn, tool: str, arguments: dict[str, object], *, typed_words: str = ""
) -> Confirmation:
    """Store a question that the owner's next message answers."""
    now = turn.deps.clock.now()
    question = Confirmation(
        id=turn.deps.new_id(),
        call_id=turn.run_id,
        tool=tool,
        model_name=tool,
        pin="",
        source=LIBRARY,
        maker="",
        arguments=json.dumps(arguments),
        reason="sensitive",
        allows_always=False,
        asked_at=now,
        expires_at=now + CONFIRMATION_TIMEOUT,
        channel="reply",
        typed_words=typed_words,
    )
    confirmations = turn.deps.stores.confirmations
    await retry(
        lambda: confirmations.add(turn.uid, turn.run_id, question), sleep=turn.deps.clock.sleep
    )
    return question
