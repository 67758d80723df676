"""Chats as other programs export them: who said what and when, oldest first, and no notices."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from functions.imports.plan.plan import SourceFile, plan_file
from tests.fixtures.imports import build_zip

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
BROKEN = "Grüße 😊 – Zoë".encode().decode("latin-1")
MESSENGER = {
    "title": "Zoë".encode().decode("latin-1"),
    "messages": [
        {"sender_name": "Bo", "timestamp_ms": 1_770_000_060_000, "content": BROKEN},
        {"sender_name": "Bo", "timestamp_ms": 1_770_000_030_000, "photos": [{"uri": "a.jpg"}]},
        {"sender_name": "Ann", "timestamp_ms": 1_770_000_000_000, "content": "Müsli?"},
    ],
}
SEALED_MESSENGER = {
    "threadName": "Ann",
    "messages": [
        {"senderName": "Ann", "timestamp": 1_770_000_000_000, "text": "Late", "isUnsent": False},
        {"senderName": "Ann", "timestamp": 1_770_000_001_000, "text": "No", "isUnsent": True},
    ],
}
GOOGLE_CHAT = {
    "messages": [
        {"creator": {"name": "Ann"}, "created_date": "Monday, February 2, 2026 at 2:40:00\u202fAM UTC", "text": "Up?"},
        {"creator": {"email": "bo@x.example"}, "created_date": "Monday, February 2, 2026 at 2:41:00 AM UTC", "text": "No"},
    ]
}  # fmt: skip
TELEGRAM = {
    "name": "Ann",
    "messages": [
        {"from": "Bo", "date": "2026-02-02T02:41:00+00:00", "text": "No"},
        {"from": "Ann", "date": "2026-02-02T02:40:00+00:00", "text": "Up?"},
    ],
}
DISCORD = {
    "guild": {"name": "Home"},
    "channel": {"name": "garden"},
    "messages": [
        {"type": "GuildMemberJoin", "timestamp": "2026-02-02T02:39:00+00:00", "content": "Joined the server.",
         "author": {"name": "bo"}},
        {"type": "Default", "timestamp": "2026-02-02T02:40:00+00:00", "content": "Rain", "author":
         {"name": "ann1", "nickname": "Ann"}, "embeds": [{"description": "The weather of the week in Oslo"}]},
    ],
}  # fmt: skip
OWN_DISCORD = [{"ID": 1, "Timestamp": "2026-02-02 02:40:00", "Contents": "Mine", "Attachments": ""}]
SKYPE = {
    "userId": "8:me",
    "conversations": [
        {"displayName": "Ann", "MessageList": [
            {"displayName": None, "from": "8:me", "originalarrivaltime": "2026-02-02T02:41:00.0Z",
             "messagetype": "RichText", "content": "No &amp; <b>no</b>"},
            {"displayName": None, "from": "8:me", "originalarrivaltime": "2026-02-02T02:40:30.0Z",
             "messagetype": "ThreadActivity/AddMember", "content": "<addmember/>"},
            {"displayName": "Ann", "from": "8:ann", "originalarrivaltime": "2026-02-02T02:40:00.0Z",
             "messagetype": "RichText", "content": "Up?"}]},
        {"displayName": "Empty", "MessageList": []},
    ],
}  # fmt: skip
TEAMS = {
    "value": [
        {"messageType": "message", "createdDateTime": "2026-02-02T02:41:00.000Z", "from": {"user": {"displayName": "Bo"}},
         "body": {"contentType": "text", "content": "No"}},
        {"messageType": "systemEventMessage", "createdDateTime": "2026-02-02T02:40:30.000Z", "from": None,
         "body": {"contentType": "html", "content": "<systemEventMessage/>"}},
        {"messageType": "message", "createdDateTime": "2026-02-02T02:40:00.000Z",
         "from": {"user": {"displayName": "Ann Lee"}}, "body": {"contentType": "html", "content": "<p>Up <b>now</b>?</p>"}},
    ]
}  # fmt: skip
DISCORD_TEXT = """==============================================================
Guild: Home
Channel: Text Channels / garden
Topic: all that grows here
==============================================================

[02/02/2026 2:40 AM] ann
Up?

[02/02/2026 2:41 AM] bo (pinned)
No

{Embed}
The weather of the week in Oslo
{Reactions}
👍 (2)

[02/13/2026 2:41 AM] ann
Joined the server.

