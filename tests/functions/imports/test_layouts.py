"""P31: what people's programs hand out is read by its layout, in any language."""

import json
from datetime import UTC, datetime

import pytest

from tests.functions.imports.contents import read_file

Said = list[tuple[str, float | None, str]]

WHATSAPP_ANDROID = """27/1/26, 17:03 - Los mensajes están cifrados. Obtén más información.
27/1/26, 17:03 - Ana creó el grupo "Equipo"
27/1/26, 17:05 - Ana: Hola, ¿quién viene?
27/1/26, 17:06 - +34 600 000 000: Yo.
Y mi hermana
27/1/26, 17:08 - Ana: <Multimedia omitido>
27/1/26, 17:09 - Ana: Perfecto <Se editó este mensaje.>
28/1/26, 9:00 - Ana: Buenos días
"""
WHATSAPP_IOS = """[1/27/26, 5:03:22\u202fPM] Hikers: \u200eMessages and calls are end-to-end encrypted.
[1/27/26, 5:03:30\u202fPM] Ann Lee: hello
\u200e[1/27/26, 5:04:00\u202fPM] Bo: \u200eimage omitted
[1/27/26, 5:04:22\u202fPM] Bo: see you there
"""
OTTER = """Ann Lee  0:01
Okay, we begin.

Speaker 2  1:02:03
Good: let's go.

Transcribed by https://otter.ai
"""
TEAMS = """Ticket round-20260119_090307-Meeting Recording
January 19, 2026, 9:03AM
11m 42s

Roth, Mia started transcription

Roth, Mia   0:03
Good morning.

Ahlers, Tom (Extern)   0:10
Morning.

Roth, Mia stopped transcription
"""
MEET = """\ufeff📖 Transcript\r
Jan 29, 2026\r
Menu - Transcript\r
00:00:00\r
 \r
Dalia: Do we have soup?\r
Bea: Yes.\r
\r
00:03:10\r
 \r
Dalia: Who prints it?\r
Bea: I do, on Sunday.\r
Transcription ended after 00:05:02\r
"""
FATHOM = """Interview Ravi - January 23
VIEW RECORDING - 31 mins: https://fathom.video/calls/1

---

0:00 - Amelia Stone (Northwind)
  What does a Monday look like?

0:07 - Ravi Menon
  I open the shop at eight.
"""
LINKED = """# Passports

## Folder

> [You](#startMs=1769253300000&endMs=1769253303420): Have you seen the folder?

> [Ruben](#startMs=1769253304120&endMs=1769253306400): On the piano.
"""
ZOOM_CHAT = """10:33:12 From Marta K to Everyone:\r
\there is the calendar\r
10:34:56 From Ben to Everyone:\r
\tReplying to "here is the calendar"\r
\t\r
\tthanks\r
10:35:00 From Marta K to Everyone:\r
\tReacted to "thanks" with 👍\r
"""
BOLD = """## High water
**Date:** 2026-01-30

### Transcript

**Lukas** (00:00:01)
The river rises.

**Agnes** (00:00:05)
By how much?
"""
MARKDOWN = """# 01-13 Gutachten

> Date: 2026-01-13 10:20:45
> Location: [Insert Location]

## Transcript

00:00:01 Speaker 1
Guten Tag.

00:00:05 Speaker 2
Ja, bitte.
"""


