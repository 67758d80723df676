"""Watched run of a turn: an answer goes out beside the watch over its question, which may end it.

A refusal, or the crisis plan, closes the voices and follows what is out already. A plain crisis is answered by the
plan, without a model.
"""

from collections.abc import Sequence

import anyio

from functions.chat import user_texts
from functions.chat.runs.journal import VoiceJournal
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.agent_run import VoiceRun, run_voices
from functions.chat.turn.crisis_gate import write_own_words, write_plans
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import QuestionWatch
from shared.domain.chats.run import Outcome, RouteChosen
from shared.languages import choose_language, translate


async def run_watched(
    turn: PreparedTurn,
    voice_runs: Sequence[VoiceRun],
    active_run: ActiveRun,
    watch: QuestionWatch,
) -> list[Outcome]:
    """Let the question be answered beside its watch, and return how each voice ended."""
    outcomes: list[Outcome] = []
    journals = [voice_run.journal for voice_run in voice_runs]
    if turn.output_gate.verdict.route == "crisis" and not turn.is_read:
        watch.mark_answered()
        write_plans(turn, journals)
        return ["completed" for _ in journals]

    async def end_early() -> None:
        await watch.wait_ending()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end_early)
        try:
            outcomes.extend(await run_voices(voice_runs, active_run))
        finally:
            watch.mark_answered()
        tasks.cancel_scope.cancel()
    if outcomes:
        return outcomes
    if watch.found_crisis:
        write_plans(turn, journals)
    else:
        _write_refusals(turn, journals, watch)
    return ["completed" for _ in journals]


def _write_refusals(
    turn: PreparedTurn, journals: Sequence[VoiceJournal], watch: QuestionWatch
) -> None:
    written = watch.reading.language if watch.reading else None
    language = choose_language(written, turn.language)
    for journal in journals:
        write_own_words(journal, RouteChosen("refusal", 0), translate(user_texts.REFUSED, language))