==============================================================
Exported 3 message(s)
==============================================================
"""
IMESSAGE = """Feb 02, 2026  2:40:00 AM (Read by you after 5 minutes)
+15550100
Are you home?

Bring milk.

Feb 02, 2026  2:41:00\u202fAM
Me
Yes
/Users/me/Library/Messages/IMG_1.heic
Tapbacks:
    Loved by +15550100

Feb 02, 2026  2:42:00 AM You named the conversation Home

"""
TURNS = "Ann  0:01\nIt leaks.\n\nBo  0:04\nI call.\n\nMade by https://x.example/a/b/c\n"
SIGNAL = [
    {"version": "1"},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {"profileGivenName": "Ann", "profileFamilyName": "Lee"}}},
    {"chat": {"id": "7", "recipientId": "2"}},
    {
        "chatItem": {
            "chatId": "7",
            "authorId": "1",
            "dateSent": "1770000060000",
            "standardMessage": {"text": {"body": "No"}},
        }
    },
    {
        "chatItem": {
            "chatId": "7",
            "authorId": "2",
            "dateSent": "1770000000000",
            "standardMessage": {"text": {"body": "Up?"}},
        }
    },
    {
        "chatItem": {
            "chatId": "7",
            "authorId": "2",
            "dateSent": "1770000070000",
            "updateMessage": {},
        }
    },
]
SIGTOP = """Conversation: Ann Lee (+15550100)

From: Ann Lee (+15550100)
Type: incoming
Sent: Mon, 02 Feb 2026 02:40:00 +0000
Received: Mon, 02 Feb 2026 02:40:01 +0000

Up?

From: You
Type: outgoing
Sent: Mon, 02 Feb 2026 02:41:00 +0000

No
"""
TEXT_BACKUP = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<smses count="3">
  <sms address="+15550100" date="1770000060000" type="2" body="No &#128273;&#55357;&#56593;&#10;&lt;sms&gt;" contact_name="Ann" />
  <mms date="1770000000000" msg_box="1" address="+15550100" contact_name="Ann"><parts>
    <part ct="application/smil" text="&lt;smil/&gt;" /><part ct="text/plain" text="Up?" /></parts></mms>
</smses>
"""
MATRIX = {
    "room_name": "Home",
    "messages": [
        {"type": "m.room.member", "sender": "@bo:x", "origin_server_ts": 1_770_000_000_000, "content": {"membership": "join"}},
        {"type": "m.room.message", "sender": "@ann:x", "origin_server_ts": 1_770_000_000_000, "content": {"body": "Up?"}},
    ],
}  # fmt: skip
JSON_LINES = """{"role": "user", "content": "A name for a boat?", "timestamp": "2026-02-02T02:40:00Z"}
{"role": "assistant", "content": "Kittiwake.", "timestamp": "2026-02-02T02:40:05Z"}
"""
CHATGPT = [
    {
        "title": "Oil",
        "mapping": {
            "a": {"parent": None, "children": ["b", "c"], "message":
                  {"author": {"role": "user"}, "create_time": 1_770_000_000, "content": {"parts": ["Dry?"]}}},
            "b": {"parent": "a", "children": [], "message":
                  {"author": {"role": "assistant"}, "create_time": 1_770_000_010, "content": {"parts": ["Old"]}}},
            "c": {"parent": "a", "children": [], "message":
                  {"author": {"role": "assistant"}, "create_time": 1_770_000_020, "content": {"parts": ["Yes"]}}},
        },
    }
]  # fmt: skip
CLAUDE = [
    {
        "name": "Trip",
        "chat_messages": [
            {"sender": "human", "created_at": "2026-02-02T02:40:00Z", "text": "This:", "attachments":
             [{"file_name": "a.txt", "extracted_content": "The cabin costs 840."}]},
            {"sender": "assistant", "created_at": "2026-02-02T02:41:00Z", "text": "", "content":
             [{"type": "thinking", "thinking": "He wants to know much"}, {"type": "text", "text": "Good."}]},
        ],
    }
]  # fmt: skip


