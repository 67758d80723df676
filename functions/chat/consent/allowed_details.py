"""Allowed details: what the owner accepted to be given to a chat, as it is now, and as its model reads it."""

import json
from collections.abc import Mapping, Sequence

from shared import prompts
from shared.data.memories.memories import Memories
from shared.domain.account.profile import Profile
from shared.domain.chats.details_request import DetailKey
from shared.domain.ids import UserId
from shared.domain.models.tokens import estimate_tokens
from shared.domain.provenance import LIBRARY
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible

MAX_MEMORIES = 100
MAX_CHARS = 8_000
"""Of all details together, the newest memories first."""
WINDOW_SHARE = 8
"""Of a small window, no more than this part."""
_MEMORIES = "memories:"

Details = Mapping[DetailKey, Sequence[str]]


async def load_details(
    memories: Memories, uid: UserId, profile: Profile, keys: Sequence[DetailKey]
) -> Details:
    """Return the texts of each key. Nothing is kept of them: a memory that is deleted is gone here as well."""
    categories = [key.removeprefix(_MEMORIES) for key in keys if key.startswith(_MEMORIES)]
    newest = (
        await memories.list_in_categories(uid, categories, limit=MAX_MEMORIES) if categories else ()
    )
    found: dict[DetailKey, list[str]] = {key: _list_setting(profile, key) for key in keys}
    room = MAX_CHARS
    for memory in newest:
        room -= len(memory.content)
        if room >= 0:
            found[f"{_MEMORIES}{memory.category}"].append(memory.content)  # type: ignore[index]
    return found


def _list_setting(profile: Profile, key: DetailKey) -> list[str]:
    match key:
        case "settings:own_names":
            return list(profile.own_names)
        case "settings:place":
            return _describe_place(profile)
    return []


def _describe_place(profile: Profile) -> list[str]:
    place = profile.place
    if place is None:
        return []
    degrees = f"{place.latitude}, {place.longitude}" if place.latitude is not None else ""
    measured = f"measured at {place.time.isoformat()}" if place.time else ""
    return [text for text in (place.address or "", degrees, measured) if text]


def build_details_text(details: Details, window_tokens: int) -> str:
    """Return what the owner allowed to read, as far as the window takes it; empty where that is nothing."""
    room, known = window_tokens // WINDOW_SHARE, dict[str, list[str]]()
    for key, texts in details.items():
        for text in texts:
            room -= estimate_tokens(text)
            if room >= 0:
                known.setdefault(key, []).append(text)
    if not known:
        return ""
    data = strip_invisible(json.dumps(known, ensure_ascii=False))
    return prompts.render("chat/allowed_details", details=fence_untrusted(data, LIBRARY))
