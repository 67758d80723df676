"""Agent run: the events of a voice go into the journal until it is done or the run is ended."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import Any, Protocol

import anyio

from functions.chat import user_texts
from functions.chat.consent.call_words import Reader
from functions.chat.deps import ChatDeps
from functions.chat.loop.agent import Agent
from functions.chat.loop.call_review import CallReview
from functions.chat.loop.confirmation import (
    ButtonConfirmer,
    Confirmer,
    QuestionStore,
    ReplyConfirmer,
    SilentConfirmer,
)
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.tools.details_tools import REQUEST_DETAILS
from functions.chat.tools.refused_tools import record_refused_tool
from functions.chat.tools.toolkit import Tool, Toolkit
from functions.chat.turn.deadline import Deadline, FirstWord
from functions.chat.turn.end_notices import NOTICE_BY_END, explain_failure
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.result_embeds import keep_results
from shared import telemetry
from shared.domain.chats.run import AnswerText, Outcome, Status, VoiceEnded
from shared.domain.errors import KeepsakeError
from shared.domain.ids import RunId, UserId
from shared.domain.models.model import ToolSpec
from shared.languages import translate
from shared.ports import ChatModel


class VoiceRun(Protocol):
    """What writes the answer of one voice into its journal."""

    @property
    def journal(self) -> VoiceJournal: ...

    async def run(self) -> Outcome:
        """Return how it ended; it raises no failure."""


async def run_voices(voice_runs: Sequence[VoiceRun], active_run: ActiveRun) -> list[Outcome]:
    """Run all voices at once, and return how each ended.

    A failure ends its voice alone. What another part of the turn ends has the outcome set there.
    """
    outcomes: dict[int, Outcome] = {}

    async def run_voice(voice: int, voice_run: VoiceRun) -> None:
        outcomes[voice] = await voice_run.run()
        if len(voice_runs) > 1:
            voice_run.journal.append(VoiceEnded(outcomes[voice]))

    with active_run.scope:
        async with anyio.create_task_group() as tasks:
            for voice, voice_run in enumerate(voice_runs[1:], 1):
                tasks.start_soon(run_voice, voice, voice_run)
            await run_voice(0, voice_runs[0])
    return [outcomes.get(voice, active_run.outcome) for voice in range(len(voice_runs))]


class AgentRun:
    """Runs the agent of one voice. Failures become a notice in the journal and an outcome."""

    def __init__(
        self, deps: ChatDeps, turn: PreparedTurn, active_run: ActiveRun, number: int = 0
    ) -> None:
        voice = turn.voices[number]
        self._context = voice.context
        is_persona = voice.role.startswith("persona")
        self._model_place = deps.persona_place if is_persona else deps.model_place
        self._language = turn.language
        facts = deps.model.describe(voice.role)
        self._unread_files = turn.question.files if facts.is_extractive else ()
        self._shows_cards = turn.can_confirm
        self.journal = VoiceJournal(active_run.journal, number)
        self._clock = deps.clock
        reading_s = deps.limits.allow_reading_s(deps.model.describe(voice.role))
        self._deadline = Deadline(deps.limits.deadline_s, reading_s=reading_s)
        self._first_word = FirstWord(self._deadline)
        model = deps.model.for_user(
            turn.uid, is_masked=turn.masks_private_data, chat=turn.session.id
        )
        self.agent = Agent(
            run_id=RunId(f"{turn.run_id}/{number}") if number else turn.run_id,
            model=model,
            role=voice.role,
            toolkit=Toolkit(
                voice.tools,
                timeout_s=deps.limits.call_timeout_s,
                numbering=voice.context.numbering,
            ),
            call_review=CallReview(
                policy=voice.tool_policy,
                confirmer=_build_confirmer(deps, turn, self._deadline),
                spend_bits=partial(_spend_bits, deps, turn.uid),
                derive=partial(_derive_arguments, model, turn),
                reader=Reader(language=turn.language, zone=turn.zone),
            ),
            output_gate=turn.output_gate,
            limits=deps.limits,
            keep_results=partial(keep_results, deps, turn),
            fit=voice.fit,
            report_refused_tool=partial(_report_refused_tool, deps),
            language=turn.language,
            keeps_found=turn.summarises_results,
            decided=turn.decided,
            tells_changes=not turn.can_confirm,
        )

    async def run(self) -> Outcome:
        """Return how the agent ended; say meanwhile, once, that the model reads where that takes long."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_slow_reading)
            outcome = await self._answer()
            tasks.cancel_scope.cancel()
        return outcome

    async def _tell_slow_reading(self) -> None:
        await self._first_word.wait_until_slow(self._clock)
        self.journal.append(Status(self._say(user_texts.MODEL_READS)))

    async def _answer(self) -> Outcome:
        try:
            with self._deadline.enforce():
                await self._journal_events()
        except TimeoutError:
            return await self._end_with(self._say(user_texts.DEADLINE_PASSED), "limited")
        except Exception as error:  # noqa: BLE001 - after the first byte nothing raises
            telemetry.error("turn_failed")
            return await self._end_with(self._explain(error), "failed")
        if not self.journal.answer_text:
            return await self._end_with(self._say(user_texts.ANSWER_EMPTY), "failed")
        if not self._shows_cards and self.agent.has_called(REQUEST_DETAILS):
            self.journal.append_notice(self._say(user_texts.DETAILS_REQUESTED))
        if self._unread_files:
            names = ", ".join(f"“{file.name}”" for file in self._unread_files)
            self.journal.append_notice(self._say(user_texts.FILES_UNREAD, names=names))
        if self.agent.cut_short is not None:
            self.journal.append_notice(self._say(NOTICE_BY_END[self.agent.cut_short]))
            return "limited"
        return "limited" if self.agent.is_limited else "completed"

    def _explain(self, error: Exception) -> str:
        has_text = bool(self.journal.answer_text)
        return explain_failure(error, self._model_place, self._language, has_text=has_text)

    def _say(self, sentence: str, **values: str) -> str:
        return translate(sentence, self._language, **values)

    async def _journal_events(self) -> None:
        """Append the agent's events, and its pending text however it ends."""
        is_read = False
        try:
            async with aclosing(self.agent.run(self._context)) as events:
                async for event in events:
                    self._first_word.note(event)
                    self.journal.append(event)
                    if isinstance(event, AnswerText) and not is_read:
                        is_read = True
                        await asyncio.sleep(0)  # readers get it before the rest of a burst is read
        finally:
            self._first_word.end()
            for event in self.agent.flush_pending_text():
                self.journal.append(event)

    async def _end_with(self, notice: str, outcome: Outcome) -> Outcome:
        """End with a notice, once it is sure that the question gets an answer and not a crisis plan."""
        await self.agent.output_gate.wait_read()
        self.journal.append_notice(notice)
        if self.agent.output_gate.addition:
            self.journal.append_notice(self.agent.output_gate.addition)
        return outcome


