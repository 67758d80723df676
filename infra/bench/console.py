"""First paint of the console: its home with 300 conversations, in Chromium with an empty cache."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext

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
                _visit_twice(browser, server, token)
                visits = [_visit_twice(browser, server, token) for _ in range(ROUNDS)]
    firsts, seconds = zip(*visits, strict=True)
    name = f"console with {CONVERSATIONS} conversations"

    def compute_median(visits: Sequence[Mapping[str, float]], figure: str) -> float:
        return median(visit[figure] for visit in visits)

    return [
        Figure(f"{name}: first paint", compute_median(firsts, "paint_ms"), "ms", target=1_000),
        Figure(
            f"{name}: conversations shown", compute_median(firsts, "shown_ms"), "ms", target=1_000
        ),
        Figure(f"{name}: transferred", compute_median(firsts, "kilobytes"), "KB", target=200),
        Figure(f"{name}: requests", compute_median(firsts, "requests")),
        Figure(f"{name}, second visit: first paint", compute_median(seconds, "paint_ms"), "ms"),
        Figure(f"{name}, second visit: transferred", compute_median(seconds, "kilobytes"), "KB"),
    ]


async def _fill(data: Path) -> None:
    with GeneratedLibrary(data) as library:
        tick = create_progress_bar("conversations", 100)
        await library.fill(CONVERSATIONS, turns=TURNS, tick=tick)


def _visit_twice(
    browser: Browser, server: ServerProcess, token: str
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Open the console as somebody who is signed in; a new context has an empty cache."""
    session = json.dumps(json.dumps({"uid": OWNER, "token": token}))
    with closing(browser.new_context(viewport={"width": 1280, "height": 800})) as context:
        context.add_init_script(f"sessionStorage.setItem('keepsake.session', {session})")
        return _visit(context, server), _visit(context, server)


def _visit(context: BrowserContext, server: ServerProcess) -> Mapping[str, float]:
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.locator("#conversations .card").first.wait_for()
    figures: Mapping[str, float] = page.evaluate(_READ_FIGURES)
    page.close()
    return figures
