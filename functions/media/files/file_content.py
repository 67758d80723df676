"""Content of a file as it was read: pages of text, or a picture, and why it can be neither."""

from shared.domain.files.file import Page
from shared.domain.value import value

NO_TEXT = "no text is in it"
MAX_PAGES = 5_000
MAX_CHARS = 1_500_000
"""Of all pages: more than the tokens that a file may have, and less than a blob."""


class Unreadable(Exception):
    """The file cannot be read; the text says why, for people, and goes on after “: ”."""


@value
class FileContent:
    """What a file holds. A picture is encoded as `picture`; `thumbnail` is empty where there is none."""

    media_type: str
    pages: tuple[Page, ...] = ()
    picture: bytes = b""
    width: int = 0
    height: int = 0
    thumbnail: bytes = b""


class PageCollector:
    """Collects pages until there are more than can be kept."""

    def __init__(self) -> None:
        self._pages: list[Page] = []
        self._chars = 0

    def add(self, text: str) -> None:
        """Add the next page. Raises Unreadable for more than MAX_CHARS or MAX_PAGES."""
        text = text.replace("\x00", "").strip()
        self._chars += len(text)
        if self._chars > MAX_CHARS:
            raise Unreadable(f"it has more than {MAX_CHARS:,} characters. Send a part of it")
        if len(self._pages) >= MAX_PAGES:
            raise Unreadable(f"it has more than {MAX_PAGES:,} pages. Send a part of it")
        self._pages.append(Page(number=len(self._pages) + 1, text=text))

    def finish(self, *, nothing: str) -> tuple[Page, ...]:
        """Return the pages. Raises Unreadable with `nothing` where all are empty."""
        if not self._chars:
            raise Unreadable(nothing)
        return tuple(self._pages)
