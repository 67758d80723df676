"""First paint: what the console's home transfers stays small, however much is stored."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.waiting import wait_until
from tests.web.console import Console

MAX_BYTES = 200_000
TRANSFERRED = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, load) => sum + load.transferSize, 0)"""


def add_conversations(console: Console, context: BrowserContext, uid: str, count: int) -> None:
    headers = console.sign_in_beside(context, uid)
    for number in range(count):
        text = f"The tiles of room {number} arrive."
        body = {
            "started_at": "2026-03-02T09:00:00Z",
            "finished_at": "2026-03-02T09:05:00Z",
            "transcript_segments": [
                {"text": text, "speaker": "Ann", "is_user": False, "start": 0, "end": 1}
            ],
        }
        url = f"{console.origin}/v1/conversations"
        assert context.request.post(url, data=body, headers=headers).ok
    waiting = f"{url}?statuses=in_progress,processing&include_discarded=true"
    wait_until(lambda: context.request.get(waiting, headers=headers).json() == [] or None)


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_home_of_a_large_library_transfers_at_most_200_kb_u7(
    console: Console, context: BrowserContext, language: str
) -> None:
    add_conversations(console, context, console.uid, 60)
    page = console.page
    page.add_init_script(f"localStorage.setItem('keepsake.language', '{language}')")

    page.goto(console.address)
    page.locator("#uid").fill(console.uid)
    page.locator("#sign-in .primary").click()
    expect(page.locator("#conversations .card")).to_have_count(50)
    page.wait_for_load_state("networkidle")

    assert page.evaluate("document.documentElement.lang") == language
    assert page.evaluate(TRANSFERRED) <= MAX_BYTES


def test_all_that_the_home_imports_is_asked_for_at_once_u7(console: Console) -> None:
    page = console.page
    page.goto(console.address)
    page.locator("#sign-in").wait_for()

    loads = page.evaluate(
        """() => performance.getEntriesByType("resource")
          .filter((load) => load.initiatorType === "script")
          .map((load) => [load.startTime, load.responseEnd])"""
    )

    assert len(loads) > 50
    assert max(start for start, _ in loads) < min(end for _, end in loads)
