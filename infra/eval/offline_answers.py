"""Evaluation of the offline model: plain questions and requests over a small library in five languages.

An answer is right where it holds what it should and nothing that it should not, and what it was asked to change is
changed, or asked about.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from functions.process_conversation.processing.process import process
from infra.eval.embedders import CachingEmbedder
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.search.library_index import LibraryIndex
from shared.data.search.question_meaning import QuestionMeanings
from shared.data.search.search import Search
from shared.domain.chats.chat import build_session
from shared.domain.chats.run import ConfirmationRequested, RunEnded
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import ActionItemId, ConversationId, SessionId, UserId
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.library.manual_memories import build_manual_memory
from shared.library.memory_index import index_memories
from shared.ports import Embedder
from tests.fixtures.chat import build_chat_fixture
from tests.fixtures.processing import build_processing_fixture

FOLDER = Path(__file__).parent / "offline"
OWNER = UserId("owner")
OWN_LABELS = frozenset({"Me", "Ich", "Yo", "Moi", "私"})
TALK_LENGTH = timedelta(minutes=10)


@value
class Answered:
    """A question with its answer; `faults` say what was not as it should be."""

    question: Mapping[str, Any]
    answer: str
    faults: Sequence[str]
    seconds: float


@asynccontextmanager
async def open_library(
    library: Mapping[str, Any], embedder: Embedder | None
) -> AsyncIterator[ChatDeps]:
    """Process the talks as production does, and open a chat over them; all is gone when the context ends."""
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "keepsake.db")
        processing = build_processing_fixture(database, OfflineModel())
        index = LibraryIndex(processing.vectors, embedder)
        process_deps = replace(processing.deps, index=index)
        for number, talk in enumerate(library["talks"]):
            stored = await process_deps.stores.conversations.add(OWNER, _build_talk(number, talk))
            await process(process_deps, OWNER, stored.id)
        chat = build_chat_fixture(database, processing.documents)
        encode = embedder.embed_question if embedder else None
        deps = replace(
            chat.deps(OfflineModel(encode), quotas={}),
            index=index,
            search=Search(processing.documents, processing.vectors, embedder),
            meanings=QuestionMeanings(encode),
        )
        await _fill(deps, library)
        yield deps
        database.close()


def _build_talk(number: int, talk: Mapping[str, Any]) -> Conversation:
    start = datetime.fromisoformat(talk["at"])
    lines = [line.partition(": ") for line in talk["lines"]]
    return Conversation(
        id=ConversationId(f"talk-{number}"),
        created_at=start,
        started_at=start,
        finished_at=start + TALK_LENGTH,
        transcript_segments=tuple(
            Segment(text=text, speaker=speaker, is_user=speaker in OWN_LABELS)
            for speaker, _, text in lines
        ),
    )


async def _fill(deps: ChatDeps, library: Mapping[str, Any]) -> None:
    """Replace the tasks that were extracted by those of the library, and add its memories."""
    now = deps.clock.now()
    for item in await deps.stores.action_items.list_newest(OWNER, limit=500):
        await deps.stores.action_items.delete_with_tombstone(OWNER, item)
    for number, task in enumerate(library["tasks"]):
        due = task.get("due_at")
        await deps.stores.action_items.add(
            OWNER,
            ActionItem(
                id=ActionItemId(f"task-{number}"),
                description=task["description"],
                completed=task.get("completed", False),
                created_at=now,
                updated_at=now,
                due_at=datetime.fromisoformat(due) if due else None,
            ),
        )
    for number, text in enumerate(library["memories"]):
        memory = build_manual_memory(f"memory-{number}", text, now)
        stored = await deps.stores.memories.add(OWNER, memory)
        await index_memories(deps.stores.memories, deps.index, OWNER, [stored])


async def ask(deps: ChatDeps, chat: str, text: str) -> tuple[str, Journal]:
    turn = await prepare_turn(deps, OWNER, Question(text, session_id=SessionId(chat)))
    journal = Journal()
    await answer_turn(deps, turn, journal)
    ended = next(e for e in reversed(journal.events) if isinstance(e, RunEnded))
    return ended.message.text, journal


async def grade(deps: ChatDeps, number: int, question: Mapping[str, Any]) -> Answered:
    chat = f"chat-{number}"
    session = build_session(SessionId(chat), app_id=None, now=deps.clock.now(), title="A question")
    await deps.stores.sessions.add(OWNER, session)
    if before := question.get("before"):
        await ask(deps, chat, before)
    start = perf_counter()
    answer, journal = await ask(deps, chat, question["ask"])
    seconds = perf_counter() - start
    has_asked = any(isinstance(event, ConfirmationRequested) for event in journal.events)
    faults = [*_list_faults(question, answer), *await _list_unchanged(deps, question)]
    if has_asked != question.get("confirms", False):
        faults.append("asks" if has_asked else "does not ask")
    return Answered(question=question, answer=answer, faults=faults, seconds=seconds)


def _list_faults(question: Mapping[str, Any], answer: str) -> list[str]:
    text = answer.casefold()
    missing = [
        f"lacks {each}"
        for each in question["all"]
        if not any(word in text for word in each.casefold().split("|"))
    ]
    return [*missing, *(f"has {w}" for w in question.get("none", ()) if w.casefold() in text)]


async def _list_unchanged(deps: ChatDeps, question: Mapping[str, Any]) -> list[str]:
    items = await deps.stores.action_items.list_newest(OWNER, limit=500)
    faults = []
    if closed := question.get("closes"):
        is_closed = any(item.description == closed and item.completed for item in items)
        faults += [] if is_closed else ["left it open"]
    if opened := question.get("opens"):
        is_open = any(opened in item.description and not item.completed for item in items)
        faults += [] if is_open else ["made no task"]
    return faults


async def measure(name: str, *, by_words: bool) -> list[Answered]:
    """Ask each question in a chat of its own; changes of one hold for the next."""
    library = json.loads((FOLDER / "library.json").read_text("utf-8"))
    questions = (
        library["questions"]
        if name == "questions"
        else json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    )
    embedder = None if by_words else CachingEmbedder(LocalEmbedder(EncoderProcess()))
    async with open_library(library, embedder) as deps:
        return [await grade(deps, number, each) for number, each in enumerate(questions)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-offline")
    parser.add_argument(
        "--set",
        default="questions",
        choices=["questions", "unseen", "held_out", "held_out_2"],
        help="those of the rules, or those written afterwards",
    )
    parser.add_argument("--words", action="store_true", help="without the encoder")
    parser.add_argument("--show", action="store_true", help="print each question and its answer")
    options = parser.parse_args()
    answered = asyncio.run(measure(options.set, by_words=options.words))
    for each in answered:
        if options.show or each.faults:
            print(f"{'✗' if each.faults else '✓'} {each.question['ask']}: {'; '.join(each.faults)}")
        if options.show:
            print(f"{each.answer}\n")
    right = sum(not each.faults for each in answered)
    seconds = sorted(each.seconds for each in answered)
    print(f"{right} of {len(answered)} right; p95 {1000 * seconds[len(seconds) * 19 // 20]:.0f} ms")


if __name__ == "__main__":
    main()
