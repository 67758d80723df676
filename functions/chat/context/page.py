"""Page of the owner: what they look at while they ask, as data for the model; pure."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from shared import prompts
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.memories.memory import Memory
from shared.domain.provenance import LIBRARY, describe_origin
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible

MAX_TITLE_CHARS = 200
MAX_TEXT_CHARS = 4_000
MAX_TASKS = 20

PageType = Literal["conversation", "memory", "task", "recap", "time_range"]
PageItem = Conversation | Memory | ActionItem | DailySummary


@value
class Page:
    """What a client says that its user looks at; `start` and `end` bound a time range."""

    type: PageType
    id: str = ""
    title: str = ""
    start: datetime | None = None
    end: datetime | None = None


def build_page_text(page: Page | None, item: PageItem | None, zone: ZoneInfo) -> str:
    """Return the page as fenced data; empty where nothing is known of it.

    The title that a client gives counts only where the library has nothing.
    """
    if page is None:
        return ""
    shown = _describe(item, zone) if item is not None else _describe_claim(page, zone)
    known = {name: detail for name, detail in shown.items() if detail}
    if not known:
        return ""
    data = json.dumps({"type": page.type, **known}, ensure_ascii=False)
    return prompts.render("chat/page", page=fence_untrusted(strip_invisible(data), LIBRARY))


def _describe_claim(page: Page, zone: ZoneInfo) -> Mapping[str, Any]:
    return {
        "title": " ".join(page.title.split())[:MAX_TITLE_CHARS],
        "from": _to_local(page.start, zone),
        "to": _to_local(page.end, zone),
    }


def _describe(item: PageItem, zone: ZoneInfo) -> Mapping[str, Any]:
    match item:
        case Conversation():
            return _describe_conversation(item, zone)
        case Memory():
            return {
                "memory_id": item.id,
                "memory": item.content,
                "since": _to_local(item.created_at, zone),
                "origin": describe_origin(item.read_kinds),
            }
        case ActionItem():
            return {
                "action_item_id": item.id,
                "task": item.description,
                "due": _to_local(item.due_at, zone),
                "is_done": item.completed,
                "origin": describe_origin(item.read_kinds),
            }
        case DailySummary():
            return {
                "day": item.id,
                "headline": item.headline,
                "overview": item.overview[:MAX_TEXT_CHARS],
            }


def _describe_conversation(conversation: Conversation, zone: ZoneInfo) -> Mapping[str, Any]:
    structured = conversation.structured
    return {
        "conversation_id": conversation.id,
        "url": f"keepsake://conversations/{conversation.id}",
        "title": structured.title,
        "started_at": _to_local(conversation.started_at, zone),
        "overview": structured.overview[:MAX_TEXT_CHARS],
        "tasks": [each.description for each in structured.action_items[:MAX_TASKS]],
    }


def _to_local(time: datetime | None, zone: ZoneInfo) -> str:
    return time.astimezone(zone).isoformat(timespec="seconds") if time else ""
