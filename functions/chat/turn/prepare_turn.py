"""Preparation of a turn: a question is accepted with all that its answer needs, or refused."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from functions.chat.commands.command import Command, read_command
from functions.chat.consent.consent_reply import Reply, parse_reply_to
from functions.chat.consent.nobodys_words import find_writers, has_pasted_text
from functions.chat.context.window import (
    compute_room,
    is_summary_due,
    list_exchange,
)
from functions.chat.deps import ChatDeps
from functions.chat.runs.turn_slots import HeldSlot
from functions.chat.safety.first_verdict import find_in_chat, judge_question
from functions.chat.safety.output_gate import OutputGate
from functions.chat.sessions.open_chat import WatchedQuestion, check_open
from functions.chat.sessions.private_chats import check_companions
from functions.chat.turn.admission import load_and_admit, withdraw_on_failure
from functions.chat.turn.build_taint import build_taint
from functions.chat.turn.build_voices import VoiceBuilder, choose_model
from functions.chat.turn.files import build_card
from functions.chat.turn.idempotency import QuestionKey, check_unused
from functions.chat.turn.model_choice import expect_role
from functions.chat.turn.prepared_turn import PreparedTurn, Voice
from functions.chat.turn.question import Question
from functions.chat.turn.question_tools import QuestionTools
from functions.chat.turn.turn_context import TurnContext, load_context
from shared.domain.chats.chat import QUESTION_KEY, QUESTION_WORDS_KEY, Fork, Message
from shared.domain.chats.confirmation import Confirmation, Decision
from shared.domain.chats.crisis import CLEAR, CrisisVerdict
from shared.domain.chats.run import build_question_id
from shared.domain.chats.storage_mode import find_storage_mode, name_within
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import RunId, UserId
from shared.domain.models.model import ModelRole
from shared.domain.value import value
from shared.library.polarity import is_of_one_polarity
from shared.reading.crisis_rules import CrisisFinding, find_crisis
from shared.reading.crisis_verdict import add_danger, judge_alone
from shared.reading.find_danger import find_place
from shared.safety.crisis_plan import build_addition
from shared.safety.safety_score import find_step
from shared.security.visible_text import strip_invisible

MAX_QUESTION_CHARS = 20_000
DOUBTFUL_HARM = 0.7
"""How much a question leans to the examples of harm as of which its answer waits for the reading."""
_DECISION_BY_REPLY: Mapping[Reply, Decision] = {
    "yes": "approved",
    "always": "always",
    "no": "refused",
}


async def prepare_turn(
    deps: ChatDeps, uid: UserId, question: Question, *, key: QuestionKey | None = None
) -> PreparedTurn:
    """Accept a question or refuse it: reads documents in two rounds, and takes a slot beside them.

    It writes nothing else but the decision of an owner whose message replies to a question of ours,
    and the pins of apps that were installed before there were any.

    Raises Invalid (empty text, several models for a persona, files in a private chat), TooLarge (over MAX_QUESTION_CHARS, a file that the
    model cannot read whole, or more than it takes), NotFound (no such app or chat session), Conflict (the chat
    shows another version), QuotaExceeded, ChatLocked and TooMany (by what was asked in the chat), HistoryMissing
    for a sealed chat, and DuplicateQuestion.
    """
    question = _complete(question)
    check_companions(find_storage_mode(question.chat_id), {"files": question.file_ids})
    name = key.run_id(uid) if key else deps.new_id()
    asked = _Asked(
        uid=uid,
        run_id=RunId(name_within(question.chat_id, name)),
        question=question,
        finding=find_crisis(question.text),
        at=deps.clock.now(),
        fingerprint=key.fingerprint if key else "",
    )
    return await _admit(deps, asked, key)


@value
class _Asked:
    """A question at the time `at`, before anything was read for it."""

    uid: UserId
    run_id: RunId
    question: Question
    finding: CrisisFinding
    at: datetime
    fingerprint: str

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def fork(self) -> Fork | None:
        """Where another version leaves what is there."""
        version = self.question.version
        return version.build_fork(self.run_id) if version else None


async def _admit(deps: ChatDeps, asked: _Asked, key: QuestionKey | None) -> PreparedTurn:
    """Read what a question needs while it takes its slot. Who may be in crisis waits for no room."""
    uid, run_id = asked.uid, asked.run_id
    check = partial(check_unused, deps, uid, run_id, key)
    load = load_context(deps, uid, asked.question, asked.fork, check=check)

    def is_urgent(read: TurnContext) -> bool:
        finding = add_danger(asked.finding, read.meaning)
        return find_in_chat(finding, read.newest_messages).is_suspected

    documents, slot = await load_and_admit(deps, uid, run_id, load, is_urgent=is_urgent)
    found = find_in_chat(add_danger(asked.finding, documents.meaning), documents.newest_messages)
    finding = await find_place(found, asked.text, documents.profile.language)
    async with withdraw_on_failure(deps, uid, slot, asked.at):
        if not finding.is_suspected:
            deps.model.check_room(uid)
        return await _build_turn(deps, replace(asked, finding=finding), documents, slot)


async def _build_turn(
    deps: ChatDeps, asked: _Asked, documents: TurnContext, slot: HeldSlot
) -> PreparedTurn:
    """Accept an admitted question, or refuse it by what was asked in its chat."""
    verdict = _judge(deps, asked, documents, is_admitted=slot.is_held)
    earlier = list_exchange(documents.newest_messages)
    await _check_open(deps, asked, documents, verdict, earlier)
    choice = choose_model(deps, asked.text, asked.question.models, documents)
    decided = await _accept_reply(deps, asked, documents.newest_messages)
    command = _read_command(asked, documents, decided)
    roles = choice.roles[:1] if decided or command else choice.roles
    is_read = _is_read(deps, verdict, decided, command)
    is_doubted = is_read and _is_doubted(asked, documents, verdict, command)
    so_far = CLEAR if decided else verdict or judge_alone(asked.finding)
    return PreparedTurn(
        uid=asked.uid,
        run_id=asked.run_id,
        accepted_at=asked.at,
        session=documents.session,
        branch=documents.path.tip,
        question=_build_message(asked, documents),
        voices=_build_voices(deps, asked, documents, decided, roles),
        output_gate=OutputGate(
            is_stored=False,
            verdict=so_far,
            is_open=not is_doubted,
            addition=build_addition(so_far, documents.language),
            end_wait_s=deps.limits.end_reading_s(deps.model.describe("fast")) if is_read else 0.0,
        ),
        finding=asked.finding,
        earlier=earlier,
        is_read=is_read,
        is_doubted=is_doubted,
        can_confirm=asked.question.can_confirm,
        slot=slot,
        language=documents.language,
        fingerprint=asked.fingerprint,
        fork=asked.fork,
        decided=decided,
        command=command,
        zone=documents.profile.zone,
        masks_private_data=documents.profile.masks_private_data,
        summarises_results=documents.profile.summarises_results
        and not documents.session.is_private,
        find_full_window=partial(_find_full_window, deps, asked, documents, roles),
        missing_embeds=documents.results.missing,
        model_reason=choice.reason,
    )


def _is_read(
    deps: ChatDeps,
    verdict: CrisisVerdict | None,
    decided: Confirmation | None,
    command: Command | None,
) -> bool:
    """Tell whether a model reads the question: not a reply, not a command that keeps no words, nor a plain crisis."""
    is_plain = verdict is not None and verdict.route == "crisis"
    keeps_no_words = command is not None and not command.keeps_words
    is_offline = deps.model.describe("fast").is_extractive
    return not (decided or is_plain or is_offline or (keeps_no_words and verdict is not None))


def _is_doubted(
    asked: _Asked, documents: TurnContext, verdict: CrisisVerdict | None, command: Command | None
) -> bool:
    """Tell whether words wait for the reading: something speaks for danger or harm, or words would be kept."""
    went_towards_harm = find_step(documents.session.safety, asked.at) != "none"
    return (
        verdict is None
        or command is not None
        or went_towards_harm
        or (documents.meaning is not None and documents.meaning.harm >= DOUBTFUL_HARM)
        or has_pasted_text(asked.text)
    )


def _judge(
    deps: ChatDeps, asked: _Asked, documents: TurnContext, *, is_admitted: bool
) -> CrisisVerdict | None:
    """Return the verdict of rules and examples where nobody reads the question, or need not; None where a reading decides.

    Beyond a quota no model is asked: whoever may be in danger gets the plan.
    """
    verdict = judge_question(asked.finding, documents.newest_messages)
    if verdict is None and not is_admitted:
        return judge_alone(replace(asked.finding, level=asked.finding.level or 2))
    if verdict is None and deps.model.describe("fast").is_extractive:
        return judge_alone(asked.finding)
    return verdict


async def _check_open(
    deps: ChatDeps,
    asked: _Asked,
    documents: TurnContext,
    verdict: CrisisVerdict | None,
    earlier: Sequence[str],
) -> None:
    watched = WatchedQuestion(
        text=asked.text, finding=asked.finding, verdict=verdict, earlier=earlier
    )
    await check_open(deps, asked.uid, documents.session, documents.profile, watched)


async def _accept_reply(
    deps: ChatDeps, asked: _Asked, newest_first: Sequence[Message]
) -> Confirmation | None:
    """Decide the call that the newest message asks about, if the question is a reply to it.

    None where there is no open question, or where another message came in between.
    """
    newest = newest_first[0] if newest_first else None
    confirmation_id = newest.metadata.get(QUESTION_KEY) if newest is not None else None
    if newest is None or confirmation_id is None:
        return None
    reply = parse_reply_to(asked.text, newest.metadata.get(QUESTION_WORDS_KEY, ""))
    if reply is None:
        return None
    return await deps.stores.confirmations.answer_by_reply(
        asked.uid,
        newest,
        confirmation_id,
        _DECISION_BY_REPLY[reply],
        answered_in=asked.run_id,
        now=deps.clock.now(),
    )


def _find_full_window(
    deps: ChatDeps, asked: _Asked, documents: TurnContext, roles: Sequence[ModelRole]
) -> int | None:
    """Return the smallest window of those that read the chat, where its older messages are to be summarised."""
    reading = (*roles, expect_role(asked.question.models))
    window_tokens = min(deps.model.describe(role).window_tokens for role in reading)
    room = compute_room(window_tokens)
    is_due = is_summary_due(documents.newest_messages, documents.session, room)
    return window_tokens if is_due else None


def _read_command(
    asked: _Asked, documents: TurnContext, decided: Confirmation | None
) -> Command | None:
    """Return the command that a question is; a persona knows none."""
    if documents.persona is not None:
        return None
    return read_command(asked.text, documents.newest_messages, decided, now=asked.at)


def _build_voices(
    deps: ChatDeps,
    asked: _Asked,
    documents: TurnContext,
    decided: Confirmation | None,
    roles: Sequence[ModelRole],
) -> Sequence[Voice]:
    agree = partial(is_of_one_polarity, deps.meanings, asked.uid)
    taint = build_taint(asked.text, documents, asked.question.page, agree)
    tools = QuestionTools(
        deps=deps,
        uid=asked.uid,
        run_id=asked.run_id,
        text=asked.text,
        documents=documents,
        taint=taint,
        decided=decided,
        only_reading=len(roles) > 1 or documents.session.is_private,
    )
    builder = VoiceBuilder(
        deps=deps,
        text=asked.text,
        documents=documents,
        page=asked.question.page,
        now=asked.at,
        taint=taint,
        tools=tools,
    )
    return builder.build(roles)


def _complete(question: Question) -> Question:
    """Return a question in visible text; another version keeps the files of its message."""
    version = question.version
    file_ids = version.file_ids if version else question.file_ids
    return replace(question, text=_clean_text(question.text), file_ids=file_ids)


def _clean_text(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        raise TooLarge(
            f"Your message is too long: {len(text)} characters, at most {MAX_QUESTION_CHARS}."
        )
    text = strip_invisible(text).strip()
    if not text:
        raise Invalid("Your message is empty. Please write a question.")
    return text


def _build_message(asked: _Asked, documents: TurnContext) -> Message:
    """Return the message to answer; the one that is stored where it is asked again."""
    version = asked.question.version
    if version is not None and version.target.sender == "ai":
        return version.question
    return Message(
        id=build_question_id(asked.run_id),
        session_id=documents.session.id,
        text=asked.text,
        sender="human",
        created_at=asked.at,
        branch=documents.path.tip,
        app_id=documents.session.app_id,
        read_kinds=find_writers(asked.text, is_offered=documents.is_offered),
        files=tuple(build_card(file, asked.uid) for file in documents.files.of_question),
    )