def read(name: str, text: str | bytes) -> tuple[str, str, Said]:
    """Return title, beginning and turns of a file's only conversation."""
    data = text if isinstance(text, bytes) else text.encode()
    [draft] = read_file(name, data).conversations
    turns = [(turn.speaker, turn.start, turn.text) for turn in draft.turns]
    return draft.title, draft.started_at.isoformat() if draft.started_at else "", turns


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "WhatsApp Chat with Hikers.txt",
            WHATSAPP_IOS,
            (
                "Hikers",
                "2026-01-27T17:03:30",
                [("Ann Lee", 0, "hello"), ("Bo", 52, "see you there")],
            ),
        ),
        (
            "Board_otter_ai.txt",
            OTTER,
            (
                "Board",
                "",
                [("Ann Lee", 1, "Okay, we begin."), ("Speaker 2", 3723, "Good: let's go.")],
            ),
        ),
        (
            "Ticket round.txt",
            TEAMS,
            (
                "Ticket round",
                "2026-01-19T09:03:00",
                [("Roth, Mia", 3, "Good morning."), ("Ahlers, Tom (Extern)", 10, "Morning.")],
            ),
        ),
        (
            "Menu_-_2026_01_29_10_15_CET_-_Notes.txt",
            MEET,
            (
                "Menu",
                "2026-01-29T10:15:00",
                [
                    ("Dalia", None, "Do we have soup?"),
                    ("Bea", None, "Yes."),
                    ("Dalia", 190, "Who prints it?"),
                    ("Bea", None, "I do, on Sunday."),
                ],
            ),
        ),
        (
            "transcript.txt",
            FATHOM,
            (
                "Interview Ravi",
                "",
                [
                    ("Amelia Stone", 0, "What does a Monday look like?"),
                    ("Ravi Menon", 7, "I open the shop at eight."),
                ],
            ),
        ),
        (
            "2026-01-24_11h15m00s_Passports.md",
            LINKED,
            (
                "Passports",
                "2026-01-24T11:15:00+00:00",
                [("You", 0, "Have you seen the folder?"), ("Ruben", 4.12, "On the piano.")],
            ),
        ),
        (
            "saved_chat.txt",
            ZOOM_CHAT,
            ("", "", [("Marta K", 0, "here is the calendar"), ("Ben", 104, "thanks")]),
        ),
        (
            "notes.md",
            BOLD,
            (
                "High water",
                "2026-01-30T00:00:00",
                [("Lukas", 1, "The river rises."), ("Agnes", 5, "By how much?")],
            ),
        ),
        (
            "01-13_Gutachten.md",
            MARKDOWN,
            (
                "Gutachten",
                "2026-01-13T10:20:00",
                [("Speaker 1", 1, "Guten Tag."), ("Speaker 2", 5, "Ja, bitte.")],
            ),
        ),
        (
            "zoom.txt",
            "[Marta K] 10:33:12\nHello all\n\n[Ben A] 10:33:15\nHi Marta\n",
            ("", "", [("Marta K", 0, "Hello all"), ("Ben A", 3, "Hi Marta")]),
        ),
        (
            "rows.txt",
            "Ann Lee | 00:03\nHello all\n\nBen A | 00:15\nHi Ann\n",
            ("", "", [("Ann Lee", 3, "Hello all"), ("Ben A", 15, "Hi Ann")]),
        ),
        (
            "zoom_de.txt",
            (
                "10:33:12 Von Marta K an Alle:\n\tHallo\n10:33:15 Von Ben an Alle:\n\tHi\n"
                "10:33:20 Von Marta K an Ben (Direktnachricht):\n\tgern\n"
            ),
            ("", "", [("Marta K", 0, "Hallo"), ("Ben", 3, "Hi"), ("Marta K", 8, "gern")]),
        ),
        (
            "zoom_old.txt",
            "10:33:12\t From  Marta K : hello\n10:33:15\t From Ben to Marta K : hi\n",
            ("", "", [("Marta K", 0, "hello"), ("Ben", 3, "hi")]),
        ),
        (
            "limitless.md",
            (
                "# Walk\n\n## Ducks\n\n- You (1/24/26 11:15 AM): Ducks.\n\n## Home\n\n"
                "- Unknown (1/24/26 11:21 AM): Home?\n"
            ),
            ("Walk", "2026-01-24T11:15:00", [("You", 0, "Ducks."), ("Unknown", 360, "Home?")]),
        ),
        (
            "signal.md",
            (
                "[2026-01-17, 10:04] Ann: Look\n![a](media/a.jpg)\n[2026-01-17, 10:05] Me: Nice\n"
                "(- Ann: 👍 -)\n[2026-01-17, 10:06] Me: [b.pdf](media/b.pdf)\n"
            ),
            ("", "2026-01-17T10:04:00", [("Ann", 0, "Look"), ("Me", 60, "Nice")]),
        ),
        (
            "ios.txt",
            "[7.2.26, 17:05:00] ~\u202fTom: hallo\n[7.2.26, 17:05:09] \u202a+49 171\u202c: ja\n",
            ("", "2026-02-07T17:05:00", [("Tom", 0, "hallo"), ("+49 171", 9, "ja")]),
        ),
        (
            "recorder.txt",
            "00:01\nThis is a test.\n\n00:12\nIt goes on.\n",
            ("", "", [("", 1, "This is a test."), ("", 12, "It goes on.")]),
        ),
        (
            "meet.txt",
            (
                "Attendees\nBo, Ann\n\n00:00:00\n\nBo: The build is red:\nthree tests fail.\nAnn: I look.\nBo: Bye.\n"
                "\nMeeting ended after 00:01:00\n"
            ),
            (
                "Attendees",
                "",
                [
                    ("Bo", None, "The build is red:\nthree tests fail."),
                    ("Ann", None, "I look."),
                    ("Bo", None, "Bye."),
                ],
            ),
        ),
        (
            "note.md",
            (
                '---\ntitle: "Visit: Oma"\ndate: 2026-02-03\ntags:\n  - family\n---\n\n# Visit\n\n'
                "The house was blue.\n"
            ),
            (
                "Visit: Oma",
                "2026-02-03T00:00:00",
                [("", None, "# Visit"), ("", None, "The house was blue.")],
            ),
        ),
        (
            "rule.md",
            "---\n\nAnn: Hi.\nBo: Yes.\nAnn: So.\n\n---\n",
            ("", "", [("Ann", None, "Hi."), ("Bo", None, "Yes."), ("Ann", None, "So.")]),
        ),
        (
            "reactions.txt",
            (
                "10:33:12 From Ann to Everyone:\n\thello\n10:33:15 From Bo to Everyone:\n\thi\n"
                '10:33:20 From Ann to Everyone:\n\tReacted to "hi" with "❤️"\n'
            ),
            ("", "", [("Ann", 0, "hello"), ("Bo", 3, "hi")]),
        ),
        (
            "notice.txt",
            '7/2/26, 17:05 - Ann changed the subject from "Old: x" to "New: y"\n7/2/26, 17:06 - Ann: hi\n',
            ("", "2026-02-07T17:06:00", [("Ann", 0, "hi")]),
        ),
        (
            "teams.txt",
            "Weekly-20260203_100012-Recording\nFebruary 3, 2026, 10:00AM\n\nAnn  0:03\nHi.\n\nBo  0:09\nYes.\n",
            ("Weekly", "2026-02-03T10:00:00", [("Ann", 3, "Hi."), ("Bo", 9, "Yes.")]),
        ),
        (
            "line.txt",
            (
                "[LINE] 家族\n保存日時：2026/02/11 22:10\n\n2026/02/10(火)\n08:15\t母\t何時？\n"
                "09:20\t健太\t今\n"
            ),
            ("", "2026-02-10T08:15:00", [("母", 0, "何時？"), ("健太", 3_900, "今")]),
        ),
        (
            "weekday.txt",
            "[LINE] Yui\n\nThu, 11/05/2026\n20:03\tYui\tAt ten?\n20:04\tMe\tYes\n",
            ("", "2026-11-05T20:03:00", [("Yui", 0, "At ten?"), ("Me", 60, "Yes")]),
        ),
        (
            "wechat.txt",
            "小李 2026-02-10 08:15:00\n何时?\n\n小王 2026-02-10 09:20:00\n现在\n好的\n\n小李 2026-02-10 09:21:00\n好\n",
            (
                "",
                "2026-02-10T08:15:00",
                [("小李", 0, "何时?"), ("小王", 3_900, "现在\n好的"), ("小李", 3_960, "好")],
            ),
        ),
        (
            "qq.txt",
            "消息对象:小李\n\n2026-02-10 8:15:00 小李(10001)\n何时?\n\n2026-02-10 9:20:00 我\n现在\n\n2026-02-10 9:21:00 我\n好\n",
            (
                "",
                "2026-02-10T08:15:00",
                [("小李(10001)", 0, "何时?"), ("我", 3_900, "现在"), ("我", 3_960, "好")],
            ),
        ),
        (
            "irc.txt",
            "[2026-02-10 08:15:00] <ann> When?\n[2026-02-10 09:20:00] <bo> Now\n[2026-02-10 09:21:00] Ann left\n",
            ("", "2026-02-10T08:15:00", [("ann", 0, "When?"), ("bo", 3_900, "Now")]),
        ),
        (
            "line_notices.txt",
            (
                '[LINE] Mika\n\nWed, 11/18/2026\n20:03\tMika\tAt ten?\n20:04\tJo\t"Say ""yes"".\nI do"\n'
                '20:05\tMika unsent a message.\n20:06\t\tMika left.\n20:07\tJo\t"So"\n'
            ),
            (
                "",
                "2026-11-18T20:03:00",
                [("Mika", 0, "At ten?"), ("Jo", 60, 'Say "yes".\nI do'), ("Jo", 240, '"So"')],
            ),
        ),
        (
            "zoom_dated.txt",
            (
                "2026-11-18 10:33:12 From Marta K to Everyone:\n\tthe link is up\n"
                "2026-11-18 10:34:12 From Ben to Marta K (direct message):\n\tthanks\n"
                '2026-11-18 10:35:12 From Li to Everyone:\n\tReacted to "the link is up" with 👍\n'
            ),
            (
                "",
                "2026-11-18T10:33:12",
                [("Marta K", 0, "the link is up"), ("Ben", 60, "thanks")],
            ),
        ),
        (
            "gemini.txt",
            (
                "Weekly\nNov 18, 2026\n\nSummary\n\nAnn and Bo discussed the oven and who pays for it.\n\n"
                "The oven: it is broken since Monday.\n\nWeekly - Transcript\n00:00:00\n\nAnn Lee: It is broken.\n"
                "Bo: I order the part.\n\n00:05:10\n\nAnn Lee: Who pays?\nTranscription ended after 00:06:00\n\n"
                "This editable transcript was computer generated and might contain errors.\n"
            ),
            (
                "Weekly",
                "2026-11-18T00:00:00",
                [
                    ("Ann Lee", None, "It is broken."),
                    ("Bo", None, "I order the part."),
                    ("Ann Lee", 310, "Who pays?"),
                ],
            ),
        ),
        (
            "clock_headings.md",
            "### **00:00:00** {#00:00:00}\n\n**Ann:** It leaks.\n**Bo:** Where?\n\n### 00:02:00\n\n**Ann:** There.\n",
            ("", "", [("Ann", None, "It leaks."), ("Bo", None, "Where?"), ("Ann", 120, "There.")]),
        ),
        (
            "fields.md",
            (
                "# Call\n\nDate: November 18, 2026 10:00 AM\nAttendees: Ann, Bo\nStatus: Done\n\n## Summary\n\n"
                "The rate falls.\n\n## Transcript\n\n**Ann:** Does it?\n\n**Bo:** Yes.\n\n**Ann:** Good.\n"
            ),
            (
                "Call",
                "2026-11-18T10:00:00",
                [("Ann", None, "Does it?"), ("Bo", None, "Yes."), ("Ann", None, "Good.")],
            ),
        ),
        (
            "span.txt",
            "Sync\nWed, Nov 18, 2026, 10:00 AM - 10:30 AM\n\n00:00\nAnn Lee\nHi.\n\n00:12\nBo\nYes.\n",
            ("Sync", "2026-11-18T10:00:00", [("Ann Lee", 0, "Hi."), ("Bo", 12, "Yes.")]),
        ),
        (
            "teams_paragraphs.txt",
            (
                "Review-20261118_090307-Recording\nNovember 18, 2026, 8:03AM\n\nRoth, Mia hat die Aufnahme gestartet\n"
                "Roth, Mia   0:03\nDrei.\nYilmaz   0:09\nZwei.\nRoth, Mia   0:12\nGut.\n"
                "Roth, Mia hat die Aufnahme beendet\n"
            ),
            (
                "Review",
                "2026-11-18T09:03:00",
                [("Roth, Mia", 3, "Drei."), ("Yilmaz", 9, "Zwei."), ("Roth, Mia", 12, "Gut.")],
            ),
        ),
        (
            "quoted.md",
            (
                "[2026-11-18 09:03] Ann: It is in the cellar\n[2026-11-18 09:04] Me: Which shelf?\n>\n"
                "> It is in the cellar\n>\n[2026-11-18 09:05] Ann: > none\n"
            ),
            (
                "",
                "2026-11-18T09:03:00",
                [
                    ("Ann", 0, "It is in the cellar"),
                    ("Me", 60, "Which shelf?"),
                    ("Ann", 120, "> none"),
                ],
            ),
        ),
        (
            "google_recorder.txt",
            "Nov 6, 2026 at 3:15 PM | 0h 1m\n\n00:00\nSpeaker 1\nIt leaks.\n\n00:09\nSpeaker 2\nI call.\n",
            (
                "",
                "2026-11-06T15:15:00",
                [("Speaker 1", 0, "It leaks."), ("Speaker 2", 9, "I call.")],
            ),
        ),
        (
            "names_above.txt",
            "ann\n00:01\nIt leaks\n\nbo\n00:04\nI call\n\nann\n00:06\nGood\n\nbo\n00:07\nBye\n",
            (
                "",
                "",
                [("ann", 1, "It leaks"), ("bo", 4, "I call"), ("ann", 6, "Good"), ("bo", 7, "Bye")],
            ),
        ),
        (
            "granola.md",
            "# Roadmap\n\nTue, 10 Nov 26 · a@x.example\n\n### Next\n\n- Ship it\n\n---\n\nTranscript:\n\nMe: So.\nThem: Yes.\n",
            ("Roadmap", "2026-11-10T00:00:00", [("Me", None, "So."), ("Them", None, "Yes.")]),
        ),
        (
            "kakao.txt",
            (
                "팀 회의\n저장한 날짜 : 2026-02-12 18:00:00\n\n--- 2026년 2월 12일 목요일 ---\n"
                "[김민지] [오전 9:12] 좋은\n[이준호] [오후 1:05] 자료\n확인\n"
            ),
            ("", "2026-02-12T09:12:00", [("김민지", 0, "좋은"), ("이준호", 13_980, "자료\n확인")]),
        ),
        (
            "shortened.txt",
            (
                "10:33:12 From Ann to Everyone:\n\there is the calendar\n10:33:15 From Bo to Everyone:\n"
                '\tReplying to "here is the c..."\n\n\tthanks\n'
            ),
            ("", "", [("Ann", 0, "here is the calendar"), ("Bo", 3, "thanks")]),
        ),
        (
            "whisper.txt",
            "[00:00.000 --> 00:04.500]  Hello and welcome.\n[00:04.500 --> 01:07.000]  It is ten: we begin.\n",
            ("", "", [("", 0, "Hello and welcome."), ("", 4.5, "It is ten: we begin.")]),
        ),
        (
            "captions.txt",
            "00:00:01 Hello and welcome\nto the show.\n00:01:04 It is ten.\n",
            ("", "", [("", 1, "Hello and welcome\nto the show."), ("", 64, "It is ten.")]),
        ),
        (
            "granola.txt",
            (
                "Meeting Title: Budget\nDate: Feb 3, 2026\nPeople: Ann\n\nTranscript:\n \n"
                "Them: Hello.\nMe: Hi.\nThem: Go.\nMe: Yes.\n"
            ),
            (
                "Budget",
                "2026-02-03T00:00:00",
                [
                    ("Them", None, "Hello."),
                    ("Me", None, "Hi."),
                    ("Them", None, "Go."),
                    ("Me", None, "Yes."),
                ],
            ),
        ),
        (
            "columns.txt",
            "10:03\tAnn\thello there\n10:04\tBo\tyes: sure\n",
            ("", "", [("Ann", 603, "hello there"), ("Bo", 604, "yes: sure")]),
        ),
    ],
)
def test_a_layout_is_read(name, text, expected):
    assert read(name, text) == expected


