"""Crisis gate of a turn: rules and, where they are unsure, a classifier beside the loop choose its route.

A question that is clear waits for nothing. In a crisis the answer is our own reviewed words, without a
model, a memory or a tool; the voices of the turn are closed before a word of theirs goes out.
"""

from collections.abc import Sequence

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.safety.judge_text import judge_text
from functions.chat.turn.agent_run import VoiceRun, run_voices
from functions.chat.turn.prepared_turn import PreparedTurn
from shared.domain.chats.crisis import CLEAR, CrisisVerdict
from shared.domain.chats.run import Outcome, RouteChosen, Stage
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
    write_plans(turn, [voice_run.journal for voice_run in voice_runs])
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
            let_out(turn, [voice_run.journal for voice_run in voice_runs], verdict)
    return verdict


def let_out(turn: PreparedTurn, journals: Sequence[VoiceJournal], verdict: CrisisVerdict) -> None:
    """Leave the question to its voices, whose answers end with what the verdict adds."""
    addition = build_addition(verdict, choose_language(verdict.language, turn.language))
    for journal in journals:
        if verdict.level:
            journal.append(RouteChosen(verdict.route, verdict.level))
        if journal.has_ended:
            journal.append_notice(addition)
    turn.output_gate.release(addition)


def write_plans(turn: PreparedTurn, journals: Sequence[VoiceJournal]) -> None:
    """Write the crisis plan, behind what is out already."""
    verdict = turn.output_gate.verdict or CLEAR
    plan = build_plan(verdict, choose_language(verdict.language, turn.language))
    for journal in journals:
        write_own_words(journal, RouteChosen(verdict.route, verdict.level), plan)


def write_own_words(journal: VoiceJournal, route: RouteChosen, text: str) -> None:
    """Let words of ours end an answer, in the place of a model's."""
    journal.append(route)
    journal.append(Stage("answering"))
    journal.append_notice(text)
    journal.append(Stage("response_ready"))
