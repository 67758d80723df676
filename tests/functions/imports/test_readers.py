"""P31: every format is read, or refused with a reason."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.imports.formats.build import Import, parse_files
from functions.imports.formats.stamps import find_date
from shared.library.decoding import UnreadableFile
from tests.functions.imports.contents import read_file

MODIFIED = datetime(2026, 3, 2, 9, tzinfo=UTC)
SRT = "1\n00:00:01,000 --> 00:00:02,500\nAnn: Hello\nthere\n\n2\n01:00:03,000 --> 01:00:04,000\nMe: Hi\n"
VTT = """WEBVTT - a title

STYLE
::cue { color: red }

NOTE Ann: not said

00:01.000 --> 00:02.000 align:start
<v.loud Ann>Hello <i>you</i> &amp; me</v>
<v Me>Hi

00:01:03.000 --> 00:01:04.000
no voice
"""
SEGMENTS = [
    {"text": "Hello", "speaker": "Ann", "start": 1, "end": 2},
    {"text": "Hi", "speaker": "me"},
]
BODY = {"id": "one", "started_at": "2026-01-02T03:04:05Z", "transcript_segments": SEGMENTS}


def parse_file(name: str, data: bytes, *, modified: datetime = MODIFIED) -> Import:
    """Read one file. Raises UnreadableFile where it adds nothing."""
    [file] = parse_files(name, data, modified=modified)
    if file.content is None:
        raise UnreadableFile(file.reason)
    return file.content


def read_segments(name: str, text: str | bytes) -> list[tuple[str, str, bool, float]]:
    data = text if isinstance(text, bytes) else text.encode()
    [imported] = parse_file(name, data).conversations
    segments = imported.conversation.transcript_segments or ()
    return [(s.speaker, s.text, s.is_user, s.start) for s in segments]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann: Hello\nMe: Hi", [("Ann", "Hello", False, 0), ("Me", "Hi", True, 0.4)]),
        ("[00:01:02] Ann: Hello", [("Ann", "Hello", False, 62)]),
        ("00:05 Ann: Hello", [("Ann", "Hello", False, 5)]),
        ("Ann [0:10:05]: Hello", [("Ann", "Hello", False, 605)]),
        ("Ann (00:05): Hello", [("Ann", "Hello", False, 5)]),
        ("Bo: Hi\r\nand more\r\nBo: So", [("Bo", "Hi\nand more", False, 0), ("Bo", "So", False, 1.2)]),
        ("Zoë: ¿Qué?", [("Zoë", "¿Qué?", False, 0)]),
        ("One two.\n\nThree.", [("SPEAKER_00", "One two.", False, 0), ("SPEAKER_00", "Three.", False, 0.8)]),
        ("See https://example.com", [("SPEAKER_00", "See https://example.com", False, 0)]),
    ],
)  # fmt: skip
def test_plain_text_is_read(text, expected):
    assert read_segments("a.txt", text) == expected


@pytest.mark.parametrize("text", [SRT, SRT.replace("\n", "\r\n"), "\ufeff" + SRT])
def test_srt_is_read(text):
    assert read_segments("a.srt", text) == [
        ("Ann", "Hello\nthere", False, 1),
        ("Me", "Hi", True, 3603),
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Garden plan\n\n- [ ] Buy tulip bulbs", "Garden plan"),
        ("\n## Garden plan: #2\nBuy tulip bulbs.", "Garden plan: #2"),
        ("Buy tulip bulbs.\n\n# Later\n\nWater them.", None),
        ("#garden is what I called it", None),
    ],
)
def test_notes_that_begin_with_a_heading_have_it_as_title(text, title):
    [imported] = parse_file("a.md", text.encode()).conversations
    assert imported.edits.get("title") == title


def build_srt(*cues: str) -> str:
    return "\n".join(
        f"{at}\n00:00:0{at},000 --> 00:00:0{at},900\n{cue}\n" for at, cue in enumerate(cues)
    )


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (["Ann: Hi", "+49 171 234: Yes", "Ann: So"], [("Ann", "Hi"), ("+49 171 234", "Yes"), ("Ann", "So")]),
        (["[Speaker 1]\nHi", "[Speaker 2]\nYes"], [("Speaker 1", "Hi"), ("Speaker 2", "Yes")]),
        (["[SPEAKER_00]: Hi", "[SPEAKER_01]: Yes"], [("SPEAKER_00", "Hi"), ("SPEAKER_01", "Yes")]),
        ([">> ANN: Hi", ">> BO: Yes"], [("ANN", "Hi"), ("BO", "Yes")]),
        ([">> ANN: Hi", ">> BO: Yes", ">> So", "it is"], [("ANN", "Hi"), ("BO", "Yes"), ("SPEAKER_00", "So"), ("SPEAKER_00", "it is")]),
        (["- Ann: Hi\n- Bo: Yes", "– Ann: So"], [("Ann", "Hi"), ("Bo", "Yes"), ("Ann", "So")]),
        (["[Ann] Hi", "[Bo Lee] Yes", "[Ann] So", "[music]"], [("Ann", "Hi"), ("Bo Lee", "Yes"), ("Ann", "So"), ("Ann", "[music]")]),
        (["(Ann) Hi", "(Bo) Yes", "(Ann) So"], [("Ann", "Hi"), ("Bo", "Yes"), ("Ann", "So")]),
        (["[laughs] Hi", "[sighs] Yes", "So"], [("SPEAKER_00", "[laughs] Hi"), ("SPEAKER_00", "[sighs] Yes"), ("SPEAKER_00", "So")]),
        (["Ann: Hi\nBo: Yes", "Bo: At: ten", "Ann: So"], [("Ann", "Hi"), ("Bo", "Yes"), ("Bo", "At: ten"), ("Ann", "So")]),
        (["Ann Lee\nHi", "Bo\nYes", "Ann Lee\nSo\nit is"], [("Ann Lee", "Hi"), ("Bo", "Yes"), ("Ann Lee", "So\nit is")]),
        (["{\\an8}Hi", "[music]\nHo", "Hu"], [("SPEAKER_00", "Hi"), ("SPEAKER_00", "[music]\nHo"), ("SPEAKER_00", "Hu")]),
    ],
)  # fmt: skip
def test_speakers_of_cues_are_read(cues, expected):
    found = read_segments("a.srt", build_srt(*cues))

    assert [(speaker, text) for speaker, text, _, _ in found] == expected


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ("", "Grüße.\n\nNote: at nine: ok.\n"),
        (
            "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n",
            "R3LDvMOfZS4KCk5vdGU6IGF0IG5pbmU6IG9rLgo=\n",
        ),
    ],
)
def test_a_mail_is_said_by_its_sender(fields, body):
    text = (
        "From: Ann Lee <ann@example.org>\r\nTo: bo@example.org\r\nSubject: The roof,\r\n again\r\n"
        f"Date: Tue, 3 Feb 2026 10:15:00 +0100\r\n{fields}\r\n{body}"
    )
    [draft] = read_file("mail.eml", text.encode()).conversations

    assert (draft.title, str(draft.started_at)) == ("The roof, again", "2026-02-03 10:15:00+01:00")
    assert [(turn.speaker, turn.text) for turn in draft.turns] == [
        ("Ann Lee", "Grüße."),
        ("Ann Lee", "Note: at nine: ok."),
    ]


def test_a_mail_without_text_is_refused():
    text = "From: a@b.example\nSubject: x\nDate: today\nContent-Type: text/html\n\n<p></p>\n"

    with pytest.raises(UnreadableFile, match="a mail without a text"):
        read_file("mail.eml", text.encode())


def test_cues_need_no_empty_lines_between():
    text = "0:0:3.1 --> 0:0:5.100\nAnn\nHi\n0:0:6.120 --> 0:0:8.0\nBo\nYes\n0:0:9.0 --> 0:0:9.9\nAnn\nSo\n"

    assert [(s, text, start) for s, text, _, start in read_segments("a.txt", text)] == [
        ("Ann", "Hi", 3.1),
        ("Bo", "Yes", 6.12),
        ("Ann", "So", 9),
    ]


def test_a_name_beside_the_number_of_a_cue_is_its_speaker():
    text = (
        'WEBVTT\n\n1 "Ann Lee" (123456)\n00:00:01.000 --> 00:00:03.000\nIt is broken.\n\n'
        '2 "Bo" (77)\n00:00:03.500 --> 00:00:05.000\nI order it.\n'
    )

    found = read_segments("a.vtt", text)

    assert [(who, words) for who, words, _, _ in found] == [
        ("Ann Lee", "It is broken."),
        ("Bo", "I order it."),
    ]


def test_rolling_captions_say_each_line_once():
    text = (
        "WEBVTT\n\n00:00.000 --> 00:02.000\n \nso<00:00:00.500><c> this</c>\n\n"
        "00:02.000 --> 00:02.010\nso this\n \n\n"
        "00:02.010 --> 00:04.000\nso this\nis<00:00:03.000><c> it</c>\n\n"
        "00:04.000 --> 00:04.010\nis it\n \n\n00:04.010 --> 00:06.000\nis it\n"
    )

    assert [text for _, text, _, _ in read_segments("a.vtt", text)] == ["so this", "is it", "is it"]


def test_webvtt_voices_are_read_and_notes_are_not():
    assert read_segments("a.vtt", VTT) == [
        ("Ann", "Hello you & me", False, 1),
        ("Me", "Hi", True, 1),
        ("SPEAKER_00", "no voice", False, 63),
    ]


@pytest.mark.parametrize(
    "content", [BODY, [BODY], {"conversations": [BODY]}, SEGMENTS, {**BODY, "structured": {}}]
)
def test_json_in_every_shape_is_read(content):
    assert read_segments("a.json", json.dumps(content)) == [
        ("Ann", "Hello", False, 1),
        ("me", "Hi", True, 2),
    ]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_their_marks_are_read(codec):
    assert read_segments("a.txt", "Zoë: ¿Qué?".encode(codec)) == [("Zoë", "¿Qué?", False, 0)]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b" \n", "empty"),
        ("a.txt", b"", "empty"),
        ("a.txt", b"one\x00two", "no text"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(20), "a picture"),
        ("a.txt", b"ID3\x03" + bytes(20), "sound"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,500\n\n", "no cues"),
        ("a.json", b"{", "broken at line 1"),
        ("a.json", b"[]", "neither"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b'{"transcript_segments": [{"speaker": "Ann"}]}', "nobody says"),
        ("a.json", json.dumps([{"text": "a"}] * 20_001).encode(), "too long"),
        ("a.pdf", b"%PDF-1.7\n", "its PDF is damaged"),
    ],
)
def test_an_unreadable_file_is_refused_with_its_reason(name, data, reason):
    with pytest.raises(UnreadableFile, match=reason):
        parse_file(name, data)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-03-02.txt", (2026, 3, 2)),
        ("call 2026-03-02_0915.srt", (2026, 3, 2, 9, 15)),
        ("Weekly (2026-03-02 at 10_05 GMT+1).srt", (2026, 3, 2, 10, 5)),
        ("2026-03-02T09-15 Ann.txt", (2026, 3, 2, 9, 15)),
    ],
)
def test_a_date_in_the_name_is_local(name, day):
    assert find_date(name) == datetime(*day)  # noqa: DTZ001 - a local time


@pytest.mark.parametrize("name", ["a.txt", "2026-13-02.txt", "12026-03-02.txt"])
def test_a_name_without_a_valid_date_has_no_date(name):
    assert find_date(name) is None


def test_the_start_comes_from_the_json_else_the_name_else_the_file_age():
    def read_start(name, content):
        [imported] = parse_file(name, json.dumps(content).encode()).conversations
        return imported.conversation.started_at

    assert read_start("2025-05-05.json", BODY) == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read_start("2025-05-05.json", SEGMENTS) == datetime(2025, 5, 5).astimezone()
    assert read_start("a.json", SEGMENTS) == MODIFIED


def test_an_id_survives_a_copy_and_changes_with_the_text():
    def read_id(text, modified=MODIFIED):
        return parse_file("a.txt", text, modified=modified).conversations[0].conversation.id

    assert read_id(b"Ann: Hello") == read_id(b"Ann: Hello", datetime(2027, 1, 1, tzinfo=UTC))
    assert read_id(b"Ann: Hello") != read_id(b"Ann: Hullo")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["text", "start", "id", "started_at", "transcript_segments"]), inner
    ),
).map(json.dumps)  # fmt: skip
TEXT = st.text() | st.lists(st.sampled_from([*SRT, *VTT.splitlines(), "\n", "Ann: "])).map("".join)


@given(
    suffix=st.sampled_from([".txt", ".srt", ".vtt", ".json", ".zip", ""]),
    data=st.binary() | (TEXT | JSON).map(lambda t: t.encode()),
)
def test_every_file_is_read_or_refused_with_a_reason(suffix, data):
    for file in parse_files(f"a{suffix}", data, modified=MODIFIED):
        conversations = file.content.conversations if file.content else ()
        assert file.reason or file.content
        assert all(each.conversation.transcript_segments for each in conversations)


@pytest.mark.parametrize(
    ("text", "is_recognised"),
    [
        ("Move the table. The lamp is too short.\n\nAsk the carpenter.", True),
        ("# Garden plan\n\n- tulips\n- a new spade\n", True),
        ("1. Call the bank\n2. Buy stamps\n", True),
        ("我们把桌子移到窗边。\n灯太短了。", True),
        ("هل يصل العمال غداً؟\nنعم، في الثامنة.", True),
        ("This line is broken\nin the middle, as mails\nare, and ends here.\n", True),
        ("a;b;c\n1;2;3\n4;5;6\n", False),
        ("host: db.example\nport: 5432\nuser: app\nname: shop\n", False),
        ("int main() {\n  return 0;\n}\n", False),
        ("<html>\n<body>\n<p>Hello.</p>\n</body>\n</html>\n", False),
        ("milk\neggs\nbread\nbutter\n", False),
        ("[10:00:00] started pid=1\n[10:00:01] disk at 91%\n[10:00:09] stopped\n", False),
        ("2026-01-02T10:00:00Z INFO started pid=1\n2026-01-02T10:00:01Z WARN slow\n", False),
    ],
)
def test_text_in_no_known_form_is_told_from_notes_u1(text, is_recognised):
    [file] = parse_files("a.txt", text.encode(), modified=MODIFIED)

    assert file.is_recognised == is_recognised
    assert file.content is not None
    assert len(file.content.conversations) == 1


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "captions.sbv",
            "0:00:00.599,0:00:04.160\n>> ANN: We start.\n\n0:00:04.160,0:00:06.770\n>> BO: Good.\n",
            [("ANN", "We start.", False, 0.599), ("BO", "Good.", False, 4.16)],
        ),
        (
            "film.ass",
            (
                "[Script Info]\nTitle: Film\n\n[Events]\nFormat: Layer, Start, End, Name, Text\n"
                "Dialogue: 0,0:00:01.00,0:00:03.00,Ann,Come in, please.\n"
                "Dialogue: 0,0:00:04.00,0:00:05.00,Bo,{\\i1}Thanks{\\i0}\\Nall\n"
            ),
            [("Ann", "Come in, please.", False, 1), ("Bo", "Thanks\nall", False, 4)],
        ),
        (
            "notes.rtf",
            (
                r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\info{\title Keys}}\pard "
                r"Ann: Der Schl\'fcssel liegt da.\par Bo: F\u252?r \u8364? 5.\par Ann: Gern.\par}"
            ),
            [
                ("Ann", "Der Schlüssel liegt da.", False, 0),
                ("Bo", "Für € 5.", False, 1.6),
                ("Ann", "Gern.", False, 2.8),
            ],
        ),
    ],
)
def test_captions_and_rich_text_are_read(name, text, expected):
    assert read_segments(name, text) == expected


def test_rich_text_without_words_is_refused():
    with pytest.raises(UnreadableFile, match="it is a document without a text"):
        read_file("a.rtf", rb"{\rtf1\ansi }")


def test_a_mail_says_what_its_sender_wrote_and_counts_what_it_quotes():
    mail = (
        "From: Bo <bo@x.example>\nDate: Mon, 2 Feb 2026 02:40:00 +0000\nSubject: Keys\n"
        "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
        "They are at home.\n\nOn Monday Ann wrote:\n\n> Where are the keys of the shed?\n"
        "--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf\n"
        "Content-Transfer-Encoding: base64\n\nJVBERi0=\n--b--\n"
    )

    contents = read_file("a.eml", mail.encode())

    assert [turn.text for turn in contents.conversations[0].turns] == ["They are at home."]
    assert [(left.title, left.words) for left in contents.left_out] == [
        ("On Monday Ann wrote:", 11),
        ("a.pdf", 0),
    ]


def test_what_a_page_of_a_mail_quotes_is_counted_and_an_encoded_name_in_quotes_is_read():
    mail = (
        'From: "=?utf-8?Q?M=C3=BCller?= Bo" <bo@x.example>\nDate: Mon, 2 Feb 2026 02:40:00 +0000\n'
        "Subject: Keys\nContent-Type: text/html; charset=utf-8\n\n<div>They are here.</div>"
        '<div class="gmail_quote"><div>On Monday Ann wrote:</div><blockquote type="cite">Where are the keys?'
        "</blockquote></div>\n"
    )

    contents = read_file("a.eml", mail.encode())

    [draft] = contents.conversations
    assert [(turn.speaker, turn.text) for turn in draft.turns] == [("Müller Bo", "They are here.")]
    assert [left.words for left in contents.left_out] == [8]


def test_a_mail_that_only_quotes_is_what_it_quotes():
    mail = "From: bo@x.example\nDate: Mon, 2 Feb 2026 02:40:00 +0000\nSubject: Fwd\n\n> The keys.\n"

    [draft] = read_file("a.eml", mail.encode()).conversations

    assert [turn.text for turn in draft.turns] == ["> The keys."]


def test_a_second_mark_of_the_order_of_bytes_is_no_letter():
    assert read_segments("a.txt", "\ufeffAnn: Hello\nBo: Hi".encode("utf-16"))[0][0] == "Ann"


def test_a_conversation_of_an_export_without_words_is_named():
    silent = {"id": "two", "structured": {"title": "Rain"}, "transcript_segments": []}

    contents = read_file("a.json", json.dumps([BODY, silent]).encode())

    assert len(contents.conversations) == 1
    assert [(left.title, left.reason) for left in contents.left_out] == [
        ("Rain", "nobody says anything in it")
    ]
