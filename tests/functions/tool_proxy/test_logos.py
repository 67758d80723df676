"""Logos of apps: what is stored of an uploaded picture, who loads it, and what is refused (T1)."""

import io
import json
import random
from typing import Any

import pytest
from httpx import Response
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from functions.tool_proxy.registry.logos import (
    MAX_SIDE,
    MAX_STORED_BYTES,
    MAX_UPLOAD_BYTES,
    read_logo,
)
from shared.domain.errors import Invalid
from shared.domain.store.documents import Query
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.pictures import build_jpeg_bomb, build_picture, build_png_bomb
from tests.fixtures.tool_proxy import ALICE

ORIGIN = "https://keepsake.example.com"
UNREADABLE = "The file is no picture that can be read; send PNG, JPEG, WebP or GIF"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


async def send_form(
    world: NotesFixture, method: str, path: str, picture: bytes | None, **fields: Any
) -> Response:
    parts: dict[str, Any] = {"app_data": (None, json.dumps(fields).encode())}
    if picture is not None:
        parts["file"] = ("logo.png", picture, "application/octet-stream")
    return await world.request(method, path, files=parts)


async def register(world: NotesFixture, picture: bytes | None = None, **fields: Any) -> Response:
    return await send_form(world, "POST", "/v1/apps", picture, **{"name": "Notes", **fields})


async def load(world: NotesFixture, image: str) -> Response:
    return await world.request("GET", image.removeprefix(ORIGIN), uid="")


async def count_logos(world: NotesFixture, app_id: str) -> int:
    return await world.documents.count(Query(collection=f"apps/{app_id}/logos"))


def open_picture(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


async def test_a_progressive_jpeg_is_read_t1():
    assert (await read_logo(build_picture("JPEG", progressive=True))).content
    assert (await read_logo(build_jpeg_bomb(10))).content


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "WEBP", "GIF"])
async def test_a_logo_is_stored_anew_and_loaded_by_anybody_t1(world: NotesFixture, format_: str):
    app = (await register(world, build_picture(format_))).json()

    logo = await load(world, app["image"])

    assert app["image"].startswith(f"{ORIGIN}/v1/apps/logos/{app['id']}-")
    assert (logo.status_code, logo.headers["content-type"]) == (200, "image/webp")
    assert logo.headers["x-content-type-options"] == "nosniff"
    assert logo.headers["cache-control"] == "public, max-age=86400"
    picture = open_picture(logo.content)
    assert (picture.format, picture.size) == ("WEBP", (64, 48))


async def test_a_large_logo_is_scaled_and_keeps_no_metadata_t1():
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    exif[0x0112] = 6  # rotated by a quarter
    content = build_picture("JPEG", size=(2_000, 1_000), exif=exif.tobytes())

    logo = await read_logo(content)

    picture = open_picture(logo.content)
    assert b"taken at home" in content
    assert (picture.size, dict(picture.getexif())) == ((MAX_SIDE // 2, MAX_SIDE), {})


async def test_an_animation_becomes_its_first_frame_t1():
    frames = [Image.new("RGB", (20, 20), color) for color in ("red", "blue")]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])

    picture = open_picture((await read_logo(buffer.getvalue())).content)

    assert getattr(picture, "n_frames", 1) == 1
    red, _, blue = picture.convert("RGB").getpixel((5, 5))  # type: ignore[misc]  # of three bands
    assert red > blue


async def test_the_noisiest_picture_is_stored_within_its_limit_t1():
    noise = random.Random(1).randbytes(MAX_SIDE * MAX_SIDE * 3)  # noqa: S311 - a picture
    buffer = io.BytesIO()
    Image.frombytes("RGB", (MAX_SIDE, MAX_SIDE), noise).save(buffer, "PNG")

    logo = await read_logo(buffer.getvalue())

    assert len(logo.content) <= MAX_STORED_BYTES