def test_a_chat_that_rests_overnight_is_two_conversations():
    first, second = read_file(
        "Chat de WhatsApp con Equipo.txt", WHATSAPP_ANDROID.encode()
    ).conversations

    assert (first.title, second.title) == ("Equipo", "Equipo")
    assert [str(draft.started_at) for draft in (first, second)] == [
        "2026-01-27 17:05:00",
        "2026-01-28 09:00:00",
    ]
    assert [(turn.speaker, turn.text) for turn in first.turns] == [
        ("Ana", "Hola, ¿quién viene?"),
        ("+34 600 000 000", "Yo.\nY mi hermana"),
        ("Ana", "Perfecto"),
    ]


def test_a_line_with_a_day_holds_for_the_messages_below():
    text = "2026/02/10(火)\n23:15\t母\tまだ？\n\n2026/02/11(水)\n00:02\t健太\t着いた\n"

    [draft] = read_file("line.txt", text.encode()).conversations

    assert [(turn.speaker, turn.start) for turn in draft.turns] == [("母", 0), ("健太", 2_820)]


def test_a_speaker_may_quote_another():
    _, _, turns = read("a.txt", '[00:01] Ann: yes\n[00:04] Bo: You said "yes" to me.\n')

    assert [words for _, _, words in turns] == ["yes", 'You said "yes" to me.']


