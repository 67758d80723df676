"""Senseless values in files: each file is refused or kept for itself, whatever stands in it."""

import base64
import json
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from httpx import AsyncClient
from hypothesis import given
from hypothesis import strategies as st

from functions.imports.plan.plan import MAX_LISTED_IN_ALL, SourceFile, plan_file
from functions.imports.plan.start_import import end_import
from functions.library.routes import LIBRARY_ROUTES
from shared.library.deps import LibraryDeps
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.imports import (
    CHAT,
    CHAT_NAME,
    IMPORTS,
    build_zip,
    deliver_import_tasks,
    post_files,
)
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SEGMENT = {"text": "Hello.", "speaker": "Ann", "start": 0, "end": 1}
MESSAGE = {"type": "message", "from": "Ann", "text": "Hello."}
DAY = "2024-01-01T00:00:00"


@pytest.fixture
def deps(world: ProcessingFixture) -> LibraryDeps:
    return build_library_deps(world)


@pytest.fixture
async def alice(deps: LibraryDeps) -> AsyncIterator[AsyncClient]:
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as client:
        yield client


def read(name: str, text: str) -> list[dict[str, Any]]:
    plan = plan_file(SourceFile(name=name, data=text.encode(), modified=NOW), "Asia/Tokyo", NOW)
    return list(plan.entries)


def build_talk(**fields: object) -> str:
    return json.dumps({"transcript_segments": [{**SEGMENT, **fields}]})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", build_talk(end=1e300)),
        ("a.json", build_talk(end=float("nan"))),
        ("a.json", build_talk(start=float("inf"), end=None)),
        ("a.json", build_talk(start=10**400)),
        ("a.json", build_talk(start=7).replace("7", "7" * 5_000)),
        ("a.json", json.dumps({"started_at": "9999-12-31T23:59", "transcript_segments": [SEGMENT]})),
        ("a.json", json.dumps({"messages": [{**MESSAGE, "date": d} for d in (DAY, f"{DAY}Z")]})),
        ("a.txt", "12/31/9999, 99:59 - Ann: Hi\n" * 2),
        ("a.txt", f"[Ann](#startMs={'9' * 15}&endMs={'9' * 15}): Hi\n" * 2),
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_times_outside_of_the_calendar_refuse_their_file(name, text):
    [entry] = read(name, text)

    assert entry["status"] == "refused"
    assert entry["reason"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("GMT99999999-999999.txt", "Ann: Hello.\nBo: Hi.\n"),
        ("a.json", json.dumps({"action_items": [{"description": ["a list"]}]})),
        (
            "a.json",
            json.dumps(
                {
                    "personal_information": {"first_name": 5},
                    "chats": {"list": [{"messages": [{**MESSAGE, "date": DAY}]}]},
                }
            ),
        ),
    ],
    ids=lambda text: text[:30],
)
def test_a_value_of_another_type_does_not_cost_the_file(name, text):
    [entry] = read(name, text)

    assert entry["status"] == "kept"


