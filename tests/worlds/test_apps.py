"""An app from its registration to the answer, at the started product (T1–T6, P9)."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.old_app import Shown
from tests.servers import running
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai
from tests.worlds.product import ask, product, with_model

MANIFEST = {
    "tools": [
        {
            "name": "water_plants",
            "description": "Water the plants in the garden",
            "endpoint": "/water",
            "method": "POST",
            "parameters": {
                "properties": {
                    "plants": {"type": "string"},
                    "litres": {"type": "integer"},
                },
                "required": ["plants"],
            },
            "auth_required": False,
            "status_message": "Watering",
        }
    ]
}


@dataclass
class Garden:
    """An app's server, which believes a call only when its signature holds."""

    url: str = ""
    signing_secret: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    is_slow: bool = False
    waiting: SimpleQueue[str] = field(default_factory=SimpleQueue)
    left: SimpleQueue[str] = field(default_factory=SimpleQueue)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/omi-tools.json", self._manifest),
                Route("/water", self._water, methods=["POST"]),
            ]
        )

    async def _manifest(self, _: Request) -> JSONResponse:
        return JSONResponse(MANIFEST)

    async def _water(self, request: Request) -> JSONResponse:
        body = await request.body()
        Webhook(self.signing_secret).verify(body, dict(request.headers))
        self.calls.append(json.loads(body))
        if self.is_slow:
            self.waiting.put("a call")
            await request.receive()
            self.left.put("its caller")
        return JSONResponse({"result": "The roses are watered."})


@dataclass(frozen=True)
class World:
    """Alice, her garden's app, and the model if there is one."""

    alice: httpx.Client
    garden: Garden
    model: ScriptedOpenai | None

    def install(self) -> str:
        """Register the garden's app, with a key, and enable it."""
        integration = {
            "app_home_url": self.garden.url,
            "chat_tools_manifest_url": f"{self.garden.url}/.well-known/omi-tools.json",
        }
        registered = self.alice.post(
            "/v1/apps",
            json={
                "name": "Garden",
                "description": "Looks after plants",
                "capabilities": ["external_integration"],
                "external_integration": integration,
            },
        ).json()
        self.garden.signing_secret = registered["signing_secret"]
        self.garden.calls.clear()
        app_id: str = registered["id"]
        assert self.alice.post(f"/v1/apps/{app_id}/keys").json()["secret"].startswith("sk_")
        assert self.alice.post("/v1/apps/enable", params={"app_id": app_id}).is_success
        return app_id

    def remove(self, app_id: str) -> None:
        assert self.alice.post("/v1/apps/disable", params={"app_id": app_id}).is_success


@pytest.fixture(scope="module", params=["model", "offline"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with ExitStack() as stack:
        garden = Garden()
        garden.url = stack.enter_context(running(garden.app()))
        environment = {"EGRESS_DEV_ORIGINS": garden.url}
        model = None
        if request.param == "model":
            model = stack.enter_context(scripted_openai())
            environment |= with_model(model.url)
        folder = tmp_path_factory.mktemp("apps")
        started = stack.enter_context(product(folder, **environment))
        yield World(stack.enter_context(started.client("alice")), garden, model)


def offered(model: ScriptedOpenai) -> list[str]:
    """Name the tools that the model was offered last."""
    return [tool["function"]["name"] for tool in model.requests[-1].body["tools"]]


def water(world: World) -> Shown:
    """Ask for water; a scripted model calls the tool and then says what it was told."""
    if world.model is None:
        return ask(world.alice, "Please water the plants in the garden.")
    ask(world.alice, "Which tools are there?")
    name = next(name for name in offered(world.model) if name.startswith("water_plants"))
    arguments = '{"plants": "roses", "litres": null}'
    world.model.play(
        Script(tool_calls=(ScriptedCall(name=name, arguments=arguments),)),
        Script(text="Done: The roses are watered."),
    )
    return ask(world.alice, "Please water the roses.")


def test_t5_a_question_leads_to_one_signed_call_and_its_result_into_the_answer(
    world: World,
) -> None:
    app_id = world.install()

    shown = water(world)

    asked = "roses" if world.model else "the plants"
    assert world.garden.calls == [
        {"plants": asked, "uid": "alice", "app_id": app_id, "tool_name": "water_plants"}
    ]
    assert "The roses are watered." in shown.text
    assert shown.statuses == [f"Watering|app_id:{app_id}"]
    if world.model is not None:
        result = world.model.requests[-1].body["messages"][-1]
        labelled = '<data from="app Garden">\nThe roses are watered.\n</data>'
        assert (result["role"], result["content"]) == ("tool", labelled)
    world.remove(app_id)


def test_p9_a_removed_app_is_offered_no_more(world: World) -> None:
    world.remove(world.install())

    shown = ask(world.alice, "Please water the plants in the garden.")

    assert world.garden.calls == []
    assert not any("Watering" in status for status in shown.statuses)
    if world.model is not None:
        assert not any(name.startswith("water_plants") for name in offered(world.model))


def test_t2_only_origins_that_the_environment_names_are_called(world: World) -> None:
    integration = {"chat_tools_manifest_url": "http://127.0.0.1:9/tools.json"}

    refused = world.alice.post(
        "/v1/apps", json={"name": "Neighbour", "external_integration": integration}
    )

    assert refused.status_code == 400
    assert "must start with https://" in refused.json()["detail"]


def test_a_stop_reaches_the_app_that_is_being_called(world: World) -> None:
    app_id = world.install()
    world.garden.is_slow = True
    world.alice.delete("/v2/messages")  # what apps said before would put the call in doubt
    if world.model is not None:
        ask(world.alice, "Which tools are there?")
        name = next(name for name in offered(world.model) if name.startswith("water_plants"))
        call = ScriptedCall(name=name, arguments='{"plants": "the plants in the garden"}')
        world.model.play(Script(tool_calls=(call,)))

    question = {"text": "Please water the plants in the garden."}
    with world.alice.stream("POST", "/v2/messages", json=question) as answer:
        world.garden.waiting.get(timeout=30)
        stopped = world.alice.post(f"/v2/messages/{answer.headers['x-run-id']}/stop")
        answer.read()

    assert stopped.is_success
    assert world.garden.left.get(timeout=30) == "its caller"
    world.garden.is_slow = False
    world.remove(app_id)
