"""Console in a real browser on the real product: one of each for all tests."""

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from infra.local.browser import BROWSERS, LIGHT_BROWSERS, launch_chromium
from tests.conftest import run_or_skip
from tests.e2e.product import build_model_environment, run_product
from tests.servers import run_server, run_server_with_url
from tests.servers.mcp_authorization import FakeMcpProvider as McpProvider
from tests.servers.mcp_authorization import build_guarded_app
from tests.servers.mcp_server import NotesMcp
from tests.servers.openai import ScriptedOpenai, scripted_openai
from tests.servers.provider import CLIENT_ID, CLIENT_SECRET, FakeProvider
from tests.servers.wearables import WearableServer, build_lifelog
from tests.web.app_server import AppServer, run_app_server
from tests.web.console import Console

TIMEOUT_MS = 15_000
MODULE_AT = """globalThis.moduleAt = (path) =>
  new URL(path.slice(1), document.querySelector("script[type=module]").src).href"""
"""Address of a module as the page itself imports it: at another one it would be loaded a second time."""
EVERYTHING_STORED = {"origin": "*", "storageTypes": "cookies,local_storage,indexeddb,cache_storage"}
UIDS = (f"user{number}" for number in count(1))


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as running_playwright:
        yield running_playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with run_or_skip(lambda: launch_chromium(playwright, LIGHT_BROWSERS)) as running_browser:
        yield running_browser


@pytest.fixture(scope="package")
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    """Start one that takes pushes and installs pages: a file that needs it returns it as its `browser`."""
    with run_or_skip(lambda: launch_chromium(playwright, BROWSERS)) as running_browser:
        yield running_browser


@pytest.fixture(scope="package")
def app_server() -> Iterator[AppServer]:
    with run_app_server() as server:
        yield server


@pytest.fixture(scope="package")
def mcp_server() -> Iterator[str]:
    """Serve an MCP server with one tool; yields its address."""
    with run_server(NotesMcp().build_app()) as url:
        yield f"{url}/mcp"


@pytest.fixture(scope="package")
def guarded_mcp_server() -> Iterator[str]:
    """Serve an MCP server that requires OAuth and grants every request."""
    with run_server_with_url(lambda url: build_guarded_app(NotesMcp(), McpProvider(), url)) as url:
        yield f"{url}/mcp"


@pytest.fixture(scope="package")
def provider() -> FakeProvider:
    """Play the provider of the one service that can be connected here, a calendar."""
    return FakeProvider()


@pytest.fixture(scope="package")
def wearables() -> WearableServer:
    """Play the API of a wearable that recorded twelve talks."""
    return WearableServer(lifelogs=[build_lifelog(n) for n in range(12)])


@pytest.fixture(scope="package")
def origin(
    tmp_path_factory: pytest.TempPathFactory,
    app_server: AppServer,
    mcp_server: str,
    guarded_mcp_server: str,
    provider: FakeProvider,
    wearables: WearableServer,
) -> Iterator[str]:
    with run_server(provider.app) as google, run_server(wearables.app) as limitless:
        servers = (mcp_server.removesuffix("/mcp"), guarded_mcp_server.removesuffix("/mcp"))
        reached = (app_server.url, google, limitless, *servers)
        settings = {
            "EGRESS_DEV_ORIGINS": ",".join(reached),
            "GOOGLE_CLIENT_ID": CLIENT_ID,
            "GOOGLE_CLIENT_SECRET": CLIENT_SECRET,
            "GOOGLE_BASE_URL": google,
            "LIMITLESS_BASE_URL": limitless,
        }
        with run_product(tmp_path_factory.mktemp("console"), **settings) as product:
            yield product.origin


@pytest.fixture(scope="package")
def visited_context(browser: Browser, app_server: AppServer) -> Iterator[BrowserContext]:
    """Open one context for most tests: what one has loaded and compiled, the next need not."""
    with closing(new_context(browser)) as context:
        keeper = context.new_page()
        keeper.goto(app_server.url)  # its process, which all pages of this machine share, stays
        yield context


@pytest.fixture
def context(visited_context: BrowserContext) -> Iterator[BrowserContext]:
    yield visited_context
    keeper, *pages = visited_context.pages
    for page in pages:
        page.close()
    visited_context.unroute_all()
    visited_context.set_offline(False)
    visited_context.clear_permissions()
    visited_context.new_cdp_session(keeper).send("Storage.clearDataForOrigin", EVERYTHING_STORED)


@pytest.fixture
def service_workers() -> Literal["allow", "block"]:
    """Spare a page what only tests of the service worker need."""
    return "block"


@pytest.fixture
def own_context(
    browser: Browser, service_workers: Literal["allow", "block"]
) -> Iterator[BrowserContext]:
    """Open a context for one test: a file whose first visits matter, or that stops the clock, returns it as its `context`."""
    with closing(new_context(browser, service_workers)) as context:
        yield context


def new_context(
    browser: Browser,
    service_workers: Literal["allow", "block"] = "block",
    *,
    locale: str = "en-GB",
) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale=locale, service_workers=service_workers
    )
    context.set_default_timeout(TIMEOUT_MS)
    context.add_init_script(MODULE_AT)
    return context


@pytest.fixture
def console(context: BrowserContext, origin: str) -> Console:
    page = context.new_page()
    console = Console(page, origin, [], [], uid=next(UIDS))
    page.on("request", lambda request: console.requests.append(request.url))
    page.on("pageerror", lambda error: console.page_errors.append(str(error)))
    return console


@pytest.fixture(scope="package")
def module_page(browser: Browser, origin: str) -> Iterator[Page]:
    """Open a page of our origin on which single modules can be imported; they hold no state."""
    with closing(new_context(browser)) as context:
        page = context.new_page()
        page.goto(origin)
        yield page


@pytest.fixture(scope="package")
def model_server() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as server:
        yield server


@pytest.fixture
def model(model_server: ScriptedOpenai) -> Iterator[ScriptedOpenai]:
    """Script the model's answers; the next test finds none of them."""
    yield model_server
    model_server.reset()


@pytest.fixture(scope="package")
def scripted_origin(
    tmp_path_factory: pytest.TempPathFactory, model_server: ScriptedOpenai, app_server: AppServer
) -> Iterator[str]:
    """Serve a product with a scripted model of three names to all tests that take it as their origin."""
    folder = tmp_path_factory.mktemp("scripted")
    settings = {"EGRESS_DEV_ORIGINS": app_server.url, "MODEL_STANDARD": "gpt-5.4"}
    with run_product(folder, **build_model_environment(model_server.url), **settings) as product:
        yield product.origin
