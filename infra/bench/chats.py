"""What a turn in a chat of a thousand messages costs beside one in a new chat."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median

from functions.chat.accepting import prepare
from functions.chat.after_turn import after_turn
from functions.chat.wiring import AfterTurnDeps, ChatDeps
from infra.bench.client import Answer, request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import Served, at_model, keepsake_on, scripted_model
from infra.bench.streams import play_after_turn
from infra.progress import bar
from shared.adapters.offline_model import OfflineModel
from shared.domain.chat import Message, new_session
from shared.domain.ids import MessageId, SessionId
from tests.doubles import ReadRounds
from tests.functions.chat.conftest import ADA, World, open_world

BATCH = 100
WARM_UP = 5
ROUNDS = 30
REST_S = 0.15
"""So that what follows a turn is over before the next question."""
MIDDLING, LONG = 100, 1_000
CHATS: Mapping[SessionId, int] = {SessionId("middling"): MIDDLING, SessionId("long"): LONG}


async def long_chat() -> list[Figure]:
    """Fill chats, summarise them as their turns would have done, and ask in them and in new ones."""
    with tempfile.TemporaryDirectory() as data:
        figures = await _filled(Path(data))
        with scripted_model() as model, keepsake_on(Path(data), **at_model(model)) as server:
            await play_after_turn(model)
            return [*figures, *await _asked(server)]


async def _filled(data: Path) -> list[Figure]:
    """Fill the chats, and count the requests to the store of accepting a question."""
    world = open_world(data)
    counting = ReadRounds(world.documents)
    deps = replace(world, documents=counting).deps()
    for session_id, messages in CHATS.items():
        await _fill(world, deps, session_id, messages)
    fresh, *_, long = [await _reads(deps, counting, name) for name in (None, *CHATS)]
    return [
        Figure(name="reads of a turn: new chat", value=fresh),
        Figure(name=f"reads of a turn: chat of {LONG:,} messages", value=long, wanted=1.1 * fresh),
    ]


async def _fill(world: World, deps: ChatDeps, session_id: SessionId, count: int) -> None:
    session = new_session(session_id, app_id=None, now=world.clock.now())
    await deps.sessions.add(ADA, session)
    told = _messages(world, session_id, count)
    while batch := list(islice(told, BATCH)):
        await deps.messages.add(ADA, session, *batch)
    follow = AfterTurnDeps(
        identity=deps.identity,
        service_identity=deps.service_identity,
        model=OfflineModel(),
        messages=deps.messages,
        sessions=deps.sessions,
    )
    await after_turn(follow, ADA, session_id)


def _messages(world: World, session_id: SessionId, count: int) -> Iterator[Message]:
    for n in range(count):
        yield Message(
            id=MessageId(f"{session_id}-{n:04}"),
            session_id=session_id,
            text=f"In message {n} somebody talks of the Lisbon offsite. " * 4,
            sender="ai" if n % 2 else "human",
            created_at=world.clock.now() - timedelta(seconds=count - n),
        )


async def _reads(deps: ChatDeps, counting: ReadRounds, session_id: SessionId | None) -> int:
    before = counting.reads
    await prepare(deps, ADA, "When is it?", None, session_id)
    return counting.reads - before


async def _asked(server: Served) -> list[Figure]:
    """Ask in each chat in turn, over HTTP; a new chat is begun for each question."""
    token = await sign_in(server.port, ADA)
    rounds: list[list[Answer]] = []
    tick = bar("a long chat", WARM_UP + ROUNDS)
    for _ in range(WARM_UP + ROUNDS):
        chats = [await _begin(server, token), *CHATS]
        rounds.append([await _ask(server, token, chat) for chat in chats])
        tick()
    fresh, middling, long = zip(*rounds[WARM_UP:], strict=True)
    documents = [_documents(server, answers) for answers in (fresh, middling, long)]
    new_ms, long_ms = (median(one.first_s for one in answers) * 1000 for answers in (fresh, long))
    return [
        Figure(name="documents read in a turn: new chat", value=documents[0]),
        Figure(name=f"documents read in a turn: chat of {MIDDLING} messages", value=documents[1]),
        Figure(
            name=f"documents read in a turn: chat of {LONG:,} messages",
            value=documents[2],
            wanted=1.1 * documents[1],
        ),
        Figure(name="time to first token: new chat", value=new_ms, unit="ms"),
        Figure(
            name=f"time to first token: chat of {LONG:,} messages, over a new one",
            value=long_ms - new_ms,
            unit="ms",
            wanted=5,
        ),
    ]


async def _begin(server: Served, token: str) -> str:
    begun = await request(server.port, "POST", "/v2/chat-sessions", {}, token=token)
    session_id: str = json.loads(begun.body)["id"]
    return session_id


async def _ask(server: Served, token: str, session_id: str) -> Answer:
    path = f"/v2/messages?chat_session_id={session_id}"
    told = await request(server.port, "POST", path, {"text": "When is it?"}, token=token)
    if told.status != 200 or not told.run_id:
        raise RuntimeError(f"{told.status}: {told.body[:500]!r}")
    await asyncio.sleep(REST_S)
    return told


def _documents(server: Served, answers: Sequence[Answer]) -> float:
    """Return what Firestore would bill for one of these turns, from their lines in the log."""
    asked = {answer.run_id for answer in answers}
    text = [line for line in server.log.read_text().splitlines() if '"run_id"' in line]
    lines = [json.loads(line) for line in text]
    reads: list[int] = [line["reads"] for line in lines if line["run_id"] in asked]
    return median(reads)
