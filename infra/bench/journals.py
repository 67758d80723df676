"""Journals: commits, bytes and milliseconds of a run's journal, turn by turn."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from infra.bench.figures import Figure
from infra.bench.processes import open_folder
from shared.adapters.system_clock import SystemClock
from shared.data.stores import Stores
from shared.domain.models.model import ModelCallFinished, TextDelta
from shared.domain.store.documents import Create, Write
from shared.ports import Documents
from tests.fakes import CountingDocuments, ScriptedModel, ScriptedTurn
from tests.fixtures.chat import ADA, open_chat_fixture
from tests.functions.chat.long_answer import play_long_answer

WORD = "garden "
PAUSE_S = 0.01
TOKENS_BY_NAME = {"short answer": 20, "long answer": 1_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit; `journal_bytes` is what it adds to the journal."""

    documents: int
    journal_bytes: int
    ms: float


class CommitRecorder(CountingDocuments):
    """Documents that record every commit."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self.commits: list[Commit] = []

    async def write(self, *writes: Write) -> None:
        started = time.perf_counter()
        await super().write(*writes)
        took = time.perf_counter() - started
        self.commits.append(
            Commit(
                documents=len(writes),
                journal_bytes=sum(map(_count_journal_bytes, writes)),
                ms=1000 * took,
            )
        )


def _count_journal_bytes(write: Write) -> int:
    if isinstance(write, Create) and "/batches/" in write.path:
        return len(write.fields["events"])
    return 0


async def measure_journals() -> list[Figure]:
    """Answer as fast as a model speaks, a hundred tokens a second; the clock is the machine's."""
    results = await asyncio.gather(*(_measure_turn(tokens) for tokens in TOKENS_BY_NAME.values()))
    return await _measure_long_answers() + [
        figure
        for (name, tokens), commits in zip(TOKENS_BY_NAME.items(), results, strict=True)
        for figure in _build_figures(f"{name} ({tokens:,} tokens)", commits)
    ]


async def _measure_long_answers() -> list[Figure]:
    """Count what Firestore bills for an answer of 12 s and 250 tokens, on a simulated clock."""
    alone = await play_long_answer(is_followed=False)
    followed = await play_long_answer(is_followed=True)
    return [
        Figure("answer of 12 s: documents read", alone.reads, target=10),
        Figure("answer of 12 s: documents written", alone.writes, target=14),
        Figure("answer of 12 s, followed elsewhere: documents read", followed.reads),
        Figure("answer of 12 s, followed elsewhere: documents written", followed.writes),
        Figure(
            "answer of 12 s, followed elsewhere: behind",
            1000 * followed.settled_delay_s,
            "ms",
            target=600,
        ),
    ]


async def _measure_turn(tokens: int) -> Sequence[Commit]:
    with open_folder() as folder:
        world = open_chat_fixture(folder)
        recorder = CommitRecorder(world.documents)
        deps = replace(
            world.deps(ScriptedModel(_script_paced_turn(tokens))),
            clock=SystemClock(),
            stores=Stores(recorder),
        )
        await answer_turn(deps, await prepare_turn(deps, ADA, Question("Tell me.")), Journal())
    return recorder.commits


def _script_paced_turn(tokens: int) -> ScriptedTurn:
    async def pause() -> None:
        await asyncio.sleep(PAUSE_S)

    return (*(TextDelta(WORD), pause) * tokens, ModelCallFinished(reason="stop", model="scripted"))


def _build_figures(name: str, commits: Sequence[Commit]) -> list[Figure]:
    """Show the commits for the question, during the answer, and at the end."""
    return [
        Figure(f"{name}: commits", len(commits)),
        Figure(f"{name}: documents written", sum(commit.documents for commit in commits)),
        Figure(f"{name}: journal", sum(commit.journal_bytes for commit in commits) / 1024, "KB"),
        Figure(f"{name}: a commit", median(commit.ms for commit in commits), "ms"),
        Figure(f"{name}: all commits", sum(commit.ms for commit in commits), "ms"),
    ]
