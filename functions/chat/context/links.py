"""Links of an answer: Markdown links and bare addresses, outside of code."""

import re
from collections.abc import Callable, Container, Iterator
from urllib.parse import quote_plus, unquote, urlsplit

_SEARCH_URL = "https://duckduckgo.com/?q="
_MAX_SEARCH_WORDS = 10
_LINK = re.compile(
    r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`"
    r"|\[(?P<label>[^\[\]\n]*)\]\((?P<target>https?://[^\s<>()\[\]]{1,2048})\)"
    r"|(?<![a-z])(?P<bare>https?://[^\s<>\[\]`|]{1,2048})",
    re.IGNORECASE,
)
_SENTENCE_END = ".,;:!?*)\"'"
"""What a sentence puts behind an address without meaning it as a part of it."""
_WORD = re.compile(r"\w+")


def list_links(text: str) -> list[str]:
    """Return the addresses of a text in their order, each once."""
    return list(dict.fromkeys(url for match in _LINK.finditer(text) if (url := _find_url(match))))


def replace_links(text: str, broken: Container[str], write: Callable[[str], str]) -> str:
    """Put `write(url)` where a broken address stands, behind the words that linked to it."""

    def replace(match: re.Match[str]) -> str:
        url = _find_url(match)
        if not url or url not in broken:
            return match[0]
        if match["bare"]:
            return write(url) + match["bare"][len(url) :]
        return f"{match['label']} ({write(url)})" if match["label"] else write(url)

    return _LINK.sub(replace, text)


def build_search_link(url: str, label: str) -> str:
    """Return a link to a search of the web for the words of an address; `label` has a slot for them.

    Only what the address says is searched for: it came from the web, and words of the answer did not.
    """
    words = " ".join(_list_search_words(url))
    return f"[{label.format(words=words)}]({_SEARCH_URL}{quote_plus(words)})"


def _find_url(match: re.Match[str]) -> str:
    """Return the address of a link; empty for code, and for one whose end is not certain."""
    if match["target"]:
        return match["target"]
    url = (match["bare"] or "").rstrip(_SENTENCE_END)
    return url if url.count("(") == url.count(")") else ""


def _list_search_words(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    yield (parts.hostname or "").removeprefix("www.")
    yield from _WORD.findall(unquote(parts.path))[:_MAX_SEARCH_WORDS]
