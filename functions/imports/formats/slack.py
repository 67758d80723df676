"""Slack: the messages of one day in one channel, as its export has them, with the names of its people."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, TextFile
from functions.imports.formats.json_fields import (
    Fields,
    find_number,
    find_text,
    find_time,
    list_objects,
)
from functions.imports.formats.unread import count_unread_fields

PEOPLE_FILE, CHANNELS_FILE = "users.json", "channels.json"
"""Two of the lists beside the folders of channels: who is who, and what there is."""
SPOKEN_SUBTYPES = (None, "bot_message", "file_share", "me_message", "thread_broadcast")
"""Other messages tell that somebody joined, or how a channel is called."""
_SCHEME = re.compile(r"(?:mailto|tel):")
_LINK = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")


def is_slack(file: TextFile) -> bool:
    items = list_objects(file.content)
    return bool(items) and all(item.get("type") == "message" and "ts" in item for item in items)


def read_slack(file: TextFile) -> Contents:
    return read_channel_day(file.content, title="", people={})


def read_people(content: Any) -> dict[str, str]:
    """Return the names of users by id."""
    return {
        str(user["id"]): name
        for user in list_objects(content)
        if "id" in user and (name := _find_name(user))
    }


def read_channel_day(content: Any, *, title: str, people: Mapping[str, str]) -> Contents:
    """Read the messages of a file; `title` is the name of the channel."""
    items = list_objects(content)
    names = {**_list_profiles(items), **people}
    messages: list[Message] = []
    unread: list[Fields] = []
    for item in items:
        text = _write_out(find_text(item, ("text",)) or "", names).strip()
        at = find_time({"at": find_number(item, ("ts",))}, ("at",))
        if item.get("subtype") not in SPOKEN_SUBTYPES:
            continue
        if text and at:
            messages.append(Message(at=at, speaker=_find_sender(item, names), text=text))
        else:
            unread.append(item)
    messages.sort(key=lambda message: message.at)
    drafts = list(build_chat(messages, title=title))
    return Contents(conversations=drafts, left_out=count_unread_fields(unread, drafts))


def _list_profiles(items: Sequence[Fields]) -> dict[str, str]:
    """Return the names that stand beside the messages themselves."""
    profiles = ((str(item.get("user")), item.get("user_profile")) for item in items)
    return {
        user: name
        for user, profile in profiles
        if isinstance(profile, dict) and (name := _find_name(profile))
    }


def _find_name(user: Fields) -> str:
    profile = user.get("profile")
    parts = [user, profile if isinstance(profile, dict) else {}]
    found = (
        find_text(part, (name,)) for name in ("real_name", "display_name", "name") for part in parts
    )
    return next((name.strip() for name in found if name and name.strip()), "")


def _find_sender(item: Fields, names: Mapping[str, str]) -> str:
    user = find_text(item, ("user",)) or ""
    return names.get(user) or user or find_text(item, ("username", "bot_id")) or ""


def _write_out(text: str, names: Mapping[str, str]) -> str:
    """Return a text as people saw it: with names, and addresses behind what they are called."""

    def show(match: re.Match[str]) -> str:
        target, label = match["target"], match["label"]
        if match["sign"] == "@":
            return f"@{names.get(target) or label or target}"
        if match["sign"] == "#":
            return f"#{label or target}"
        if match["sign"] == "!":
            return label or f"@{target.split('^')[0]}"
        address = _SCHEME.sub("", target)
        return f"{label} ({address})" if label and label not in address else address

    return html.unescape(_LINK.sub(show, text))
