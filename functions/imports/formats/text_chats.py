"""Chats as text: messages below their day, time and sender, and the notices between them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from functions.imports.formats.blocks import Block
from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Draft
from functions.imports.formats.quotations import drop_quoted_lines
from functions.imports.formats.stamps import Stamp, parse_stamps
from functions.imports.formats.titles import HEADING, find_heading, find_title
from shared.library.decoding import UnreadableFile

_EDIT_MARK = re.compile(r"\s*\u200e?<[^<>\n]{1,60}>$")
_FILE_LINE = re.compile(r"\u200e?\S.{0,80}\.\w{2,4} \([^()\n]{1,40}\)")
_ATTACHED = re.compile(r"!?\[[^\]\n]{0,200}\]\((?!\w{2,9}://)[^()\n]{1,400}\)|\(- [^\n]{1,400} -\)")
"""A line of Signal's exporter with a file beside the chat, or with reactions."""
_DELETED = frozenset((
    "this message was deleted", "you deleted this message",
    "diese nachricht wurde gelöscht", "du hast diese nachricht gelöscht",
    "se eliminó este mensaje", "eliminaste este mensaje",
    "ce message a été supprimé", "vous avez supprimé ce message",
    "esta mensagem foi apagada", "mensagem apagada", "você apagou esta mensagem",
    "questo messaggio è stato eliminato", "hai eliminato questo messaggio",
    "dit bericht is verwijderd", "u hebt dit bericht verwijderd",
    "このメッセージは削除されました", "メッセージは削除されました", "此消息已被删除", "此訊息已刪除",
))  # fmt: skip
"""What WhatsApp on Android writes in the place of a message that its sender took back."""
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]{1,20}\]|null")
"""A sticker or a picture that LINE names, and what WhatsApp shows once."""
_PRIVATE_NAME = re.compile(r"^~\s")
"""What WhatsApp puts before a name that its bearer chose."""
_MARK = "\u200e"
"""What WhatsApp on iOS puts before words of its own."""


def read_chat(name: str, preamble: Sequence[str], blocks: Sequence[Block]) -> Iterator[Draft]:
    try:
        times = parse_stamps([Stamp(date=b.header.date, clock=b.header.clock) for b in blocks])
    except ValueError as error:
        raise UnreadableFile(f"its dates cannot be read: {error}") from error
    heading = find_heading(preamble)
    bodies = [_drop_headings(block) for block in blocks] if heading else blocks
    messages = _drop_quoted(
        Message(at=at, speaker=_PRIVATE_NAME.sub("", block.header.name), text=text)
        for at, block in zip(times, bodies, strict=True)
        if block.header.name
        and not _has_open_quote(block.header.name)
        and (text := _clean_message(block.text))
    )
    senders = list(dict.fromkeys(message.speaker for message in messages))
    title = heading or find_title(name, [], _list_notices(blocks), senders)
    return build_chat(messages, title=title)


def _has_open_quote(name: str) -> bool:
    """Tell whether a notice was taken for a sender: the colon stands in a name that it quotes."""
    is_german_open = name.rfind("„") > max(name.rfind("“"), name.rfind("”"))
    return name.count('"') % 2 == 1 or is_german_open or name.rfind("«") > name.rfind("»")


def _drop_headings(block: Block) -> Block:
    """Leave out the headings between the turns of a document that begins with one."""
    return replace(block, lines=[line for line in block.lines if not HEADING.fullmatch(line)])


def _clean_message(text: str) -> str:
    """Return what a person wrote; nothing for a notice or the placeholder of a file."""
    first, *rest = [line for line in text.split("\n") if not _ATTACHED.fullmatch(line)] or [""]
    if first.startswith(_MARK) or _FILE_LINE.fullmatch(first):
        return "\n".join(rest).strip()
    text = _EDIT_MARK.sub("", "\n".join([first, *rest])).strip().replace(_MARK, "")
    is_gone = text.lower().rstrip(".。") in _DELETED
    return "" if is_gone or _PLACEHOLDER.fullmatch(text) else text


def _drop_quoted(messages: Iterable[Message]) -> list[Message]:
    """Leave out what messages quote of earlier ones; one that holds nothing else stays."""
    said: set[str] = set()
    kept: list[Message] = []
    for message in messages:
        kept.append(replace(message, text=drop_quoted_lines(message.text, said) or message.text))
        said.update(line.strip() for line in message.text.split("\n"))
    return kept


def _list_notices(blocks: Sequence[Block]) -> list[str]:
    """List the notices of a chat; on iOS the group's own name stands before them."""
    notices = [block.text for block in blocks if not block.header.name]
    senders = [b.header.name for b in blocks[:1] if b.text.startswith(_MARK)]
    people = {b.header.name for b in blocks if b.header.name and not b.text.startswith(_MARK)}
    groups = [f'"{sender}"' for sender in senders if sender not in people]
    return [*notices, *groups]
