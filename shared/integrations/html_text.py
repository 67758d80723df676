"""HTML as text: what people read of a page or a mail, line by line.

The markup is untrusted. The parser takes time in proportion to it, and nests 256 deep at most.

Also called: HTML parser, HTML to text.
"""

from collections.abc import Iterator
from typing import Any

from shared.domain.value import value

_HIDDEN = frozenset({"head", "script", "style", "template", "noscript", "svg", "select", "iframe"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "figcaption"),
        *("figure", "footer", "form", "header", "hr", "main", "nav", "ol", "p", "pre", "section"),
        *("table", "tr", "ul"),
    }
)
_MARKS = {
    **{f"h{level}": f"\n{'#' * level} " for level in range(1, 7)},
    "li": "\n- ",
    "td": " | ",
    "th": " | ",
    "br": "\n",
}

_LINES = frozenset(_MARKS) - {"td", "th", "br"}
"""Beside blocks, what a line ends with."""


@value
class HtmlText:
    """The title of a page, empty without one, and its text."""

    title: str
    text: str


def extract_text(html: bytes, encoding: str | None = None) -> HtmlText:
    """Extract what is visible; without an encoding, UTF-8 or the one that the page names counts.

    Never raises: what cannot be parsed has no text.
    """
    root = parse_html(html, encoding)
    if root is None:
        return HtmlText(title="", text="")
    title = root.findtext(".//title") or ""
    return HtmlText(title=" ".join(title.split()), text=read_element(root))


def read_element(root: Any) -> str:
    """Return what is visible of an element, line by line."""
    lines = "".join(_list_pieces(root)).splitlines()
    stripped = (" ".join(line.split()).removeprefix("| ") for line in lines)
    return "\n".join(filter(None, stripped))


def parse_html(html: bytes, encoding: str | None = None) -> Any:
    """Return the root element of a page, or None where it cannot be parsed."""
    from lxml.etree import HTMLParser, XMLSyntaxError, fromstring

    options: dict[str, Any] = {"remove_comments": True, "remove_pis": True, "no_network": True}
    try:
        parser = HTMLParser(encoding=encoding or _find_utf8(html), **options)
    except (LookupError, ValueError):
        parser = HTMLParser(**options)
    try:
        return fromstring(html, parser)
    except (XMLSyntaxError, ValueError):
        return None


def _find_utf8(html: bytes) -> str | None:
    try:
        html.decode()
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _list_pieces(root: Any) -> Iterator[str]:
    """Yield the text in order, with a line for each block."""
    from lxml.etree import iterwalk

    walk = iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = str(element.tag)
        if event == "end":
            yield "\n" if tag in _BLOCKS or tag in _LINES else ""
            yield "" if element is root else _join_lines(element.tail)
        elif tag in _HIDDEN or element.get("hidden") is not None:
            walk.skip_subtree()
        else:
            yield "\n" if tag in _BLOCKS else _MARKS.get(tag, "")
            yield (element.text or "") if tag == "pre" else _join_lines(element.text)


def _join_lines(text: str | None) -> str:
    return (text or "").replace("\r", " ").replace("\n", " ")
