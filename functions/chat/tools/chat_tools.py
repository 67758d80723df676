"""Chat tool: find what was said in earlier chats, however long ago."""

import heapq
import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated
from zoneinfo import ZoneInfo

from anyio import to_thread
from pydantic import Field

from functions.chat.context.citations import Citations
from functions.chat.context.model_words import select_model_words
from functions.chat.context.word_match import WantedWord, build_excerpt, count_words, parse_words
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import MORE_HITS, build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, WordedResult
from shared.arguments import Arguments
from shared.domain.chats.chat import Message
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId
from shared.domain.value import value

PAGE_SIZE = 1_000
MAX_PAGES = 20
MAX_HITS = 10
MAX_QUOTED_CHARS = 600
"""A longer message is quoted around the first of the words."""
NOT_ALL_READ = f"Only the newest {PAGE_SIZE * MAX_PAGES:,} messages were looked through."
NOTHING_FOUND = "Nothing was found."


class SearchChats(Arguments):
    """Find messages of the owner's chats with you, also of those long ago and no longer in sight.

    For “remember when we …”, “what did I ask you about …”. Not for recorded conversations.
    """

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="The words that the message most likely holds, in its language; no others.",
        ),
    ]


@value
class FoundMessage:
    """A message with so many of the wanted words."""

    words: int
    message: Message


def build_chat_tools(deps: ChatDeps, uid: UserId, zone: ZoneInfo) -> list[Tool]:
    return [
        build_builtin_tool(
            "search_chats",
            "Searching chats",
            SearchChats,
            partial(_search_chats, deps, uid, zone),
            tool_class="read",
            reads="chat",
        )
    ]


async def _search_chats(
    deps: ChatDeps, uid: UserId, zone: ZoneInfo, arguments: SearchChats
) -> ResultRenderer:
    wanted = parse_words(arguments.query)
    if not wanted:
        raise ToolRefused("the query has no words to search for.")
    found: list[FoundMessage] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await deps.stores.messages.list_page(uid, limit=PAGE_SIZE, after=cursor)
        found = await to_thread.run_sync(_merge_best, found, page.items, wanted)
        cursor = page.next
        is_enough = len(found) > MAX_HITS and all(f.words == len(wanted) for f in found)
        if cursor is None or is_enough:
            break
    has_more = len(found) > MAX_HITS and found[-1].words == found[0].words
    notes = [
        *([MORE_HITS] if has_more else []),
        *([NOT_ALL_READ] if cursor is not None and not is_enough else []),
    ]
    return _render([each.message for each in found[:MAX_HITS]], wanted, zone, notes)


def _merge_best(
    found: Sequence[FoundMessage], messages: Sequence[Message], wanted: Sequence[WantedWord]
) -> list[FoundMessage]:
    """Keep the messages with most of the wanted words, at least half of them; of equals the newest; one more than is shown.

    Of an answer, what its model wrote.
    """
    new = (
        FoundMessage(words=count_words(select_model_words(message), wanted), message=message)
        for message in messages
    )
    matching = (each for each in new if each.words * 2 >= len(wanted) and each.words)
    return heapq.nlargest(
        MAX_HITS + 1, [*found, *matching], key=lambda f: (f.words, f.message.position)
    )


def _render(
    messages: Sequence[Message],
    wanted: Sequence[WantedWord],
    zone: ZoneInfo,
    notes: Sequence[str],
) -> ResultRenderer:
    rows = [
        {
            "id": message.id,
            "chat": message.session_id,
            "at": message.created_at.astimezone(zone).isoformat(timespec="minutes"),
            "from": _name_sender(message),
            "text": _quote(select_model_words(message), wanted),
        }
        for message in messages
    ]
    note = {"note": " ".join(notes)} if notes else {}
    text = json.dumps({"messages": rows, **note}, ensure_ascii=False)
    shown = [
        f"- {message.created_at.astimezone(zone):%Y-%m-%d}: {row['text']}"
        for message, row in zip(messages, rows, strict=True)
    ]

    def render(_: Citations) -> str:
        return text

    return WordedResult(render=render, shown_text="\n".join(shown) or NOTHING_FOUND)


def _quote(text: str, wanted: Sequence[WantedWord]) -> str:
    return text if len(text) <= MAX_QUOTED_CHARS else build_excerpt(text, wanted)


def _name_sender(message: Message) -> str:
    """Say whose words these are; those of a file or an app are not the owner's."""
    if message.is_imported:
        return "an imported file"
    if message.from_integration:
        return "an app"
    return "User" if message.sender == "human" else "assistant"
