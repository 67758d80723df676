"""Connector tools: `search` and `fetch`, in the shape in which ChatGPT's connectors ask for them."""

from typing import Any

from functions.library.programs.mcp_server.library_tool import Result, tool
from functions.library.programs.program_schemas import WholeConversationOut
from functions.library.schemas import QueryText
from shared.data.search.search import NO_FILTERS
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId
from shared.domain.memories.memory import Memory
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps

MAX_CONVERSATIONS = 10
MAX_MEMORIES = 10
MAX_TITLE_CHARS = 120


class SearchText(Wire):
    query: QueryText


class ResultName(Wire):
    """The id of a search result."""

    id: str


@tool("read", "Find conversations of the owner and facts about them; `fetch` reads a result.")
async def search(deps: LibraryDeps, uid: UserId, text: SearchText) -> Result:
    found = await deps.search.search_with_fallback(
        uid, text.query, filters=NO_FILTERS, limit=MAX_CONVERSATIONS
    )
    memories = await deps.search.search_memories(uid, text.query, limit=MAX_MEMORIES)
    hits = [_describe_conversation(hit.conversation) for hit in found.conversations]
    return {"results": hits + list(map(_describe_memory, memories))}


@tool("read", "Read a result of `search`: a conversation with its transcript, or a fact.")
async def fetch(deps: LibraryDeps, uid: UserId, result: ResultName) -> Result:
    kind, _, name = result.id.partition(":")
    if kind == "conversation":
        conversation = await deps.stores.conversations.get(uid, ConversationId(name))
        return _build_conversation_document(conversation)
    if kind == "memory":
        memory = await deps.stores.memories.get(uid, name)
        return _build_document(
            _describe_memory(memory),
            memory.content,
            created_at=memory.created_at,
            category=memory.category,
        )
    raise NotFound("There is no such result.")


def _describe_conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": f"conversation:{conversation.id}",
        "title": conversation.structured.title or "Untitled conversation",
        "url": f"keepsake://conversations/{conversation.id}",
    }


def _describe_memory(memory: Memory) -> dict[str, Any]:
    return {
        "id": f"memory:{memory.id}",
        "title": memory.content[:MAX_TITLE_CHARS],
        "url": f"keepsake://memories/{memory.id}",
    }


def _build_conversation_document(conversation: Conversation) -> Result:
    whole = WholeConversationOut.of(conversation)
    lines = [
        f"{segment.speaker_name or f'Speaker {segment.speaker_id}'}: {segment.text}"
        for segment in whole.transcript_segments
    ]
    return _build_document(
        _describe_conversation(conversation),
        "\n".join([whole.structured.overview, "", *lines]).strip(),
        started_at=whole.started_at,
        finished_at=whole.finished_at,
        category=whole.structured.category,
        language=whole.language,
    )


def _build_document(description: dict[str, Any], text: str, **metadata: Any) -> Result:
    return {**description, "text": text, "metadata": metadata}


TOOLS = (search, fetch)
