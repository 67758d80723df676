"""Past months of a wearable: fetched by its owner's key, page by page, each recording once (U1)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from httpx import AsyncClient
from starlette.responses import Response

from functions.imports.plan.wearable_steps import read_next_pages
from functions.library.routes import LIBRARY_ROUTES
from infra.emulators.process import find_free_port
from shared.library.deps import LibraryDeps
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.imports import IMPORTS, deliver_import_tasks, deliver_task, list_due
from tests.fixtures.library import CONVERSATIONS, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.servers import run_server
from tests.servers.wearables import KEY, WearableServer, build_bee, build_lifelog, build_omi

WAIT = Response(status_code=429, headers={"Retry-After": "120"})


@contextmanager
def serve(world: ProcessingFixture, server: WearableServer) -> Iterator[LibraryDeps]:
    """Return the library's dependencies, whose wearables are this server."""
    with run_server(server.app) as origin:
        yield build_library_deps(
            world, wearables={"limitless": origin, "omi": origin, "bee": origin}
        )


def open_alice(deps: LibraryDeps) -> Any:
    return open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(ALICE))


async def start(alice: AsyncClient, wearable: str, key: str = KEY, *, preview: bool = False) -> str:
    """Begin an import; return its address."""
    answer = await alice.post(
        IMPORTS, json={"wearable": wearable, "key": key}, params={"preview": preview}
    )
    assert answer.status_code == 202, answer.text
    assert KEY not in answer.text
    return f"{IMPORTS}/{answer.json()['id']}"


async def fetch(alice: AsyncClient, path: str) -> Any:
    return (await alice.get(path)).json()


async def list_titles(alice: AsyncClient) -> list[str]:
    page = await alice.get(CONVERSATIONS, params={"limit": 1000, "include_discarded": True})
    return sorted(item["structured"]["title"] for item in page.json())


@pytest.mark.parametrize(
    ("wearable", "server", "count"),
    [
        ("limitless", WearableServer(lifelogs=[build_lifelog(n) for n in range(125)]), 125),
        ("omi", WearableServer(omi=[build_omi(n) for n in range(60)]), 60),
        ("bee", WearableServer(bee=[build_bee(n) for n in range(23)]), 23),
    ],
)
async def test_all_that_a_wearable_recorded_comes_once_u1(world, wearable, server, count):
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            for _ in range(2):
                path = await start(alice, wearable)
                await deliver_import_tasks(world, deps)
                imported = await fetch(alice, path)
            titles = await list_titles(alice)

    assert (imported["status"], imported["kept_count"]) == ("completed", count)
    assert titles == sorted(f"Talk {n}" for n in range(count))


@pytest.mark.parametrize(
    ("wearable", "server", "turns"),
    [
        ("limitless", WearableServer(lifelogs=[build_lifelog(7)]),
         [("Kai", False, 1.0, "The pump 7 leaks."), ("Ann Lee", True, 4.0, "I order one.")]),
        ("omi", WearableServer(omi=[build_omi(7)]), [("Kai", False, 1.0, "The pump 7 leaks.")]),
        ("bee", WearableServer(bee=[build_bee(7)]), [(None, False, 1.0, "The pump 7 leaks.")]),
    ],
)  # fmt: skip
async def test_a_recording_has_its_speakers_and_times(world, wearable, server, turns):
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            await start(alice, wearable)
            await deliver_import_tasks(world, deps)
            [found] = (await alice.get(CONVERSATIONS)).json()

    segments = found["transcript_segments"]
    assert found["started_at"].startswith("2026-02-01T07:00:00")
    assert [(s["speaker_name"], s["is_user"], s["start"], s["text"]) for s in segments] == turns


async def test_an_api_that_asks_to_wait_is_asked_again_when_it_said(world):
    server = WearableServer(lifelogs=[build_lifelog(n) for n in range(15)], refusals=[WAIT])
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless")
            await deliver_import_tasks(world, deps)
            waiting, asked = await fetch(alice, path), len(server.paths)
            await deliver_task(deps, {"id": path.rpartition("/")[2]})
            asked_early = len(server.paths)
            world.clock.advance(seconds=121)
            await deliver_import_tasks(world, deps)
            ended = await fetch(alice, path)

    assert (waiting["status"], waiting["waits_for"]) == ("reading", "Limitless asks to wait")
    assert (asked, asked_early) == (1, 1)
    assert (ended["status"], ended["kept_count"], ended["resumes_at"]) == ("completed", 15, None)


async def test_what_came_before_a_limit_is_not_asked_for_again(world):
    server = WearableServer(lifelogs=[build_lifelog(n) for n in range(35)], limits_at=3)
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless")
            await deliver_import_tasks(world, deps)
            waiting = await fetch(alice, path)
            world.clock.advance(seconds=121)
            await deliver_import_tasks(world, deps)
            ended = await fetch(alice, path)

    cursors = [path.partition("cursor=")[2] for path in server.paths]
    assert (waiting["conversation_count"], waiting["status"]) == (20, "reading")
    assert cursors == ["", "10", "20", "20", "30"]
    assert ended["kept_count"] == 35


