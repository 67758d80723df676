"""How many document reads, in how many rounds, stand before a turn's first model call."""

import tempfile
from dataclasses import replace
from pathlib import Path

from functions.chat.accepting import prepare
from functions.chat.journal import Journal
from functions.chat.turn import answer
from infra.bench.figures import Figure
from tests.doubles import ReadRounds, ScriptedModel, says
from tests.functions.chat.conftest import ADA, open_world


async def reads_before_the_first_call() -> list[Figure]:
    """Ask once in a new world and count."""
    with tempfile.TemporaryDirectory() as folder:
        world = open_world(Path(folder))
        counting = ReadRounds(world.documents)
        seen: list[tuple[int, int]] = []

        async def look() -> None:
            seen.append((counting.rounds, counting.reads))

        deps = replace(world, documents=counting).deps(ScriptedModel([look, *says("Hi")]))
        await answer(deps, await prepare(deps, ADA, "Hello", None), Journal())
    rounds, reads = seen[0]
    return [
        Figure(name="rounds of reads before the first model call", value=rounds, wanted=2),
        Figure(name="reads before the first model call", value=reads),
    ]
