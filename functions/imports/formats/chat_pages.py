"""Chat pages: HTML in which programs show an exported chat, message by message; their classes are their own."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Draft
from functions.imports.formats.stamps import CHAT_CLOCK, DATE, Stamp, parse_stamps
from shared.domain.value import value
from shared.integrations.html_text import parse_html, read_element


@value
class PageForm:
    """Where a program puts things, as XPath; from `sender` on below the element of a message.

    A message without a sender has that of the one before. `moments` are the ways in which it writes times.
    """

    message: str
    sender: str
    moment: str
    text: str
    moments: Sequence[str]
    title: str = "*[false()]"


_MOMENT = re.compile(
    rf"(?P<day>.*[^\s,])[\s,]+(?:[^\W\d_]{{1,4}}\s+)?(?P<clock>{CHAT_CLOCK})", re.DOTALL
)
"""A day, perhaps `at`, and a time of day."""


def _has(name: str) -> str:
    """Return the condition that an element has a class."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


TELEGRAM = PageForm(
    message=f"//div[{_has('message')} and {_has('default')}]",
    sender="./div/div[@class='from_name']",
    moment=f".//div[{_has('date')}]/@title",
    text=".//div[@class='text']",
    moments=("%d.%m.%Y %H:%M:%S UTC%z", "%d.%m.%Y %H:%M:%S"),
    title=f"//div[{_has('page_header')}]//div[{_has('bold')}]",
)
IMESSAGE = PageForm(
    message="//div[@class='message'][not(ancestor::div[@class='replies' or @class='reply'])]",
    sender="(.//span[@class='sender'])[1]",
    moment="(.//span[@class='timestamp'])[1]",
    text=".//span[@class='bubble'][not(ancestor::div[@class='replies' or @class='reply'])]",
    moments=("%b %d, %Y %I:%M:%S %p",),
)
META = PageForm(
    message=f"//div[{_has('_a6-g')}]",
    sender=f".//*[{_has('_a6-h')}]",
    moment=f".//*[{_has('_a6-o')}]",
    text=f".//*[{_has('_a6-p')}]//div[not(.//div) and not(.//ul)]",
    moments=("%b %d, %Y %I:%M %p", "%b %d, %Y, %I:%M %p", "%b %d, %Y %I:%M:%S %p", "%b %d, %Y, %I:%M:%S %p"),
    title="//title",
)  # fmt: skip
DISCORD = PageForm(
    message=f"//div[{_has('chatlog__message')}]",
    sender=f".//span[{_has('chatlog__author')}]",
    moment=f".//*[{_has('chatlog__timestamp')} or {_has('chatlog__short-timestamp')}]/@title",
    text=f".//div[{_has('chatlog__content')}]",
    moments=("%A, %B %d, %Y %I:%M %p", "%A, %d %B %Y %H:%M"),
    title=f"(//div[{_has('preamble__entry')}])[2]",
)
FORMS = (TELEGRAM, IMESSAGE, META, DISCORD)


def read_chat_page(html: str) -> list[Draft]:
    """Return the conversations of a chat's page; none where a page is no such, or writes a time in another way."""
    root = parse_html(html.encode(), "utf-8")
    for form in FORMS if root is not None else ():
        elements = root.xpath(form.message)
        written = list(_read_elements(elements, form))
        with suppress(ValueError):
            times = _read_moments([moment for moment, _, _ in written], form.moments)
            messages = [
                Message(at=at, speaker=sender, text=text)
                for at, (_, sender, text) in zip(times, written, strict=True)
            ]
            messages.sort(key=lambda message: message.at)
            if messages:
                return list(build_chat(messages, title=_find_text(root, form.title)))
    return []


def _read_elements(elements: Sequence[Any], form: PageForm) -> Iterator[tuple[str, str, str]]:
    """Yield moment, sender and text of each message that has a text."""
    sender = ""
    for element in elements:
        sender = _find_text(element, form.sender) or sender
        text = "\n".join(filter(None, map(read_element, element.xpath(form.text))))
        if text:
            yield _find_text(element, form.moment).partition("(")[0].strip(), sender, text


def _find_text(element: Any, path: str) -> str:
    """Return the first text that a path leads to, an attribute or that of an element."""
    found = element.xpath(path)[:1]
    texts = (each if isinstance(each, str) else "".join(each.itertext()) for each in found)
    return " ".join("".join(texts).split())


def _read_moments(written: Sequence[str], patterns: Sequence[str]) -> list[datetime]:
    """Read all times of a page in its program's own way, or else in that of some language. Raises ValueError."""
    with suppress(ValueError):
        return [_read_moment(text, patterns) for text in written]
    parts = [_MOMENT.fullmatch(text) for text in written]
    stamps = [Stamp(date=match["day"], clock=match["clock"]) for match in parts if match]
    if len(stamps) < len(written):
        raise ValueError("a time without a time of day")
    if all(re.fullmatch(DATE, stamp.date) for stamp in stamps):
        return parse_stamps(stamps)
    days = {day: _read_day(day) for day in {stamp.date for stamp in stamps}}
    return parse_stamps([replace(stamp, date=days[stamp.date]) for stamp in stamps])


def _read_moment(text: str, patterns: Sequence[str]) -> datetime:
    for pattern in patterns:
        with suppress(ValueError):
            return datetime.strptime(text, pattern)  # noqa: DTZ007 - a page has local times
    raise ValueError(f"{text!r} is no time of this form")


def _read_day(text: str) -> str:
    """Return a day that is written out in some language in numbers. Raises ValueError."""
    import dateparser  # loads many languages, and most pages need none

    settings = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
    at: datetime | None = dateparser.parse(text, settings=settings)
    if at is None or not any(map(str.isalpha, text)):
        raise ValueError(f"{text!r} is no day")
    return f"{at:%Y-%m-%d}"