def read(name: str, data: Any) -> tuple[list[dict[str, Any]], list[tuple[str, str, list[Any]]]]:
    """Return the entries of a file, and the title, beginning and turns of its conversations."""
    if not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps(data)).encode()
    plan = plan_file(SourceFile(name=name, data=data, modified=NOW), "UTC", NOW)
    found = [json.loads(item) for items in plan.items for item in items]
    return list(plan.entries), [
        (
            item["edits"].get("title", ""),
            item["started_at"][:16],
            [
                (turn["speaker"], turn["start"], turn["text"])
                for turn in item["transcript_segments"]
            ],
        )
        for item in found
    ]


@pytest.mark.parametrize(
    ("name", "data", "title", "turns"),
    [
        ("message_1.json", MESSENGER, "Zoë", [("Ann", 0, "Müsli?"), ("Bo", 60, "Grüße 😊 – Zoë")]),
        ("ann_1.json", SEALED_MESSENGER, "Ann", [("Ann", 0, "Late")]),
        ("messages.json", GOOGLE_CHAT, "", [("Ann", 0, "Up?"), ("bo@x.example", 60, "No")]),
        ("result.json", TELEGRAM, "Ann", [("Ann", 0, "Up?"), ("Bo", 60, "No")]),
        ("garden.json", DISCORD, "garden", [("Ann", 0, "Rain")]),
        ("messages.json", OWN_DISCORD, "", [("Me", 0, "Mine")]),
        ("messages.json", SKYPE, "Ann", [("Ann", 0, "Up?"), ("Me", 60, "No & no")]),
        ("channel.json", TEAMS, "", [("Ann Lee", 0, "Up now?"), ("Bo", 60, "No")]),
        ("+15550100.txt", IMESSAGE, "", [("+15550100", 0, "Are you home?\n\nBring milk."), ("Me", 60, "Yes")]),
        ("main.jsonl", "\n".join(map(json.dumps, SIGNAL)), "Ann Lee", [("Ann Lee", 0, "Up?"), ("Me", 60, "No")]),
        ("sms.xml", TEXT_BACKUP, "Ann", [("Ann", 0, "Up?"), ("Me", 60, "No 🔑🔑\n<sms>")]),
        ("export.json", MATRIX, "Home", [("@ann:x", 0, "Up?")]),
        ("Ann.txt", SIGTOP, "Ann Lee", [("Ann Lee", 0, "Up?"), ("You", 60, "No")]),
        ("talk.jsonl", JSON_LINES, "", [("user", 0, "A name for a boat?"), ("assistant", 5, "Kittiwake.")]),
        ("conversations.json", CHATGPT, "Oil", [("user", 0, "Dry?"), ("assistant", 20, "Yes")]),
        ("conversations.json", CLAUDE, "Trip",
         [("human", 0, "This:\n\nThe cabin costs 840."), ("assistant", 60, "Good.")]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_messages_have_their_senders_and_moments(name, data, title, turns):
    [entry], conversations = read(name, data)

    assert entry["status"] == "kept"
    assert conversations == [(title, "2026-02-02T02:40", turns)]


def test_a_call_in_messenger_is_nothing_that_somebody_said():
    call = {
        "sender_name": "Bo",
        "timestamp_ms": 1_770_000_090_000,
        "content": "Bo called you.",
        "call_duration": 3,
    }

    _, [(_, _, turns)] = read("a.json", {**MESSENGER, "messages": [*MESSENGER["messages"], call]})

    assert [name for name, _, _ in turns] == ["Ann", "Bo"]


def test_the_words_of_a_mail_within_a_mail_are_counted():
    inner = "From: Cy <c@x.example>\nSubject: Lake\n\nThe boat is at the other shore.\n"
    head = "From: Ann <a@x.example>\nDate: Mon, 2 Feb 2026 02:40:00 +0000\nSubject: Fwd\n"
    parts = f"--b\n\nSee below.\n--b\nContent-Type: message/rfc822\n\n{inner}--b--\n"

    [entry], _ = read("a.eml", f'{head}Content-Type: multipart/mixed; boundary="b"\n\n{parts}')

    assert [(left["title"], left["words"]) for left in entry["left_out"]] == [("Lake", 7)]


def test_the_markup_of_a_message_is_no_text_beside_it():
    [entry], _ = read("channel.json", {"value": [
        {"createdDateTime": "2026-02-02T02:40:00.000Z", "from": {"user": {"displayName": "Ann"}},
         "body": {"content": "<p>Up <b>now</b> or in the afternoon?</p>"}}]})  # fmt: skip

    assert entry["left_out"] == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("# Budget\n\nMon, 2 Feb 26\n\n- The rate falls.\n", "2026-02-02T00:00"),
        ("# 2026-02-02 Visit\n\n- The wall is wet.\n", "2026-02-02T00:00"),
        ("# Visit\n\n## Date & Time: 2026-02-02 14:03:22\n\n- The wall is wet.\n", "2026-02-02T14:03"),
        ("New Recording 3\n2 February 2026 at 09:12\n\nThe gutter is full. I call Mr Hart.\n", "2026-02-02T09:12"),
        ("# Letter\n\nDue: 2026-12-20\n\nThe contract of 2026-01-05 ends.\n", "2026-11-29T12:00"),
        ("# 2027-02-02 Trip\n\nWe pack the tent.\n", "2026-11-29T12:00"),
    ],
)  # fmt: skip
def test_a_note_is_of_the_day_that_its_head_names_unless_that_is_to_come(text, day):
    _, [(_, at, _)] = read("note.md", text)

    assert at == day


def test_an_export_of_slack_is_read_with_the_names_of_its_people():
    people = [{"id": "U1", "name": "ivy", "profile": {"real_name": "Ivy Chen"}}]
    messages = [
        {"type": "message", "user": "U1", "ts": "1770000000.0001", "text":
         "<@U2> &amp; <!here>: <https://x.example/p|the plan>, <!date^1795000000^{date}|Tuesday>"},
        {"type": "message", "user": "U2", "ts": "1770000060.0001", "text": "Yes",
         "user_profile": {"real_name": "Raj"}},
        {"type": "message", "subtype": "channel_join", "user": "U2", "ts": "1770000001.0", "text": "joined"},
    ]  # fmt: skip
    archive = build_zip(
        {
            "users.json": json.dumps(people),
            "channels.json": "[]",
            "general/2026-02-02.json": json.dumps(messages),
        }
    )

    entries, conversations = read("slack.zip", archive)

    assert [entry["status"] for entry in entries] == ["kept"]
    told = "@Raj & @here: the plan (https://x.example/p), Tuesday"
    turns = [("Ivy Chen", 0, told), ("Raj", 60, "Yes")]
    assert conversations == [("general", "2026-02-02T02:40", turns)]


def test_what_stands_beside_the_channels_of_slack_is_no_failure():
    message = {"type": "message", "user": "U1", "ts": "1770000000.1", "text": "Up?"}
    files = {
        "users.json": json.dumps([{"id": "U1", "real_name": "Ann"}]),
        "channels.json": "[]",
        "canvases.json": "[]",
        "huddle_transcripts.json": "[]",
        "lists.json": '[{"id": "F1"}]',
        "general/2026-02-02.json": json.dumps([message]),
        "general/2026-02-03.json": "[]",
    }

    entries, _ = read("slack.zip", build_zip(files))

    assert [entry["name"] for entry in entries] == ["slack.zip/general/2026-02-02.json"]


def test_a_channel_of_discord_as_text_has_its_senders_and_moments_and_counts_the_rest():
    [entry], conversations = read("garden.txt", DISCORD_TEXT.replace("02/13/2026", "02/02/2026"))

    turns = [("ann", 0, "Up?"), ("bo", 60, "No"), ("ann", 60, "Joined the server.")]
    assert conversations == [("garden", "2026-02-02T02:40", turns)]
    assert [left["words"] for left in entry["left_out"]] == [12]


def test_all_dates_of_a_channel_of_discord_together_tell_day_and_month():
    _, conversations = read("garden.txt", DISCORD_TEXT)

    assert [at for _, at, _ in conversations] == ["2026-02-02T02:40", "2026-02-13T02:41"]


def test_another_archive_with_a_list_of_users_loses_no_chat():
    files = {
        "users.json": json.dumps([{"id": "U1", "name": "Ann"}]),
        "groups.json": json.dumps(TELEGRAM),
    }

    entries, conversations = read("chats.zip", build_zip(files))

    assert [(entry["name"], entry["status"]) for entry in entries] == [
        ("chats.zip/groups.json", "kept")
    ]
    assert len(conversations) == 1


@pytest.mark.parametrize(
    ("files", "title", "turns"),
    [
        (
            {
                "Takeout/Google Chat/Groups/Space 1/messages.json": json.dumps(GOOGLE_CHAT),
                "Takeout/Google Chat/Groups/Space 1/group_info.json": '{"name": "Garden"}',
                "Takeout/Google Chat/Users/User 1/user_info.json": '{"user": {"name": "Ann"}}',
            },
            "Garden",
            [("Ann", 0, "Up?"), ("bo@x.example", 60, "No")],
        ),
        (
            {
                "messages/c1/messages.json": json.dumps(OWN_DISCORD),
                "messages/c1/channel.json": '{"id": "1", "name": "garden"}',
            },
            "garden",
            [("Me", 0, "Mine")],
        ),
    ],
    ids=["Google Chat", "Discord"],
)
def test_a_chat_in_a_zip_is_called_as_the_file_beside_it_says(files, title, turns):
    entries, conversations = read("takeout.zip", build_zip(files))

    assert [entry["status"] for entry in entries] == ["kept"]
    assert conversations == [(title, "2026-02-02T02:40", turns)]


def test_what_telegram_has_beside_texts_is_counted_and_a_sender_without_a_name_told_apart():
    chat = {"messages": [
        {"from": None, "from_id": "user2", "date": "2026-02-02T02:40:00", "text": "Up?"},
        {"from": "Bo", "date": "2026-02-02T02:41:00", "text": "", "poll": {"question": "Which day suits you all?"}},
    ]}  # fmt: skip

    [entry], [(_, _, turns)] = read("result.json", chat)

    assert turns == [("user2", 0, "Up?")]
    assert [(left["title"], left["words"]) for left in entry["left_out"]] == [("question", 5)]


def test_what_slack_has_beside_texts_is_counted():
    posted = {"type": "message", "ts": "1770000000.1", "user": "U1"}
    attached = {
        **posted,
        "text": "",
        "attachments": [{"text": "The night build failed on the new machine"}],
    }

    [entry], _ = read("day.json", json.dumps([{**posted, "text": "Up?"}, attached]))

    assert [(left["title"], left["words"]) for left in entry["left_out"]] == [("text", 8)]


def test_a_message_of_imessage_that_begins_with_a_slash_is_no_file():
    lines = ["/me waves at cafe.de", "/Users/ann/Library/IMG 1.jpeg"]

    _, [(_, _, turns)] = read("a.txt", "\n".join(["Feb 02, 2026  2:40:00 AM", "Me", *lines, ""]))

    assert [words for _, _, words in turns] == ["/me waves at cafe.de"]


def test_a_note_of_keep_has_its_title_and_day_and_stays_out_when_thrown_away():
    note = {
        "title": "Shopping",
        "listContent": [{"text": "milk"}, {"text": "bulbs"}],
        "isTrashed": False,
        "userEditedTimestampUsec": 0,
        "createdTimestampUsec": 1_770_000_000_000_000,
    }
    files = {
        "a.json": json.dumps(note),
        "a.html": "<html><p>milk</p></html>",
        "b.json": json.dumps({**note, "isTrashed": True}),
    }

    entries, conversations = read("keep.zip", build_zip(files))

    assert [(entry["name"], entry["status"]) for entry in entries] == [
        ("keep.zip/a.json", "kept"),
        ("keep.zip/b.json", "refused"),
    ]
    turns = [("SPEAKER_00", 0, "milk"), ("SPEAKER_00", 0.4, "bulbs")]
    assert conversations == [("Shopping", "2026-02-02T02:40", turns)]


def test_each_mail_of_a_mailbox_is_a_conversation_and_one_without_text_is_named():
    def build_mail(subject: str, body: str) -> str:
        date = "Date: Mon, 2 Feb 2026 02:40:00 +0000"
        mark = "From ann@x.example Mon Feb  2 02:40:00 2026"
        return f"{mark}\nFrom: Ann <ann@x.example>\n{date}\nSubject: {subject}\n{body}\n\n"

    mails = [
        build_mail("Boat", "\nReady.\n>From here we sail."),
        build_mail("Page", "Content-Type: text/html\n\n<p>Good.</p>"),
        build_mail("Nothing", "\n"),
    ]

    [entry], conversations = read("mail.mbox", "".join(mails))

    assert conversations == [
        ("Boat", "2026-02-02T02:40", [("Ann", 0, "Ready.\nFrom here we sail.")]),
        ("Page", "2026-02-02T02:40", [("Ann", 0, "Good.")]),
    ]
    assert [left["title"] for left in entry["left_out"]] == ["Nothing"]


def test_a_broken_mail_of_a_mailbox_costs_no_other_and_gets_no_invented_name():
    mark, date = (
        "From ann@x.example Mon Feb  2 02:40:00 2026",
        "Date: Mon, 2 Feb 2026 02:40:00 +0000",
    )
    encoded = 'Content-Type: text/plain; charset="x-none"\nContent-Transfer-Encoding: base64\n'
    mails = [
        f"From: Ann <a@x.example>\n{date}\nSubject: Boat\n\nReady.\n\nFrom here we sail in 2027\n",
        f"From: Ann <a@x.example>\n{date}\nSubject: Odd\n{encoded}\n{base64.b64encode(b'Sail.').decode()}\n",
        f'From: "\n{date}\n\nNo subject.\n',
    ]

    [entry], conversations = read("mail.mbox", "".join(f"{mark}\n{mail}\n" for mail in mails))

    moment = "2026-02-02T02:40"
    assert [
        (title, at, [words for _, _, words in turns]) for title, at, turns in conversations
    ] == [
        ("Boat", moment, ["Ready.", "From here we sail in 2027"]),
        ("Odd", moment, ["Sail."]),
        ("", moment, ["No subject."]),
    ]
    assert "None" not in str([turns for _, _, turns in conversations])
    assert entry["left_out"] == []


@pytest.mark.parametrize(
    ("name", "data", "status", "reason"),
    [
        ("a.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT\n", "refused", "a calendar"),
        ("a.vcf", "BEGIN:VCARD\nFN:Ann\nEND:VCARD\n", "refused", "an address book"),
        ("a.json", [{"who": "Ann", "text": "To the lake?"}, {"who": "Bo", "text": "Yes."}], "question", ""),
        ("a.txt", "Ann\nThe roof leaks.\n\nBo\nI call.\n\nAnn\nThanks.\n", "question", ""),
        ("a.html", "<html><body><p>Rain again.</p></body></html>", "question", ""),
        ("a.html", '<?xml version="1.0" ?><!DOCTYPE html><html><p>Ann: Up?</p><p>Me: No.</p></html>', "kept", ""),
        ("a.enex", '<?xml version="1.0"?><en-export><note>Rain again.</note></en-export>', "refused", "XML of a program"),
        ("a.txt", "2026-02-02 02:40:00, Ann, Up to the lake?\n2026-02-02 02:41:00, Bo, Not today.\n", "question", ""),
        ("a.txt", "2026-02-02 02:40 Camp\nWe came late.\n\n2026-02-03 02:41 Lake\nIt rained.\n", "question", ""),
        ("a.html", "<html><h1>Roof</h1><p>Ann: It leaks.</p><p>Me: I call.</p></html>", "kept", ""),
    ],
)  # fmt: skip
def test_what_tells_neither_who_nor_when_is_asked_about_or_refused_by_name(
    name, data, status, reason
):
    [entry], _ = read(name, data)

    assert entry["status"] == status
    assert reason in entry["reason"]


@pytest.mark.parametrize(
    ("name", "data", "left_out"),
    [
        ("garden.json", DISCORD, [("description", 7)]),
        ("conversations.json", CLAUDE, [("thinking", 5)]),
        ("a.json", {"text": "One two three. Four.", "segments":
                    [{"start": 0, "text": "One two three."}, {"start": 2, "text": "Four."}]}, []),
        ("a.txt", f"Roof\nMarch 12, 2026 | 0h 4m\n\nThe insurance will pay for it.\n\n{TURNS}", [("The insurance will pay for it.", 6)]),
        ("a.md", "# Roof\n\n- The insurance pays for it\n\n---\n\nMe: It leaks.\nThem: I call.\n",
         [("- The insurance pays for it", 5)]),
    ],
)  # fmt: skip
def test_text_that_is_not_read_is_counted(name, data, left_out):
    [entry], _ = read(name, data)

    assert entry["status"] == "kept"
    assert [(left["title"], left["words"]) for left in entry["left_out"]] == left_out


def test_a_conversation_whose_file_tells_no_date_says_so():
    [undated], _ = read("a.txt", "Ann: It leaks.\nBo: I call.\nAnn: Thanks.\n")
    [dated], _ = read("+15550100.txt", IMESSAGE)

    assert [entry["conversations"][0]["is_dated"] for entry in (undated, dated)] == [False, True]
