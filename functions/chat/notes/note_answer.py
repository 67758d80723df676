"""Notes of an answer: one model call writes them down, once, and they are stored with the chat's.

It may happen again at any point, and for an answer that is not the newest any more.

Also called: title generation, auto-tagging.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from functions.chat.consent.nobodys_words import is_owners_word
from functions.chat.context.model_words import select_model_words
from functions.chat.deps import AfterTurnDeps
from functions.chat.notes.build_notes import (
    NotedExchange,
    build_answer_notes,
    build_chat_notes,
    choose_title,
    mark_noted,
)
from functions.chat.notes.given_details import load_private_terms
from functions.chat.notes.model_outputs import FirstNotesOutput, NotesOutput
from functions.chat.notes.private_details import hide_private
from functions.chat.notes.suggested_actions import (
    build_actions,
    has_memory_suggestions,
    select_borne,
)
from shared import prompts, telemetry
from shared.domain.account.profile import Profile
from shared.domain.chats.branches import Path, build_path_to, get_notes_on
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.chat_notes import AnswerNotes, ChatNotes, SuggestedAction
from shared.domain.chats.details_request import list_asked
from shared.domain.chats.run import build_question_id
from shared.domain.errors import ModelFailed, NotFound
from shared.domain.ids import MessageId, RunId, UserId
from shared.domain.models.model import Prompt
from shared.domain.value import value
from shared.library.polarity import is_borne
from shared.models.data_room import fit_prompt
from shared.ports import ChatModel
from shared.security.visible_text import strip_invisible

MAX_READ = 31
"""Messages: the answer, and what came before it."""
MAX_TEXT_CHARS = 8_000
"""Maximum that the call reads of the question and of the answer."""
MAX_KNOWN = 100
"""Memories among which the one that a suggestion is about is looked for."""
ANSWER_TOKENS = 2_500
"""Sixteen suggestions, a summary and tags, also in scripts of which each sign is a token or more."""
NOTES_PROMPT, TITLE_PROMPT = "chat/notes", "chat/title"


async def note_answer(
    deps: AfterTurnDeps,
    uid: UserId,
    session: Session,
    profile: Profile,
    answer_id: MessageId,
    newest_first: Sequence[Message],
) -> None:
    """Note what follows from an answer, once; nothing of one that is gone, or of a private chat.

    `newest_first` are the newest messages that the chat shows. Where the model fails, the notes are empty
    and the title is the beginning of the question. Raises Unavailable when a retry may help.
    """
    if session.is_private:
        return
    if not newest_first or newest_first[0].id != answer_id:
        newest_first = await _read_until(deps, uid, session, answer_id)
    answer = next(iter(newest_first), None)
    if answer is None or not answer.is_noted or answer.notes is not None:
        return
    question = _find_question(newest_first)
    if question is not None:
        path = build_path_to(session.forks, answer.branch)
        read = _Read(question=question, newest_first=newest_first, profile=profile, path=path)
        await _note_exchange(deps, uid, session, read)


@value
class _Read:
    """What the notes of an answer rest on; the answer is the first of the messages."""

    question: Message
    newest_first: Sequence[Message]
    profile: Profile
    path: Path


async def _read_until(
    deps: AfterTurnDeps, uid: UserId, session: Session, answer_id: MessageId
) -> Sequence[Message]:
    """Return an answer and the messages before it, newest first; none where it is gone."""
    try:
        answer = await deps.stores.messages.get(uid, answer_id)
    except NotFound:
        return ()
    if answer.session_id != session.id or answer.notes is not None:
        return ()
    earlier = await deps.stores.messages.list_newest(
        uid,
        session.id,
        limit=MAX_READ - 1,
        before=answer.position,
        path=build_path_to(session.forks, answer.branch),
    )
    return (answer, *earlier)


def _find_question(newest_first: Sequence[Message]) -> Message | None:
    """Return what the newest message answers: its own question, else the owner's last message."""
    asked = [message for message in newest_first if message.is_owners]
    question_id = build_question_id(RunId(newest_first[0].id))
    own = (message for message in asked if message.id == question_id)
    return next(own, next(iter(asked), None))


