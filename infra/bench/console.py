"""First paint of the console: its home with 300 conversations, in Chromium with an empty cache."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from infra.bench.client import sign_in
from infra.bench.figures import Figure
from infra.bench.libraries import OWNER, GeneratedLibrary
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.local.browser import run_chromium
from infra.progress import create_progress_bar

CONVERSATIONS = 300
TURNS = 20
ROUNDS = 9

_READ_FIGURES = """() => {
  const loads = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    paint_ms: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    shown_ms: performance.now(),
    requests: loads.length,
    kilobytes: loads.reduce((sum, load) => sum + load.transferSize, 0) / 1000,
  };
}"""


def measure_console() -> Sequence[Figure]:
    with open_folder() as data:
        asyncio.run(_fill(data))
        with run_keepsake_on(data) as server:
            token = asyncio.run(sign_in(server.port, OWNER))
            with run_chromium() as browser:
                _load(browser, server, token)
                loads = [_load(browser, server, token) for _ in range(ROUNDS)]
    name = f"console with {CONVERSATIONS} conversations"

    def compute_median(figure: str) -> float:
        return median(load[figure] for load in loads)

    return [
        Figure(f"{name}: first paint", compute_median("paint_ms"), "ms", target=1_000),
        Figure(f"{name}: conversations shown", compute_median("shown_ms"), "ms", target=1_000),
        Figure(f"{name}: transferred", compute_median("kilobytes"), "KB", target=200),
        Figure(f"{name}: requests", compute_median("requests")),
    ]


async def _fill(data: Path) -> None:
    with GeneratedLibrary(data) as library:
        tick = create_progress_bar("conversations", 100)
        await library.fill(CONVERSATIONS, turns=TURNS, tick=tick)


def _load(browser: Browser, server: ServerProcess, token: str) -> dict[str, float]:
    """Open the console as somebody who is signed in; a new context has an empty cache."""
    session = json.dumps(json.dumps({"uid": OWNER, "token": token}))
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(f"sessionStorage.setItem('keepsake.session', {session})")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.locator("#conversations .card").first.wait_for()
    figures: dict[str, float] = page.evaluate(_READ_FIGURES)
    context.close()
    return figures
