"""Imports over HTTP: what became of each file, decisions, progress and limits (U1)."""

import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import anyio
import pytest
from anyio import lowlevel
from httpx import AsyncClient

from functions.library.routes import LIBRARY_ROUTES
from shared.domain.ids import UserId
from shared.domain.store.documents import Update
from shared.library.deps import LibraryDeps
from shared.library.isolated_reading import TURN_AGAIN
from shared.resilience.isolation import Limits, run_isolated
from tests.fakes import ScriptedTranscriber
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.held_reading import hold_reading
from tests.fixtures.imports import (
    CHAT,
    CHAT_NAME,
    IMPORTS,
    NOTES,
    TABLE,
    build_zip,
    deliver_import_tasks,
    post_files,
)
from tests.fixtures.library import CONVERSATIONS, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
MP3 = b"ID3\x03" + bytes(40)


@pytest.fixture
def deps(world: ProcessingFixture) -> LibraryDeps:
    return build_library_deps(world)


@pytest.fixture
async def alice(deps: LibraryDeps) -> AsyncIterator[AsyncClient]:
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as client:
        yield client


async def list_titles(alice: AsyncClient) -> list[str]:
    listed = (await alice.get(CONVERSATIONS, params={"limit": 100})).json()
    return sorted(conversation["structured"]["title"] for conversation in listed)


async def test_the_answer_says_what_became_of_each_file_u1(world, deps, alice):
    imported = await post_files(
        alice, {CHAT_NAME: CHAT, "a.png": PNG, "broken.json": '{"a": [', "t.csv": TABLE}
    )
    await deliver_import_tasks(world, deps)

    chat, picture, broken, table = imported["files"]
    [conversation] = chat["conversations"]
    assert (chat["status"], conversation["title"], conversation["segments"]) == (
        "kept",
        "Hikers",
        3,
    )
    assert conversation["speakers"] == ["Ann", "Bo"]
    assert conversation["started_at"].startswith("2026-01-27T17:03")
    assert (picture["status"], picture["reason"]) == (
        "refused",
        "it is a picture, and words in pictures are not read. Copy them into a text",
    )
    assert broken["status"] == "refused"
    assert "its JSON is broken at line 1" in broken["reason"]
    assert table["status"] == "question"
    assert await list_titles(alice) == ["Hikers"]


async def test_the_progress_is_the_number_of_kept_conversations(world, deps, alice):
    started = await post_files(alice, {f"{n}.txt": f"Ann: Hello {n}\nBo: Hi\n" for n in range(60)})
    await deliver_import_tasks(world, deps)
    ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()

    assert (started["status"], started["kept_count"], started["conversation_count"]) == (
        "keeping",
        0,
        60,
    )
    assert (ended["status"], ended["kept_count"]) == ("completed", 60)
    assert len(await list_titles(alice)) == 60


async def test_a_preview_keeps_nothing_until_its_owner_says_so(world, deps, alice):
    preview = await post_files(alice, {CHAT_NAME: CHAT, "t.csv": TABLE}, preview="true")
    await deliver_import_tasks(world, deps)
    before = await list_titles(alice)
    kept = await alice.post(f"{IMPORTS}/{preview['id']}/keep", json={"texts": [1], "me": "Ann"})
    await deliver_import_tasks(world, deps)

    assert (preview["status"], before, kept.status_code) == ("preview", [], 202)
    assert len(await list_titles(alice)) == 2
    [chat] = [
        item
        for item in (await alice.get(CONVERSATIONS)).json()
        if item["structured"]["title"] == "Hikers"
    ]
    whole = (await alice.get(f"{CONVERSATIONS}/{chat['id']}")).json()
    assert [s["is_user"] for s in whole["transcript_segments"]] == [True, False, True]


async def test_a_question_may_be_answered_after_the_rest_is_kept(world, deps, alice):
    imported = await post_files(alice, {CHAT_NAME: CHAT, "t.csv": TABLE})
    await deliver_import_tasks(world, deps)
    path = f"{IMPORTS}/{imported['id']}"
    for _ in range(2):
        await alice.post(f"{path}/keep", json={"texts": [1]})
        await deliver_import_tasks(world, deps)

    ended = (await alice.get(path)).json()
    assert (ended["status"], ended["kept_count"]) == ("completed", 2)
    assert ended["files"][1]["is_kept_as_text"]
    assert len(await list_titles(alice)) == 2
    assert [name for name in world.blobs.files if "/batches/" in name] == []