@pytest.mark.parametrize(
    ("clock", "placeholder"),
    [
        ("03.11.26, 18:0{}", "Diese Nachricht wurde gelöscht."),
        ("03.11.26, 18:0{}", "Du hast diese Nachricht gelöscht."),
        ("3/11/26, 9:1{} p.\u00a0m.", "Se eliminó este mensaje."),
        ("03/11/2026, 19:0{}", "Ce message a été supprimé"),
        ("11/3/26, 9:1{}\u202fPM", "This message was deleted"),
        ("2026/11/03 19:0{}", "このメッセージは削除されました"),
        ("11/3/26, 9:1{}\u202fPM", "null"),
    ],
)
def test_what_stands_for_a_deleted_or_hidden_message_is_no_speech(clock, placeholder):
    lines = [
        f"{clock.format(1)} - Jo: Bring the keys.",
        f"{clock.format(2)} - Ann: {placeholder}",
        f"{clock.format(3)} - Ann: {placeholder} Why?",
    ]

    _, _, turns = read("chat.txt", "\n".join(lines))
    assert [words for _, _, words in turns] == ["Bring the keys.", f"{placeholder} Why?"]


def test_a_sticker_in_line_is_no_speech():
    lines = ["2026/11/06(金)", "18:02\tゆい\t10時でいい？", "18:04\tゆい\t[スタンプ]"]

    _, _, turns = read("line.txt", "\n".join(lines))
    assert [words for _, _, words in turns] == ["10時でいい？"]


