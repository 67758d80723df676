"""Files over HTTP: handed in, read, shown, found and deleted (P21, X7, X9, X11)."""

import io
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import lowlevel
from httpx import AsyncClient
from PIL import Image

from functions.media.files.read_content import OPEN_DOCUMENT
from functions.media.files.read_file import read_file, read_in_turn
from shared.data.files.files import file_path
from shared.domain.files.file import MAX_ATTEMPTS, count_picture_tokens
from shared.domain.ids import UserId
from shared.domain.store.documents import Set, Update
from shared.library.files import load_pages, start_file
from shared.library.isolated_reading import LIMIT_PRICE, MAX_POSTPONED, TURN_AGAIN
from shared.library.uploads import store_file
from shared.resilience.isolation import Limits, run_isolated
from tests.fault_injection import FaultyPort, raise_bug, succeed
from tests.fixtures.documents import build_docx, build_pdf, build_pptx, build_xlsx
from tests.fixtures.held_reading import hold_reading
from tests.fixtures.library import NO_OWNERS
from tests.fixtures.pictures import build_picture
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.functions.media.files.world import (
    FILES,
    build_deps,
    open_files,
    send,
)

TYPE_BASE = "application/vnd.openxmlformats-officedocument"


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with open_files(build_deps(world)) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "content", "media_type", "pages"),
    [
        (
            "plan_pdf",
            build_pdf("The keel", "The mast"),
            "application/pdf",
            ["The keel", "The mast"],
        ),
        (
            "plan_docx",
            build_docx("The keel", rows=[["oak", "12"]]),
            f"{TYPE_BASE}.wordprocessingml.document",
            ["The keel\noak\t12"],
        ),
        (
            "plan_xlsx",
            build_xlsx({"Wood": [["oak", 12], ["ash", None]], "Sails": [["red"]]}),
            f"{TYPE_BASE}.spreadsheetml.sheet",
            ["Wood\noak\t12\nash", "Sails\nred"],
        ),
        (
            "plan_pptx",
            build_pptx("Keel", "Mast"),
            f"{TYPE_BASE}.presentationml.presentation",
            ["Keel", "Mast"],
        ),
        ("plan_md", b"# Keel\n\nOak.", "text/markdown", ["# Keel\n\nOak."]),
        (
            "plan_csv",
            "wood;länge\n".encode("utf-16"),
            "text/csv",
            ["wood;länge"],
        ),
        ("plan_html", b"<html><p>Keel<script>x()</script>", "text/html", ["Keel"]),
        (
            "plan_rtf",
            rb"{\rtf1\ansi The \b keel\b0\par Oak \'fc \u-10179 ?\u-8704 ?.}",
            "application/rtf",
            ["The keel\nOak ü 😀."],
        ),
        ("plan_txt", b"Keel", "text/plain", ["Keel"]),
        ("odf_txt", OPEN_DOCUMENT, "text/plain", [OPEN_DOCUMENT.decode()]),
        ("wrong_txt", build_pdf("The keel"), "application/pdf", ["The keel"]),
    ],
)
async def test_a_file_is_read_by_what_its_bytes_are_p21(
    world: ProcessingFixture,
    alice: AsyncClient,
    name: str,
    content: bytes,
    media_type: str,
    pages: list[str],
) -> None:
    [file] = await send(alice, **{name: content})

    assert (file["status"], file["reason"], file["mime_type"]) == ("ready", "", media_type)
    assert (file["page_count"], file["size"]) == (len(pages), len(content))
    assert file["token_count"] > 0
    stored = await load_pages(world.blobs, ALICE, file["id"])
    assert [page.text for page in stored] == pages
    sent = await alice.get(f"{FILES}/{file['id']}/content")
    assert sent.content == content
    assert sent.headers["content-disposition"].startswith("attachment; ")
    assert "content-length" not in sent.headers, "Cloud Run refuses one of more than 32 MiB"
    part = await alice.get(f"{FILES}/{file['id']}/content", headers={"Range": "bytes=1-"})
    assert (part.status_code, part.content) == (206, content[1:])


