"""Harm gate of a turn: a question that asks for harm to others is refused in our own words.

Nobody waits for the rating of a question that nothing speaks against. Where there is a doubt, text and tools
wait until it is settled, and a refusal closes the voices; without a verdict in time the answer goes on.
"""

from collections.abc import Sequence

import anyio

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.agent_run import VoiceRun
from functions.chat.turn.crisis_gate import run_chosen_route
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import QuestionWatch
from shared.domain.run import Outcome, RouteChosen, Stage
from shared.languages import choose_language, translate


async def run_unless_refused(
    deps: ChatDeps,
    turn: PreparedTurn,
    voice_runs: Sequence[VoiceRun],
    active_run: ActiveRun,
    watch: QuestionWatch,
) -> list[Outcome]:
    """Let the question be answered beside its watch, and return how each voice ended."""
    outcomes: list[Outcome] = []

    async def run() -> None:
        outcomes.extend(await run_chosen_route(deps, turn, voice_runs, active_run))
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await watch.wait_done()
        if watch.is_refused:
            tasks.cancel_scope.cancel()
    if outcomes:
        return outcomes
    for voice_run in voice_runs:
        _write_refusal(voice_run.journal, choose_language(watch.rating.language, turn.language))
    return ["completed" for _ in voice_runs]


def _write_refusal(journal: VoiceJournal, language: str | None) -> None:
    journal.append(RouteChosen("refusal", 0))
    journal.append(Stage("answering"))
    journal.append_notice(translate(user_texts.REFUSED, language))
    journal.append(Stage("response_ready"))