def test_a_deleted_message_names_no_group():
    lines = ["[27.01.26, 17:03:00] Jo: hi", "[27.01.26, 17:04:00] You: \u200eYou deleted this."]

    assert read("_chat.txt", "\n".join(lines)) == (
        "",
        "2026-01-27T17:03:00",
        [("Jo", 0, "hi")],
    )


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        (["7/2/26, 17:05 - A: x", "13/2/26, 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["2/7/26, 17:05 - A: x", "2/13/26, 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["7/2/26, 5:05 p. m. - A: x", "8/2/26, 9:06 a. m. - A: x"], "2026-02-07 17:05:00"),
        (["2/7/26, 5:05 PM - A: x", "2/8/26, 9:06 AM - A: x"], "2026-02-07 17:05:00"),
        (["[2/7/26, 5:05:00 PM] A: x"], "2026-02-07 17:05:00"),
        (["07.02.26, 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["2026. 2. 7. 오후 5:05, A : x"], "2026-02-07 17:05:00"),
        (["2026/02/07 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["07/02/2026 à 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["7.2.2026 klo 17.05 - A: x"], "2026-02-07 17:05:00"),
        (["[07.02.2026 17.05.00] A: x"], "2026-02-07 17:05:00"),
        (["7.02.26 г., 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["۲۰۲۶/۲/۷،\u200f ۱۷:۰۵ - A: x"], "2026-02-07 17:05:00"),
        (["2026-02-07 17 h 05 - A: x"], "2026-02-07 17:05:00"),
        (["2026년 2월 7일 오후 5:05 - A: x"], "2026-02-07 17:05:00"),
        (["2026년 2월 7일 오후 5:04", "2026년 2월 7일 오후 5:05, A : x"], "2026-02-07 17:05:00"),
        (["[2026年2月7日 17:05:00] A: x"], "2026-02-07 17:05:00"),
        (["7/2/2569 17:05 - A: x"], "2026-02-07 17:05:00"),
        (["\u200e٧\u200f/٢\u200f/٢٠٢٦, ٥:٠٥ م - A: x"], "2026-02-07 17:05:00"),
        (["7/2/26, 11:05 SA - A: x", "7/2/26, 1:05 CH - A: x"], "2026-02-07 11:05:00"),
        (["7/2/26, 5:05 μ.μ. - A: x", "8/2/26, 9:06 π.μ. - A: x"], "2026-02-07 17:05:00"),
        (["2026/2/7 晚上11:05 - A: x", "2026/2/8 凌晨12:06 - A: x"], "2026-02-07 23:05:00"),
        (["7/2/26, 11:50 Uhr - A: x", "7/2/26, 12:10 Uhr - A: x"], "2026-02-07 11:50:00"),
    ],
)
def test_all_dates_of_a_chat_together_tell_day_and_month(lines, day):
    drafts = read_file("chat.txt", "\n".join(lines).encode()).conversations

    assert str(drafts[0].started_at) == day


@pytest.mark.parametrize(
    ("times", "hours"),
    [
        (["1:00 aa", "5:00 bb"], [1, 5]),
        (["5:00 aa", "1:00 bb"], [5, 13]),
        (["1:00 aa", "5:00 bb", "1:00 cc", "5:00 dd"], [1, 5, 13, 17]),
        (["1:00 aa", "5:00 bb", "1:00 cc", "5:00 dd", "6:00 ee"], [1, 5, 1, 5, 6]),
    ],
)
def test_up_to_four_unknown_words_beside_times_may_be_halves_of_the_day(
    times: list[str], hours: list[int]
) -> None:
    lines = "".join(f"[1/2/26, {time}] Ann: Hi\n" for time in times)

    _, _, turns = read("_chat.txt", lines)

    starts = [(start or 0) / 3600 for _, start, _ in turns]
    assert starts == [hour - hours[0] for hour in hours]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[SPEAKER_00]: ", "[SPEAKER_01]: "),
        ("+49 171 2345: ", "+49 160 9999: "),
        ("श्री शर्मा: ", "सीता: "),
        ("🦊 Memo: ", "🌵 Lupe: "),
        ("高橋：", "伊藤："),
        ("Mme Durand : ", "M. Le Gall : "),
    ],
)
def test_names_are_read_as_people_write_them(first, second):
    names = [text.strip(":： []") for text in (first, second)]

    _, _, turns = read("a.txt", f"{first}one\n{second}two: three\n{first}four\n")

    assert [(name, words) for name, _, words in turns] == [
        (names[0], "one"),
        (names[1], "two: three"),
        (names[0], "four"),
    ]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("WhatsApp Chat - Flat 12.txt", "Flat 12"),
        ("WhatsApp チャット - 山田.txt", "山田"),
        ("Discussion WhatsApp avec Léa - Max.txt", "Léa - Max"),
        ("WhatsApp-keskustelu Matti.txt", "Matti"),
        ("Bo ile WhatsApp Sohbeti.txt", "Bo"),
        ("与Bo的 WhatsApp 聊天.txt", "Bo"),
    ],
)
def test_a_chat_is_called_as_its_file(name, title):
    assert read(name, "7/2/26, 17:05 - A: x\n7/2/26, 17:06 - Bo: y\n")[0] == title


