"""The table of import formats: its order decides about files that look like several."""

import pytest

from functions.imports.formats.formats import FORMATS
from functions.imports.formats.json_text import open_text

CUES = "1\n00:00:01,000 --> 00:00:02,000\nHello\n"
MAIL = "From: ann@example.org\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nSubject: Cues\n\n"
TELEGRAM = '{"name": "Ann", "messages": [{"date": "2024-01-01T10:00:00", "text": "Hello"}]}'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("chat.json", TELEGRAM, "chats of Telegram"),
        ("omi.json", '[{"transcript_segments": [{"text": "Hello"}]}]', "export of Omi or of us"),
        ("messenger.json", '{"messages": [{"sender_name": "A", "timestamp_ms": 1770000000000, "content": "B"}]}',
         "Messenger, Google Chat, Discord, Teams, Skype"),
        ("2026-02-02.json", '[{"type": "message", "ts": "1.0", "text": "A"}]', "day of a channel of Slack"),
        ("main.jsonl", '{"chat": {}}\n{"chatItem": {}}', "chats of Signal"),
        ("log.json", '{"data": {"lifelogs": [{"id": "a"}]}}', "recordings of Limitless or Bee"),
        ("a.txt", "Conversation: A\n\nFrom: A\nType: incoming\nSent: x\n", "Signal as text"),
        ("a.txt", f"{'=' * 20}\nGuild: A\n", "Discord as text"),
        ("a.csv", "a,b\n", "table"),
        ("a.txt", "sender;text\nAnn;Hello\n", "table"),
        ("a.ass", "[Script Info]\n", "subtitles"),
        ("captions.txt", "0:00:01.0,0:00:02.0\nHello\n", "subtitles"),
        ("note.json", '{"isTrashed": false, "userEditedTimestampUsec": 1}', "note of Google Keep"),
        ("list.json", '{"items": [{"text": "Hello"}]}', "JSON with lists of what was said"),
        ("own.json", '{"messages": [{"author": "A", "timestamp": "0:10", "content": "B"}]}',
         "JSON with lists of what was said"),
        ("numbers.json", "[1, 2]", "any other JSON"),
        ("broken.txt", '{"items": [', "any other JSON"),
        ("letter.eml", f"{MAIL}{CUES}", "mail"),
        ("mail.mbox", f"From ann@example.org Mon Jan  1 10:00:00 2024\n{MAIL}Hello.\n", "mailbox"),
        ("a.txt", "BEGIN:VCARD\n", "calendar, address book or XML"),
        ("a.txt", "<!DOCTYPE html>\n<p>Hello", "page"),
        ("a.txt", "Jan 01, 2024 10:00:00 AM\nAnn\nHello\n", "iMessage"),
        ("captions.txt", CUES, "subtitles"),
        ("empty.vtt", "WEBVTT", "subtitles"),
        ("numbers.txt", "[1, 2]", "transcript, chat or notes"),
        ("chat.txt", f"[1/2/20, 10:00:00] Ann: look\n{CUES}", "transcript, chat or notes"),
        ("notes.md", "Milk and bread.", "transcript, chat or notes"),
    ],
)  # fmt: skip
def test_a_text_is_read_by_the_first_format_that_it_has(name, text, expected):
    file = open_text(name, text)

    assert next(each.name for each in FORMATS if each.detect(file)) == expected


def test_each_format_has_a_name_of_its_own():
    assert len({each.name for each in FORMATS}) == len(FORMATS)
