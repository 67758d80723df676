"""Other texts: files that are known and hold no conversation, refused by what they are."""

from functions.imports.formats.drafts import Contents, TextFile
from shared.library.decoding import UnreadableFile

NAMES = {
    "BEGIN:VCALENDAR": "a calendar: appointments are",
    "BEGIN:VCARD": "an address book: contacts are",
    "<?XML": "XML of a program that is not known here: its elements are",
}
"""What files are by how they begin, and what they hold."""


def is_other(file: TextFile) -> bool:
    return file.text.lstrip().upper().startswith(tuple(NAMES))


def refuse_other(file: TextFile) -> Contents:
    start = file.text.lstrip().upper()
    named = next(NAMES[beginning] for beginning in NAMES if start.startswith(beginning))
    raise UnreadableFile(f"it is {named} not imported")