@pytest.mark.parametrize("second", ["Speaker 2", "Leo Park:"])
def test_a_name_above_each_turn_is_that_of_its_speaker(second):
    first = second.replace("2", "1").replace("Leo Park", "Ann")
    text = f"{first}\nThe roof leaks.\n{second}\nI call.\nThey come at ten.\n{first}\nGood.\n{second}\nYes.\n"

    _, _, turns = read("a.txt", text)

    assert [(name, words) for name, _, words in turns] == [
        (first.rstrip(":"), "The roof leaks."),
        (second.rstrip(":"), "I call.\nThey come at ten."),
        (first.rstrip(":"), "Good."),
        (second.rstrip(":"), "Yes."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Name: Ann Lee\nStreet: Elm 4\nTown: Oslo\n\nName: Bo\nStreet: Oak 1\nTown: Rome\n",
        "Monday\nWe met.\nTuesday\nWe met again.\n",
    ],
)
def test_fields_of_records_and_headings_are_no_speakers(text):
    contents = read_file("a.txt", text.encode())

    turns = [turn for draft in contents.conversations for turn in draft.turns]
    assert {turn.speaker for turn in turns} == {""}


def test_a_dialogue_in_rounds_stays_one():
    text = "Ann: One of us.\nBo: Yes, two.\nCy: Three.\n\nAnn: Go.\nBo: No.\nCy: Wait here.\n"

    assert [name for name, _, _ in read("a.txt", text)[2]] == ["Ann", "Bo", "Cy"] * 2


def test_a_date_with_slashes_in_a_title_is_cut_as_that_of_the_file():
    name = "Sync - 2026_02_02 18_30 CET - Transcript.txt"
    text = "Sync - 2026/02/02 18:30 CET - Transcript\nAnn: We start.\nBo: Good.\nAnn: Go.\n"

    assert read(name, text)[:2] == ("Sync", "2026-02-02T18:30:00")


