"""Crisis plan of a turn: reviewed words of ours in the place of an answer, or behind what is out of it."""

from collections.abc import Sequence

from functions.chat.runs.journal import VoiceJournal
from functions.chat.turn.prepared_turn import PreparedTurn
from shared.domain.chats.run import RouteChosen, Stage
from shared.safety.crisis_plan import build_plan


def write_plans(turn: PreparedTurn, journals: Sequence[VoiceJournal]) -> None:
    """Write the crisis plan, behind what is out already."""
    verdict = turn.output_gate.verdict
    plan = build_plan(verdict, turn.language)
    for journal in journals:
        write_own_words(journal, RouteChosen(verdict.route, verdict.level), plan)


def write_own_words(journal: VoiceJournal, route: RouteChosen, text: str) -> None:
    """Let words of ours end an answer, in the place of a model's."""
    journal.append(route)
    journal.append(Stage("answering"))
    journal.append_notice(text)
    journal.append(Stage("response_ready"))
