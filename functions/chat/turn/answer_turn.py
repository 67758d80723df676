"""Answer of a turn: start, run and finish of an accepted question."""

from collections.abc import Sequence

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.runs.recorder import Recorder
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.agent_run import AgentRun, VoiceRun
from functions.chat.turn.finish_turn import TurnEnd
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import QuestionWatch
from functions.chat.turn.start_turn import TurnStart
from functions.chat.turn.watched_run import run_watched
from shared.domain.chats.run import LEASE_TTL, EmbedsRequested, Outcome, Run, VoicesStarted
from shared.domain.models.model_usage import ModelUsage
from shared.model_meter import measure_models
from shared.spans import open_span

_AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "keepsake"}


async def answer_turn(deps: ChatDeps, turn: PreparedTurn, journal: Journal) -> None:
    """Answer a question into the journal; what streams out is stored before its end is emitted.

    Every path emits exactly one RunEnded and raises no failure. A cancelled run first stores the
    answer so far.
    """
    with open_span("invoke_agent keepsake", attributes=_AGENT), measure_models() as used_beside:
        await _answer(deps, turn, journal, used_beside)


async def _answer(
    deps: ChatDeps, turn: PreparedTurn, journal: Journal, used_beside: ModelUsage
) -> None:
    """Answer a question; `used_beside` grows by what is asked of models beside the answer."""
    run = build_run(deps, turn)
    active_run = ActiveRun(journal)
    recorder = Recorder(deps.stores.runs, deps.clock, turn.uid, run, turn.session, journal)
    start = TurnStart(deps, turn, recorder, active_run)
    voice_runs = _build_voice_runs(deps, turn, active_run)
    watch = QuestionWatch(deps, turn, [voice_run.journal for voice_run in voice_runs])
    end = TurnEnd(
        deps=deps,
        turn=turn,
        run=run,
        recorder=recorder,
        journal=journal,
        agents=[run.agent for run in voice_runs if isinstance(run, AgentRun)],
        watch=watch,
        used_beside=used_beside,
    )
    outcomes: list[Outcome] = ["interrupted" for _ in voice_runs]
    if run.voices:
        journal.append(VoicesStarted(run.voices))
    if turn.missing_embeds:
        journal.append(EmbedsRequested(turn.missing_embeds))
    with deps.active_runs.register(turn.uid, turn.run_id, active_run):
        async with anyio.create_task_group() as watching:
            watching.start_soon(watch.run)
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(start.record)
                    outcomes = await run_watched(turn, voice_runs, active_run, watch)
                    tasks.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await end.finish(outcomes, is_question_stored=start.is_question_stored)
                watching.cancel_scope.cancel()


def _build_voice_runs(
    deps: ChatDeps, turn: PreparedTurn, active_run: ActiveRun
) -> Sequence[VoiceRun]:
    """Return what answers: the command that the question is, or else a model for each voice."""
    if turn.command is not None:
        from functions.chat.turn.command_run import CommandRun

        return [CommandRun(deps, turn, turn.command, active_run)]
    return [AgentRun(deps, turn, active_run, voice) for voice in range(len(turn.voices))]


def build_run(deps: ChatDeps, turn: PreparedTurn) -> Run:
    """Return the run of an accepted question, as it is stored when it begins."""
    question = turn.question
    models = tuple(deps.model.name(voice.role) for voice in turn.voices)
    return Run(
        id=turn.run_id,
        session_id=question.session_id,
        question_id=question.id,
        writer=deps.new_id(),
        created_at=turn.accepted_at,
        lease_until=deps.clock.now() + LEASE_TTL,
        model=models[0],
        voices=models if len(models) > 1 else (),
        branch=turn.branch,
        app_id=question.app_id,
        fingerprint=turn.fingerprint,
    )