def test_a_date_within_a_message_begins_no_other():
    lines = ["7/2/26, 17:05 - A: When?", "7/2/26, 17:06 - B: Two days:", "9/2/26 at 10:30: tea"]
    [draft] = read_file(
        "chat.txt", "\n".join([*lines, "11/2/26 at 9:00 lunch"]).encode()
    ).conversations

    assert [turn.text for turn in draft.turns] == [
        "When?",
        "Two days:\n9/2/26 at 10:30: tea\n11/2/26 at 9:00 lunch",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Shopping\nMilk: two litres\nBread: one\nCall Ann at 10:30\n",
        "Colours: not white again.\n\nThe drawer sticks.\n\nBudget until summer: eight hundred.\n",
        "Cake\n\n10:30 preheat the oven\n11:00 take it out\n",
        "08:00\nGot up.\n\n09:30\nTook the bus.\n",
        "[1]: https://example.org\n[2]: https://example.com\n",
        "Moving:\n☐ Boxes: twenty\n☑ Post: done\n☐ Boxes: labels\n",
        "9:00 Breakfast\n10:00 Hike to the lake.\n12:00 Lunch\n",
    ],
)
def test_notes_name_no_speakers(text):
    _, _, turns = read("notes.txt", text)

    assert {speaker for speaker, _, _ in turns} == {""}


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("latin-1", "Müller: Grüße aus Köln\nJosé: ¿Qué tal?\nMüller: Schön\n"),
        ("cp1251", "Анна: Привет, как дела сегодня?\nПётр: Хорошо, спасибо.\nАнна: До завтра.\n"),
        ("shift_jis", "田中: こんにちは、元気ですか。\n鈴木: はい、元気です。\n田中: よかった。\n"),
        (
            "cp1254",
            "Ayşe: Anahtar kimde, biliyor musun?\nİlker: Bende, paspasın altında değil.\nAyşe: Oldu.\n",
        ),
        (
            "cp1252",
            "Anna: Hvað er klukkan núna?\nBjörn: Hún er þrjú og ég fer heim.\nAnna: Já, gott veður í dag.\n",
        ),
        ("cp1252", "Zoë: Der Schlüssel liegt – “hier”.\nJosé: Ça va, 5 €.\n"),
        ("gb18030", "王芳: 周五交房租。\n李强: 好的，我来转账。\n王芳: 谢谢。\n"),
        ("utf-16-le", "Ann: Hello there\nNadine: Bye.\nAnn: So.\n"),
        ("utf-32", "Анна: Привет\nNadine: Bye.\nАнна: До завтра.\n"),
        ("utf-16", "سامي: متى يصل العمال؟\nNadine: الثامنة.\nسامي: حسناً.\n"),
    ],
)
def test_a_text_is_read_in_its_encoding(codec, text):
    _, _, turns = read("a.txt", text.encode(codec))

    assert [f"{name}: {words}\n" for name, _, words in turns] == text.splitlines(keepends=True)


TELEGRAM_MESSAGES = [
    {"type": "service", "date": "2026-01-20T18:15:00", "date_unixtime": "1768929300", "text": ""},
    {
        "type": "message",
        "date": "2026-01-22T18:15:00",
        "date_unixtime": "1769102100",
        "from": "Mia Roth",
        "text": ["See ", {"type": "bold", "text": "you"}, " there"],
    },
    {"type": "message", "date_unixtime": "1769102160", "date": "", "from": "Tom", "text": ""},
    {"type": "message", "date_unixtime": "1769102220", "date": "", "from": "Tom", "text": "Yes"},
]


