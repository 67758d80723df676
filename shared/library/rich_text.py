"""Text of Rich Text, which is ASCII with escapes; one reader for files and imports.

Also called: RTF.
"""

_MARK = b"{\\rtf"
_HEAD_BYTES = 1_024
"""Blank lines may stand before the mark."""


def is_rich_text(data: bytes) -> bool:
    return data[:_HEAD_BYTES].lstrip().startswith(_MARK)


def read_rich_text(data: bytes) -> str:
    """Return the text, which is empty where there is none."""
    from striprtf.striprtf import rtf_to_text  # few files need it

    text: str = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]  # it has no types
    # it writes an emoji as the two halves of UTF-16, which the library leaves apart
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
