"""Bad files: hostile and broken ones are refused by name, within limits, and cost no others (U1)."""

import io
import json
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from httpx import AsyncClient

from functions.imports.plan.plan import SourceFile, plan_file
from functions.imports.plan.plan_files import find_limits, plan_files
from functions.library.routes import LIBRARY_ROUTES
from shared.resilience.isolation import Limits
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.imports import CHAT, CHAT_NAME, IMPORTS, build_zip, post_files
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
TALK = "Ann: Hello.\nBo: Hi.\n"


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    deps = build_library_deps(world)
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as client:
        yield client


def read(name: str, data: str | bytes) -> list[tuple[str, str, str]]:
    """Return name, status and reason of each file."""
    content = data if isinstance(data, bytes) else data.encode()
    plan = plan_file(SourceFile(name=name, data=content, modified=NOW), "UTC", NOW)
    return [(entry["name"], entry["status"], entry["reason"]) for entry in plan.entries]


def build_locked_zip() -> bytes:
    archive = bytearray(build_zip({"a.txt": TALK}))
    archive[archive.index(b"PK\x01\x02") + 8] |= 1  # the flag of an encrypted file
    return bytes(archive)


def build_overlapping_zip() -> bytes:
    """Return a zip whose second file begins within the first."""
    archive = bytearray(build_zip({"a.txt": "x" * 1_000, "b.txt": TALK}))
    second = archive.rindex(b"PK\x01\x02")
    archive[second + 42 : second + 46] = (0).to_bytes(4, "little")
    return bytes(archive)


def build_nested_zip() -> bytes:
    archive = build_zip({"a.txt": TALK})
    for _ in range(20):
        archive = build_zip({"inner.zip": archive})
    return archive


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.zip", build_locked_zip(), "protected by a password"),
        ("a.zip", build_zip({"a.txt": bytes(30_000_000)}), "unpacks to far more than it is"),
        ("a.zip", build_nested_zip(), "an archive in an archive is not read"),
        ("a.zip", build_zip({"a.txt": TALK})[:40], "its zip is broken"),
        ("a.zip", build_zip({}), "it is an empty archive"),
        ("a.txt", "", "it is empty"),
        ("a.txt", " \n\n", "it is empty"),
        ("a.txt", "\x00\x01\x02 text", "it is no text"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(20), "it is a picture, and words in pictures are not read"),
        ("a.pdf", b"%PDF-1.7\n", "its PDF is damaged"),
        ("a.json", '{"conversations": [', "its JSON is broken at line 1, column 20"),
        ("a.json", "[" * 100_000, "its JSON is nested too deeply"),
        ("a.json", '{"price": 3}', "it holds neither conversations nor segments"),
        ("a.srt", "no cue", "it has no cues with words"),
        ("a.txt", "x" * 20_000_000, "too long: more than 4,000,000 characters"),
        ("a.txt", "[2099-01-01, 10:00:00] Ann: Hi\n" * 2, "its date lies in the future"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_a_bad_file_is_refused_with_its_reason_u1(name, data, reason):
    [(_, status, given), *others] = read(name, data)

    assert (status, others) == ("refused", [])
    assert reason in given


def test_files_that_overlap_in_a_zip_are_refused():
    entries = read("a.zip", build_overlapping_zip())

    assert entries[1][1:] == ("refused", "it is damaged and cannot be unpacked")


def test_ten_thousand_tiny_files_are_read_one_by_one():
    archive = build_zip({f"{n}.txt": f"Ann: Hello {n}.\nBo: Hi.\n" for n in range(10_000)})

    entries = read("many.zip", archive)

    assert len(entries) == 10_000
    assert {status for _, status, _ in entries} == {"kept"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "../../etc/passwd"),
        ("a\x00b\x1b[31m\u202ec.txt", "a\ufffdb\ufffd[31m\ufffdc.txt"),
        ("x" * 5_000 + ".txt", "x" * 196 + ".txt"),
        ("", "file"),
    ],
)
def test_a_name_is_shown_and_leads_nowhere(name, shown):
    [(given, status, _)] = read(name, TALK)

    assert (given, status) == (shown, "kept")


def test_names_in_a_zip_lead_nowhere():
    [(name, status, _)] = read("a.zip", build_zip({"../../x\x1b.txt": TALK}))

    assert (name, status) == ("a.zip/../../x\ufffd.txt", "kept")


def test_a_conversation_of_the_future_does_not_cost_the_others():
    talk = {"transcript_segments": [{"text": "Hello.", "speaker": "Ann"}]}
    text = json.dumps([{**talk, "started_at": f"{year}-01-01T10:00:00Z"} for year in (2025, 2099)])

    plan = plan_file(SourceFile(name="a.json", data=text.encode(), modified=NOW), "UTC", NOW)

    [entry] = plan.entries
    assert entry["conversation_count"] == 1
    assert entry["left_out"] == [
        {"title": "Hello.", "reason": "its date lies in the future", "words": 0}
    ]


