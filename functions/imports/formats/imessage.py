"""iMessage: the text that imessage-exporter writes, each message below its moment and its sender."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, TextFile

_MOMENT = re.compile(
    r"(?P<at>[A-Z][a-z]{2} \d{1,2}, \d{4}\s{1,2}\d{1,2}:\d\d:\d\d\s[AP]M)(?P<rest>.*)"
)
_RECEIPT = re.compile(r"\s*(?:\(.*\))?")
"""What stands behind the moment of a message; behind that of a notice stand words."""
_FILE_LINE = re.compile(r"(?:~?/[^/\n]+/|attachments/)[^\n]*\.\w{2,5}")
REACTIONS = "Tapbacks:"
ANSWER_MARK = "This message responded to an earlier message."
INDENT = "    "
"""Before an answer below the message that it belongs to; it comes again at its own moment."""


def is_imessage(file: TextFile) -> bool:
    lines = [line for line in file.text.splitlines()[:2] if line.strip()]
    match = _MOMENT.fullmatch(lines[0]) if lines else None
    return bool(match and (_RECEIPT.fullmatch(match["rest"]) or len(lines) == 1))


def read_imessage(file: TextFile) -> Contents:
    messages = sorted(_read_messages(file.text.splitlines()), key=lambda message: message.at)
    return Contents(conversations=list(build_chat(messages, title="")))


def _read_messages(lines: Sequence[str]) -> Iterator[Message]:
    begins = [at for at, line in enumerate(lines) if _MOMENT.fullmatch(line)]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        match = _MOMENT.fullmatch(lines[begin])
        words = [line for line in lines[begin + 1 : end] if _is_spoken(line)]
        if match and _RECEIPT.fullmatch(match["rest"]) and words:
            with suppress(ValueError):
                at = datetime.strptime(" ".join(match["at"].split()), "%b %d, %Y %I:%M:%S %p")  # noqa: DTZ007
                if text := "\n".join(words[1:]).strip():
                    yield Message(at=at, speaker=words[0].strip(), text=text)


def _is_spoken(line: str) -> bool:
    return not (
        line.startswith(INDENT) or line in (REACTIONS, ANSWER_MARK) or _FILE_LINE.fullmatch(line)
    )