@pytest.mark.parametrize(
    ("picture", "status", "detail"),
    [
        (bytes(20_000_000), 413, "The form is over"),
        (bytes(MAX_UPLOAD_BYTES + 1), 413, "file is over 1 MB."),
        (build_png_bomb(30_000, 30_000), 422, UNREADABLE),
        (build_png_bomb(5_000, 5_000), 422, "The picture has 5000 × 5000 pixels; it"),
        (build_jpeg_bomb(2_000), 422, "The JPEG has more than 100 scans; save it anew"),
        (SVG, 422, UNREADABLE),
        (b"", 422, UNREADABLE),
        (build_picture()[:60], 422, UNREADABLE),
        (b"%PDF-1.7 not a picture", 422, UNREADABLE),
        (build_picture("BMP"), 422, UNREADABLE),
    ],
    ids=["20 MB", "1 MB", "bomb", "25 megapixels", "scans", "SVG", "empty", "cut", "PDF", "BMP"],
)
async def test_what_is_no_logo_is_refused_and_nothing_stored_s4(
    world: NotesFixture, picture: bytes, status: int, detail: str
):
    answer = await register(world, picture)

    assert (answer.status_code, answer.json()["detail"][: len(detail)]) == (status, detail)
    assert (await world.request("GET", "/v1/apps")).json() == []


@given(
    cut=st.integers(0, 400), places=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)))
)
async def test_every_damaged_picture_is_read_or_refused_s4(cut: int, places: list[tuple[int, int]]):
    content = bytearray(build_picture("WEBP" if cut % 2 else "PNG"))
    for place, byte in places:
        content[place % len(content)] = byte
    try:
        logo = await read_logo(bytes(content[cut % 50 :] if cut < 50 else content))
    except Invalid:
        return
    assert open_picture(logo.content).format == "WEBP"


@pytest.mark.parametrize("app_data", [b"{", b"", b"null", b'"x"', b'{"name": 1}'])
async def test_app_data_that_is_no_app_is_refused_in_words_t1(world: NotesFixture, app_data: bytes):
    answer = await world.request("POST", "/v1/apps", files={"app_data": (None, app_data)})

    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)


async def test_another_logo_replaces_the_one_before_t1(world: NotesFixture):
    app = (await register(world, build_picture(color="red"))).json()
    path = f"/v1/apps/{app['id']}"

    renamed = (await send_form(world, "PATCH", path, None, name="Jottings")).json()
    repainted = (await send_form(world, "PATCH", path, build_picture(color="blue"))).json()

    assert renamed["image"] == app["image"] != repainted["image"]
    statuses = [
        (await load(world, image)).status_code for image in (app["image"], repainted["image"])
    ]
    assert statuses == [404, 200]
    assert await count_logos(world, app["id"]) == 1


async def test_a_refused_change_keeps_the_logo_t1(world: NotesFixture):
    app = (await register(world, build_picture(color="red"))).json()
    path = f"/v1/apps/{app['id']}"

    refused = [
        await send_form(world, "PATCH", path, SVG),
        await send_form(world, "PATCH", path, build_picture(color="blue"), name="Keepsake"),
    ]

    assert [answer.status_code for answer in refused] == [422, 422]
    assert (await world.request("GET", path)).json() == app
    assert await count_logos(world, app["id"]) == 1


async def test_a_foreign_app_takes_no_logo_t1(world: NotesFixture):
    public = (await register(world, build_picture(), private=False)).json()
    private = (await register(world, build_picture(), private=True)).json()

    world.uid = ALICE
    statuses = [
        (await send_form(world, "PATCH", f"/v1/apps/{app['id']}", build_picture())).status_code
        for app in (public, private)
    ]

    assert statuses == [403, 404]


async def test_a_deleted_apps_logo_is_gone_t1(world: NotesFixture):
    app = (await register(world, build_picture())).json()

    await world.request("DELETE", f"/v1/apps/{app['id']}")

    assert (await load(world, app["image"])).status_code == 404


@pytest.mark.parametrize(
    "name", ["x", "-", "a-b.webp", "a-b-c.webp", "__x__-y.webp", "..-x", "%2e-a"]
)
async def test_an_unknown_picture_is_not_found_t1(world: NotesFixture, name: str):
    assert (await load(world, f"{ORIGIN}/v1/apps/logos/{name}")).status_code == 404


async def test_an_app_without_a_logo_has_the_default_one_t1(world: NotesFixture):
    app = (await register(world)).json()

    logo = await load(world, app["image"])

    assert app["image"] == f"{ORIGIN}/v1/apps/logos/default.webp"
    assert (logo.status_code, open_picture(logo.content).format) == (200, "WEBP")
