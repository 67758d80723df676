"""Reads before a turn's first model call: how many documents, in how many rounds."""

from dataclasses import replace

from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from infra.bench.figures import Figure
from infra.bench.processes import open_folder
from tests.fakes import CountingDocuments, ScriptedModel, script_answer
from tests.fixtures.chat import ADA, open_chat_fixture


async def measure_reads_before_first_call() -> list[Figure]:
    """Ask once in a new library and count the reads."""
    with open_folder() as folder:
        world = open_chat_fixture(folder)
        counting = CountingDocuments(world.documents)
        counts: list[tuple[int, int]] = []

        async def record_counts() -> None:
            counts.append((counting.rounds, counting.reads))

        deps = replace(world, documents=counting).deps(
            ScriptedModel([record_counts, *script_answer("Hi")])
        )
        await answer_turn(deps, await prepare_turn(deps, ADA, Question("Hello")), Journal())
    rounds, reads = counts[0]
    return [
        Figure("rounds of reads before the first model call", rounds, target=2),
        Figure("reads before the first model call", reads),
    ]
