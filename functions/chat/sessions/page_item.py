"""Page item: what the owner looks at while they ask, read from their library."""

from contextlib import suppress

from functions.chat.context.page import Page, PageItem
from shared.data.stores import Stores
from shared.domain.errors import NotFound
from shared.domain.ids import ActionItemId, ConversationId, MemoryId, UserId, is_id


async def find_item(stores: Stores, uid: UserId, page: Page | None) -> PageItem | None:
    """Return what the page shows; None for what the owner does not have."""
    if page is None or not is_id(page.id):
        return None
    with suppress(NotFound):
        match page.type:
            case "conversation":
                return await stores.conversations.get_stored(uid, ConversationId(page.id))
            case "memory":
                memory_id = MemoryId(page.id)
                return (await stores.memories.get_many(uid, [memory_id])).get(memory_id)
            case "task":
                return next(
                    iter(await stores.action_items.get_many(uid, [ActionItemId(page.id)])), None
                )
            case "recap":
                return await stores.daily_summaries.get(uid, page.id)
    return None