async def test_a_key_that_ends_is_told_and_what_came_before_is_kept(world):
    server = WearableServer(lifelogs=[build_lifelog(n) for n in range(150)], ends_at=12)
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless")
            await deliver_import_tasks(world, deps)
            imported = await fetch(alice, path)
            server.ends_at = None
            again = await start(alice, "limitless")
            await deliver_import_tasks(world, deps)
            whole = await fetch(alice, again)

    [refused] = [file for file in imported["files"] if file["status"] == "refused"]
    assert (refused["name"], imported["status"], imported["kept_count"]) == (
        "Limitless",
        "completed",
        120,
    )
    assert refused["reason"].startswith("Limitless refuses the key: it is mistyped or has ended.")
    assert whole["kept_count"] == 150


@pytest.mark.parametrize("ends_at", [0, None])
async def test_a_key_is_sealed_while_pages_come_and_gone_then(world, ends_at):
    server = WearableServer(lifelogs=[build_lifelog(1)], ends_at=ends_at)
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless")
            before = await deps.stores.file_imports.get(ALICE, path.rpartition("/")[2])
            await deliver_import_tasks(world, deps)
            after = await deps.stores.file_imports.get(ALICE, path.rpartition("/")[2])

    assert before.sealed_key
    assert KEY not in repr(before)
    assert after.sealed_key == ""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Response(status_code=404), "Limitless answered 404"),
        (Response("<html>", media_type="text/html"), "Limitless answered in a form that is not known here"),
        (Response("[]", media_type="application/json"), "Limitless answered in a form that is not known here"),
        (Response(status_code=302, headers={"Location": "http://127.0.0.1/"}), "Limitless answered 302"),
    ],
)  # fmt: skip
async def test_an_unknown_answer_is_told(world, answer, reason):
    with serve(world, WearableServer(refusals=[answer])) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless")
            await deliver_import_tasks(world, deps)
            imported = await fetch(alice, path)

    assert [(file["status"], file["reason"]) for file in imported["files"]] == [("refused", reason)]


async def test_a_server_that_never_answered_is_not_waited_for(world):
    deps = build_library_deps(
        world, wearables={"limitless": f"http://127.0.0.1:{find_free_port()}"}
    )
    async with open_alice(deps) as alice:
        path = await start(alice, "limitless")
        await deliver_import_tasks(world, deps)
        imported = await fetch(alice, path)

    [file] = imported["files"]
    assert (imported["status"], file["reason"]) == ("completed", "Limitless does not answer")


async def test_a_server_that_answers_no_more_is_asked_again(world):
    server = WearableServer(lifelogs=[build_lifelog(n) for n in range(120)])
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless")
            [first] = [task for task in list_due(world) if not task.body.get("is_end")]
            stored = await deps.stores.file_imports.get(ALICE, first.body["id"])
            read = await read_next_pages(deps, ALICE, stored, "limitless")
    async with open_alice(deps) as alice:  # the server is down now
        await deliver_import_tasks(world, deps)
        waiting = await fetch(alice, path)

    assert read.conversation_count == 100
    assert (waiting["status"], waiting["waits_for"]) == ("reading", "Limitless does not answer")


async def test_a_recording_that_is_not_finished_or_deleted_meanwhile_costs_no_others(world):
    states = ["COMPLETED", "CAPTURING", "DELETED"]
    server = WearableServer(
        bee=[{**build_bee(n), "state": state} for n, state in enumerate(states)]
    )
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "bee")
            await deliver_import_tasks(world, deps)
            imported = await fetch(alice, path)
            titles = await list_titles(alice)

    assert titles == ["Talk 0"]
    assert [left["title"] for left in imported["files"][0]["left_out"]] == ["Talk 1", "Talk 2"]


async def test_a_preview_keeps_nothing_before_its_owner_decides(world):
    server = WearableServer(lifelogs=[build_lifelog(n) for n in range(3)])
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            path = await start(alice, "limitless", preview=True)
            await deliver_import_tasks(world, deps)
            shown, before = await fetch(alice, path), await list_titles(alice)
            await alice.post(f"{path}/keep", json={})
            await deliver_import_tasks(world, deps)
            after = await list_titles(alice)

    assert (shown["status"], shown["conversation_count"], before) == ("preview", 3, [])
    assert after == ["Talk 0", "Talk 1", "Talk 2"]


async def test_a_file_and_the_api_give_a_recording_once(world):
    server = WearableServer(lifelogs=[build_lifelog(1)])
    with serve(world, server) as deps:
        async with open_alice(deps) as alice:
            await start(alice, "limitless")
            await deliver_import_tasks(world, deps)
            dump = {"data": {"lifelogs": [build_lifelog(1)]}}
            await alice.post(IMPORTS, files=[("files", ("a.json", json.dumps(dump)))])
            await deliver_import_tasks(world, deps)
            titles = await list_titles(alice)

    assert titles == ["Talk 1"]


@pytest.mark.parametrize(
    "body",
    [
        {"wearable": "limitless"},
        {"key": KEY},
        {"wearable": "limitless", "key": "a\r\nX-Other: b"},
        {"wearable": "limitless", "key": ""},
        {"wearable": "nobody", "key": KEY},
        {"wearable": "limitless", "key": KEY, "uploads": ["u"]},
    ],
)
async def test_a_wearable_comes_with_a_key_and_alone(world, body):
    async with open_alice(build_library_deps(world)) as alice:
        answer = await alice.post(IMPORTS, json=body)

    assert answer.status_code in (400, 422)
    assert KEY not in answer.text