@pytest.mark.parametrize("texts", [[0], [7]])
async def test_only_a_question_is_answered(alice, texts):
    imported = await post_files(alice, {CHAT_NAME: CHAT}, preview="true")

    refusal = await alice.post(f"{IMPORTS}/{imported['id']}/keep", json={"texts": texts})

    assert (refusal.status_code, refusal.json()["detail"]) == (
        422,
        f"Nothing was asked about file {texts[0]}.",
    )


async def test_speakers_are_named_until_one_of_them_is_the_owner(alice):
    first = await post_files(alice, {CHAT_NAME: CHAT})
    named = await post_files(alice, {CHAT_NAME: CHAT}, options='{"me": "Ann"}')
    later = await post_files(alice, {"b.txt": "Bo: Hello.\nAnn: Hi.\n"})

    assert first["speakers"] == [{"name": "Ann", "segments": 2}, {"name": "Bo", "segments": 1}]
    assert [answer["asks_for_me"] for answer in (first, named, later)] == [True, False, False]


async def test_a_second_import_changes_nothing_that_its_owner_changed(world, deps, alice):
    await post_files(alice, {CHAT_NAME: CHAT})
    await deliver_import_tasks(world, deps)
    [listed] = (await alice.get(CONVERSATIONS)).json()
    path = f"{CONVERSATIONS}/{listed['id']}"
    await alice.patch(path, json={"title": "The long walk"})
    again = await post_files(alice, {CHAT_NAME: CHAT})
    await deliver_import_tasks(world, deps)

    assert again["files"][0]["conversations"][0]["is_known"]
    assert await list_titles(alice) == ["The long walk"]


async def test_times_without_a_zone_are_those_of_the_owners_zone(world, alice):
    await world.deps.stores.profiles.change(ALICE, time_zone="America/Los_Angeles")

    imported = await post_files(alice, {CHAT_NAME: CHAT})

    [conversation] = imported["files"][0]["conversations"]
    assert conversation["started_at"] == "2026-01-28T01:03:00Z"


async def test_a_file_without_a_date_took_place_when_it_was_changed(alice):
    options = '{"modified": ["2025-05-06T07:08:09Z"]}'

    imported = await post_files(alice, {"a.txt": "Ann: Hello\nBo: Hi\n"}, options=options)

    assert imported["files"][0]["conversations"][0]["started_at"] == "2025-05-06T07:08:09Z"


async def test_what_is_imported_is_read_later_also_if_it_ends_tomorrow_d5(world, deps, alice):
    tomorrow = (world.clock.now() + timedelta(days=1)).isoformat()
    options = json.dumps({"modified": [tomorrow]})
    await post_files(alice, {"a.txt": "Ann: Hello\nBo: Hi\n"}, options=options)
    await deliver_import_tasks(world, deps)

    await world.deliver_all()

    assert world.urgencies == ["later"]


async def test_an_export_brings_records_along(world, deps, alice):
    conversation = {
        "id": "fence",
        "started_at": "2026-01-12T16:30:00Z",
        "structured": {"title": "Fence", "action_items": [{"description": "Measure the fence"}]},
        "transcript_segments": [{"text": "The fence is old.", "speaker": "Me"}],
    }
    files: dict[str, str | bytes] = {
        "conversations/fence.json": json.dumps(conversation),
        "memories.json": json.dumps(
            [{"id": "m", "content": "I rent an allotment", "created_at": "2026-01-02T03:04:05Z"}]
        ),
        "people.json": json.dumps([{"id": "p", "name": "Hilde"}]),
    }
    for _ in range(2):
        await post_files(alice, {"keepsake.zip": build_zip(files)})
        await deliver_import_tasks(world, deps)

    assert await list_titles(alice) == ["Fence"]
    memories = (await alice.get("/v3/memories")).json()
    assert [(memory["content"], memory["created_at"]) for memory in memories] == [
        ("I rent an allotment", "2026-01-02T03:04:05Z")
    ]
    tasks = (await alice.get("/v1/action-items")).json()["action_items"]
    assert [(task["description"], task["conversation_id"]) for task in tasks] == [
        ("Measure the fence", "fence")
    ]
    assert [person["name"] for person in (await alice.get("/v1/users/people")).json()] == ["Hilde"]