def test_a_telegram_chat_is_read_with_its_owner():
    content = {
        "personal_information": {"first_name": "Mia", "last_name": "Roth"},
        "chats": {"list": [{"name": "Round table", "messages": TELEGRAM_MESSAGES}]},
        "left_chats": {"list": [{"name": "Left", "messages": TELEGRAM_MESSAGES}]},
    }

    draft, left = read_file("result.json", json.dumps(content).encode()).conversations

    assert (left.title, left.turns) == ("Left", draft.turns)
    assert (draft.title, draft.started_at) == (
        "Round table",
        datetime(2026, 1, 22, 17, 15, tzinfo=UTC),
    )
    assert [(t.speaker, t.start, t.text, t.is_user) for t in draft.turns] == [
        ("Mia Roth", 0, "See you there", True),
        ("Tom", 120, "Yes", False),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            {
                "text": "Hello you",
                "segments": [{"id": 0, "start": 0.0, "end": 4.2, "text": " Hello"}],
            },
            ("", "", [("", 0, "Hello")]),
        ),
        (
            {
                "data": {
                    "transcript": {
                        "title": "Numbers",
                        "dateString": "2026-01-14T14:00:00.000Z",
                        "sentences": [
                            {
                                "speaker_name": "Kat",
                                "text": "Good",
                                "start_time": 0.5,
                                "end_time": 2,
                            }
                        ],
                    }
                }
            },
            ("Numbers", "2026-01-14T14:00:00+00:00", [("Kat", 0.5, "Good")]),
        ),
        (
            {"results": {"utterances": [{"start": 0.1, "transcript": "Hi", "speaker": 0}]}},
            ("", "", [("Speaker 0", 0.1, "Hi")]),
        ),
        (
            {"utterances": [{"speaker": "A", "text": "Hello", "start": 250, "end": 2000}]},
            ("", "", [("A", 0.25, "Hello")]),
        ),
        (
            {
                "title": "Walk",
                "startTime": "2026-01-24T11:15:00Z",
                "contents": [
                    {"type": "heading1", "content": "Walk"},
                    {"content": "Nice", "speakerName": "Ann", "startTime": "2026-01-24T11:15:05Z"},
                    {"content": "It is", "speakerName": "Bo", "startTime": "2026-01-24T11:15:09Z"},
                ],
            },
            ("Walk", "2026-01-24T11:15:00+00:00", [("Ann", 0, "Nice"), ("Bo", 4, "It is")]),
        ),
        (
            [{"sentence": "Hola", "startTime": "00:01", "speaker_name": "Lucía"}],
            ("", "", [("Lucía", 1, "Hola")]),
        ),
        (
            {
                "words": [{"text": "Guten", "start": 100}, {"text": "Tag.", "start": 300}],
                "utterances": [{"speaker": "A", "text": "Guten Tag.", "start": 100, "end": 500}],
            },
            ("", "", [("A", 0.1, "Guten Tag.")]),
        ),
        (
            {
                "paragraphs": [
                    {"speaker": 0, "sentences": [{"text": "Hi.", "start": 0.5}]},
                    {"speaker": 1, "sentences": [{"text": "Ho.", "start": 2}]},
                ]
            },
            ("", "", [("Speaker 0", 0.5, "Hi."), ("Speaker 1", 2, "Ho.")]),
        ),
        (
            {
                "results": {
                    "transcripts": [{"transcript": "Hello there. Hi."}],
                    "audio_segments": [
                        {"transcript": "Hello there.", "start_time": "0.5", "speaker_label": "a"},
                        {"transcript": "Hi.", "start_time": "2.0", "speaker_label": "b"},
                    ],
                }
            },
            ("", "", [("a", 0.5, "Hello there."), ("b", 2, "Hi.")]),
        ),
        (
            [
                {"who": 1, "user": "Bo", "text": "Yes", "arrived": "2026-02-03T09:01:00Z"},
                {"who": 2, "user": "Ann", "text": "Up?", "arrived": "2026-02-03T09:00:00Z"},
            ],
            ("", "2026-02-03T09:00:00+00:00", [("Ann", 0, "Up?"), ("Bo", 60, "Yes")]),
        ),
        (
            [{"user": "U1", "text": "Morning", "ts": "1770109200.000100"}],
            ("", "2026-02-03T09:00:00.000100+00:00", [("U1", 0, "Morning")]),
        ),
    ],
)
def test_the_output_of_a_transcriber_is_read(content, expected):
    assert read("a.json", json.dumps(content)) == expected


def test_each_recording_of_a_file_is_a_conversation():
    lifelogs = [
        {
            "title": title,
            "startTime": f"2026-02-03T0{hour}:00:00Z",
            "contents": [{"content": f"{title}?", "speakerName": "You"}],
        }
        for title, hour in (("Breakfast", 8), ("Bus", 9))
    ]

    drafts = read_file(
        "a.json", json.dumps({"data": {"lifelogs": lifelogs}}).encode()
    ).conversations

    assert [(d.title, str(d.started_at), d.turns[0].text) for d in drafts] == [
        ("Breakfast", "2026-02-03 08:00:00+00:00", "Breakfast?"),
        ("Bus", "2026-02-03 09:00:00+00:00", "Bus?"),
    ]


def build_node(parent: str | None, role: str, text: str) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": role}, "create_time": 1770109201.0, "content": content}
    return {"message": message, "parent": parent, "children": []}


CHATGPT = {
    "title": "Bread",
    "create_time": 1770109200.0,
    "current_node": "d",
    "mapping": {
        "a": {"message": None, "parent": None},
        "b": build_node("a", "user", "Why is it flat?"),
        "c": build_node("b", "assistant", "An answer that was not wanted."),
        "d": build_node("b", "assistant", "The starter is weak."),
    },
}
CLAUDE = {
    "name": "Bread",
    "created_at": "2026-02-03T09:00:00Z",
    "chat_messages": [
        {"text": "Why is it flat?", "sender": "human", "created_at": "2026-02-03T09:00:01Z"},
        {
            "text": "",
            "content": [{"type": "text", "text": "The starter is weak."}],
            "sender": "assistant",
            "created_at": "2026-02-03T09:00:01Z",
        },
    ],
}


@pytest.mark.parametrize("chat", [CHATGPT, CLAUDE])
def test_a_chat_with_an_assistant_is_read(chat):
    [draft] = read_file("conversations.json", json.dumps([chat]).encode()).conversations

    assert (draft.title, str(draft.started_at)) == ("Bread", "2026-02-03 09:00:00+00:00")
    assert [(turn.text, turn.start, turn.is_user) for turn in draft.turns] == [
        ("Why is it flat?", 0, True),
        ("The starter is weak.", 0, False),
    ]
