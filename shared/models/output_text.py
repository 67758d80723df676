"""Output text: what a model wrote into a structured answer, made fit to be stored and shown; pure.

A title, a task or a summary may hold what a stranger had it write: an address that nobody gave carries away what the
model read, an image does so as soon as it is shown, and invisible characters hide orders.

Also called: output sanitization.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from shared.security.link_filter import extract_urls, filter_links
from shared.security.visible_text import strip_invisible

_IMAGE = "!["
_MAY_BE_LIVE = re.compile(r"\]\s*[(:]|!\[|(?:https?|ftp):|www\.|<[a-z/!?][^>]*=", re.IGNORECASE)
"""Links, images and tags with attributes; a text that has none is shown as it is written."""


def clean_output(content: Any, data: Mapping[str, Any]) -> Any:
    """Return an answer without invisible characters, images, and links to addresses that `data` does not have.

    What stands in the data word for word, such as a quotation, stays as it is.
    """
    given = "\n".join(_list_texts(data))
    urls = extract_urls(given)

    def clean(part: Any) -> Any:
        match part:
            case str():
                if _IMAGE not in part and part in given:
                    return part
                text = strip_invisible(part)
                return filter_links(text, urls) if _MAY_BE_LIVE.search(text) else text
            case dict():
                return {key: clean(value) for key, value in part.items()}
            case list():
                return [clean(value) for value in part]
        return part

    return clean(content)


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
