"""Library tools: search and list the owner's conversations and memories.

Also called: RAG, retrieval-augmented generation.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo

from pydantic import Field

from functions.chat.context.citations import Citations
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import MORE_HITS, build_builtin_tool
from functions.chat.tools.people_tools import build_people_tools
from functions.chat.tools.toolkit import ResultRenderer, Tool, WordedResult
from shared import telemetry
from shared.arguments import Arguments, Date
from shared.data.search.search import Filters
from shared.domain.chats.card import build_card
from shared.domain.conversations.conversation import Conversation, ExtractedItem
from shared.domain.conversations.day_words import describe_time
from shared.domain.conversations.own_names import list_others
from shared.domain.errors import NotFound, ToolFailed, ToolRefused, Unavailable
from shared.domain.ids import AppId, ConversationId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import SAFE_WINDOW_TOKENS
from shared.domain.provenance import TextKinds, describe_origin
from shared.domain.tasks.owner_words import address_owner, name_owner
from shared.domain.value import value
from shared.languages import translate
from shared.resilience.retry import retry
from shared.retrieval.chunking import format_turn
from shared.retrieval.packing import Passage, pack

UNTITLED = "Untitled conversation"
MAX_SEARCH_TOKENS = 4_000
"""Budget of the quotations that one search adds to a model's input."""
SEARCH_SHARE = 4
"""In a small window, they get this part of it."""

SEARCH_DOWN = (
    "search is unavailable at the moment. Tell the owner that you could not search, and do not say "
    "that nothing was found."
)
MORE = "There are more{total}: the next begin at offset {offset}. Do not count these as all."
IN_ALL = ", {total} in all"
NO_SUCH_CONVERSATION = "there is no conversation of this id. Results of this tool name the ids."
MAX_SPOKEN_OFFSET = 149
"""The index answers with 200 rows at once, and a list has at most 50."""
SPOKEN_OFFSET_TOO_LARGE = (
    f"with a speaker, the offset is at most {MAX_SPOKEN_OFFSET}. Give an end_date before the last "
    "conversation of the list instead."
)
FILTERS_DROPPED = (
    "Nothing was found for these people and topics. These results were found without them and may be "
    "about others."
)
T = TypeVar("T")


class GetConversations(Arguments):
    """List the owner's conversations of a stretch of time, newest first.

    Use it for a question about a time. Turn words such as “yesterday”, “last week” or “in May” into a
    start and an end in the owner's time zone, counted from the current time. Use it, with a speaker,
    for when the owner last talked to somebody; with a conversation_id, for one that you were shown.
    """

    start_date: Date = None
    end_date: Date = None
    speaker: Annotated[
        str, Field(max_length=100, description="Only those in which somebody of this name speaks.")
    ] = ""
    conversation_id: Annotated[str, Field(max_length=200)] = ""
    limit: Annotated[int, Field(ge=1, le=50)] = 20
    offset: Annotated[int, Field(ge=0, le=2_000)] = 0
    include_transcript: Annotated[
        bool, Field(description="Only when the exact words are needed.")
    ] = False


Names = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(max_length=20)
]


class SearchConversations(Arguments):
    """Find conversations about a topic, a person, a name or an exact phrase, best first.

    How to find things:
    1. Decide what kind of question it is: about a time, a topic, a person, or a fact about the owner.
    2. Choose the tool for it; this one is for topics, names and phrases.
    3. Narrow by start_date and end_date whenever the time is known: “last week” has its start and its
    end in the owner's time zone.
    4. Look at whole transcripts only when the exact words matter.
    5. Answer with the conversations that hold the evidence. If the first search finds nothing, try
    once with other words or a wider time; then say plainly that nothing was found.
    """

    query: Annotated[str, Field(min_length=1, max_length=1_000, description="What to look for.")]
    start_date: Date = None
    end_date: Date = None
    people: Annotated[
        Names,
        Field(
            description="Only those in which one of these people speaks or is spoken of: for what was "
            "said with, by or about somebody by name."
        ),
    ] = ()
    topics: Annotated[
        Names,
        Field(
            description="Only those about one of these, in a word or two each, where the owner limits "
            "the question to a topic."
        ),
    ] = ()
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class GetMemories(Arguments):
    """List what is known about the owner, newest first: short facts.

    They help to understand and to tailor an answer. Where one and a newer conversation disagree,
    trust the conversation.
    """

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    offset: Annotated[int, Field(ge=0, le=2_000)] = 0


