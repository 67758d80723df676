"""Link filter: the allow-list of addresses that an answer may link; no image is ever loaded.

An address that a model makes up can carry away what it read: an image does so when it is shown, a
link when it is followed. An address that stands letter for letter in the user's messages or in a
tool's result carries nothing new and stays a link. Every other is written so that no client links
it.

Also called: allowlist, whitelist, data exfiltration defence.
"""

import re
from collections.abc import Callable, Container
from html import unescape

_MAX_URL_CHARS = 2_048
_SCHEME = r"(?<![a-z])(?:(?:https?|ftp):(?:\\?/){2}|www\.)"
"""Clients recognise no address inside a word."""
_URL = rf"{_SCHEME}(?:(?!{_SCHEME})[^\s<\[\]]){{0,{_MAX_URL_CHARS}}}"
_CLOSING = r"\][\].,;:!?'\")>}*_~|`]{0,64}+"
"""Brackets and signs behind an address: where more than a space follows, clients take them for a part of it."""
_TARGET = rf"\]\([^\s<>()\[\]]{{0,{_MAX_URL_CHARS}}}"
_UNDECIDED = (
    rf"(?:!|!\[[\d, ]{{0,40}}\]?|\]|{_TARGET}|{_URL}(?:{_CLOSING})?|<|&[a-z]{{0,31}}"
    r"|(?<![a-z])(?:h|ht|htt|https?|(?:https?|ftp):\\?/?\\?|f|ft|ftp|w|ww|www))\Z"
)
"""Ends of a text that the next piece may turn into a link or markup."""
_DECIDABLE = (
    r"(?P<citation>!\[[\d, ]{1,40}\](?P<paren>\()?)"
    r"|(?P<image>!\[)"
    rf"|(?P<target>{_TARGET})(?=(?P<after_target>[\s\S])?)"
    r"|(?P<definition>\]:)"
    rf"|(?P<url>{_URL})(?=(?P<next>{_CLOSING}[^\s(\[<]|[\s\S])?)"
    r"|(?P<markup><(?=[a-z/!?])|&(?=#|[a-z]{2,31};))"
)
_STREAM_PATTERN = re.compile(rf"(?P<undecided>{_UNDECIDED})|{_DECIDABLE}", re.IGNORECASE)
_WHOLE_PATTERN = re.compile(rf"(?P<undecided>(?!))|{_DECIDABLE}", re.IGNORECASE)
_URL_PATTERN = re.compile(_URL, re.IGNORECASE)
_URL_HEAD = re.compile(
    r"(?P<scheme>[a-z]*)(?P<slashes>:(?:\\?/){2})?(?P<host>[^/?#&]*)", re.IGNORECASE
)
_TRAILING_PUNCTUATION = ".,;:!?'\")>}*_~|`"
_URL_TERMINATORS = frozenset(["", " ", "\t", "\n", "\r", "<", "]"])
"""Characters that no client takes for a part of the address before them."""
_URL_END_PATTERN = re.compile(r"[)\"'`>}]|\\[nrt\"]")


class LinkFilter:
    """Rewrites the links of a streamed text; the result does not depend on how it is split.

    `is_known` tells whether an address stands in the user's text or a tool's result. Pending is
    only what the next piece may turn into a link, at most MAX_URL_CHARS of an address.
    """

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self._last_char = ""
        self._pending = ""

    def feed(self, piece: str) -> str:
        """Add the next piece; return the text that no later piece can change."""
        return self._rewrite(_STREAM_PATTERN, self._pending + piece)

    def flush(self) -> str:
        """Return the pending text at the end of the stream."""
        return self._rewrite(_WHOLE_PATTERN, self._pending)

    def _rewrite(self, pattern: re.Pattern[str], text: str) -> str:
        """Rewrite a text that follows `_last_char`; its undecided end becomes pending."""
        end = len(self._last_char)
        text, pieces, self._pending = self._last_char + text, [], ""
        for match in pattern.finditer(text, end):
            pieces.append(text[end : match.start()])
            end = match.end()
            if match["undecided"] is not None:
                self._pending = match[0]
            else:
                pieces.append(self._rewrite_match(match))
        self._last_char = text[: len(text) - len(self._pending)][-1:]
        return "".join([*pieces, text[end:]])

    def _rewrite_all(self, text: str) -> str:
        return _WHOLE_PATTERN.sub(self._rewrite_match, text)

    def _rewrite_match(self, match: re.Match[str]) -> str:
        if match["target"] is not None:
            return self._rewrite_target(
                match["target"].removeprefix("]("), match["after_target"] or ""
            )
        if match["url"] is not None:
            return self._rewrite_bare_url(match["url"], match["next"] or "")
        if match["citation"] is not None:
            return f"{match[0][1:-1]} (" if match["paren"] else match[0]
        if match["image"] is not None:
            return "["
        return "] :" if match["definition"] is not None else f"{match[0]} "

    def _rewrite_target(self, target: str, next_char: str) -> str:
        """Keep a known target; separate the brackets of any other, so that it is text."""
        if next_char and next_char in ") \t\n" and self._is_known(unescape(target)):
            return f"]({target}"
        return f"] ({self._rewrite_all(target + next_char)[: -1 if next_char else None]}"

    def _rewrite_bare_url(self, raw_url: str, next_char: str) -> str:
        url = raw_url.rstrip(_TRAILING_PUNCTUATION)
        if next_char in _URL_TERMINATORS and self._is_known(unescape(url)):
            return raw_url
        head = _URL_HEAD.match(raw_url)
        assert head is not None
        return _defang(head) + self._rewrite_all(raw_url[head.end() :])


def filter_links(text: str, known_urls: Container[str] = ()) -> str:
    """Rewrite the links of a whole text, except those to known addresses."""
    link_filter = LinkFilter(known_urls.__contains__)
    return link_filter.feed(text) + link_filter.flush()


def extract_urls(text: str) -> set[str]:
    """Return the addresses in a text, in the forms that an answer may repeat."""
    raw_urls = _URL_PATTERN.findall(text)
    candidates = [*raw_urls, *(_URL_END_PATTERN.split(run, maxsplit=1)[0] for run in raw_urls)]
    return {unescape(run.rstrip(_TRAILING_PUNCTUATION)) for run in candidates}


def _defang(head: re.Match[str]) -> str:
    """Write an address for people, which no client links: hxxps://evil(.)example."""
    scheme = head["scheme"].replace("tt", "xx").replace("TT", "XX").replace("ft", "fx")
    host = head["host"].replace(".", "(.)")
    if head["slashes"] is None:
        return head["scheme"] + host
    return f"{scheme}://{host}"
