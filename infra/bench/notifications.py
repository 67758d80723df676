"""Notifications: how fast posts of apps are answered and delivered, and what a post asks of the store."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import mean, median, quantiles

from infra.bench.client import request
from infra.bench.figures import Figure
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.progress import create_progress_bar, draw_progress_bar
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.apps.apps import Apps, InstalledApps, hash_key
from shared.domain.apps.app import ApiKey, App, ExternalIntegration, InstalledApp
from shared.domain.ids import AppId, UserId
from tests.fixtures.storage import INDEXES

MAX_CONCURRENT = 16
USERS = 200
POSTS_PER_USER = 8
"""Posts for each user, below the limit of an hour."""
WARM_UP = 200
OPEN_POSTS = 400
RATE = 50
"""Posts a second of the open loop, which waits for no answer before it sends the next."""
POLL_S = 0.1
TIMEOUT_S = 120
WEATHER = AppId("weather")
KEY = "sk_0123456789abcdef0123456789abcdef"
PATH = "/v1/integrations/notification"


async def measure_notifications() -> list[Figure]:
    with open_folder() as folder:
        await install_app(folder)
        with run_keepsake_on(folder) as server:
            pending = generate_posts()
            await post_all(server, list(islice(pending, WARM_UP)))
            await wait_for_deliveries(server, WARM_UP)
            openly_took_s = await post_openly(server, list(islice(pending, OPEN_POSTS)))
            await wait_for_deliveries(server, WARM_UP + OPEN_POSTS)
            before_s, started = server.cpu_s, time.perf_counter()
            posts = list(pending)
            took_s = await post_all(server, posts)
            posted_s = time.perf_counter() - started
            await wait_for_deliveries(server, WARM_UP + OPEN_POSTS + len(posts))
            wall_s, cpu_s = time.perf_counter() - started, server.cpu_s - before_s
            lines = server.read_request_lines("notifications")
    name = f"notification posts, {MAX_CONCURRENT} at once"
    return [
        Figure(
            f"notification posts, {RATE} a second: p95",
            quantiles(openly_took_s, n=20)[-1] * 1000,
            "ms",
            target=15,
        ),
        Figure(f"notification posts, {RATE} a second: median", median(openly_took_s) * 1000, "ms"),
        Figure(f"{name}: p95", quantiles(took_s, n=20)[-1] * 1000, "ms"),
        Figure(f"{name}: median", median(took_s) * 1000, "ms"),
        Figure(f"{name}", len(posts) / posted_s, "posts/s"),
        Figure(f"{name}, until the last is delivered", len(posts) / wall_s, "posts/s"),
        Figure("CPU of a post and its delivery", cpu_s / len(posts) * 1000, "ms"),
        Figure("documents read in a post", mean(line["reads"] for line in lines)),
        Figure("documents written in a post", mean(line["writes"] for line in lines)),
    ]


async def install_app(data: Path) -> None:
    """Let every user install an app that writes into the chat and pushes."""
    database = SqliteDatabase(data / "keepsake.db")
    documents, now = SqliteDocuments(database, INDEXES), datetime.now(UTC)  # noqa: TID251 - the product's own clock follows
    integration = ExternalIntegration(chat_messages_enabled=True, chat_messages_notify=True)
    app = App(
        id=WEATHER,
        owner=UserId("dev"),
        name="Weather",
        created_at=now,
        private=False,
        capabilities=("external_integration",),
        external_integration=integration,
    )
    await Apps(documents).create(app)
    key = ApiKey(id="k1", hashed=hash_key(KEY), label="bench", created_at=now)
    await Apps(documents).add_key(WEATHER, key)
    for n in range(USERS):
        installed = InstalledApp(app_id=WEATHER, installed_at=now)
        await InstalledApps(documents).add(UserId(f"user-{n}"), installed)
    database.close()


def generate_posts() -> Iterator[Mapping[str, str]]:
    for round_ in range(POSTS_PER_USER):
        for n in range(USERS):
            yield {"aid": WEATHER, "uid": f"user-{n}", "message": f"Gust {round_} is on its way."}


async def post_all(server: ServerProcess, posts: list[Mapping[str, str]]) -> list[float]:
    """Send all posts, so many at once, and return the seconds of each."""
    pending, took_s, tick = iter(posts), [], create_progress_bar("posts", len(posts))

    async def work() -> None:
        for post in pending:
            started = time.perf_counter()
            answer = await request(server.port, "POST", PATH, post, token=KEY)
            took_s.append(time.perf_counter() - started)
            answer.require()
            tick()

    await asyncio.gather(*(work() for _ in range(MAX_CONCURRENT)))
    return took_s


async def post_openly(server: ServerProcess, posts: list[Mapping[str, str]]) -> list[float]:
    """Send a post every 1/RATE s whether or not those before are answered; return their seconds."""
    took_s: list[float] = []

    async def send(post: Mapping[str, str], at: float) -> None:
        await asyncio.sleep(max(0.0, at - time.perf_counter()))
        answer = await request(server.port, "POST", PATH, post, token=KEY)
        took_s.append(time.perf_counter() - at)
        answer.require()

    start = time.perf_counter()
    await asyncio.gather(*(send(post, start + n / RATE) for n, post in enumerate(posts)))
    return took_s


async def wait_for_deliveries(server: ServerProcess, count: int) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while (done := len(server.read_request_lines("deliver_notification"))) < count:
            draw_progress_bar("deliveries", done, count)
            await asyncio.sleep(POLL_S)