@pytest.mark.parametrize("is_processed_first", [False, True])
async def test_a_task_that_a_file_names_and_its_conversation_gives_is_one(
    world, deps, alice, is_processed_first
):
    task = {"description": "Call the printer."}
    talk = {
        "id": "launch",
        "structured": {"title": "Launch", "action_items": [task]},
        "transcript_segments": [{"text": "I will call the printer. " * 20, "speaker": "Me"}],
    }
    bare = {**talk, "structured": {}}
    for conversation in (bare, talk) if is_processed_first else (talk,):
        await post_files(alice, {"omi.json": json.dumps(conversation)})
        await deliver_import_tasks(world, deps)
        await world.deliver_all()

    tasks = (await alice.get("/v1/action-items")).json()["action_items"]
    assert [task["conversation_id"] for task in tasks] == ["launch"]


async def test_an_import_waits_for_a_quota_and_loses_nothing(world):
    deps = build_library_deps(world, {"ingested_bytes": 60})
    texts = {f"{n}.txt": f"Ann: {'hello ' * 6}{n}\nBo: Hi\n" for n in range(2)}
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        started = await post_files(alice, texts)
        await deliver_import_tasks(world, deps)
        waiting = (await alice.get(f"{IMPORTS}/{started['id']}")).json()
        world.clock.advance(seconds=86_400)
        await deliver_import_tasks(world, deps)
        await deliver_import_tasks(world, deps)
        ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()
        titles = await list_titles(alice)

    assert (waiting["status"], waiting["resumes_at"]) == ("keeping", "2026-03-03T00:00:00Z")
    assert "It continues at 00:00 UTC" in waiting["waits_for"]
    assert (ended["status"], ended["waits_for"], len(titles)) == ("completed", "", 2)


async def test_progress_is_followed_until_the_end(world, deps, alice):
    started = await post_files(alice, {CHAT_NAME: CHAT})
    await deliver_import_tasks(world, deps)

    followed = await alice.get(f"{IMPORTS}/{started['id']}/events")

    [frame] = followed.text.strip().split("\n\n")
    progress = json.loads(frame.removeprefix("data: "))
    assert followed.headers["content-type"].startswith("text/event-stream")
    assert (progress["status"], progress["kept_count"]) == ("completed", 1)


async def test_imports_of_others_are_not_found(alice, deps):
    started = await post_files(alice, {CHAT_NAME: CHAT}, preview="true")
    path = f"{IMPORTS}/{started['id']}"
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers("bob")) as bob:
        answers = [
            await bob.get(path),
            await bob.get(f"{path}/events"),
            await bob.post(f"{path}/keep", json={}),
            await bob.delete(path),
        ]

    assert [answer.status_code for answer in answers] == [404] * 4


async def test_a_discarded_preview_leaves_nothing(world, deps, alice):
    started = await post_files(alice, {CHAT_NAME: CHAT, "t.csv": TABLE}, preview="true")

    answer = await alice.delete(f"{IMPORTS}/{started['id']}")
    await deliver_import_tasks(world, deps)

    assert (answer.status_code, world.blobs.files) == (204, {})
    assert (await alice.get(f"{IMPORTS}/{started['id']}")).status_code == 404
    assert await list_titles(alice) == []


async def test_a_forgotten_import_ends_after_a_week(world, deps, alice):
    started = await post_files(alice, {CHAT_NAME: CHAT}, preview="true")
    world.clock.advance(seconds=timedelta(days=7).total_seconds())
    await deliver_import_tasks(world, deps)

    assert world.blobs.files == {}
    assert (await alice.get(f"{IMPORTS}/{started['id']}")).status_code == 404


async def test_the_oldest_preview_gives_way_where_many_imports_are_open(world, alice):
    previews = []
    for _ in range(21):
        previews.append(await post_files(alice, {"a.txt": NOTES}, preview="true"))
        world.clock.advance(seconds=1)

    answers = [await alice.get(f"{IMPORTS}/{preview['id']}") for preview in previews]
    assert [answer.status_code for answer in answers] == [404] + [200] * 20