class SearchMemories(Arguments):
    """Find facts about the owner that concern a question, best first."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    limit: Annotated[int, Field(ge=1, le=20)] = 10


def build_library_tools(
    deps: ChatDeps,
    uid: UserId,
    zone: ZoneInfo,
    language: str | None = None,
    *,
    recalls_memories: bool = True,
    window_tokens: int = SAFE_WINDOW_TOKENS,
) -> list[Tool]:
    """Return the tools in a fixed order, which keeps the provider's prompt cache warm.

    Their results tell times in the owner's zone, and people read those of conversations in
    their language. While memories are not recalled, no tool reads them.
    """
    max_tokens = min(MAX_SEARCH_TOKENS, window_tokens // SEARCH_SHARE)
    build_read_tool = partial(build_builtin_tool, tool_class="read")
    conversation_tools = [
        build_read_tool(
            "get_conversations",
            "Searching conversations",
            GetConversations,
            partial(_get_conversations, deps, uid, zone, language=language),
            is_search=True,
        ),
        build_read_tool(
            "search_conversations",
            "Searching conversations",
            SearchConversations,
            partial(
                _search_conversations, deps, uid, zone, language=language, max_tokens=max_tokens
            ),
            is_search=True,
        ),
    ]
    memory_tools = [
        build_read_tool(
            "get_memories",
            "Searching memories",
            GetMemories,
            partial(_get_memories, deps, uid, zone),
        ),
        build_read_tool(
            "search_memories",
            "Searching memories",
            SearchMemories,
            partial(_search_memories, deps, uid, zone),
        ),
    ]
    people_tools = build_people_tools(deps, uid, zone, language)
    return [*conversation_tools, *people_tools, *(memory_tools if recalls_memories else [])]


async def _get_conversations(
    deps: ChatDeps,
    uid: UserId,
    zone: ZoneInfo,
    arguments: GetConversations,
    *,
    language: str | None,
) -> ResultRenderer:
    found, profile = await asyncio.gather(
        _list_conversations(deps, uid, arguments), deps.stores.profiles.get(uid)
    )
    has_more = len(found) > arguments.limit
    return _render_conversations(
        [
            (one, _to_transcript_lines(one) if arguments.include_transcript else [])
            for one in found[: arguments.limit]
        ],
        _Reader(zone=zone, language=language, names=profile.all_names),
        note=await _describe_rest(deps, uid, arguments) if has_more else None,
    )


async def _describe_rest(deps: ChatDeps, uid: UserId, arguments: GetConversations) -> str:
    """Say where a list goes on, and how many there are where that is known."""
    end = arguments.offset + arguments.limit
    if arguments.speaker:
        return MORE.format(total="", offset=end)
    total = await deps.stores.conversations.count_between(
        uid, start=arguments.start_date, end=arguments.end_date
    )
    return MORE.format(total=IN_ALL.format(total=total), offset=end)


async def _list_conversations(
    deps: ChatDeps, uid: UserId, arguments: GetConversations
) -> list[Conversation]:
    """List one more than the limit, if there are so many; with transcripts where they are asked for."""
    if arguments.conversation_id:
        return await _load_transcripts(deps, uid, arguments, [await _get_one(deps, uid, arguments)])
    if arguments.speaker:
        spoken = await _list_spoken(deps, uid, arguments)
        return await _load_transcripts(deps, uid, arguments, spoken)
    return await deps.stores.conversations.list_between(
        uid,
        start=arguments.start_date,
        end=arguments.end_date,
        limit=arguments.limit + 1,
        offset=arguments.offset,
        with_segments=arguments.include_transcript,
    )


async def _get_one(deps: ChatDeps, uid: UserId, arguments: GetConversations) -> Conversation:
    try:
        return await deps.stores.conversations.get_stored(
            uid, ConversationId(arguments.conversation_id)
        )
    except NotFound as error:
        raise ToolRefused(NO_SUCH_CONVERSATION) from error


async def _list_spoken(
    deps: ChatDeps, uid: UserId, arguments: GetConversations
) -> list[Conversation]:
    if arguments.offset > MAX_SPOKEN_OFFSET:
        raise ToolRefused(SPOKEN_OFFSET_TOO_LARGE)
    list_spoken = partial(
        deps.search.list_spoken,
        uid,
        arguments.speaker,
        start=arguments.start_date,
        end=arguments.end_date,
        limit=arguments.offset + arguments.limit + 1,
    )
    return (await _search_with_retry(deps, list_spoken))[arguments.offset :]


async def _load_transcripts(
    deps: ChatDeps, uid: UserId, arguments: GetConversations, found: Sequence[Conversation]
) -> list[Conversation]:
    """Load them where they are asked for; one that is incomplete is left out."""
    if not arguments.include_transcript:
        return [*found]
    loaded = await deps.stores.conversations.load_transcripts(uid, found)
    return [whole or stored for whole, stored in zip(loaded, found, strict=True)]


async def _search_conversations(
    deps: ChatDeps,
    uid: UserId,
    zone: ZoneInfo,
    arguments: SearchConversations,
    *,
    language: str | None,
    max_tokens: int,
) -> ResultRenderer:
    search = partial(
        deps.search.search_with_fallback,
        uid,
        arguments.query,
        filters=_to_filters(arguments),
        limit=arguments.limit,
    )
    search_result, profile = await asyncio.gather(
        _search_with_retry(deps, search), deps.stores.profiles.get(uid)
    )
    hits = search_result.conversations
    telemetry.count(hits=len(hits))
    packed_passages = pack(
        [(hit.conversation.named_segments, hit.turns) for hit in hits],
        tokens=max_tokens,
    )
    results = zip(
        (hit.conversation for hit in hits), map(_list_texts, packed_passages), strict=True
    )
    notes = [
        *([FILTERS_DROPPED] if search_result.fallback_without_filters else []),
        *([MORE_HITS] if search_result.has_more else []),
    ]
    reader = _Reader(zone=zone, language=language, names=profile.all_names)
    return _render_conversations(list(results), reader, note=" ".join(notes) or None)


async def _get_memories(
    deps: ChatDeps, uid: UserId, zone: ZoneInfo, arguments: GetMemories
) -> ResultRenderer:
    memories = await deps.stores.memories.list_newest(
        uid, limit=arguments.limit + 1, offset=arguments.offset
    )
    note = None
    if len(memories) > arguments.limit:
        total = await deps.stores.memories.count_current(uid)
        end = arguments.offset + arguments.limit
        note = MORE.format(total=IN_ALL.format(total=total), offset=end)
    return _render_memories(memories[: arguments.limit], zone, note=note)


async def _search_memories(
    deps: ChatDeps, uid: UserId, zone: ZoneInfo, arguments: SearchMemories
) -> ResultRenderer:
    search = partial(deps.search.find_memories, uid, arguments.query, limit=arguments.limit)
    found = await _search_with_retry(deps, search)
    telemetry.count(hits=len(found.memories))
    return _render_memories(found.memories, zone, note=MORE_HITS if found.has_more else None)


def _to_filters(arguments: SearchConversations) -> Filters:
    return Filters(
        start=arguments.start_date,
        end=arguments.end_date,
        people=arguments.people,
        topics=arguments.topics,
    )


async def _search_with_retry(deps: ChatDeps, search: Callable[[], Awaitable[T]]) -> T:
    """Search, and retry once. Raises ToolFailed with a text about it for the model."""
    try:
        return await retry(search, sleep=deps.clock.sleep)
    except Unavailable as error:
        telemetry.add_fields(retrieval_path="unavailable")
        raise ToolFailed(SEARCH_DOWN) from error


@value
class _Reader:
    """Whom results are for: they read times on their clock, in their language, and of themselves as "User"."""

    zone: ZoneInfo
    language: str | None
    names: Sequence[str]


def _render_conversations(
    hits: Sequence[tuple[Conversation, Sequence[str]]],
    reader: _Reader,
    *,
    note: str | None = None,
) -> ResultRenderer:
    zone = reader.zone

    def render(citations: Citations) -> str:
        results = [
            {
                "document": citations.assign_number(build_card(conversation)),
                "conversation_id": conversation.id,
                "url": f"keepsake://conversations/{conversation.id}",
                "title": conversation.structured.title,
                "started_at": _to_iso(conversation.started_at, zone),
                "finished_at": _to_iso(conversation.finished_at, zone),
                "overview": conversation.structured.overview,
                **_to_noted_fields(conversation, reader),
                "passages": list(passages),
                **_to_writer_fields(conversation.app_id),
            }
            for conversation, passages in hits
        ]
        found_note = note if results else "Nothing was found."
        return _to_json({"results": results, **({"note": found_note} if found_note else {})})

    shown = [
        f"- {conversation.structured.title or translate(UNTITLED, reader.language)},"
        f" {describe_time(conversation.started_at, zone, reader.language)}"
        for conversation, _ in hits
    ]
    return WordedResult(render=render, shown_text="\n".join(shown) or "Nothing was found.")


def _render_memories(
    memories: Sequence[Memory], zone: ZoneInfo, *, note: str | None = None
) -> ResultRenderer:
    rows = [_to_dict(memory, zone) for memory in memories]
    text = _to_json({"memories": rows, **({"note": note} if note else {})})
    shown = [f"- {address_owner(memory.content)}" for memory in memories]
    return WordedResult(render=lambda _: text, shown_text="\n".join(shown) or "Nothing was found.")


def _to_json(result: object) -> str:
    return json.dumps(result, ensure_ascii=False)


def _to_dict(memory: Memory, zone: ZoneInfo) -> dict[str, str]:
    fields = {"id": memory.id, "text": memory.content, "since": _to_iso(memory.created_at, zone)}
    return {**fields, **_to_origin_fields(memory.read_kinds), **_to_writer_fields(memory.app_id)}


def _to_noted_fields(conversation: Conversation, reader: _Reader) -> dict[str, list[str]]:
    """Return the people, tasks and events that were noted, where there are some."""
    structured = conversation.structured
    fields = {
        "people": list_others(conversation.topics.people, reader.names),
        "tasks": [_word_task(item) for item in structured.action_items],
        "events": [
            f"{each.title}, {_to_iso(each.start, reader.zone)}" for each in structured.events
        ],
    }
    return {name: values for name, values in fields.items() if values}


def _word_task(item: ExtractedItem) -> str:
    return f"{name_owner(item.owner, item.owner_name)}: {item.description}"


def _to_origin_fields(kinds: TextKinds | None) -> dict[str, str]:
    origin = describe_origin(kinds)
    return {"origin": origin} if origin else {}


def _to_writer_fields(app_id: AppId | None) -> dict[str, str]:
    return {"written_by": "an app, not the owner"} if app_id else {}


def _list_texts(passages: Sequence[Passage]) -> list[str]:
    return [passage.text for passage in passages]


def _to_transcript_lines(conversation: Conversation) -> list[str]:
    lines = map(format_turn, conversation.named_segments)
    return ["\n".join(lines)] if conversation.transcript_segments else []


def _to_iso(time: datetime, zone: ZoneInfo) -> str:
    return time.astimezone(zone).isoformat(timespec="seconds")
