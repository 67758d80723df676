"""End of a turn: the answer, whole or partial, is stored, then its end is emitted."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import anyio

from functions.chat import user_texts
from functions.chat.context.prompt import compute_rules_version, list_rule_versions
from functions.chat.deps import ChatDeps
from functions.chat.loop.agent import Agent
from functions.chat.runs.build_message import Answers, build_answers
from functions.chat.runs.journal import Journal, VoiceJournal
from functions.chat.runs.recorder import OwnershipLost, Recorder
from functions.chat.turn.late_plan import extend_answer, push_plan
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import (
    QuestionWatch,
    keep_rating,
    log_crisis,
)
from shared import telemetry
from shared.data.account.model_usage import record_models
from shared.data.chats.alternatives import build_alternative_writes
from shared.domain.chats.chat import LinkChoice, Message
from shared.domain.chats.run import Outcome, Run, RunEnded, VoiceEnded
from shared.domain.chats.voices import list_unended
from shared.domain.models.model_usage import ModelUsage, sum_usage
from shared.domain.provenance import LIBRARY, TextKinds, join_kinds
from shared.domain.value import value
from shared.languages import translate
from shared.resilience.retry import retry

CLEANUP_TIMEOUT_S = 5.0
LATE_ATTEMPTS = 6
"""How often an answer that could not be stored in time is tried again, after 1, 2, 4, 8 and 16 seconds."""
NOTICE_BY_OUTCOME: Mapping[Outcome, str] = {
    "stopped": user_texts.ANSWER_STOPPED,
    "interrupted": user_texts.ANSWER_INTERRUPTED,
    "failed": user_texts.QUESTION_NOT_SAVED,
}
"""What the owner reads of a run that ended without text."""
TURN_ENDED_TOPIC = "turn.ended"


@value
class TurnEnd:
    """Stores the answer of a run and emits its end, once.

    `used_beside` is what was asked of models beside the answers.
    """

    deps: ChatDeps
    turn: PreparedTurn
    run: Run
    recorder: Recorder
    journal: Journal
    agents: Sequence[Agent]
    watch: QuestionWatch
    used_beside: ModelUsage

    async def finish(self, outcomes: Sequence[Outcome], *, is_question_stored: bool) -> None:
        """Store the answers, given how each voice ended, and emit RunEnded.

        Nothing is emitted where another process owns the run by now.
        """
        if not is_question_stored:
            outcomes = self._all_failed  # nothing of the turn is stored, however it ended
        self._end_voices(outcomes)
        if is_question_stored:
            self._tell_changes()
        answers = self._build_answers(outcomes)
        message = answers.main
        is_missing = False
        if is_question_stored:
            with telemetry.measure_stage("store"):
                is_missing = not await self._store_in_time(answers)
        if is_missing:
            message = self._build_answers(self._all_failed).main
        telemetry.add_fields(outcome=message.metadata["outcome"])
        if not self.watch.is_done:
            self.journal.promise_more()
        self.journal.append(RunEnded(message, message.metadata["outcome"]))
        self.journal.open()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._free_slot)
            if is_missing:
                tasks.start_soon(self._store_late, answers)
            tasks.start_soon(self._count_tokens)
            tasks.start_soon(self._keep_findings, message, is_question_stored)
            if not self.turn.session.is_private:
                await self._publish_end(message)

    def _end_voices(self, outcomes: Sequence[Outcome]) -> None:
        """Write what is missing of each voice: a text, and its end where there are several."""
        unended = list_unended(self.journal.events, self.run)
        for voice, outcome in enumerate(outcomes):
            voice_journal = VoiceJournal(self.journal, voice)
            if not voice_journal.answer_text:
                notice = translate(NOTICE_BY_OUTCOME[outcome], self.turn.language)
                voice_journal.append_notice(notice)
            if voice in unended:
                voice_journal.append(VoiceEnded(outcome))

    def _tell_changes(self) -> None:
        """Say what an answer changed that ended before it could say so."""
        for voice, agent in enumerate(self.agents):
            if notice := agent.take_change_notice():
                VoiceJournal(self.journal, voice).append_notice(notice)

    async def _publish_end(self, answer: Message) -> None:
        """Let those hear of it who do what follows an answer; where they do not, the next turn repeats the work."""
        window = self.turn.find_full_window()
        event = {
            "uid": self.turn.uid,
            "session_id": answer.session_id,
            "run_id": self.turn.run_id,
            **({"summarise_for": window} if window is not None else {}),
        }
        publish = self.deps.events.publish(TURN_ENDED_TOPIC, event)
        await _log_failure("turn_ended_unheard", publish)

    async def _free_slot(self) -> None:
        """Free the slot where the end of the run could not: another process owned the run."""
        await _log_failure("slot_not_freed", self.turn.slot.release())

    async def _keep_findings(self, answer: Message, is_question_stored: bool) -> None:  # noqa: FBT001 - a task takes no keywords
        """Keep what was found out about the question, also what the answer did not wait for."""
        deps, turn, limits = self.deps, self.turn, self.deps.limits
        with anyio.move_on_after(limits.late_reading_s):
            await self.watch.wait_done()
        late = extend_answer(turn, answer, self.journal) if is_question_stored else {}
        await _log_failure("crisis_not_logged", log_crisis(deps, turn, answer))
        if late:
            store = deps.stores.messages.change(turn.uid, answer.id, **late)
            await _log_failure("late_plan_not_stored", store)
            await _log_failure("late_plan_not_pushed", push_plan(deps, turn, answer))
        self.journal.close()
        if is_question_stored:
            await _log_failure("rating_not_kept", keep_rating(deps, turn, self.watch))

    async def _count_tokens(self) -> None:
        now = self.turn.accepted_at
        used = sum_usage(*({agent.role: agent.usage} for agent in self.agents), self.used_beside)
        tokens = sum(usage.input_tokens + usage.output_tokens for usage in used.values())
        record = record_models(self.deps.quotas, self.turn.uid, used, tokens=tokens, now=now)
        await _log_failure("tokens_not_counted", record)

    async def _store_in_time(self, answers: Answers) -> bool:
        """Return False for an answer that could not be stored: its end says so."""
        try:
            await self._store(answers)
        except OwnershipLost:
            self.journal.abandon()
        except Exception:  # noqa: BLE001 - the end is emitted whatever the store does
            telemetry.error("answer_not_stored", run_id=self.run.id)
            return False
        return True

    async def _store_late(self, answers: Answers) -> None:
        """Store an answer that was read in vain otherwise, once the store is back; whoever closed the run before wins."""
        try:
            await retry(
                partial(self._store, answers),
                sleep=self.deps.clock.sleep,
                attempts=LATE_ATTEMPTS,
                backoff=lambda attempt, _: 2.0 ** (attempt - 1),
            )
        except OwnershipLost:
            return
        except Exception as error:  # noqa: BLE001 - the end is told
            telemetry.error("answer_lost", run_id=self.run.id, error=type(error).__name__)

    async def _store(self, answers: Answers) -> None:
        message = answers.main
        also = [
            *build_alternative_writes(self.turn.uid, message.id, answers.alternatives),
            *self.turn.slot.build_release_writes(),
        ]
        await self.recorder.finish(message, message.metadata["outcome"], also=also)
        self.turn.slot.mark_released()

    @property
    def _all_failed(self) -> list[Outcome]:
        return ["failed" for _ in self.turn.voices]

    def _build_answers(self, outcomes: Sequence[Outcome]) -> Answers:
        now = self.deps.clock.now()
        answers = build_answers(self.run, self.journal.events, outcomes, now)
        self._add_log_fields(answers.main)
        main = answers.main
        details = {
            "route": main.route,
            "crisis_level": main.crisis_level,
            "layers": list_rule_versions(self.turn.voices[0].rules_form),
            "model_reason": self.turn.model_reason,
        }
        main = replace(
            main,
            links=self._choose_links(main),
            read_kinds=self._list_read_kinds(),
            diagnostics={**telemetry.get_fields(), **details},
        )
        return replace(answers, main=main)

    def _choose_links(self, answer: Message) -> LinkChoice | None:
        if len(self.agents) <= answer.voice:
            return None  # a command answered, without a model
        return self.agents[answer.voice].call_review.policy.choose_links(answer.text)

    def _list_read_kinds(self) -> TextKinds:
        read = self.turn.voices[0].tool_policy.taint.kinds
        return join_kinds(read, (LIBRARY.text_kind,) if self.turn.command is not None else ())

    @property
    def _diagnostic_path(self) -> Literal["simple", "tools", "persona"]:
        """Name the kind of turn in the log."""
        if self.turn.voices[0].role in ("persona", "persona_premium"):
            return "persona"
        return "tools" if any(agent.calls for agent in self.agents) else "simple"

    def _add_log_fields(self, message: Message) -> None:
        telemetry.add_fields(
            outcome=message.metadata["outcome"],
            path=self._diagnostic_path,
            citations=len(message.cards),
            prompt=compute_rules_version(self.turn.voices[0].rules_form),
            model=message.metadata.get("model", ""),
            cycles=sum(agent.cycles for agent in self.agents),
        )


async def _log_failure(event: str, work: Awaitable[None]) -> None:
    """Await what follows the end of a run; a failure is logged, because the run has ended."""
    try:
        with anyio.fail_after(CLEANUP_TIMEOUT_S):
            await work
    except Exception as error:  # noqa: BLE001 - after the end nothing raises
        telemetry.warning(event, error=type(error).__name__)
