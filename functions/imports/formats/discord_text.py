"""Discord as text: what DiscordChatExporter writes of a channel, each message below its moment and its sender."""

import re
from collections.abc import Sequence

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, TextFile
from functions.imports.formats.stamps import CHAT_CLOCK, DATE, Stamp, parse_stamps
from functions.imports.formats.unread import count_unread_lines
from shared.library.decoding import UnreadableFile

_RULE = re.compile("={10,}")
RULES = 4
"""Lines around the first lines and the last."""
_SERVER = "Guild: "
_CHANNEL = re.compile(r"Channel: (?:.* / )?(?P<name>.+)")
MAX_HEAD_LINES = 8
_HEADER = re.compile(
    rf"\[(?P<date>{DATE})\s+(?P<clock>{CHAT_CLOCK})\]\s+(?P<name>\S.{{0,79}}?)(?:\s+\(pinned\))?"
)
_SECTION = re.compile(r"\{[A-Z][A-Za-z]{1,30}\}")
"""What stands above attachments, reactions and what others say of a link."""


def is_discord_text(file: TextFile) -> bool:
    first, _, rest = file.text.lstrip().partition("\n")
    return bool(_RULE.fullmatch(first.strip())) and rest.startswith(_SERVER)


def read_discord_text(file: TextFile) -> Contents:
    """Read a channel; what stands below the words of a message is counted. Raises UnreadableFile."""
    lines = [line.strip() for line in file.text.splitlines()]
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line)]
    lines = lines[: rules[-2]] if len(rules) >= RULES else lines
    begins = [at for at, line in enumerate(lines) if _HEADER.fullmatch(line)]
    ends = [*begins[1:], len(lines)]
    headers = [match for at in begins if (match := _HEADER.fullmatch(lines[at]))]
    try:
        times = parse_stamps([Stamp(date=match["date"], clock=match["clock"]) for match in headers])
    except (ValueError, IndexError) as error:
        raise UnreadableFile("its dates cannot be read") from error
    messages = []
    unread = [line for line in lines[: begins[0]] if not line.startswith((_SERVER, "Channel: "))]
    for at, match, begin, end in zip(times, headers, begins, ends, strict=True):
        text, below = _divide(lines[begin + 1 : end])
        unread += below
        if text:
            messages.append(Message(at=at, speaker=match["name"], text=text))
    channels = (match["name"] for match in map(_CHANNEL.fullmatch, lines[:MAX_HEAD_LINES]) if match)
    drafts = list(build_chat(messages, title=next(channels, "")))
    return Contents(conversations=drafts, left_out=count_unread_lines(unread, ""))


def _divide(lines: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words of a message, and what stands in the sections below them."""
    end = next((at for at, line in enumerate(lines) if _SECTION.fullmatch(line)), len(lines))
    return "\n".join(lines[:end]).strip(), list(lines[end:])