async def _note_exchange(deps: AfterTurnDeps, uid: UserId, session: Session, read: _Read) -> None:
    question, profile = read.question, read.profile
    exchange = NotedExchange(
        question=question,
        answer=replace(read.newest_first[0], text=select_model_words(read.newest_first[0])),
        private=await load_private_terms(
            deps.stores.memories,
            uid,
            profile,
            question,
            read.newest_first,
            asked=list_asked(session.requests),
        ),
        profile_language=profile.language or "",
    )
    data = _build_data(exchange, _get_previous(session, read.path, profile), read.newest_first)
    model = deps.model.for_user(
        uid, is_masked=profile.masks_private_data, chat=session.id, urgency="soon"
    )
    output = await _ask_model(model, data, is_first=not session.title)
    actions = await _suggest_actions(deps, uid, session, read, output)
    notes = build_answer_notes(output, exchange, actions) if output else AnswerNotes()
    new_chats = map(strip_invisible, output.new_chats if output else ())
    offered = [*notes.follow_ups, *notes.next_steps, *new_chats]
    await deps.stores.offered_suggestions.add(uid, offered, deps.clock.now())
    await deps.stores.sessions.save_notes(
        uid,
        session.id,
        exchange.answer,
        notes,
        harm=output.harmful_response if output else None,
        change=partial(_change_session, output, exchange, profile),
    )


def _get_previous(session: Session, path: Path, profile: Profile) -> ChatNotes:
    """Return what was noted before; icons alone where its owner wanted something forgotten since."""
    notes = get_notes_on(session, path)
    is_forgotten = notes.noted_until is not None and profile.has_forgotten(notes.noted_until[0])
    return ChatNotes(icons=notes.icons) if is_forgotten else notes


def _change_session(
    output: NotesOutput | None, exchange: NotedExchange, profile: Profile, session: Session
) -> Mapping[str, Any]:
    """Return the fields of a chat that change: its notes with its newest answer, its title once."""
    answer = exchange.answer
    path = build_path_to(session.forks, answer.branch)
    previous = _get_previous(session, path, profile)
    changes: dict[str, Any] = {}
    if not session.title:
        changes["title"], changes["title_kinds"] = choose_title(output, exchange)
    if previous.noted_until is None or previous.noted_until < answer.position:
        branch = path.find_branch(answer.position)
        changes["notes"] = (
            build_chat_notes(output, exchange, previous, branch)
            if output
            else mark_noted(exchange, previous, branch)
        )
    return changes


def _build_data(
    exchange: NotedExchange, previous: ChatNotes, newest_first: Sequence[Message]
) -> Mapping[str, Any]:
    """Return what the call reads: nothing that only memories and settings brought into the answer."""
    noted_before = (message.notes for message in newest_first if message.notes is not None)
    last_notes = next(noted_before, AnswerNotes())
    return {
        "question": hide_private(exchange.question.text[:MAX_TEXT_CHARS], exchange.private),
        "answer": hide_private(exchange.answer.text[:MAX_TEXT_CHARS], exchange.private),
        "summary": previous.summary,
        "tags": previous.tags,
        "category": previous.category if previous.noted_until else "",
        "profile_language": exchange.profile_language,
        "wanted_categories": last_notes.new_categories,
    }


async def _ask_model(
    model: ChatModel, data: Mapping[str, Any], *, is_first: bool
) -> NotesOutput | None:
    """Return the model's notes; only a chat without a title is asked for one. None where it fails."""
    parts = [NOTES_PROMPT, TITLE_PROMPT] if is_first else [NOTES_PROMPT]
    prompt = Prompt(
        name=NOTES_PROMPT,
        version="-".join(map(prompts.compute_version, parts)),
        instructions="\n\n".join(map(prompts.render, parts)),
        data=data,
        answer_tokens=ANSWER_TOKENS,
    )
    schema: type[NotesOutput] = FirstNotesOutput if is_first else NotesOutput
    try:
        return await model.complete_structured("fast", fit_prompt(model, "fast", prompt), schema)
    except ModelFailed:
        telemetry.add_fields(outcome="not_noted")
        return None


async def _suggest_actions(
    deps: AfterTurnDeps, uid: UserId, session: Session, read: _Read, output: NotesOutput | None
) -> Sequence[SuggestedAction]:
    """Return what the owner may change; memories are read only where one is suggested.

    None in the chat of an app, whose words may be play, and for what nobody worded.
    """
    if output is None or session.app_id is not None or not is_owners_word(read.question):
        return ()
    asked = read.question.text
    output = await select_borne(output, partial(is_borne, deps.meanings, uid))
    memories = (
        await deps.stores.memories.list_newest(uid, limit=MAX_KNOWN)
        if has_memory_suggestions(output, asked)
        else ()
    )
    return build_actions(output, asked, memories, read.profile)
