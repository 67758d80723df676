"""Crisis gate of a turn: rules and, where they are unsure, a classifier beside the loop choose its route.

A question that is clear waits for nothing. In a crisis the answer is our own reviewed words, without a
model, a memory or a tool; the voices of the turn are closed before a word of theirs goes out.
"""

from collections.abc import Sequence

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.agent_run import VoiceRun, run_voices
from functions.chat.turn.judge_text import judge_text
from functions.chat.turn.prepared_turn import PreparedTurn
from shared.domain.crisis import CrisisVerdict
from shared.domain.run import AnswerText, Outcome, RouteChosen, Stage
from shared.languages import choose_language
from shared.safety.crisis_plan import build_addition, build_plan


async def run_chosen_route(
    deps: ChatDeps, turn: PreparedTurn, voice_runs: Sequence[VoiceRun], active_run: ActiveRun
) -> list[Outcome]:
    """Let the verdict on the question choose who answers it, and return how each voice ended."""
    verdict = turn.output_gate.verdict
    outcomes: list[Outcome] = []
    if verdict is None:
        verdict = await _run_beside_classifier(deps, turn, voice_runs, active_run, outcomes)
    elif verdict.route == "answer":
        return await run_voices(voice_runs, active_run)
    if verdict.route == "answer":
        return outcomes
    for voice_run in voice_runs:
        _write_plan(voice_run.journal, verdict, choose_language(verdict.language, turn.language))
    return ["completed" for _ in voice_runs]


async def _run_beside_classifier(
    deps: ChatDeps,
    turn: PreparedTurn,
    voice_runs: Sequence[VoiceRun],
    active_run: ActiveRun,
    outcomes: list[Outcome],
) -> CrisisVerdict:
    """Hold the voices at the gate until the question is judged; close them in a crisis."""

    async def run() -> None:
        outcomes.extend(await run_voices(voice_runs, active_run))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        verdict = await judge_text(
            deps, turn.uid, turn.question.text, turn.finding, earlier=turn.earlier_texts
        )
        turn.output_gate.judge(verdict)
        if verdict.route == "crisis":
            tasks.cancel_scope.cancel()
        else:
            _release(turn, voice_runs, verdict)
    return verdict


def _release(turn: PreparedTurn, voice_runs: Sequence[VoiceRun], verdict: CrisisVerdict) -> None:
    if verdict.level:
        for voice_run in voice_runs:
            voice_run.journal.append(RouteChosen(verdict.route, verdict.level))
    language = choose_language(verdict.language, turn.language)
    turn.output_gate.release(build_addition(verdict, language))


def _write_plan(journal: VoiceJournal, verdict: CrisisVerdict, language: str | None) -> None:
    for event in (
        RouteChosen(verdict.route, verdict.level),
        Stage("answering"),
        AnswerText(build_plan(verdict, language)),
        Stage("response_ready"),
    ):
        journal.append(event)
