"""App directory of several pages, on a product of its own (T4)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.product import run_product
from tests.web.console import Console

MAKER_COUNT, APPS_PER_MAKER = 7, 16
PAGE_SIZE = 100


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    with run_product(tmp_path) as product:
        yield product.origin


def publish_apps(console: Console, context: BrowserContext) -> None:
    """Publish apps of several developers, App 1 first."""
    for maker in range(MAKER_COUNT):
        owner = console.sign_in_beside(context, f"maker{maker}")
        for n in range(1, APPS_PER_MAKER + 1):
            app = {"name": f"App {maker * APPS_PER_MAKER + n}.", "private": False}
            response = context.request.post(f"{console.origin}/v1/apps", data=app, headers=owner)
            assert response.ok, response.text()


def test_the_next_page_of_apps_is_shown_and_installed_by_keyboard_t4(
    console: Console, context: BrowserContext
) -> None:
    publish_apps(console, context)
    console.sign_in("reader")
    page = console.page
    console.show_view("apps")
    rows, status = page.locator("#apps .groups li[data-id]"), page.locator("#apps > [role=status]")
    expect(rows).to_have_count(PAGE_SIZE)
    expect(console.find_app("App 1.")).to_have_count(0)

    page.get_by_role("button", name="Show more apps").press("Enter")

    expect(rows).to_have_count(MAKER_COUNT * APPS_PER_MAKER)
    expect(status).to_have_text(f"{MAKER_COUNT * APPS_PER_MAKER - PAGE_SIZE} more apps are shown.")
    expect(rows.nth(PAGE_SIZE)).to_be_focused()
    expect(rows.nth(PAGE_SIZE)).to_contain_text("App 1.")
    expect(page.get_by_role("button", name="Show more apps")).to_be_hidden()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("button", name="Uninstall App 1.")).to_be_focused()
    expect(rows).to_have_count(MAKER_COUNT * APPS_PER_MAKER)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Install App 1.", exact=True)).to_be_focused()
    expect(rows).to_have_count(MAKER_COUNT * APPS_PER_MAKER)
    assert console.page_errors == []
