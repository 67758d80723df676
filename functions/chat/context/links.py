"""Links in an answer: none leads where nobody but the model wanted it to, and no image is loaded.

An address that a model makes up can carry away what it read: an image does so when it is shown, a
link when it is followed. One that stands letter for letter in the owner's words or in a tool's
result can carry nothing new, and stays a link; every other is written so that no client links it.
"""

import re
from collections.abc import Callable
from html import unescape

_MAX_URL = 2_048
_SCHEME = r"(?<![a-z])(?:(?:https?|ftp):(?:\\?/){2}|www\.)"
"""No client begins an address within a word."""
_URL = rf"{_SCHEME}(?:(?!{_SCHEME})[^\s<\[\]]){{0,{_MAX_URL}}}"
_AIM = rf"\]\([^\s<>()\[\]]{{0,{_MAX_URL}}}"
_UNDECIDED = (
    rf"(?:!|!\[[\d, ]{{0,40}}\]?|\]|{_AIM}|{_URL}|<|&[a-z]{{0,31}}"
    r"|(?<![a-z])(?:h|ht|htt|https?|(?:https?|ftp):\\?/?\\?|f|ft|ftp|w|ww|www))\Z"
)
"""What the end of a text may still become."""
_CERTAIN = (
    r"(?P<cited>!\[[\d, ]{1,40}\](?P<called>\()?)"
    r"|(?P<image>!\[)"
    rf"|(?P<aimed>{_AIM})(?=(?P<behind>[\s\S])?)"
    r"|(?P<definition>\]:)"
    rf"|(?P<url>{_URL})(?=(?P<next>[\s\S])?)"
    r"|(?P<markup><(?=[a-z/!?])|&(?=#|[a-z]{2,31};))"
)
_COMING = re.compile(rf"(?P<undecided>{_UNDECIDED})|{_CERTAIN}", re.IGNORECASE)
_WHOLE = re.compile(rf"(?P<undecided>(?!))|{_CERTAIN}", re.IGNORECASE)
_FOUND = re.compile(_URL, re.IGNORECASE)
_HEAD = re.compile(r"(?P<scheme>[a-z]*)(?P<slashes>:(?:\\?/){2})?(?P<host>[^/?#&]*)", re.IGNORECASE)
_TRAILING = ".,;:!?'\")>}*_~|`"
_ENDS = frozenset(["", " ", "\t", "\n", "\r", "<", "]"])
"""What no client takes for a part of the address before it."""
_CUT = re.compile(r"[)\"'`>}]|\\[nrt\"]")


class Links:
    """Rewrites the links of a text that comes in pieces; every split of it gives the same.

    `is_known` tells whether an address stands in the evidence. Only what the next piece may turn
    into a link waits, at most MAX_URL characters of it.
    """

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self._before = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what is certain by now."""
        return self._told(_COMING, self._held + piece)

    def end(self) -> str:
        """Return what waits; nothing follows it that could change it."""
        return self._told(_WHOLE, self._held)

    def _told(self, pattern: re.Pattern[str], text: str) -> str:
        """Rewrite a text as what follows `_before`, and keep back what is undecided at its end."""
        end = len(self._before)
        text, told, self._held = self._before + text, [], ""
        for match in pattern.finditer(text, end):
            told.append(text[end : match.start()])
            end = match.end()
            if match["undecided"] is not None:
                self._held = match[0]
            else:
                told.append(self._rewritten(match))
        self._before = text[: len(text) - len(self._held)][-1:]
        return "".join([*told, text[end:]])

    def _all(self, text: str) -> str:
        return _WHOLE.sub(self._rewritten, text)

    def _rewritten(self, found: re.Match[str]) -> str:
        if found["aimed"] is not None:
            return self._aimed(found["aimed"].removeprefix("]("), found["behind"] or "")
        if found["url"] is not None:
            return self._bare(found["url"], found["next"] or "")
        if found["cited"] is not None:
            return f"{found[0][1:-1]} (" if found["called"] else found[0]
        if found["image"] is not None:
            return "["
        return "] :" if found["definition"] is not None else f"{found[0]} "

    def _aimed(self, aim: str, behind: str) -> str:
        """A space between the brackets makes them text."""
        if behind and behind in ") \t\n" and self._is_known(unescape(aim)):
            return f"]({aim}"
        return f"] ({self._all(aim + behind)[: -1 if behind else None]}"

    def _bare(self, run: str, following: str) -> str:
        url = run.rstrip(_TRAILING)
        if following in _ENDS and self._is_known(unescape(url)):
            return run
        head = _HEAD.match(run)
        assert head is not None
        return _unlinked(head) + self._all(run[head.end() :])


def addresses(text: str) -> set[str]:
    """Return the addresses that stand in a text, as an answer may repeat them."""
    runs = _FOUND.findall(text)
    found = [*runs, *(_CUT.split(run, maxsplit=1)[0] for run in runs)]
    return {unescape(run.rstrip(_TRAILING)) for run in found}


def _unlinked(head: re.Match[str]) -> str:
    """Write an address so that it can be read and is none: hxxps://evil(.)example."""
    scheme = head["scheme"].replace("tt", "xx").replace("TT", "XX").replace("ft", "fx")
    host = head["host"].replace(".", "(.)")
    if head["slashes"] is None:
        return head["scheme"] + host
    return f"{scheme}://{host}"
