"""Text of Word documents: a paragraph is a line, a row of a table too; one reader for files and imports.

Tags are read by a pattern, in time that grows with the text: files of strangers meet no parser of XML, and no number
in them makes work. Tracked insertions, content controls and text boxes are text; what was deleted or moved away is none.

Also called: docx, WordprocessingML.
"""

import re
from collections.abc import Iterator
from html import unescape

WORD_MEMBER = "word/document.xml"
_SKIPPED = frozenset({"del", "moveFrom", "Fallback", "pPr", "rPr"})
"""Fallback is the same once more, for older readers."""
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NAMES = "|".join(sorted({*_SKIPPED, *_SIGNS, "p", "t", "tr", "tc", "txbxContent"}, reverse=True))
_TAG = re.compile(
    rf"<(?P<end>/?)(?:[\w.-]+:)?(?P<name>{_NAMES})(?:\s[^<>]*?)?(?P<empty>/?)>(?P<text>[^<]*)"
)


def list_lines(xml: str) -> Iterator[str]:
    """Yield the lines of a document's text, as it stands in its main part."""
    reading, skipped = _Reading(), 0
    for tag in _TAG.finditer(xml):
        name, is_end, is_empty = tag["name"], bool(tag["end"]), bool(tag["empty"])
        if name in _SKIPPED:
            skipped = max(skipped + (0 if is_empty else -1 if is_end else 1), 0)
        elif skipped:
            continue
        elif is_end:
            reading.close(name)
        else:
            reading.open(name, unescape(tag["text"]))
            if is_empty:
                reading.close(name)
    yield from reading.lines[0]


class _Reading:
    """Where a reading stands: `lines` of the text, and of the cells and boxes it is in."""

    def __init__(self) -> None:
        self.lines: list[list[str]] = [[]]
        self._rows: list[list[str]] = []
        self._paragraphs: list[tuple[list[str], list[str]]] = []
        """Their words, and the lines of the text boxes in them, which stand by themselves."""

    def open(self, name: str, text: str) -> None:
        match name:
            case "p":
                self._paragraphs.append(([], []))
            case "tr":
                self._rows.append([])
            case "tc" | "txbxContent":
                self.lines.append([])
            case _ if self._paragraphs:
                words, _ = self._paragraphs[-1]
                words.append(_SIGNS.get(name, text))

    def close(self, name: str) -> None:
        """Close what is open; a file may close what is not."""
        if name == "p" and self._paragraphs:
            words, boxes = self._paragraphs.pop()
            self.lines[-1] += ["".join(words), *boxes]
        elif name == "tr" and self._rows:
            self.lines[-1].append("\t".join(self._rows.pop()))
        elif name == "tc" and len(self.lines) > 1:
            cell = " ".join(filter(None, self.lines.pop()))
            (self._rows[-1] if self._rows else self.lines[-1]).append(cell)
        elif name == "txbxContent" and len(self.lines) > 1:
            lines = self.lines.pop()
            _, boxes = self._paragraphs[-1] if self._paragraphs else ((), self.lines[-1])
            boxes += lines
