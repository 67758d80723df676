"""Notifications: how fast posts of apps are answered, and what a post asks of the store."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median, quantiles

from infra.bench.client import request
from infra.bench.figures import Figure
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.progress import create_progress_bar
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.apps import Apps, InstalledApps, hash_key
from shared.domain.app import ApiKey, App, ExternalIntegration, InstalledApp
from shared.domain.ids import AppId, UserId
from tests.fixtures.storage import INDEXES

MAX_CONCURRENT = 16
USERS = 150
POSTS_PER_USER = 8
"""Posts for each user, below the limit of an hour."""
WARM_UP = 200
WEATHER = AppId("weather")
KEY = "sk_0123456789abcdef0123456789abcdef"
PATH = "/v1/integrations/notification"


async def measure_notifications() -> list[Figure]:
    with open_folder() as folder:
        await install_app(folder)
        with run_keepsake_on(folder) as server:
            pending = generate_posts()
            await post_all(server, [next(pending) for _ in range(WARM_UP)])
            before_s, started = server.cpu_s, time.perf_counter()
            took_s = await post_all(server, list(pending))
            wall_s, cpu_s = time.perf_counter() - started, server.cpu_s - before_s
            lines = server.read_request_lines("notifications")
    posts = len(took_s)
    name = f"notification posts, {MAX_CONCURRENT} at once"
    return [
        Figure(f"{name}: p95", quantiles(took_s, n=20)[-1] * 1000, "ms", target=15),
        Figure(f"{name}: median", median(took_s) * 1000, "ms"),
        Figure(f"{name}", posts / wall_s, "posts/s"),
        Figure("CPU of a post and its delivery", cpu_s / posts * 1000, "ms"),
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
