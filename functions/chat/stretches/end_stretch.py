"""End of a stretch of a chat: what it was about is kept, and what its owner said is remembered.

It may happen again at any point: each step finds what it did before.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from functions.chat.context.model_words import select_model_words
from functions.chat.deps import StretchDeps
from functions.chat.stretches.build_arc import build_arc, build_arc_id
from functions.chat.stretches.model_outputs import StretchOutput
from functions.chat.stretches.promotion import is_promoted
from shared import prompts, telemetry
from shared.domain.chats.arc import (
    SILENCE,
    Arc,
    Statement,
    select_own_exchanges,
    take_stretch,
)
from shared.domain.chats.branches import build_shown_path
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.chat_notes import MAX_ACTIONS, AnswerNotes, SuggestedAction
from shared.domain.chats.rule import Rule, add_rule
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.errors import ModelFailed
from shared.domain.ids import MemoryId, RuleId, SessionId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import Prompt
from shared.library.compare_facts import compare_facts, select_read
from shared.library.exclusive_facts import find_exclusive_key
from shared.library.memory_index import index_memories
from shared.library.near_memories import find_near_memories
from shared.library.polarity import is_borne
from shared.library.reconcile import Candidate, reconcile
from shared.library.settle_memories import settle_memories
from shared.library.superseded import build_correction_writes
from shared.library.user_model import load_model
from shared.models.windows import (
    compute_data_tokens,
    count_data_tokens,
    cut_texts,
    take_fitting,
)
from shared.retrieval.term_weights import RARE_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

MAX_MESSAGES = 40
MIN_OWNER_CHARS = 40
"""Who says less in a stretch, and no rare word, made small talk: "I'm vegan" is none."""
MAX_MESSAGE_CHARS = 4_000
MAX_KNOWN = 100
MAX_EARLIER = 100
STRETCH_PROMPT = "chat/stretch"
ANSWER_TOKENS = 3_000
"""A summary, a dozen lines, and some statements with their proofs."""
KNOWN_SHARE = 5
"""What is known already takes at most this part of the data."""
LEAST_MESSAGE_TOKENS = 60
"""Fewer messages are read rather than less of each."""


async def end_stretch(
    deps: StretchDeps,
    uid: UserId,
    session_id: SessionId,
    until: datetime,
    *,
    is_asked: bool = False,
) -> None:
    """Keep what the stretch that ends at `until` was about; nothing where it goes on or is small talk.

    `is_asked`: its owner ended it, so that it does not go on. Raises Unavailable: call again. Where the model fails, nothing is kept.
    """
    session = await deps.stores.sessions.get(uid, session_id)
    if session is None or session.is_private or await _is_with_persona(deps, session):
        return
    newest_first = await deps.stores.messages.list_newest(
        uid, session_id, limit=MAX_MESSAGES, path=build_shown_path(session.forks)
    )
    taken = take_stretch(newest_first, until, is_asked=is_asked)
    stretch = await _leave_out_forgotten(deps, uid, await _leave_out_ended(deps, uid, taken))
    messages = [m for m in select_own_exchanges(stretch) if select_model_words(m)]
    said = [message.text for message in messages if message.is_owners]
    if _is_small_talk(" ".join(said)):
        return
    arc = await _load_or_build(deps, uid, stretch, messages)
    if arc is not None and not arc.is_settled:
        await _settle(deps, uid, arc, stretch, said)


def _is_small_talk(said: str) -> bool:
    return len(said) < MIN_OWNER_CHARS and all(
        get_term_weight(term) < RARE_WEIGHT for term in tokenize(said)
    )


async def _is_with_persona(deps: StretchDeps, session: Session) -> bool:
    """A persona's chat is play: nothing that is said in it is a statement about the owner.

    An app that is gone may have been one.
    """
    if session.app_id is None:
        return False
    apps = await deps.stores.apps.get_many([session.app_id])
    return not apps or apps[0].persona_prompt is not None


async def _leave_out_ended(
    deps: StretchDeps, uid: UserId, stretch: Sequence[Message]
) -> Sequence[Message]:
    """Leave out what has its arc: an owner may end a stretch by hand, and go on at once."""
    if not stretch:
        return stretch
    first, last = stretch[0], stretch[-1]
    arcs = await deps.stores.arcs.list_created_between(
        uid, first.created_at, last.created_at, limit=MAX_EARLIER
    )
    ends = [arc.created_at for arc in arcs if arc.session_id == last.session_id]
    return [m for m in stretch if m.created_at > max(ends)] if ends else stretch


async def _leave_out_forgotten(
    deps: StretchDeps, uid: UserId, stretch: Sequence[Message]
) -> Sequence[Message]:
    """Leave out what was said before its owner wanted something forgotten: it may be about that."""
    profile = await deps.stores.profiles.get(uid)
    return [message for message in stretch if not profile.has_forgotten(message.created_at)]


async def _load_or_build(
    deps: StretchDeps, uid: UserId, stretch: Sequence[Message], messages: Sequence[Message]
) -> Arc | None:
    """Return the arc as it is stored; None where the model fails, or the chat or what was said is gone."""
    stored = await deps.stores.arcs.find(uid, build_arc_id(stretch[-1]))
    if stored is not None:
        return stored
    known = await deps.stores.memories.list_newest(uid, limit=MAX_KNOWN)
    model = await load_model(deps, uid, chat=stretch[0].session_id, urgency="later")
    prompt = _build_prompt(messages, known, model.describe("reader").window_tokens)
    try:
        output = await model.complete_structured("reader", prompt, StretchOutput)
    except ModelFailed:
        telemetry.add_fields(outcome="stretch_not_read")
        return None
    level = await deps.crisis_log.find_highest_level(
        uid,
        stretch[0].session_id,
        since=stretch[0].created_at,
        before=stretch[-1].created_at + SILENCE,
    )
    arc = build_arc(output, stretch, messages, known, level)
    return await deps.stores.arcs.begin(uid, arc, stretch[-1])


def _build_prompt(
    messages: Sequence[Message], known: Sequence[Memory], window_tokens: int
) -> Prompt:
    """Build the prompt so that it fits: of too many messages the last, of too long ones head and tail."""
    instructions = prompts.render(STRETCH_PROMPT)
    room = compute_data_tokens(window_tokens, instructions, ANSWER_TOKENS)
    numbered = [*enumerate(messages)][-max(room // LEAST_MESSAGE_TOKENS, 1) :]
    rows = [
        {"number": n, "sender": "owner" if message.is_owners else "assistant", "text": ""}
        for n, message in numbered
    ]
    facts = [{"number": n, "text": memory.content} for n, memory in enumerate(known)]
    data = {"messages": rows, "known": take_fitting(facts, room // KNOWN_SHARE)}
    texts = cut_texts(
        [select_model_words(message)[:MAX_MESSAGE_CHARS] for _, message in numbered],
        room - count_data_tokens(data),
    )
    spoken = [{**row, "text": text} for row, text in zip(rows, texts, strict=True)]
    return prompts.build_prompt(
        STRETCH_PROMPT,
        {**data, "messages": spoken},
        answer_tokens=ANSWER_TOKENS,
    )


async def _settle(
    deps: StretchDeps, uid: UserId, arc: Arc, stretch: Sequence[Message], said: Sequence[str]
) -> None:
    """Write what is supported enough; the rest waits in the arc for another stretch.

    A fact that its quotation does not prove is suggested to its owner, whose click writes it.
    """
    newest, held_elsewhere = await asyncio.gather(
        deps.stores.arcs.list_newest(uid, limit=MAX_EARLIER + 1),
        deps.stores.memories.list_held(uid, now=deps.clock.now(), limit=MAX_KNOWN),
    )
    arcs = [other.text for other in newest if other.created_at < arc.created_at]
    recordings = [f"{memory.content}\n{memory.evidence}" for memory in held_elsewhere]
    promote = partial(is_promoted, said=said, about=arc.summary, earlier=[*arcs, *recordings])
    prove = partial(is_borne, deps.meanings, uid)
    promoted = [statement for statement in arc.statements if promote(statement)]
    proved = [statement for statement in promoted if await prove(statement.quote, statement.text)]
    await _write_facts(deps, uid, arc, stretch[-1], [s for s in proved if s.use == "fact"])
    await _write_rules(deps, uid, [s for s in proved if s.use == "rule"])
    await _suggest(deps, uid, stretch, [s for s in promoted if s.use == "fact" and s not in proved])
    held = tuple(statement for statement in arc.statements if statement not in promoted)
    await deps.stores.arcs.change(uid, arc.id, statements=held, is_settled=True)


async def _write_facts(
    deps: StretchDeps, uid: UserId, arc: Arc, last: Message, statements: Sequence[Statement]
) -> None:
    candidates: Sequence[Candidate] = [_build_candidate(arc, each) for each in statements]
    if not candidates:
        return
    memories, own_ids = deps.stores.memories, {each.memory.id for each in candidates}
    named_ids = {name for each in candidates for name in (each.replaced_id, each.repeated_id)}
    newest, conflicting, named = await asyncio.gather(
        memories.list_newest(uid, limit=MAX_KNOWN),
        memories.find_conflicting(uid, [each.memory for each in candidates]),
        memories.get_many(uid, [name for name in named_ids if name]),
    )
    candidates, near = await _compare_with_near(deps, uid, arc, candidates, newest)
    compared = (*newest, *conflicting, *named.values(), *near)
    known = {memory.id: memory for memory in compared if memory.is_current}
    decided = reconcile(candidates, [m for m in known.values() if m.id not in own_ids])
    corrections = build_correction_writes(uid, decided.corrections)
    if not await deps.stores.arcs.write_facts(uid, arc, last, decided.memories, corrections):
        return
    written = [memory for memory in decided.memories if memory.is_current]
    await deps.index.remove_memories(uid, [each.old.id for each in decided.corrections])
    await index_memories(memories, deps.index, uid, written)
    if written:
        rivals = await memories.find_conflicting(uid, written)
        await settle_memories(deps.stores.documents, deps.index, uid, written, rivals)


async def _compare_with_near(
    deps: StretchDeps,
    uid: UserId,
    arc: Arc,
    candidates: Sequence[Candidate],
    newest: Sequence[Memory],
) -> tuple[Sequence[Candidate], Sequence[Memory]]:
    """Return the facts as compared with the known ones nearest to them, and these; none where all were shown."""
    model = await load_model(deps, uid, chat=arc.session_id, urgency="later")
    read_ids = select_read(newest, model.describe("reader").window_tokens)
    if len(read_ids) == len(newest) < MAX_KNOWN:
        return candidates, ()
    near = await find_near_memories(deps.search, uid, [each.memory.content for each in candidates])
    compared_ids = {*read_ids, *(each.memory.id for each in candidates)}
    unread = [memory for memory in near if memory.id not in compared_ids]
    return await compare_facts(model, candidates, unread), near


def _build_candidate(arc: Arc, statement: Statement) -> Candidate:
    memory = Memory(
        id=MemoryId(build_derived_id(statement.message_id, "memory", statement.text)),
        content=statement.text,
        category="system",
        created_at=statement.said_at,
        updated_at=statement.said_at,
        evidence=statement.quote,
        session_id=arc.session_id,
        message_id=statement.message_id,
        aspect=find_exclusive_key(statement.text),
        read_kinds=(),  # its quotation proves it
    )
    return Candidate(
        memory=memory, replaced_id=statement.replaced_id, repeated_id=statement.repeated_id
    )


async def _suggest(
    deps: StretchDeps, uid: UserId, stretch: Sequence[Message], facts: Sequence[Statement]
) -> None:
    """Suggest facts beside the last answer of a stretch, each once."""
    answer = next((message for message in reversed(stretch) if message.notes is not None), None)
    if not facts or answer is None:
        return
    suggested = [
        SuggestedAction(tool="remember", arguments={"content": fact.text}) for fact in facts
    ]

    def add(notes: AnswerNotes) -> AnswerNotes:
        actions = {repr(action): action for action in (*notes.actions, *suggested)}
        return replace(notes, actions=tuple(actions.values())[:MAX_ACTIONS])

    await deps.stores.messages.change_notes(uid, answer.id, add)


async def _write_rules(deps: StretchDeps, uid: UserId, statements: Sequence[Statement]) -> None:
    """Keep what the owner said more than once about how to be answered."""
    now = deps.clock.now()
    for statement in statements:
        rule = Rule(
            id=RuleId(build_derived_id(statement.message_id, "rule", statement.text)),
            text=statement.text,
            created_at=statement.said_at,
            message_id=statement.message_id,
            quote=statement.quote,
        )
        await deps.stores.profiles.change_rules(uid, partial(add_rule, rule=rule, now=now))
