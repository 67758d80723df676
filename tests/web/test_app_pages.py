"""T4: a directory with more apps than one answer holds; its product is its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from infra.local.browser import product
from tests.web.console import Console

pytestmark = pytest.mark.browser

MAKERS, EACH = 7, 16
PAGE = 100


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    with product(tmp_path) as address:
        yield address


def publish(console: Console, context: BrowserContext) -> None:
    """Let several makers publish apps, App 1 first."""
    for maker in range(MAKERS):
        owner = console.owner(context, f"maker{maker}")
        for n in range(1, EACH + 1):
            app = {"name": f"App {maker * EACH + n}.", "private": False}
            made = context.request.post(f"{console.origin}/v1/apps", data=app, headers=owner)
            assert made.ok, made.text()


def test_t4_older_apps_are_shown_and_installed_by_keyboard(
    console: Console, context: BrowserContext
) -> None:
    publish(console, context)
    console.sign_in("reader")
    page = console.page
    console.show("apps")
    rows, status = page.locator("#apps .groups li[data-id]"), page.locator("#apps > [role=status]")
    expect(rows).to_have_count(PAGE)
    expect(console.app("App 1.")).to_have_count(0)

    page.get_by_role("button", name="Show more apps").press("Enter")

    expect(rows).to_have_count(MAKERS * EACH)
    expect(status).to_have_text(f"{MAKERS * EACH - PAGE} more apps are shown.")
    expect(rows.nth(PAGE)).to_be_focused()
    expect(rows.nth(PAGE)).to_contain_text("App 1.")
    expect(page.get_by_role("button", name="Show more apps")).to_be_hidden()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("button", name="Uninstall App 1.")).to_be_focused()
    expect(rows).to_have_count(MAKERS * EACH)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Install App 1.", exact=True)).to_be_focused()
    expect(rows).to_have_count(MAKERS * EACH)
    assert console.complaints == []