async def test_a_picture_is_counted_by_its_pixels_and_loses_where_it_was_taken_x11(
    alice: AsyncClient,
) -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    photo = build_picture("JPEG", size=(1_024, 768), exif=exif)

    [file] = await send(alice, photo_jpg=photo)

    assert (file["width"], file["height"], file["mime_type"]) == (1_024, 768, "image/jpeg")
    assert file["token_count"] == count_picture_tokens(1_024, 768) == 64 * 48 + 32
    picture = (await alice.get(f"{FILES}/{file['id']}/picture")).content
    with Image.open(io.BytesIO(picture)) as image:
        assert (image.format, image.size, dict(image.getexif())) == ("WEBP", (1_024, 768), {})


async def test_a_thumbnail_is_shown_to_whoever_has_its_address_p21(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    [file] = await send(alice, plan_pdf=build_pdf("The keel"))

    path = file["thumbnail"].removeprefix("https://keepsake.example")
    async with open_files(build_deps(world)) as anybody:
        anybody.headers.clear()
        shown = await anybody.get(path)
        refused = await anybody.get(path + "x")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/webp")
    assert refused.status_code == 404


async def test_a_pdf_opens_in_a_browser_for_whoever_has_its_address_p21(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    content = build_pdf("The keel")
    [file, plain] = [*await send(alice, plan_pdf=content), *await send(alice, plan_txt=b"Keel")]

    path = file["document"].removeprefix("https://keepsake.example")
    thumbnail_key = file["thumbnail"].partition("key=")[2]
    async with open_files(build_deps(world)) as anybody:
        anybody.headers.clear()
        shown = await anybody.get(path)
        refused = [
            await anybody.get(path + "x"),
            await anybody.get(path.partition("key=")[0] + f"key={thumbnail_key}"),
            await anybody.get(path.replace(file["id"], plain["id"])),
        ]

    assert (shown.status_code, shown.content) == (200, content)
    assert shown.headers["content-type"] == "application/pdf"
    assert shown.headers["content-disposition"] == "inline"
    assert [answer.status_code for answer in refused] == [404] * 3
    assert plain["document"] is None


@pytest.mark.parametrize("owner", NO_OWNERS)
async def test_an_owner_that_is_no_id_has_no_file(
    world: ProcessingFixture, alice: AsyncClient, owner: str
) -> None:
    [file] = await send(alice, plan_pdf=build_pdf("The keel"))
    stored = await world.documents.get(file_path(ALICE, file["id"]))
    assert stored is not None
    copy = file_path(UserId("x/users/alice"), file["id"])
    await world.documents.write(Set(copy, stored.fields))

    for address in (file["thumbnail"], file["document"]):
        path, _, key = address.removeprefix("https://keepsake.example").partition("key=")
        shown = await alice.get(path, params={"owner": owner, "key": key})
        assert shown.status_code == 404, path


async def test_another_user_reaches_nothing_of_a_file(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    [file] = await send(alice, plan_txt=b"Keel")

    async with open_files(build_deps(world), "bob") as bob:
        for path in ("", "/content", "/picture"):
            assert (await bob.get(f"{FILES}/{file['id']}{path}")).status_code == 404
        assert (await bob.delete(f"{FILES}/{file['id']}")).status_code == 404
        assert (await bob.post(FILES, json={"uploads": [file["id"]]})).status_code == 404
        assert (await bob.get(FILES)).json() == {"items": [], "next": None}


async def test_a_deleted_file_leaves_nothing_behind_p21(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    deps = build_deps(world)
    [file] = await send(alice, plan_pdf=build_pdf("The keel is of oak"))
    found = await deps.file_index.search(ALICE, "oak keel", limit=3)
    assert [(hit.file_id, hit.number) for hit in found.passages] == [(file["id"], 0)]

    assert (await alice.delete(f"{FILES}/{file['id']}")).status_code == 204

    assert (await alice.delete(f"{FILES}/{file['id']}")).status_code == 404
    assert world.blobs.files == {}
    assert await world.list_row_ids() == []
    assert (await deps.quotas.load_usage(ALICE, world.clock.now()))["stored_bytes"] == 0


async def test_a_search_of_conversations_returns_no_file(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    await send(alice, plan_txt=b"The keel is of oak")

    assert await world.search_ids("oak keel") == []


async def test_a_large_file_comes_as_an_upload_and_once(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    deps = build_deps(world)
    upload = await store_file(deps, ALICE, b"Keel", name="a/b\\plan.txt", media_type="")

    for _ in range(2):
        answer = await alice.post(FILES, json={"uploads": [upload.id]})
        [file] = answer.json()
        assert (file["id"], file["name"], file["status"]) == (upload.id, "plan.txt", "ready")
    assert (await deps.quotas.load_usage(ALICE, world.clock.now()))["stored_bytes"] == 4


async def test_files_are_listed_newest_first_in_pages(
    world: ProcessingFixture, alice: AsyncClient
) -> None:
    for name in ("one_txt", "two_txt", "three_txt"):
        world.clock.advance(seconds=1)
        await send(alice, **{name: b"Keel"})

    first = (await alice.get(FILES, params={"limit": 2})).json()
    second = (await alice.get(FILES, params={"limit": 2, "cursor": first["next"]})).json()
    names = [file["name"] for page in (first, second) for file in page["items"]]
    assert names == ["three.txt", "two.txt", "one.txt"]
    assert second["next"] is None


async def test_a_file_of_too_many_tokens_is_rejected_with_the_reason_x9(
    alice: AsyncClient,
) -> None:
    [file] = await send(alice, book_txt="語".encode() * 170_000)

    assert file["status"] == "rejected"
    assert file["reason"].startswith("“book.txt” cannot be used: it has about 212,5")


async def test_a_quota_of_stored_bytes_refuses_a_file(world: ProcessingFixture) -> None:
    async with open_files(build_deps(world, {"stored_bytes": 3})) as client:
        refusal = await client.post(FILES, files=[("files", ("plan.txt", b"Keel"))])

    assert refusal.status_code == 429
    assert world.blobs.files == {}


async def test_of_files_that_are_refused_together_none_is_kept(world: ProcessingFixture) -> None:
    both = [("files", (name, b"Keel")) for name in ("one.txt", "two.txt")]
    async with open_files(build_deps(world, {"stored_bytes": 7})) as client:
        refusal = await client.post(FILES, files=both)
        kept = (await client.get(FILES)).json()["items"]
        fitting = await client.post(FILES, files=both[:1])

    assert (refusal.status_code, kept, fitting.status_code) == (429, [], 200)


async def test_files_that_are_sent_again_under_their_key_after_a_crash_are_kept_once(
    world: ProcessingFixture,
) -> None:
    deps = build_deps(world)
    dying: Any = FaultyPort(deps.quotas, take=[succeed, raise_bug])
    both = [("files", (name, b"Keel")) for name in ("one.txt", "two.txt")]

    async with open_files(replace(deps, quotas=dying)) as client:
        codes = [
            (await client.post(FILES, files=both, headers={"Idempotency-Key": "k"})).status_code
            for _ in range(2)
        ]
        kept = (await client.get(FILES)).json()["items"]

    assert codes == [500, 200]
    assert sorted(file["name"] for file in kept) == ["one.txt", "two.txt"]


async def test_a_file_that_ends_its_readers_is_rejected_in_the_end(
    world: ProcessingFixture,
) -> None:
    """A process that dies counts its attempt and stores nothing else."""
    deps = build_deps(world)
    async with open_files(deps) as alice:
        [file] = await send(alice, plan_txt=b"Keel")
    stored = await deps.stores.files.get(ALICE, file["id"])
    await deps.stores.files.change(ALICE, stored.id, status="processing", attempt_count=3)

    await read_file(deps, ALICE, stored.id)

    rejected = await deps.stores.files.get(ALICE, stored.id)
    assert rejected.reason == "“plan.txt” cannot be used: reading it failed again and again."


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(timeout_s=0), "reading it takes longer than 0 seconds"),
        (Limits(memory_bytes=200_000_000), "reading it takes more memory than there is"),
        (Limits(cpu_s=0.01), "reading it takes more time or memory than it may"),
    ],
)
async def test_a_file_that_takes_too_much_is_rejected(
    world: ProcessingFixture, limits: Limits, reason: str
) -> None:
    deps = build_deps(world)
    upload = await store_file(
        deps, ALICE, build_picture(size=(9_000, 8_000)), name="roof.png", media_type=""
    )
    file = await start_file(deps, ALICE, upload.id)
    await read_file(deps, ALICE, file.id, limits)

    rejected = await deps.stores.files.get(ALICE, file.id)
    used = await deps.quotas.load_usage(ALICE, world.clock.now())
    assert rejected.reason == f"“roof.png” cannot be used: {reason}."
    assert used["file_seconds"] == max(1, LIMIT_PRICE * limits.cpu_s)


async def test_a_file_behind_another_of_its_owner_leaves_its_place_and_comes_again_g7(
    world: ProcessingFixture, tmp_path: Path
) -> None:
    deps = build_deps(world)
    upload = await store_file(deps, ALICE, b"Keel", name="plan.txt", media_type="")
    file = await start_file(deps, ALICE, upload.id)
    world.tasks.created.clear()

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_isolated, held.read, Limits(), ALICE)
            await lowlevel.checkpoint()
            await read_in_turn(deps, ALICE, file.id)
            held.end()
    waiting = await deps.stores.files.get(ALICE, file.id)
    [task] = world.tasks.created
    await read_in_turn(deps, ALICE, file.id)

    assert (waiting.status, waiting.attempt_count) == ("processing", 0)
    assert task.body == {"uid": ALICE, "file_id": file.id}
    assert task.at == world.clock.now() + TURN_AGAIN
    assert (await deps.stores.files.get(ALICE, file.id)).status == "ready"


async def test_a_slow_file_behind_a_long_reading_leaves_its_place_uncounted_g7(
    world: ProcessingFixture, tmp_path: Path
) -> None:
    deps = build_deps(world, {"file_seconds": 2})
    upload = await store_file(deps, ALICE, b"Keel", name="plan.txt", media_type="")
    file = await start_file(deps, ALICE, upload.id)
    world.tasks.created.clear()
    read_anew = partial(
        read_in_turn, deps, ALICE, file.id, Limits(cpu_s=10.0, first_cpu_s=0.000_001)
    )

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                partial(run_isolated, held.read, Limits(), UserId("eve"), is_slow=True)
            )
            await lowlevel.checkpoint()
            await read_anew()
            content = dict(world.blobs.files)
            world.blobs.files.clear()  # a slow file is not fetched before its turn
            for _ in range(MAX_ATTEMPTS):
                await read_anew()
            world.blobs.files |= content
            held.end()
    waiting = await deps.stores.files.get(ALICE, file.id)
    await read_anew()

    assert (waiting.status, waiting.attempt_count, waiting.postponed_count) == (
        "processing",
        0,
        MAX_ATTEMPTS + 1,
    )
    assert [task.at for task in world.tasks.created] == [world.clock.now() + TURN_AGAIN] * (
        MAX_ATTEMPTS + 1
    )
    assert (await deps.stores.files.get(ALICE, file.id)).status == "ready"


async def test_a_slow_file_that_came_often_waits_in_line_g7(
    world: ProcessingFixture, tmp_path: Path
) -> None:
    deps = build_deps(world)
    upload = await store_file(deps, ALICE, b"Keel", name="plan.txt", media_type="")
    file = await start_file(deps, ALICE, upload.id)
    often = Update(file_path(ALICE, file.id), {"postponed_count": MAX_POSTPONED})
    await world.documents.write(often)

    with hold_reading(tmp_path / "pipe") as held:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                partial(run_isolated, held.read, Limits(), UserId("eve"), is_slow=True)
            )
            await lowlevel.checkpoint()
            tasks.start_soon(partial(read_file, deps, ALICE, file.id, leaves=True))
            await anyio.wait_all_tasks_blocked()
            held.end()

    assert (await deps.stores.files.get(ALICE, file.id)).status == "ready"


async def test_whoever_used_up_a_days_seconds_of_reading_is_told_so_s5(
    world: ProcessingFixture,
) -> None:
    async with open_files(build_deps(world, {"file_seconds": 1})) as alice:
        [read, refused] = [*await send(alice, a_txt=b"Keel"), *await send(alice, b_txt=b"Mast")]

    assert (read["status"], refused["status"]) == ("ready", "rejected")
    assert refused["reason"].startswith("“b.txt” was not read: You used up today's 1 s of")
