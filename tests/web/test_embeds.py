"""Embeds in the console: results of tools as cards, tables, code and pictures; nothing comes from other hosts (M113)."""

import base64
import io
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Locator, expect

from tests.servers.openai import Script, ScriptedOpenai
from tests.web.app_server import AppServer
from tests.web.console import Console
from tests.web.test_accessibility import list_findings
from tests.web.tool_calls import install_apps, script_call, sign_in_and_ask


def build_picture() -> str:
    content = io.BytesIO()
    Image.new("RGB", (24, 16), (200, 30, 30)).save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


PAGES = [
    {"url": "https://a.example/x", "title": "Bread <b>prices</b>", "snippet": "3 euros."},
    {"url": "javascript:alert(1)", "title": "Not a link"},
]
PLACES = {"places": [{"name": "Bar Azul", "address": "Rua 1", "latitude": 38.7, "longitude": -9.1}]}
EVENTS = [{"title": "Offsite", "start": "2026-03-06T09:00:00Z", "location": "Lisbon"}]
CODE = {"code": "if x < 1:\n    print('<b>')", "language": "python"}
TABLE = [{"id": n, "of": {"n": n}, "open": n % 2 == 0} for n in range(60)]
FEW_ROWS = {"found": 2, "rows": [{"name": "Oat milk", "price": 2.5}, {"name": "Tea", "price": 4}]}
REMOTE_PICTURE = {"image": "https://tracker.example/pixel.png", "title": "Cat"}


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


@pytest.fixture(autouse=True)
def apps(console: Console, context: BrowserContext, app_server: AppServer) -> Iterator[None]:
    install_apps(console, context, app_server)
    sign_in_and_ask(console)
    yield
    app_server.result = AppServer.result


def ask_for(console: Console, app_server: AppServer, model: ScriptedOpenai, result: Any) -> Locator:
    """Ask a question whose answer rests on what an app returns."""
    app_server.result = result
    model.play(script_call(model, "look_up", q="bread"), Script(text="Here it is."))
    return console.ask("Look up bread.").locator(".returned")


KINDS: list[tuple[Any, str, str]] = [
    (PLACES, ".embed", "Bar AzulRua 1Show on a map"),
    (CODE, "pre code", CODE["code"]),
    (FEW_ROWS, "tbody", "Oat milk2.5Tea4"),
    (TABLE, "p.meta", "10 more rows"),
    ({"found": 60, "rows": TABLE}, "dd p.meta", "10 more rows"),
    ({"note": "x", "n": None, "deep": {"a": [1]}}, "dl", 'notexndeep{"a":[1]}'),
    ({"type": "sheet", "rows": 3}, "dl", "typesheetrows3"),
    (REMOTE_PICTURE, "dl", "imagehttps://tracker.example/pixel.pngtitleCat"),
    ({"url": "https://a.example", "price": 3, "id": "x7"}, "dl", "price3"),
]


def test_pages_are_cards_whose_links_lead_to_the_web_alone_m113(
    console: Console, app_server: AppServer, model: ScriptedOpenai
) -> None:
    returned = ask_for(console, app_server, model, PAGES)

    expect(returned.locator("summary")).to_have_text("What Library returned")
    expect(returned.locator("li strong")).to_have_text(["Bread <b>prices</b>", "Not a link"])
    expect(returned.get_by_role("link")).to_have_count(1)
    expect(returned.get_by_role("link")).to_have_attribute("href", "https://a.example/x")
    assert list_findings(console.page) == []
    assert console.page_errors == []


def test_a_reload_shows_results_folded_and_loads_them_when_opened_m114(
    console: Console, app_server: AppServer, model: ScriptedOpenai
) -> None:
    expect(ask_for(console, app_server, model, EVENTS)).to_contain_text("Offsite")
    loaded: list[str] = []
    console.page.on("request", lambda request: loaded.append(request.url))

    console.page.reload()
    returned = console.page.locator(".returned")
    expect(returned).to_have_count(1)
    assert not [url for url in loaded if "/v2/embeds/" in url]
    returned.locator("summary").click()

    expect(returned.locator("strong")).to_have_text("Offsite")
    expect(returned.locator(".meta").first).to_contain_text("2026")


def test_each_kind_is_drawn_as_what_it_is_m113(
    console: Console, app_server: AppServer, model: ScriptedOpenai
) -> None:
    for result, selector, text in KINDS:
        returned = ask_for(console, app_server, model, result)
        expect(returned.locator(selector).first).to_have_text(text)

    assert list_findings(console.page) == []
    assert all(url.startswith((console.origin, "data:")) for url in console.requests)
    assert console.page_errors == []


def test_a_picture_that_came_as_text_is_drawn_m113(
    console: Console, app_server: AppServer, model: ScriptedOpenai
) -> None:
    returned = ask_for(console, app_server, model, {"image": build_picture(), "title": "Red"})

    picture = returned.get_by_role("img", name="Red")
    expect(picture).to_have_attribute("width", "24")
    pixel = picture.evaluate("c => [...c.getContext('2d').getImageData(5, 5, 1, 1).data]")
    assert pixel == [200, 30, 30, 255]


def test_what_is_gone_says_so_m117(
    console: Console, app_server: AppServer, model: ScriptedOpenai
) -> None:
    console.page.route("**/v2/embeds/*", lambda route: route.fulfill(status=404, json={}))

    returned = ask_for(console, app_server, model, PAGES)

    expect(returned.get_by_role("alert")).to_be_visible()


def test_another_model_shows_what_its_own_tools_returned_m114(console: Console) -> None:
    """The reference stands in its column; its content is loaded like that of any other."""
    source = {"kind": "app", "id": "A1", "name": "Library"}
    ref = {"embed_id": "e1", "type": "record", "preview": "Tea", "embed_ids": None}
    shown = {"type": "data-embed", "id": "e1", "data": {**ref, "source": source}}
    console.page.route(
        "**/v2/embeds/e1",
        lambda route: route.fulfill(json=[{"type": "record", "content": {"name": "Green tea"}}]),
    )
    console.answer_with(
        {"type": "start", "messageId": "r1"},
        {"type": "data-voices", "data": {"models": ["large", "small"]}},
        {"type": "data-voice", "data": {"voice": 1, "chunk": shown}},
    )

    answer = console.start_question("Which tea?")

    expect(answer.locator(".voice .returned dd")).to_have_text("Green tea")
    expect(answer.locator(".main .returned")).to_have_count(0)