def _build_confirmer(deps: ChatDeps, turn: PreparedTurn, deadline: Deadline) -> Confirmer:
    questions = QuestionStore(
        confirmations=deps.stores.confirmations,
        clock=deps.clock,
        new_id=deps.new_id,
        uid=turn.uid,
        run_id=turn.run_id,
    )
    if len(turn.voices) > 1 or turn.session.is_private:
        return SilentConfirmer()
    if turn.can_confirm:
        return ButtonConfirmer(questions, lambda: _pause(turn, deadline))
    return ReplyConfirmer(questions)


async def _report_refused_tool(deps: ChatDeps, tool: Tool, model: str, words: str) -> None:
    now = deps.clock.now()
    await record_refused_tool(deps.stores, tool.source, tool.name, model, words, now)


async def _spend_bits(
    deps: ChatDeps, uid: UserId, bits_by_maker: Mapping[str, float], *, is_clean: bool
) -> frozenset[str]:
    from functions.chat.consent.disclosure import CLEAN_DAY_BUDGET_BITS, DAY_BUDGET_BITS

    limit = CLEAN_DAY_BUDGET_BITS if is_clean else DAY_BUDGET_BITS
    return await deps.stores.disclosure_ledger.spend(
        uid, bits_by_maker, is_clean=is_clean, limit=limit, now=deps.clock.now()
    )


async def _derive_arguments(
    model: ChatModel, turn: PreparedTurn, spec: ToolSpec
) -> Mapping[str, Any] | None:
    from functions.chat.consent.blind_derivation import derive_arguments

    if turn.decided is not None:
        return None  # the message is a “yes”, which gives no arguments
    local_time = turn.accepted_at.astimezone(turn.zone)
    return await derive_arguments(model, turn.question.text, spec, local_time=local_time)


@asynccontextmanager
async def _pause(turn: PreparedTurn, deadline: Deadline) -> AsyncIterator[None]:
    """Free the slot of a turn and stop its time while it waits for its owner."""
    with suppress(KeepsakeError):
        await turn.slot.release()
    with deadline.pause():
        yield
    await turn.slot.retake()
