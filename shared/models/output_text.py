"""Output text: what a model wrote into a structured answer or the library, made fit to be stored and shown; pure.

A title, a task or a summary may hold what a stranger had it write: an address that nobody gave carries away what the
model read, an image does so as soon as it is shown, and invisible characters hide orders.

Also called: output sanitization.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shared.security.link_filter import LinkFilter, extract_urls
from shared.security.visible_text import strip_invisible

_IMAGE = "!["
_MAY_BE_LIVE = re.compile(
    r"\]\s*[(:]|!\[|(?:https?|ftp):|www\.|<[a-z/!?][^>]*=|<(?:script|style|[a-z][a-z0-9+.-]{1,31}:)"
    r"|&(?:#|(?!(?:amp|lt|gt|quot|apos|nbsp);)[a-z][a-z0-9]{1,31};)",
    re.IGNORECASE,
)
"""Links, images, tags that load or run something, and signs of an address that are written as entities.

A text that has none is shown as it is written.
"""


def clean_output(content: Any, data: Mapping[str, Any]) -> Any:
    """Return an answer without invisible characters, images, and links to addresses that `data` does not have.

    What stands in the data word for word, such as a quotation, stays as it is.
    """
    given = "\n".join(_list_texts(data))
    urls = extract_urls(given)

    def clean(text: str) -> str:
        is_quoted = _IMAGE not in text and text in given
        return text if is_quoted else _clean_text(text, urls.__contains__)

    return _change_texts(content, clean)


def clean_arguments(arguments: Any, is_known_url: Callable[[str], bool]) -> Any:
    """Return what a model would write into the library without invisible characters, images and unknown addresses."""
    return _change_texts(arguments, lambda text: _clean_text(text, is_known_url))


def _clean_text(text: str, is_known_url: Callable[[str], bool]) -> str:
    visible = strip_invisible(text)
    if not _MAY_BE_LIVE.search(visible):
        return visible
    link_filter = LinkFilter(is_known_url)
    return link_filter.feed(visible) + link_filter.flush()


def _change_texts(part: Any, change: Callable[[str], str]) -> Any:
    match part:
        case str():
            return change(part)
        case dict():
            return {key: _change_texts(value, change) for key, value in part.items()}
        case list():
            return [_change_texts(value, change) for value in part]
    return part


def _list_texts(part: Any) -> Iterator[str]:
    match part:
        case str():
            yield part
        case Mapping():
            for value in part.values():
                yield from _list_texts(value)
        case list() | tuple():
            for value in part:
                yield from _list_texts(value)