async def test_imports_that_are_being_kept_are_bounded(alice):
    for n in range(20):
        await post_files(alice, {"a.txt": f"Ann: Hello {n}.\nBo: Hi.\n"})

    refusal = await alice.post(IMPORTS, files=[("files", ("a.txt", NOTES))])

    assert refusal.status_code == 429
    assert refusal.json()["detail"].startswith("20 imports are being kept.")


@pytest.mark.parametrize("body", [{}, {"uploads": ["missing"]}])
async def test_an_import_needs_files(alice, body: dict[str, Any]):
    answer = await alice.post(IMPORTS, json=body)

    assert answer.status_code == (404 if body else 422)


async def test_sound_is_refused_with_what_to_set_where_nothing_transcribes(alice):
    imported = await post_files(alice, {"memo.mp3": MP3})

    [sound] = imported["files"]
    assert (sound["status"], sound["is_audio"]) == ("refused", True)
    assert "set OPENAI_API_KEY" in sound["reason"]
    assert imported["status"] == "completed"


async def test_sound_in_an_archive_is_refused_by_name(alice):
    imported = await post_files(alice, {"a.zip": build_zip({"memo.mp3": MP3, "a.txt": CHAT})})

    sound, chat = imported["files"]
    assert (sound["status"], chat["status"]) == ("refused", "kept")
    assert sound["reason"] == "it is sound or a film in an archive; import it as a file of its own"


@pytest.mark.parametrize("is_uploaded", [False, True])
async def test_sound_is_transcribed_once_it_is_kept(world, is_uploaded):
    deps = build_library_deps(world, transcriber=ScriptedTranscriber())
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        if is_uploaded:
            upload_id = await upload(alice, "memo.mp3", MP3)
            body = {"uploads": [upload_id]}
            started = (await alice.post(IMPORTS, params={"preview": True}, json=body)).json()
        else:
            started = await post_files(alice, {"memo.mp3": MP3}, preview="true")
        await deliver_import_tasks(world, deps)
        before = world.tasks.list_by_target("transcribe_audio")
        await alice.post(f"{IMPORTS}/{started['id']}/keep", json={})
        await deliver_import_tasks(world, deps)
        ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()

    [sound] = ended["files"]
    [task] = world.tasks.list_by_target("transcribe_audio")
    assert (ended["status"], ended["kept_count"], before) == ("completed", 1, [])
    assert sound["conversations"][0]["title"] == "memo"
    assert task.body["recording_id"] == sound["conversations"][0]["id"]


async def test_the_same_sound_is_one_conversation(world):
    deps = build_library_deps(world, transcriber=ScriptedTranscriber())
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        first = await post_files(alice, {"memo.mp3": MP3}, preview="true")
        second = await post_files(alice, {"memo copy.mp3": MP3})
        await deliver_import_tasks(world, deps)
        third = await post_files(alice, {"memo.mp3": MP3})
        await deliver_import_tasks(world, deps)

    ids = {answer["files"][0]["conversations"][0]["id"] for answer in (first, second, third)}
    assert len(ids) == 1
    tasks = world.tasks.list_by_target("transcribe_audio")
    assert {task.body["recording_id"] for task in tasks} == ids


async def test_sound_uploaded_twice_is_already_here_and_transcribed_once(world):
    deps = build_library_deps(world, transcriber=ScriptedTranscriber())
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        listed = []
        for name in ("memo.mp3", "copy.mp3"):
            body = {"uploads": [await upload(alice, name, MP3)]}
            started = (await alice.post(IMPORTS, json=body)).json()
            await deliver_import_tasks(world, deps)
            ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()
            listed.append(ended["files"][0]["conversations"][0])
        recordings = (await alice.get("/v1/audio")).json()["items"]

    first, second = listed
    assert (first["is_known"], second["is_known"]) == (False, True)
    assert [recording["id"] for recording in recordings] == [first["id"]] == [second["id"]]


