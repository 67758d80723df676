"""P31: zips are read file by file, within limits."""

import io
import json
import zipfile

import pytest

from functions.imports.formats.read_file import read_parts
from shared.library.decoding import UnreadableFile
from tests.functions.imports.contents import read_file

CHAT = "27.01.26, 17:03 - Ann: hello\n27.01.26, 17:04 - Bo: hi\n"


def build_zip(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_chat_is_called_as_its_archive():
    [draft] = read_file("WhatsApp Chat - Flat 12.zip", build_zip({"_chat.txt": CHAT})).conversations

    assert draft.title == "Flat 12"


def build_document(*paragraphs: str) -> bytes:
    body = "".join(f'<w:p><w:r><w:t xml:space="preserve">{p}</w:t></w:r></w:p>' for p in paragraphs)
    xml = f'<?xml version="1.0"?><w:document xmlns:w="x"><w:body>{body}</w:body></w:document>'
    return build_zip({"[Content_Types].xml": "<Types/>", "word/document.xml": xml})


def test_a_word_document_is_read_as_its_text():
    document = build_document(
        "Weekly",
        "",
        "Roth, Mia   0:03",
        "Good &amp;</w:t><w:br/><w:t> early.",
        "Tom   0:09",
        "Yes.",
    )

    [draft] = read_file("Weekly.docx", document).conversations

    assert draft.title == "Weekly"
    assert [(turn.speaker, turn.start, turn.text) for turn in draft.turns] == [
        ("Roth, Mia", 3, "Good &\nearly."),
        ("Tom", 9, "Yes."),
    ]


def test_an_archive_may_hold_documents():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(
            "a.docx", build_document(*(f"Sentence {at} of many." for at in range(5_000)))
        )
        archive.writestr("_chat.txt", CHAT)

    parts = read_parts("a.zip", buffer.getvalue())

    assert [len(part.contents.conversations[0].turns) for part in parts if part.contents] == [
        5_000,
        2,
    ]


def test_a_picture_beside_a_chat_does_not_cost_the_chat():
    files: dict[str, str | bytes] = {
        "_chat.txt": CHAT,
        "photo.png": b"\x89PNG\r\n\x1a\n" + bytes(20),
        "__MACOSX/x": "x",
    }

    assert len(read_file("a.zip", build_zip(files)).conversations) == 1


def test_an_export_brings_its_records_along():
    conversation = {
        "id": "fence",
        "started_at": "2026-01-12T16:30:00Z",
        "structured": {"title": "Fence", "action_items": [{"description": "Measure it"}]},
        "transcript_segments": [{"text": "The fence is old.", "speaker": "Me"}],
    }
    files: dict[str, str | bytes] = {
        "profile.json": "{}",
        "conversations/fence.json": json.dumps(conversation),
        "memories.json": json.dumps([{"content": "I rent an allotment"}]),
        "action_items.json": json.dumps([{"description": "Paint the gate"}]),
        "people.json": json.dumps([{"name": "Hilde"}]),
    }

    contents = read_file("keepsake.zip", build_zip(files))

    assert [draft.title for draft in contents.conversations] == ["Fence"]
    assert [memory["content"] for memory in contents.memories] == ["I rent an allotment"]
    assert [task["description"] for task in contents.action_items] == ["Paint the gate"]
    assert [person["name"] for person in contents.people] == ["Hilde"]


def test_an_export_of_more_conversations_than_an_account_has_in_years_is_one_entry():
    conversation = {"id": "talk", "transcript_segments": [{"text": "Yes."}], "record": {}}
    files: dict[str, str | bytes] = {"profile.json": "{}"}
    files |= {f"conversations/{n}.json": json.dumps(conversation) for n in range(20_001)}
    files["conversations/broken.json"] = "{"

    parts = read_parts("keepsake.zip", build_zip(files))

    assert [(part.name, part.contents is None) for part in parts] == [
        ("keepsake.zip/conversations", False),
        ("keepsake.zip/conversations/broken.json", True),
    ]
    assert parts[0].contents is not None
    assert len(parts[0].contents.restored) == 20_001


def test_a_file_that_unpacks_to_far_more_is_refused():
    with pytest.raises(UnreadableFile, match="far more"):
        read_file("bomb.zip", build_zip({"a.txt": bytes(30_000_000)}))


def test_an_archive_with_a_password_is_refused():
    archive = bytearray(build_zip({"a.txt": "Ann: hello"}))
    central = archive.index(b"PK\x01\x02")
    archive[central + 8] |= 1  # the flag of an encrypted file

    with pytest.raises(UnreadableFile, match="password"):
        read_file("locked.zip", bytes(archive))


@pytest.mark.parametrize("cut", [30, 60])
def test_a_broken_archive_is_refused(cut):
    with pytest.raises(UnreadableFile, match="broken"):
        read_file("a.zip", build_zip({"a.txt": CHAT})[:cut])


def test_an_archive_without_a_text_names_the_first_reasons():
    with pytest.raises(UnreadableFile, match=r"a\.png: it is a picture"):
        read_file("a.zip", build_zip({"a.png": b"\x89PNG\r\n\x1a\n" + bytes(20)}))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_is_named_and_does_not_cost_the_others(method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("a.txt", CHAT * 1_000)
        archive.writestr("b.txt", CHAT)
    damaged = bytearray(buffer.getvalue())
    damaged[45:53] = b"\xff" * 8

    [broken, whole] = read_parts("a.zip", bytes(damaged))

    assert (broken.name, str(broken.refusal)) == (
        "a.zip/a.txt",
        "it is damaged and cannot be unpacked",
    )
    assert whole.contents is not None


@pytest.mark.parametrize("content", ["{no json", "[" * 100_000, "1} {"])
def test_a_broken_list_of_an_export_does_not_cost_the_rest(content):
    archive = build_zip({"memories.json": content, "chat.txt": CHAT})

    assert len(read_file("a.zip", archive).conversations) == 1


@pytest.mark.parametrize("name", ["memories", "goals"])
def test_half_a_character_in_a_list_of_an_export_becomes_a_question_mark(name):
    archive = build_zip({f"{name}.json": '[{"id": "a", "title": "a\\ud800b"}]'})

    assert repr(read_file("a.zip", archive)).count("a?b") == 1


def test_archives_in_archives_are_not_read():
    archive = build_zip({"chat.txt": CHAT})
    for _ in range(400):
        archive = build_zip({"inner.zip": archive, "chat.txt": CHAT})

    assert len(read_file("a.zip", archive).conversations) == 1
