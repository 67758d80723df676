"""Long chats: the cost of a turn in a chat of a thousand messages, beside one in a new chat."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median

from functions.chat.deps import AfterTurnDeps, ChatDeps
from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from infra.bench.client import TimedResponse, request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import (
    ServerProcess,
    build_model_environment,
    open_folder,
    run_keepsake_on,
    run_scripted_model,
)
from infra.bench.streams import script_after_turn
from infra.progress import create_progress_bar
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.chats.chat import Message, build_session
from shared.domain.ids import MessageId, SessionId
from shared.domain.models.model import SAFE_WINDOW_TOKENS
from tests.fakes import CountingDocuments, UnmaskedModels
from tests.fixtures.chat import ADA, ChatFixture, open_chat_fixture

BATCH_MESSAGES = 100
WARM_UP = 5
ROUNDS = 30
PAUSE_S = 0.15
"""A pause, so that the work after a turn has ended."""
MEDIUM_MESSAGES, LONG_MESSAGES = 100, 1_000
MESSAGES_BY_CHAT: Mapping[SessionId, int] = {
    SessionId("middling"): MEDIUM_MESSAGES,
    SessionId("long"): LONG_MESSAGES,
}


async def measure_long_chat() -> list[Figure]:
    """Fill chats, summarise them as their turns would, and ask in them and in new ones."""
    with open_folder() as data:
        figures = await _fill_and_count_reads(data)
        with (
            run_scripted_model() as model,
            run_keepsake_on(data, **build_model_environment(model)) as server,
        ):
            await script_after_turn(model)
            return [*figures, *await _measure_answers(server)]


async def _fill_and_count_reads(data: Path) -> list[Figure]:
    """Fill the chats, and count the store requests of preparing a turn."""
    world = open_chat_fixture(data)
    counting = CountingDocuments(world.documents)
    deps = replace(world, documents=counting).deps()
    for session_id, messages in MESSAGES_BY_CHAT.items():
        await _fill(world, deps, session_id, messages)
    fresh, *_, long = [
        await _count_reads(deps, counting, name) for name in (None, *MESSAGES_BY_CHAT)
    ]
    return [
        Figure("reads of a turn: new chat", fresh),
        Figure(f"reads of a turn: chat of {LONG_MESSAGES:,} messages", long, target=1.1 * fresh),
    ]


async def _fill(world: ChatFixture, deps: ChatDeps, session_id: SessionId, count: int) -> None:
    session = build_session(session_id, app_id=None, now=world.clock.now())
    await deps.stores.sessions.add(ADA, session)
    messages = _generate_messages(world, session_id, count)
    while batch := list(islice(messages, BATCH_MESSAGES)):
        await deps.stores.messages.add(ADA, session, *batch)
        newest = batch[-1]
    after_turn_deps = AfterTurnDeps(
        tasks=deps.tasks,
        identity=deps.identity,
        service_identity=deps.service_identity,
        clock=deps.clock,
        model=UnmaskedModels(model=OfflineModel()),
        stores=deps.stores,
        quotas=deps.quotas,
        meanings=deps.meanings,
    )
    await after_turn(after_turn_deps, ADA, session_id, newest.id, SAFE_WINDOW_TOKENS)


def _generate_messages(world: ChatFixture, session_id: SessionId, count: int) -> Iterator[Message]:
    for n in range(count):
        yield Message(
            id=MessageId(f"{session_id}-{n:04}"),
            session_id=session_id,
            text=f"In message {n} somebody talks of the Lisbon offsite. " * 4,
            sender="ai" if n % 2 else "human",
            created_at=world.clock.now() - timedelta(seconds=count - n),
        )


async def _count_reads(
    deps: ChatDeps, counting: CountingDocuments, session_id: SessionId | None
) -> int:
    before = counting.reads
    turn = await prepare_turn(deps, ADA, Question("When is it?", session_id=session_id))
    reads = counting.reads - before
    await turn.slot.release()
    return reads


async def _measure_answers(server: ServerProcess) -> list[Figure]:
    """Ask in each chat in turn, over HTTP; each question gets a new chat."""
    token = await sign_in(server.port, ADA)
    rounds: list[list[TimedResponse]] = []
    tick = create_progress_bar("a long chat", WARM_UP + ROUNDS)
    for _ in range(WARM_UP + ROUNDS):
        chats = [await _create_session(server, token), *MESSAGES_BY_CHAT]
        rounds.append([await _ask(server, token, chat) for chat in chats])
        tick()
    fresh, middling, long = zip(*rounds[WARM_UP:], strict=True)
    documents = [_count_documents(server, answers) for answers in (fresh, middling, long)]
    new_ms, long_ms = (
        median(answer.first_s for answer in answers) * 1000 for answers in (fresh, long)
    )
    return [
        Figure("documents read in a turn: new chat", documents[0]),
        Figure(f"documents read in a turn: chat of {MEDIUM_MESSAGES} messages", documents[1]),
        Figure(
            f"documents read in a turn: chat of {LONG_MESSAGES:,} messages",
            documents[2],
            target=1.1 * documents[1],
        ),
        Figure("time to first token: new chat", new_ms, "ms"),
        Figure(
            f"time to first token: chat of {LONG_MESSAGES:,} messages, over a new one",
            long_ms - new_ms,
            "ms",
            target=5,
        ),
    ]


async def _create_session(server: ServerProcess, token: str) -> str:
    response = await request(server.port, "POST", "/v2/chat-sessions", {}, token=token)
    return str(response.json["id"])


async def _ask(server: ServerProcess, token: str, session_id: str) -> TimedResponse:
    path = f"/v2/messages?chat_session_id={session_id}"
    answer = await request(server.port, "POST", path, {"text": "When is it?"}, token=token)
    await asyncio.sleep(PAUSE_S)
    return answer.require()


def _count_documents(server: ServerProcess, answers: Sequence[TimedResponse]) -> float:
    """Return what Firestore would bill for one of these turns, from their lines in the log."""
    run_ids = {answer.run_id for answer in answers}
    lines = server.read_request_lines("chat")
    reads: list[int] = [line["reads"] for line in lines if line.get("run_id") in run_ids]
    return median(reads)