@pytest.mark.parametrize(
    ("name", "started_at"),
    [
        ("Recording 2026-02-01 09.15.mp3", datetime(2026, 2, 1, 9, 15, tzinfo=UTC)),
        ("Recording 2026-02-01.mp3", None),
        ("memo.mp3", None),
    ],
)
async def test_imported_sound_began_when_its_name_says(world, name, started_at):
    deps = build_library_deps(world, transcriber=ScriptedTranscriber())
    changed_at = datetime(2026, 2, 3, 10, tzinfo=UTC)
    async with open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE)) as alice:
        body = {
            "uploads": [await upload(alice, name, MP3)],
            "modified": [changed_at.isoformat()],
        }
        started = (await alice.post(IMPORTS, json=body)).json()
        await deliver_import_tasks(world, deps)
        ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()

    [listed] = ended["files"][0]["conversations"]
    recording = await deps.stores.recordings.get(ALICE, listed["id"])
    assert (recording.started_at, recording.changed_at) == (started_at, changed_at)
    assert datetime.fromisoformat(listed["started_at"]) == (started_at or changed_at)


async def upload(alice: AsyncClient, name: str, content: bytes) -> str:
    encoded = base64.b64encode(name.encode()).decode()
    headers = {"Upload-Length": str(len(content)), "Upload-Metadata": f"filename {encoded}"}
    location = (await alice.post("/v1/uploads", headers=headers)).headers["Location"]
    part = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    await alice.patch(location, content=content, headers=part)
    return location.rpartition("/")[2]


async def test_an_upload_behind_another_file_of_its_owner_leaves_its_place_and_comes_again_g7(
    world, deps, alice, tmp_path
):
    ids = [await upload(alice, CHAT_NAME, CHAT.encode())]
    started = (await alice.post(IMPORTS, json={"uploads": ids})).json()

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_isolated, held.read, Limits(), ALICE)
            await lowlevel.checkpoint()
            await deliver_import_tasks(world, deps)
            held.end()
    waiting = (await alice.get(f"{IMPORTS}/{started['id']}")).json()
    world.clock.advance(seconds=TURN_AGAIN.total_seconds())
    await deliver_import_tasks(world, deps)
    await deliver_import_tasks(world, deps)
    ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()

    assert (waiting["status"], ended["status"]) == ("reading", "completed")
    assert ended["resumes_at"] is None


async def test_a_slow_upload_behind_a_long_reading_leaves_its_place_unread_g7(
    world, deps, alice, tmp_path
):
    ids = [await upload(alice, "notes.rtf", b"{\\rtf1 Keel}")]
    started = (await alice.post(IMPORTS, json={"uploads": ids})).json()
    path = deps.stores.file_imports.document_path(ALICE, started["id"])
    await world.documents.write(Update(path, {"postponed_count": 1}))

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                partial(run_isolated, held.read, Limits(), UserId("eve"), is_slow=True)
            )
            await lowlevel.checkpoint()
            content = dict(world.blobs.files)
            world.blobs.files.clear()  # a slow file is not fetched before its turn
            await deliver_import_tasks(world, deps)
            world.blobs.files |= content
            held.end()
    waiting = await deps.stores.file_imports.get(ALICE, started["id"])
    world.clock.advance(seconds=TURN_AGAIN.total_seconds())
    await deliver_import_tasks(world, deps)
    await deliver_import_tasks(world, deps)
    ended = await deps.stores.file_imports.get(ALICE, started["id"])

    assert (waiting.status, waiting.postponed_count) == ("reading", 2)
    assert (ended.status, ended.postponed_count) == ("completed", 0)


async def test_uploads_are_read_one_by_one_and_deleted(world, deps, alice):
    ids = [await upload(alice, CHAT_NAME, CHAT.encode()), await upload(alice, "a.png", PNG)]
    started = (await alice.post(IMPORTS, json={"uploads": ids})).json()
    await deliver_import_tasks(world, deps)

    ended = (await alice.get(f"{IMPORTS}/{started['id']}")).json()
    assert (started["status"], ended["status"]) == ("reading", "completed")
    assert [(f["number"], f["name"], f["status"]) for f in ended["files"]] == [
        (0, CHAT_NAME, "kept"),
        (1, "a.png", "refused"),
    ]
    assert await list_titles(alice) == ["Hikers"]
    assert [name for name in world.blobs.files if "/uploads/" in name] == []
