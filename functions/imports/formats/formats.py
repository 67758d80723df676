"""Formats: FORMATS, the forms of text that are imported, tried in order. A new one is a file and a row.

What comes before is no row: bytes are an archive of many files, a document or a text, which read_file tells
apart by their first bytes. Of transcripts and chats as text there are many forms: LAYOUTS is their table.
"""

from collections.abc import Callable

from functions.imports.formats.chat_lists import is_chat_list, read_chat_list
from functions.imports.formats.cues import is_cues, read_cues
from functions.imports.formats.discord_text import is_discord_text, read_discord_text
from functions.imports.formats.drafts import Contents, TextFile
from functions.imports.formats.exports import is_export, read_export
from functions.imports.formats.imessage import is_imessage, read_imessage
from functions.imports.formats.json_text import is_json, refuse_json
from functions.imports.formats.keep_notes import is_keep_note, read_keep_note
from functions.imports.formats.mail_files import is_mail, is_mailbox, read_mail, read_mailbox
from functions.imports.formats.other_texts import is_other, refuse_other
from functions.imports.formats.pages import is_page, read_page
from functions.imports.formats.signal import (
    is_signal,
    is_signal_text,
    read_signal,
    read_signal_text,
)
from functions.imports.formats.slack import is_slack, read_slack
from functions.imports.formats.spoken_lists import has_spoken_lists, read_spoken_lists
from functions.imports.formats.tables import is_table, read_table
from functions.imports.formats.telegram import is_telegram, read_telegram
from functions.imports.formats.text_backups import is_text_backup, read_text_backup
from functions.imports.formats.transcripts import read_transcript
from functions.imports.formats.wearables import is_wearable, read_wearable
from shared.domain.value import value


@value
class Format:
    """A form of text: `detect` tells whether a file has it, `read` raises UnreadableFile.

    With `may_hold_pages` a library may read HTML in it.
    """

    name: str
    detect: Callable[[TextFile], bool]
    read: Callable[[TextFile], Contents]
    may_hold_pages: bool = False


FORMATS = (
    Format(name="chats of Telegram", detect=is_telegram, read=read_telegram),
    Format(
        name="Messenger, Google Chat, Discord, Teams, Skype",
        detect=is_chat_list,
        read=read_chat_list,
        may_hold_pages=True,
    ),
    Format(name="day of a channel of Slack", detect=is_slack, read=read_slack),
    Format(name="chats of Signal", detect=is_signal, read=read_signal),
    Format(name="note of Google Keep", detect=is_keep_note, read=read_keep_note),
    Format(name="recordings of Limitless or Bee", detect=is_wearable, read=read_wearable),
    Format(name="export of Omi or of us", detect=is_export, read=read_export),
    Format(
        name="JSON with lists of what was said", detect=has_spoken_lists, read=read_spoken_lists
    ),
    Format(name="any other JSON", detect=is_json, read=refuse_json),
    Format(name="page", detect=is_page, read=read_page, may_hold_pages=True),
    Format(name="SMS Backup & Restore", detect=is_text_backup, read=read_text_backup),
    Format(name="calendar, address book or XML", detect=is_other, read=refuse_other),
    Format(name="mailbox", detect=is_mailbox, read=read_mailbox, may_hold_pages=True),
    Format(name="mail", detect=is_mail, read=read_mail, may_hold_pages=True),
    Format(name="iMessage", detect=is_imessage, read=read_imessage),
    Format(name="Discord as text", detect=is_discord_text, read=read_discord_text),
    Format(name="Signal as text", detect=is_signal_text, read=read_signal_text),
    Format(name="table", detect=is_table, read=read_table),
    Format(name="subtitles", detect=is_cues, read=read_cues),
    Format(name="transcript, chat or notes", detect=lambda _: True, read=read_transcript),
)


def read_text_file(file: TextFile) -> Contents:
    """Read a file by the first of FORMATS that it has. Raises UnreadableFile."""
    return find_format(file).read(file)


def find_format(file: TextFile) -> Format:
    return next(form for form in FORMATS if form.detect(file))
