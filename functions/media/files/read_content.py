"""Reading of a file's content, by what its bytes say and not by its name.

Also called: content type detection, MIME sniffing, magic bytes.
"""

from pathlib import Path

from functions.media.files.file_content import FileContent, Unreadable

HEAD_BYTES = 8_192
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument"
"""Name and content of the first member of its archive."""
OTHER_OFFICE = "it has an office format that is not read. Save it as .docx, .xlsx, .pptx or PDF"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def read_content(path: Path, name: str) -> FileContent:
    """Return what the file at `path` holds, which its sender called `name`. Raises Unreadable.

    Called in a process of its own: the file may be made to break what reads it.
    """
    try:
        return _read_by_kind(path, name)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # parsers of damaged files raise whatever they stumble over
        raise Unreadable("it is damaged, or not what it says it is") from error


def _read_by_kind(path: Path, name: str) -> FileContent:
    from functions.media.files.office import read_office
    from functions.media.files.pdf import read_pdf
    from functions.media.files.pictures import PICTURE_TYPES, read_picture
    from functions.media.files.texts import read_text
    from shared.library.file_kinds import ZIP, describe_type, guess_type

    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise Unreadable("it is empty")
    if b"%PDF-" in head[:1_024]:
        return read_pdf(path)
    if head.startswith(OLD_OFFICE):
        raise Unreadable(_describe_old_office(path))
    if head.startswith(b"PK\x03\x04"):
        if OPEN_DOCUMENT in head:
            raise Unreadable(OTHER_OFFICE)
        content = read_office(path)
        if content is None:
            raise Unreadable(describe_type(guess_type(path.read_bytes()) or ZIP))
        return content
    media_type = guess_type(head)
    if media_type in PICTURE_TYPES:
        return read_picture(path, media_type)
    return read_text(path, name)


def _describe_old_office(path: Path) -> str:
    if _ENCRYPTED in path.read_bytes():
        return "it is protected by a password"
    return OTHER_OFFICE
