"""Embedded world of a soak: several `make run` on one data folder."""

import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random

from infra.bench import client
from infra.bench.processes import open_folder
from infra.soak.faulty_link import Faults, FaultyLink, open_link
from infra.soak.model import run_model
from infra.soak.redeliveries import add_redeliveries, count_redeliveries, count_waiting
from infra.soak.servers import Server, run_servers
from infra.soak.world import COLLECTIONS, Rows


@dataclass(slots=True, kw_only=True)
class EmbeddedWorld:
    """The first server lives throughout, with the right clock."""

    database: Path
    servers: Sequence[Server]
    mortals: Iterator[Server]
    link: FaultyLink
    random: Random

    @property
    def steady_pids(self) -> Sequence[int]:
        process = self.servers[0].process
        return [process.pid] if process else []

    def find_origin(self, path: str) -> str:
        return f"http://127.0.0.1:{self.random.choice(self.servers).port}"

    async def sign_in(self, name: str) -> tuple[str, str]:
        return name, await client.sign_in(self.servers[0].port, name)

    async def kill_next(self) -> None:
        server = next(self.mortals)
        await server.kill()
        await server.start()

    async def stop(self) -> Sequence[str]:
        for server in self.servers:
            await server.stop()
        return [error for server in self.servers for error in server.errors]

    async def load_rows(self, uid: str) -> Rows:
        with closing(sqlite3.connect(self.database)) as connection:
            return {kind: _load_rows(connection, f"users/{uid}/{kind}") for kind in COLLECTIONS}

    async def count_rows(self) -> int:
        with closing(sqlite3.connect(self.database)) as connection:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])

    async def count_waiting(self) -> int:
        return count_waiting(self.database)

    async def count_faults(self) -> Mapping[str, int]:
        return {
            "connections reset": self.link.reset_count,
            "messages that came late": count_redeliveries(self.database, "late"),
            "messages that came again": count_redeliveries(self.database, "repeat"),
        }


def _load_rows(connection: sqlite3.Connection, collection: str) -> list[dict[str, object]]:
    sql = "SELECT fields FROM documents WHERE collection = ?"
    return [json.loads(row) for (row,) in connection.execute(sql, (collection,))]


@asynccontextmanager
async def open_embedded_world(processes: int, random: Random) -> AsyncIterator[EmbeddedWorld]:
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_folder()) / "keepsake.db"
        model = await stack.enter_async_context(run_model())
        link = await stack.enter_async_context(
            open_link([model.port], Random(random.random()), Faults())
        )
        openai = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"http://127.0.0.1:{link.port}/v1"}
        servers = await stack.enter_async_context(
            run_servers(processes, database.parent, Random(random.random()), **openai)
        )
        await _open_library(servers[0])
        add_redeliveries(database)
        yield EmbeddedWorld(
            database=database,
            servers=servers,
            mortals=cycle(servers[1:]),
            link=link,
            random=Random(random.random()),
        )


async def _open_library(server: Server) -> None:
    """Look at somebody's conversations, after which every table is there."""
    token = await client.sign_in(server.port, "nobody")
    answer = await client.request(server.port, "GET", "/v1/conversations", token=token)
    answer.require()
