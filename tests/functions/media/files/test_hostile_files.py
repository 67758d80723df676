"""Hostile and broken files: each is rejected in words, and costs no other file anything (P21)."""

import pytest

from shared.library.uploads import store_file
from tests.fixtures.documents import add_member, build_docx, build_pdf, build_xlsx, protect_pdf
from tests.fixtures.pictures import build_jpeg_bomb, build_picture, build_png_bomb
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.functions.media.files.world import FILES, build_deps, open_files, send

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
ENTITIES = (
    b"""<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">%s]><a>&z;</a>"""
    % b"".join(
        b'<!ENTITY %c "%s">' % (name, b"&%c;" % (name - 1) * 10)
        for name in range(ord("b"), ord("z") + 1)
    )
)
DAMAGED = "it is damaged, or not what it says it is"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty_xlsx", build_xlsx({"Empty": []}), None),
        ("cut_pdf", build_pdf("Keel")[:60], "its PDF is damaged"),
        ("secret_pdf", protect_pdf(build_pdf("Keel")), "it is protected by a password"),
        ("scan_pdf", build_pdf(""), "no text is in it, only pictures of pages. Send the pages as"),
        ("cut_docx", build_docx("Keel")[:900], "its file is damaged"),
        (
            "bomb_docx",
            add_member(build_docx("Keel"), "x.xml", bytes(90_000_000)),
            "it unpacks to far",
        ),
        (
            "macro_docx",
            add_member(build_docx("K"), "word/vbaProject.bin", b"x"),
            "it holds macros.",
        ),
        ("many_zip", add_member(b"", "a.txt", b"Keel"), "it is an archive. Send the files in it"),
        ("old_doc", OLD_OFFICE, "it has an office format that is not read. Save it as .docx"),
        (
            "plan_odt",
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.text",
            "it has an office format that is not read. Save it as .docx",
        ),
        (
            "secret_docx",
            OLD_OFFICE + "EncryptedPackage".encode("utf-16-le"),
            "it is protected by a password",
        ),
        ("huge_png", build_png_bomb(30_000, 30_000), "it has 30,000 × 30,000 pixels"),
        ("slow_jpg", build_jpeg_bomb(200), "it is a JPEG of more than 100 scans"),
        ("cut_png", build_picture()[:70], DAMAGED),
        ("noise_bin", bytes(range(256)) * 8, "it is no text"),
        ("sound_mp3", b"ID3" + bytes(500), "it is sound."),
        ("xml_txt", ENTITIES, None),
    ],
)
async def test_a_bad_file_is_rejected_in_words_and_others_are_read_p21(
    world: ProcessingFixture, name: str, content: bytes, reason: str | None
) -> None:
    async with open_files(build_deps(world)) as alice:
        bad, good = await send(alice, **{name: content, "good_txt": b"Keel"})

    assert good["status"] == "ready"
    if reason is None:  # a text like any other
        assert bad["status"] == "ready"
    else:
        assert bad["status"] == "rejected"
        assert bad["reason"].startswith(f"“{name.replace('_', '.')}” cannot be used: {reason}")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\ann\\keel.txt", "keel.txt"),
        ("keel\u202etxt.exe\x00.txt", "keeltxt.exe.txt"),
        ("/", "file"),
    ],
)
async def test_a_name_loses_its_path_and_what_nobody_sees_p21(
    world: ProcessingFixture, sent: str, kept: str
) -> None:
    async with open_files(build_deps(world)) as alice:
        upload = await store_file(
            build_deps(world), ALICE, b"The keel is of oak.", name=sent, media_type=""
        )
        [file] = (await alice.post(FILES, json={"uploads": [upload.id]})).json()

    assert (file["name"], file["status"]) == (kept, "ready")
