"""Kinds of files without text of their own, by what their bytes say, and what to save them as instead.

Also called: file signatures, unsupported formats.
"""

from collections.abc import Mapping

import filetype

ZIP = "application/zip"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DOCUMENT = "it is a document in a format that is not read. Save it as .docx, PDF or text"
_TABLE = "it is a spreadsheet. Save it as CSV"
_SLIDES = "it is a presentation. Save it as PDF or text"
_ARCHIVE = "it is an archive that is not read. Unpack it, or pack it as zip"
_REASONS: Mapping[str, str] = {
    ZIP: "it is an archive. Send the files in it, or import it",
    "image/": "it is a picture, and words in pictures are not read. Copy them into a text",
    "audio/": "it is sound",
    "video/": "it is a film",
    "application/vnd.oasis.opendocument.spreadsheet": _TABLE,
    "application/vnd.oasis.opendocument.presentation": _SLIDES,
    "application/vnd.oasis.opendocument.": _DOCUMENT,
    "application/vnd.openxmlformats-officedocument.spreadsheetml": _TABLE,
    "application/vnd.openxmlformats-officedocument.presentationml": _SLIDES,
    "application/vnd.openxmlformats-officedocument.": _DOCUMENT,
    "application/vnd.apple.iwork": "it is of Pages, Numbers or Keynote. Export it as Word, CSV or PDF",
    "application/x-ole-storage": "it is of an old Office program. Save it as .docx, CSV, PDF or text",
    "application/vnd.ms-": _TABLE,
    "application/msword": _DOCUMENT,
    "application/epub+zip": "it is an e-book. Save it as PDF or text",
    "application/x-sqlite3": "it is a database. Export what is in it as text, CSV or JSON",
    "application/gzip": _ARCHIVE,
    "application/x-tar": _ARCHIVE,
    "application/x-rar-compressed": _ARCHIVE,
    "application/x-7z-compressed": _ARCHIVE,
    "application/x-bzip2": _ARCHIVE,
    "application/x-xz": _ARCHIVE,
    "application/zstd": _ARCHIVE,
}
"""By what a media type begins with; a longer beginning stands above what it begins with."""


def guess_type(data: bytes) -> str | None:
    """Return the media type of what is no plain text; None where the bytes do not tell."""
    if data.startswith(_OLD_OFFICE):
        return "application/x-ole-storage"
    media_type: str | None = filetype.guess_mime(data)
    is_iwork = media_type == ZIP and b"Index/" in data and b".iwa" in data
    return "application/vnd.apple.iwork" if is_iwork else media_type


def describe_type(media_type: str) -> str:
    """Say what a file of this type is, and what to do with it."""
    reasons = (reason for start, reason in _REASONS.items() if media_type.startswith(start))
    return next(reasons, f"it is no text, but {media_type}")
