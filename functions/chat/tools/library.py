"""The tools that look into the owner's library: conversations and memories."""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, TypeVar

from pydantic import Field

from functions.chat.context.citations import Citations
from functions.chat.tools.own import own_tool
from functions.chat.tools.toolkit import Present, Tool
from functions.chat.wiring import ChatDeps
from shared import telemetry
from shared.arguments import Arguments, Date
from shared.data.search import Filters
from shared.domain.attempts import twice
from shared.domain.chat import Card
from shared.domain.conversation import Conversation
from shared.domain.errors import ToolFailed, Unavailable
from shared.domain.ids import AppId, UserId
from shared.domain.memory import Memory
from shared.retrieval.dates import Span, resolve
from shared.retrieval.packing import Passage, pack

SEARCH_TOKENS = 4_000
"""What one search may add to a model's input in quotations, whatever was found."""

SEARCH_DOWN = (
    "search is unavailable at the moment. Tell the owner that you could not search, and do not say "
    "that nothing was found."
)
UNFILTERED = (
    "Nothing was found for these people and topics. These results were found without them and may be "
    "about others."
)
T = TypeVar("T")


class GetConversations(Arguments):
    """List the owner's conversations of a stretch of time, newest first."""

    start_date: Date = None
    end_date: Date = None
    limit: Annotated[int, Field(ge=1, le=50, description="How many at most.")] = 20
    include_transcript: Annotated[
        bool, Field(description="Only when the exact words are needed.")
    ] = False


Names = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(max_length=20)
]


class SearchConversations(Arguments):
    """Find conversations about a topic, a person, a name or an exact phrase, best first."""

    query: Annotated[str, Field(min_length=1, max_length=1_000, description="What to look for.")]
    start_date: Date = None
    end_date: Date = None
    people: Annotated[
        Names,
        Field(
            description="Only conversations in which one of these people speaks or is spoken of. "
            "Set it when the owner asks what was said with, by or about somebody by name."
        ),
    ] = ()
    topics: Annotated[
        Names,
        Field(
            description="Only conversations about one of these topics, in a word or two each. Set "
            "it when the owner limits the question to a topic; otherwise the query is enough."
        ),
    ] = ()
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class GetMemories(Arguments):
    """List what is known about the owner, newest first."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    offset: Annotated[int, Field(ge=0, le=2_000)] = 0


class SearchMemories(Arguments):
    """Find facts about the owner that concern a question, best first."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    limit: Annotated[int, Field(ge=1, le=20)] = 5


def library_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    """Return the tools in a fixed order, which keeps the provider's prompt cache warm."""

    async def get_conversations(asked: GetConversations) -> Present:
        found = await deps.conversations.between(
            uid,
            start=asked.start_date,
            end=asked.end_date,
            limit=asked.limit,
            with_segments=asked.include_transcript,
        )
        return _conversations([(c, _transcript(c)) for c in found])

    async def search_conversations(asked: SearchConversations) -> Present:
        search = partial(
            deps.search.narrowed,
            uid,
            asked.query,
            filters=_filters(asked),
            named=await _named(deps, uid, asked),
            limit=asked.limit,
        )
        searched = await _found(deps, search)
        found = searched.found
        telemetry.count(hits=len(found))
        packed = pack(
            [(hit.conversation.spoken, hit.turns) for hit in found],
            tokens=SEARCH_TOKENS,
        )
        shown = zip((hit.conversation for hit in found), map(_texts, packed), strict=True)
        note = UNFILTERED if searched.fallback_without_filters else None
        return _conversations(list(shown), note=note)

    async def get_memories(asked: GetMemories) -> Present:
        return _memories(await deps.memories.newest(uid, limit=asked.limit, offset=asked.offset))

    async def search_memories(asked: SearchMemories) -> Present:
        search = partial(deps.search.memories, uid, asked.query, limit=asked.limit)
        found = await _found(deps, search)
        telemetry.count(hits=len(found))
        return _memories(found)

    read = partial(own_tool, side_effect=False)
    return [
        read("get_conversations", "Searching conversations", GetConversations, get_conversations),
        read(
            "search_conversations",
            "Searching conversations",
            SearchConversations,
            search_conversations,
        ),
        read("get_memories", "Searching memories", GetMemories, get_memories),
        read("search_memories", "Searching memories", SearchMemories, search_memories),
    ]


def _filters(asked: SearchConversations) -> Filters:
    return Filters(
        start=asked.start_date, end=asked.end_date, people=asked.people, topics=asked.topics
    )


async def _named(deps: ChatDeps, uid: UserId, asked: SearchConversations) -> Span | None:
    """Read the time that a query names in the owner's zone, unless bounds say it already."""
    if asked.start_date or asked.end_date:
        return None
    profile = await deps.profiles.get(uid)
    return resolve(asked.query, deps.clock.now().astimezone(profile.zone))


async def _found(deps: ChatDeps, search: Callable[[], Awaitable[T]]) -> T:
    """Search, once more if need be. Raises ToolFailed with what the owner is to hear."""
    try:
        return await twice(search, deps.clock.sleep)
    except Unavailable as error:
        telemetry.note(retrieval_path="unavailable")
        raise ToolFailed(SEARCH_DOWN) from error


def _conversations(
    found: Sequence[tuple[Conversation, Sequence[str]]], *, note: str | None = None
) -> Present:
    def present(citations: Citations) -> str:
        results = [
            {
                "document": citations.number(_card(conversation)),
                "conversation_id": conversation.id,
                "title": conversation.structured.title,
                "started_at": _iso(conversation.started_at),
                "overview": conversation.structured.overview,
                "passages": list(passages),
                **_writer(conversation.app_id),
            }
            for conversation, passages in found
        ]
        if not results:
            return _json({"results": [], "note": "Nothing was found."})
        return _json({"results": results, **({"note": note} if note else {})})

    return present


def _memories(found: Sequence[Memory]) -> Present:
    return lambda _: _json({"memories": list(map(_shown, found))})


def _shown(memory: Memory) -> dict[str, str]:
    shown = {"text": memory.content, "since": _iso(memory.created_at)}
    return {**shown, **_writer(memory.app_id)}


def _writer(app_id: AppId | None) -> dict[str, str]:
    return {"written_by": "an app, not the owner"} if app_id else {}


def _card(conversation: Conversation) -> Card:
    return Card(
        id=conversation.id,
        created_at=conversation.created_at,
        title=conversation.structured.title,
        emoji=conversation.structured.emoji,
    )


def _texts(passages: Sequence[Passage]) -> list[str]:
    return [passage.text for passage in passages]


def _transcript(conversation: Conversation) -> list[str]:
    lines = [f"{s.speaker}: {s.text}" for s in conversation.spoken]
    return ["\n".join(lines)] if lines else []


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
