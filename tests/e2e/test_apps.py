"""Apps from registration to answer at the started product (T1–T6, P9)."""

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

from tests.e2e.product import ask, build_model_environment, run_product
from tests.old_app import RenderedAnswer
from tests.servers import run_server
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai

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
class GardenServer:
    """An app's server, which accepts signed calls only."""

    url: str = ""
    signing_secret: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    is_slow: bool = False
    pending_calls: SimpleQueue[str] = field(default_factory=SimpleQueue)
    disconnections: SimpleQueue[str] = field(default_factory=SimpleQueue)

    def build_app(self) -> Starlette:
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
            self.pending_calls.put("a call")
            await request.receive()
            self.disconnections.put("its caller")
        return JSONResponse({"result": "The roses are watered."})


@dataclass(frozen=True)
class GardenFixture:
    """Alice, her garden's app, and the model if there is one."""

    alice: httpx.Client
    garden: GardenServer
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

    def uninstall(self, app_id: str) -> None:
        assert self.alice.post("/v1/apps/disable", params={"app_id": app_id}).is_success


@pytest.fixture(scope="module", params=["model", "offline"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GardenFixture]:
    with ExitStack() as stack:
        garden = GardenServer()
        garden.url = stack.enter_context(run_server(garden.build_app()))
        environment = {"EGRESS_DEV_ORIGINS": garden.url}
        model = None
        if request.param == "model":
            model = stack.enter_context(scripted_openai())
            environment |= build_model_environment(model.url)
        folder = tmp_path_factory.mktemp("apps")
        started_product = stack.enter_context(run_product(folder, **environment))
        yield GardenFixture(stack.enter_context(started_product.client("alice")), garden, model)


def list_offered_tools(model: ScriptedOpenai) -> list[str]:
    """Name the tools that the model was offered last."""
    return [tool["function"]["name"] for tool in model.answers[-1].body["tools"]]


def request_water(world: GardenFixture) -> RenderedAnswer:
    """Request water; a scripted model calls the tool, and repeats its result in the next turn."""
    if world.model is None:
        return ask(world.alice, "Please water the plants in the garden.")
    ask(world.alice, "Which tools are there?")
    name = next(name for name in list_offered_tools(world.model) if name.startswith("water_plants"))
    arguments = '{"plants": "roses", "litres": null}'
    world.model.play(
        Script(tool_calls=(ScriptedCall(name=name, arguments=arguments),)),
        Script(text="I need your consent."),
        Script(text="Done: The roses are watered."),
    )
    return ask(world.alice, "Please water the roses.")


def test_a_yes_makes_one_signed_call_and_its_result_is_in_the_answer_t5(
    world: GardenFixture,
) -> None:
    app_id = world.install()

    question = request_water(world)
    calls_before_consent = list(world.garden.calls)
    answer = ask(world.alice, "yes")

    assert f"May “Garden” (developer alice, id `{app_id}`) do “water plants”" in question.text
    assert question.text.endswith("Reply yes, always or no.")
    assert calls_before_consent == []
    plants = "roses" if world.model else "the plants"
    (call,) = world.garden.calls
    assert call.pop("uid") == "alice"  # as on its page, which the app opens with this id
    assert call == {"plants": plants, "app_id": app_id, "tool_name": "water_plants"}
    assert "The roses are watered." in answer.text
    assert answer.statuses == [f"Watering|app_id:{app_id}"]
    if world.model is not None:
        result = world.model.answers[-1].body["messages"][-1]
        fenced = '<data from="app Garden">\nThe roses are watered.\n</data>'
        assert (result["role"], result["content"]) == ("tool", fenced)
    world.uninstall(app_id)


def test_an_uninstalled_app_is_no_longer_offered_p9(world: GardenFixture) -> None:
    world.uninstall(world.install())

    answer = ask(world.alice, "Please water the plants in the garden.")

    assert world.garden.calls == []
    assert not any("Watering" in status for status in answer.statuses)
    if world.model is not None:
        assert not any(name.startswith("water_plants") for name in list_offered_tools(world.model))


def test_only_origins_that_the_environment_or_a_developer_allows_are_called_t2(
    world: GardenFixture,
) -> None:
    integration = {"chat_tools_manifest_url": "http://127.0.0.1:9/tools.json"}

    response = world.alice.post(
        "/v1/apps", json={"name": "Neighbour", "external_integration": integration}
    )

    assert (response.status_code, response.json()["code"]) == (422, "local_address")
    assert response.json()["origins"] == ["http://127.0.0.1:9"]


def test_a_stop_reaches_the_app_that_is_being_called(world: GardenFixture) -> None:
    app_id = world.install()
    world.garden.is_slow = True
    grant = {"kind": "app", "id": app_id, "tool": "water_plants", "state": "always"}
    assert world.alice.put("/v1/tool-grants", json=grant).is_success
    if world.model is not None:
        ask(world.alice, "Which tools are there?")
        name = next(
            name for name in list_offered_tools(world.model) if name.startswith("water_plants")
        )
        call = ScriptedCall(name=name, arguments='{"plants": "the plants in the garden"}')
        world.model.play(Script(tool_calls=(call,)))

    question = {"text": "Please water the plants in the garden."}
    with world.alice.stream("POST", "/v2/messages", json=question) as answer:
        world.garden.pending_calls.get(timeout=30)
        stopped = world.alice.post(f"/v2/messages/{answer.headers['x-run-id']}/stop")
        answer.read()

    assert stopped.is_success
    assert world.garden.disconnections.get(timeout=30) == "its caller"
    world.garden.is_slow = False
    world.uninstall(app_id)
