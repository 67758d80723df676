"""What a turn in a chat of a thousand messages costs beside one in a new chat."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median

from functions.chat.after_turn import after_turn
from functions.chat.turn import prepare
from functions.chat.wiring import AfterTurnDeps, ChatDeps
from infra.bench.figures import Figure
from shared.adapters.offline_model import OfflineModel
from shared.domain.chat import MAIN_SESSION, Message, new_session
from shared.domain.ids import MessageId, SessionId
from tests.doubles import ReadRounds
from tests.functions.chat.conftest import ADA, World, open_world

MESSAGES = 1_000
BATCH = 100
REPEATS = 30
NEW = SessionId("new")


async def long_chat() -> list[Figure]:
    """Fill a chat, summarise it as its turns would have done, and ask in it and in a new one."""
    with tempfile.TemporaryDirectory() as folder:
        world = open_world(Path(folder))
        counting = ReadRounds(world.documents)
        deps = replace(world, documents=counting).deps()
        await deps.sessions.add(ADA, new_session(NEW, app_id=None, now=world.clock.now()))
        await _fill(world, deps)
        fresh, long = [await _turn(deps, counting, name) for name in (NEW, MAIN_SESSION)]
    return [
        Figure(name="reads of a turn: new chat", value=fresh[0]),
        Figure(
            name=f"reads of a turn: chat of {MESSAGES} messages",
            value=long[0],
            wanted=1.1 * fresh[0],
        ),
        Figure(name="documents read in them: new chat", value=fresh[1]),
        Figure(name=f"documents read in them: chat of {MESSAGES} messages", value=long[1]),
        Figure(
            name=f"time to prepare a turn: chat of {MESSAGES} messages, over a new one",
            value=long[2] - fresh[2],
            unit="ms",
            wanted=5,
        ),
    ]


async def _fill(world: World, deps: ChatDeps) -> None:
    session = new_session(MAIN_SESSION, app_id=None, now=world.clock.now())
    told = _messages(world)
    while batch := list(islice(told, BATCH)):
        await deps.messages.add(ADA, session, *batch)
    follow = AfterTurnDeps(
        identity=deps.identity,
        service_identity=deps.service_identity,
        model=OfflineModel(),
        messages=deps.messages,
        sessions=deps.sessions,
    )
    await after_turn(follow, ADA, MAIN_SESSION)


def _messages(world: World) -> Iterator[Message]:
    for n in range(MESSAGES):
        yield Message(
            id=MessageId(f"m{n:04}"),
            session_id=MAIN_SESSION,
            text=f"In message {n} somebody talks of the Lisbon offsite. " * 4,
            sender="ai" if n % 2 else "human",
            created_at=world.clock.now() - timedelta(seconds=MESSAGES - n),
        )


async def _turn(
    deps: ChatDeps, counting: ReadRounds, session_id: SessionId
) -> tuple[int, int, float]:
    """Return reads, documents and milliseconds of accepting a question; the median of a few."""
    reads, documents, took = counting.reads, counting.documents, []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        await prepare(deps, ADA, "When is it?", None, session_id)
        took.append(1_000 * (time.perf_counter() - begun))
    return (
        (counting.reads - reads) // REPEATS,
        (counting.documents - documents) // REPEATS,
        median(took),
    )
