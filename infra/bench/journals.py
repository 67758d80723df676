"""What it costs to keep a run's journal: its commits, their bytes and milliseconds, turn by turn."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from functions.chat.accepting import prepare
from functions.chat.journal import Journal
from functions.chat.turn import answer
from infra.bench.figures import Figure
from shared.adapters.system_clock import SystemClock
from shared.data.messages import Messages
from shared.data.runs import Runs
from shared.domain.documents import Create, Write
from shared.domain.model import Finished, TextDelta
from shared.ports import Documents
from tests.doubles import ReadRounds, ScriptedModel, Turn
from tests.functions.chat.conftest import ADA, open_world

WORD = "garden "
PAUSE_S = 0.01
TOKENS = {"short answer": 20, "long answer": 1_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit; `journal_bytes` is what it adds to the journal."""

    documents: int
    journal_bytes: int
    ms: float


class Commits(ReadRounds):
    """Documents that note every commit."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self.made: list[Commit] = []

    async def write(self, *writes: Write) -> None:
        started = time.perf_counter()
        await super().write(*writes)
        took = time.perf_counter() - started
        self.made.append(
            Commit(
                documents=len(writes),
                journal_bytes=sum(map(_journal_bytes, writes)),
                ms=1000 * took,
            )
        )


def _journal_bytes(write: Write) -> int:
    if isinstance(write, Create) and "/batches/" in write.path:
        return len(write.fields["events"])
    return 0


async def journals() -> list[Figure]:
    """Answer as fast as a model speaks, a hundred tokens a second; the clock is the machine's."""
    told = await asyncio.gather(*(_turn(tokens) for tokens in TOKENS.values()))
    return [
        figure
        for (name, tokens), made in zip(TOKENS.items(), told, strict=True)
        for figure in _figures(f"{name} ({tokens:,} tokens)", made)
    ]


async def _turn(tokens: int) -> Sequence[Commit]:
    with tempfile.TemporaryDirectory() as folder:
        world = open_world(Path(folder))
        noting = Commits(world.documents)
        deps = replace(
            world.deps(ScriptedModel(_paced(tokens))),
            clock=SystemClock(),
            runs=Runs(noting),
            messages=Messages(noting),
        )
        await answer(deps, await prepare(deps, ADA, "Tell me.", None), Journal())
    return noting.made


def _paced(tokens: int) -> Turn:
    async def pause() -> None:
        await asyncio.sleep(PAUSE_S)

    return (*(TextDelta(WORD), pause) * tokens, Finished(reason="stop", model="scripted"))


def _figures(name: str, made: Sequence[Commit]) -> list[Figure]:
    """Show what is committed for the question, while words come, and at the end, together."""
    return [
        Figure(name=f"{name}: commits", value=len(made)),
        Figure(name=f"{name}: documents written", value=sum(one.documents for one in made)),
        Figure(
            name=f"{name}: journal", value=sum(one.journal_bytes for one in made) / 1024, unit="KB"
        ),
        Figure(name=f"{name}: a commit", value=median(one.ms for one in made), unit="ms"),
        Figure(name=f"{name}: all commits", value=sum(one.ms for one in made), unit="ms"),
    ]
