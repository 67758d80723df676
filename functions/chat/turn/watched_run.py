"""Watched run of a turn: an answer goes out beside the watch over its question, which may end it.

Nobody waits for the rating of a question that nothing speaks against. Where there is a doubt, text and tools
wait until it is settled; a refusal, or the crisis plan, closes the voices and follows what is out already.
Without a verdict in time the answer goes on, unless a shortage of tokens is why there is none.
"""

from collections.abc import Sequence

import anyio

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.agent_run import VoiceRun
from functions.chat.turn.crisis_gate import run_chosen_route, write_own_words, write_plans
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import QuestionWatch
from shared.domain.chats.run import Outcome, RouteChosen
from shared.languages import choose_language, translate


async def run_watched(
    deps: ChatDeps,
    turn: PreparedTurn,
    voice_runs: Sequence[VoiceRun],
    active_run: ActiveRun,
    watch: QuestionWatch,
) -> list[Outcome]:
    """Let the question be answered beside its watch, and return how each voice ended."""
    outcomes: list[Outcome] = []

    async def end_early() -> None:
        await watch.wait_done()
        if watch.ends_answer:
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end_early)
        try:
            outcomes.extend(await run_chosen_route(deps, turn, voice_runs, active_run))
        finally:
            watch.mark_answered()
        tasks.cancel_scope.cancel()
    if outcomes:
        return outcomes
    journals = [voice_run.journal for voice_run in voice_runs]
    outcome = _write_end(turn, journals, watch)
    return [outcome for _ in voice_runs]


def _write_end(
    turn: PreparedTurn, journals: Sequence[VoiceJournal], watch: QuestionWatch
) -> Outcome:
    """Write what the watch puts in the place of an answer, and return how that ends."""
    if watch.found_crisis:
        write_plans(turn, journals)
        return "completed"
    if watch.is_refused:
        _write_refusals(turn, journals, watch)
        return "completed"
    for journal in journals:
        journal.append_notice(translate(user_texts.MODEL_BUSY, turn.language))
    return "failed"


def _write_refusals(
    turn: PreparedTurn, journals: Sequence[VoiceJournal], watch: QuestionWatch
) -> None:
    language = choose_language(watch.rating.language, turn.language)
    for journal in journals:
        write_own_words(journal, RouteChosen("refusal", 0), translate(user_texts.REFUSED, language))
