"""Watch over the models that are set: free of cost, and named in a line what is wrong with them (U5, N2)."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from infra.local.model_watch import ModelsInUse, ModelWatch, find_models_in_use
from shared.adapters.embedded.model_file import ModelFile, ModelSetup
from shared.models.known_models import KnownModel, KnownModels
from shared.settings import Settings
from tests.fakes import FixedClock
from tests.servers import run_server

pytestmark = pytest.mark.anyio


@dataclass
class Server:
    """Lists models, tells the window of each from `windows`, and counts what would cost something."""

    listing: Response = field(default_factory=lambda: JSONResponse({"data": [{"id": "qwen3"}]}))
    windows: list[int] = field(default_factory=list)
    completions: int = 0
    url: str = ""

    async def list_models(self, _: Request) -> Response:
        return self.listing

    async def tell(self, _: Request) -> Response:
        window = self.windows.pop(0) if len(self.windows) > 1 else self.windows[0]
        return JSONResponse({"default_generation_settings": {"n_ctx": window}, "total_slots": 1})

    async def complete(self, _: Request) -> Response:
        self.completions += 1
        return Response()

    @contextmanager
    def run(self) -> Iterator["Server"]:
        routes = [
            Route("/v1/models", self.list_models),
            Route("/v1/chat/completions", self.complete, methods=["POST"]),
        ]
        routes += [Route("/props", self.tell)] if self.windows else []
        with run_server(Starlette(routes=routes)) as origin:
            self.url = f"{origin}/v1"
            yield self


class EndlessNight(Exception):
    """The clock stands still for good."""


@dataclass
class ShortClock(FixedClock):
    """A clock on which so many sleeps end at once, and the next never."""

    sleeps: int = 0

    async def sleep(self, seconds: float) -> None:
        if not self.sleeps:
            raise EndlessNight
        self.sleeps -= 1


def build_watch(
    url: str, known: KnownModels, said: list[str], *, sleeps: int = 0, model: str = "qwen3"
) -> ModelWatch:
    used = ModelsInUse(base_url=url, api_key="x", models=(model,), place="environment")
    return ModelWatch(lambda: used, known, ShortClock(sleeps=sleeps), said.append)


async def look(server: Server, **parts: Any) -> tuple[KnownModel, list[str]]:
    known, said = KnownModels(), list[str]()
    with server.run():
        await build_watch(server.url, known, said, **parts).look()
    assert server.completions == 0
    return known.get((server.url, parts.get("model", "qwen3"))), said


async def test_a_good_model_is_looked_at_free_of_cost_and_without_a_word() -> None:
    known, said = await look(Server(windows=[32_768]))

    assert (known.window_tokens, known.places, said) == (32_768, 1, [])


@pytest.mark.parametrize(
    ("listing", "told"),
    [
        (
            Response(status_code=401),
            "The provider of the language model refused the key. It is OPENAI",
        ),
        (HTMLResponse("<html></html>"), "What answers at the address of the language model is no"),
    ],
)
async def test_what_is_wrong_is_said_in_a_line(listing: Response, told: str) -> None:
    _, said = await look(Server(listing=listing))

    assert [line.startswith(f"qwen3 cannot be used now. {told}") for line in said] == [True]


async def test_a_server_that_is_not_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    said = list[str]()

    await build_watch(url, KnownModels(), said).look()

    assert len(said) == 1
    assert "There is no connection to the language model." in said[0]


@pytest.mark.parametrize("status", [403, 404, 429, 500])
async def test_a_server_without_a_list_is_no_reason_to_speak(status: int) -> None:
    _, said = await look(Server(listing=Response(status_code=status)))

    assert said == []


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (
            ["llama3", "gemma3"],
            ["qwen3 may not answer: its server does not list it, but llama3, gemma3"],
        ),
        (["llama3"], []),
        (["llama3", "qwen3:latest"], []),
    ],
)
async def test_a_model_that_is_not_listed_is_named_beside_those_that_are(
    names: list[str], lines: list[str]
) -> None:
    listing = JSONResponse({"data": [{"id": name} for name in names]})

    _, said = await look(Server(listing=listing))

    assert said == lines


async def test_a_small_window_is_said() -> None:
    _, said = await look(Server(windows=[4_096]))

    assert said[0].startswith("qwen3: It is given 4,096 tokens at once")
    assert "docs/models.md" in said[0]


async def test_a_server_that_is_started_anew_is_followed_and_a_refusal_outlives_an_old_story() -> (
    None
):
    known, said = KnownModels(), list[str]()
    with Server(windows=[32_768, 32_768, 16_384]).run() as server:
        key = (server.url, "qwen3")
        await build_watch(server.url, known, said).look()
        known.set(key, KnownModel(window_tokens=8_192, window_source="refusal"))
        watch = build_watch(server.url, known, said, sleeps=2)
        with pytest.raises(EndlessNight):
            await watch.run()

    assert known.get(key).window_tokens == 16_384


async def test_the_same_story_again_replaces_no_refusal() -> None:
    known, said = KnownModels(), list[str]()
    with Server(windows=[32_768]).run() as server:
        key = (server.url, "qwen3")
        watch = build_watch(server.url, known, said, sleeps=1)
        await watch.look()
        known.set(key, KnownModel(window_tokens=8_192, window_source="refusal"))
        with pytest.raises(EndlessNight):
            await watch.run()

    assert known.get(key).window_tokens == 8_192


def test_what_the_environment_sets_comes_before_the_console(tmp_path: Path) -> None:
    file = ModelFile(tmp_path)
    assert find_models_in_use(Settings(), file) is None

    file.store(
        ModelSetup(kind="ollama", base_url="http://a/v1", api_key="x", model="m", small_model="s")
    )
    chosen = find_models_in_use(Settings(), file)
    set_first = find_models_in_use(Settings.from_env({"OPENAI_API_KEY": "k"}), file)

    assert chosen is not None
    assert set_first is not None
    assert (chosen.models, chosen.place) == (("m", "s"), "console")
    assert (set_first.models, set_first.place) == (("gpt-6-sol", "gpt-6-luna"), "environment")