def test_a_long_line_is_divided_between_words():
    text = "Ann: " + "word " * 30_000 + "\nBo: Hi.\n"

    plan = plan_file(SourceFile(name="a.txt", data=text.encode(), modified=NOW), "UTC", NOW)

    [conversation] = [json.loads(item) for item in plan.items[0]]
    segments = conversation["transcript_segments"]
    assert [s["speaker"] for s in segments] == ["Ann"] * (len(segments) - 1) + ["Bo"]
    assert all(len(s["text"]) <= 20_000 for s in segments)
    assert " ".join(s["text"] for s in segments[:-1]).split() == ["word"] * 30_000


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(timeout_s=0), "reading it takes longer than 0 seconds"),
        (Limits(memory_bytes=300_000_000), "reading it takes more memory than there is"),
        (Limits(cpu_s=0.01), "reading it takes more time or memory than it may"),
    ],
)
async def test_a_reader_has_bounded_time_and_memory(world: ProcessingFixture, limits, reason):
    numbers = b"[" + b",".join(b"%d" % n for n in range(4_500_000)) + b"]"
    source = SourceFile(name="a.json", data=numbers, modified=NOW)

    [plan] = await plan_files(build_library_deps(world), ALICE, [source], zone="UTC", limits=limits)

    assert [entry["reason"] for entry in plan.entries] == [reason]


@pytest.mark.parametrize(
    ("files", "is_counted"),
    [
        ([TALK.encode()] * 3, False),
        ([b"<html><p>" + TALK.encode()], True),
        ([b"\xef\xbb\xbf <html><p>Hi"], True),
        (
            [
                b"From: a@example.com\nDate: Tue, 1 Dec 2026 10:00:00 +0000\nSubject: Hi\nContent-Type: text/html\n\n<p>Hi"
            ],
            True,
        ),
        ([b"{\\rtf1 Hi}"], True),
        (["Grüße aus Köln".encode("latin-1")], True),
        ([b"hello " * 7_000] * 3, True),
        ([b"hello " * 12_000], True),
    ],
    ids=[
        "texts",
        "page",
        "page behind a mark",
        "page in a mail",
        "rich text",
        "old encoding",
        "together",
        "large",
    ],
)
async def test_what_a_library_reads_or_is_much_is_read_in_a_process_and_counted_g7(
    world: ProcessingFixture, files: list[bytes], *, is_counted: bool
):
    deps = build_library_deps(world)
    sources = [SourceFile(name=f"{n}.txt", data=data, modified=NOW) for n, data in enumerate(files)]

    plans = await plan_files(deps, ALICE, sources, zone="UTC")

    used = await deps.quotas.load_usage(ALICE, NOW)
    assert len(plans) == len(files)
    assert (used["file_seconds"] > 0) is is_counted


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (b"%PDF-" + bytes(1_000), 10),
        (bytes(20_971_520), 30),
        (bytes(104_857_600), 60),
        (b"PK\x03\x04" + bytes(9), 60),
    ],
    ids=["small", "large", "largest", "archive"],
)
def test_a_file_is_read_for_as_long_as_its_bytes_allow_g7(data: bytes, seconds: int):
    assert round(find_limits(data).cpu_s) == seconds


async def test_a_bad_file_does_not_cost_the_others_of_a_request(alice):
    large = io.BytesIO()
    with zipfile.ZipFile(large, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.txt", bytes(30_000_000))
    files: dict[str, str | bytes] = {
        "bomb.zip": large.getvalue(),
        CHAT_NAME: CHAT,
        "locked.zip": build_locked_zip(),
        "line.txt": "x" * 20_000_000,
    }

    imported = await post_files(alice, files, preview="true")

    statuses = {file["name"]: file["status"] for file in imported["files"]}
    assert statuses == {
        "bomb.zip": "refused", CHAT_NAME: "kept", "locked.zip": "refused", "line.txt": "refused",
    }  # fmt: skip


async def test_a_form_of_two_gigabytes_is_refused_by_its_declared_length(alice):
    headers = {"Content-Length": "2147483648", "Content-Type": "multipart/form-data; boundary=b"}

    async def send() -> Any:
        yield b"--b"

    answer = await alice.post(IMPORTS, content=send(), headers=headers)

    assert answer.status_code == 413


async def test_more_files_than_a_form_may_have_are_refused(alice):
    files = [("files", (f"{n}.txt", b"x")) for n in range(501)]

    answer = await alice.post(IMPORTS, files=files)

    assert (answer.status_code, "500" in answer.json()["detail"]) == (422, True)