JSON_NAMES = st.sampled_from(
    [
        "conversations", "transcript_segments", "structured", "action_items", "memories", "people",
        "messages", "segments", "text", "speaker", "start", "end", "date", "date_unixtime", "id",
        "started_at", "finished_at", "title", "description", "type", "language", "name", "chats",
    ]
)  # fmt: skip
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=4)
    | st.sampled_from([DAY, f"{DAY}Z", "9999-12-31T23:59:59-11:00", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(JSON_NAMES, inner, max_size=6),
    max_leaves=25,
)


@given(content=st.dictionaries(JSON_NAMES, JSON_VALUES, max_size=6), turn=JSON_VALUES)
def test_every_json_file_is_kept_or_refused_with_a_reason(content, turn):
    holders = [{"transcript_segments": [SEGMENT, turn]}, turn]
    text = json.dumps({"conversations": holders, **content})

    [entry] = read("a.json", text)

    assert entry["status"] == "kept" or entry["reason"]
    assert json.dumps(entry, ensure_ascii=False).encode()


def test_a_deeply_nested_file_of_an_archive_does_not_cost_the_others():
    message = '"sender_name": "Ann", "timestamp_ms": 1770000000000, "content": "Hello."'
    nested = f'[{{{message}, "more": {"[" * 700}{"]" * 700}}}]'
    archive = build_zip({"a.json": nested, CHAT_NAME: CHAT})

    plan = plan_file(SourceFile(name="a.zip", data=archive, modified=NOW), "Asia/Tokyo", NOW)

    assert [entry["status"] for entry in plan.entries] == ["refused", "kept"]


async def test_a_senseless_file_does_not_cost_the_others_of_a_request(alice):
    imported = await post_files(alice, {"a.json": build_talk(end=1e300), CHAT_NAME: CHAT})

    assert [file["status"] for file in imported["files"]] == ["refused", "kept"]


async def test_half_a_character_in_a_title_can_be_told(alice):
    talk = {"transcript_segments": [SEGMENT], "structured": {"title": "a\ud800b"}}

    imported = await post_files(alice, {"a.json": json.dumps([talk])}, preview="true")

    [conversation] = imported["files"][0]["conversations"]
    assert conversation["title"] == "a?b"


async def test_a_title_of_a_megabyte_is_cut_and_the_conversation_kept(world, deps, alice):
    talk = {"transcript_segments": [SEGMENT], "structured": {"title": "a" * 2_000_000}}
    started = await post_files(alice, {"a.json": json.dumps([talk])})
    await deliver_import_tasks(world, deps)

    [known] = started["files"][0]["conversations"]
    kept = (await alice.get(f"/v1/conversations/{known['id']}")).json()
    assert (known["title"], kept["structured"]["title"]) == ("a" * 200, "a" * 200)


def test_many_conversations_of_an_archive_are_counted_and_not_all_listed():
    talks = json.dumps([{"transcript_segments": [SEGMENT]}] * 150)
    archive = build_zip({f"{n}.json": talks for n in range(20)})

    plan = plan_file(SourceFile(name="a.zip", data=archive, modified=NOW), "UTC", NOW)

    assert sum(entry["conversation_count"] for entry in plan.entries) == 3_000
    assert sum(len(entry["conversations"]) for entry in plan.entries) == MAX_LISTED_IN_ALL


async def test_many_conversations_of_a_form_are_counted_and_not_all_listed(alice):
    talks = json.dumps([{"transcript_segments": [SEGMENT]}] * 150)

    imported = await post_files(alice, {f"{n}.json": talks for n in range(20)}, preview="true")

    assert imported["conversation_count"] == 3_000
    assert sum(len(file["conversations"]) for file in imported["files"]) == MAX_LISTED_IN_ALL


async def test_an_import_that_was_never_read_ends_with_its_uploads(deps, alice):
    ids = [await upload(alice, CHAT_NAME, CHAT.encode())]
    started = (await alice.post(IMPORTS, json={"uploads": ids})).json()

    await end_import(deps, ALICE, started["id"])

    assert (await alice.get(f"{IMPORTS}/{started['id']}")).status_code == 404


async def test_an_upload_that_holds_too_much_is_refused_once_and_for_all(world, deps, alice):
    noise = base64.b64encode(random.Random(0).randbytes(9_000_000)).decode()  # noqa: S311 - noise, no secret
    content = json.dumps({"memories": [{"content": noise}]}).encode()
    ids = [await upload(alice, "a.json", content), await upload(alice, CHAT_NAME, CHAT.encode())]
    started = (await alice.post(IMPORTS, json={"uploads": ids})).json()
    await deliver_import_tasks(world, deps)

    ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()
    assert ended["status"] == "completed"
    assert [file["status"] for file in ended["files"]] == ["refused", "kept"]
    assert "import them in parts" in ended["files"][0]["reason"]


async def upload(alice: AsyncClient, name: str, content: bytes) -> str:
    encoded = base64.b64encode(name.encode()).decode()
    headers = {"Upload-Length": str(len(content)), "Upload-Metadata": f"filename {encoded}"}
    location = (await alice.post("/v1/uploads", headers=headers)).headers["Location"]
    media_type = {"Content-Type": "application/offset+octet-stream"}
    for offset in range(0, len(content), 8_000_000):
        part = content[offset : offset + 8_000_000]
        headers = {"Upload-Offset": str(offset), **media_type}
        answer = await alice.patch(location, content=part, headers=headers)
        assert answer.status_code == 204, answer.text
    return location.rpartition("/")[2]
