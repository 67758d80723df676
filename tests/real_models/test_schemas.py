"""Schemas on a real server: every tool, every set of tools and every structured answer is accepted.

A server builds a grammar of them before the first token, so that one token of a short question shows it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from infra.model_server.server import ModelServer
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.errors import ModelFailed
from shared.domain.models.model import ModelFacts, Prompt, ToolLeftOut, ToolSpec, UserText
from shared.integrations import INTEGRATIONS
from tests.fakes import ScriptedModel
from tests.fixtures.chat import ADA, ChatFixture, open_chat_fixture
from tests.functions.chat.test_app_tools import install_apps
from tests.functions.chat.test_files import store_file
from tests.functions.chat.test_service_tools import connect_services
from tests.functions.chat.test_small_windows import DESK
from tests.real_models.recording_proxy import RecordingProxy
from tests.real_models.structured_answers import list_answer_schemas
from tests.servers import run_server
from tests.shared.models.test_schemas import list_own_tools

pytestmark = pytest.mark.real_model

WINDOWS = (4_096, 8_192, 32_768)
Prepare = Callable[[ChatFixture], Awaitable[Question]]


async def ask_plainly(_: ChatFixture) -> Question:
    return Question("When does the plumber come?")


async def ask_with_services(world: ChatFixture) -> Question:
    await connect_services(world, *INTEGRATIONS)
    return Question("What is on my calendar?")


async def ask_with_an_app(world: ChatFixture) -> Question:
    await install_apps(world, [DESK])
    return Question("Please archive the meeting on my desk")


async def ask_with_a_file(world: ChatFixture) -> Question:
    lease = await store_file(world, "lease", "It ends in May.", tokens=9)
    return Question("When does it end?", file_ids=[lease])


async def ask_several_models(_: ChatFixture) -> Question:
    return Question("When does the plumber come?", models=["agent", "fast"])


KINDS: Mapping[str, Prepare] = {
    "plain": ask_plainly,
    "services": ask_with_services,
    "app": ask_with_an_app,
    "file": ask_with_a_file,
    "several models": ask_several_models,
}


@pytest.fixture
def recorder(shallow_server: ModelServer) -> Iterator[tuple[RecordingProxy, str]]:
    proxy = RecordingProxy(shallow_server.origin)
    with run_server(proxy) as url:
        yield proxy, f"{url}/v1"


@pytest.fixture
async def model(
    shallow_server: ModelServer, recorder: tuple[RecordingProxy, str]
) -> AsyncIterator[OpenaiModel]:
    models = dict.fromkeys(("agent", "reader"), shallow_server.model)
    model = OpenaiModel(api_key=shallow_server.api_key, base_url=recorder[1], models=models)
    yield model
    await model.aclose()


async def offer(model: OpenaiModel, tools: Sequence[ToolSpec]) -> list[str]:
    """Ask with tools until the first word; return the names of those that the server refused."""
    left_out = []
    async with model.stream("agent", [UserText(text="Hi")], tools) as events:
        async for event in events:
            if not isinstance(event, ToolLeftOut):
                break
            left_out.append(event.name)
    return left_out


@pytest.mark.parametrize("spec", list_own_tools(), ids=lambda spec: spec.name)
async def test_each_tool_is_accepted(
    model: OpenaiModel, recorder: tuple[RecordingProxy, str], spec: ToolSpec
) -> None:
    assert await offer(model, [spec]) == []
    assert recorder[0].refusals == []
    assert [tool["function"]["name"] for tool in recorder[0].calls[-1].body["tools"]] == [spec.name]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_tools_of_each_kind_of_question_are_accepted_together(
    model: OpenaiModel,
    recorder: tuple[RecordingProxy, str],
    tmp_path: Path,
    kind: str,
    window: int,
) -> None:
    world = open_chat_fixture(tmp_path)
    question = await KINDS[kind](world)
    deps = world.deps(ScriptedModel(facts=ModelFacts(window_tokens=window)))
    turn = await prepare_turn(deps, ADA, question)

    for voice in turn.voices:
        specs = [tool.spec for tool in voice.tools]
        assert await offer(model, specs) == []
        assert len(recorder[0].calls[-1].body["tools"]) == len(specs) > 0
    assert recorder[0].refusals == []


@pytest.mark.parametrize("schema", list_answer_schemas(), ids=lambda schema: schema.__name__)
async def test_each_structured_answer_is_accepted(
    model: OpenaiModel, recorder: tuple[RecordingProxy, str], schema: type[BaseModel]
) -> None:
    prompt = Prompt(
        name="tests/answer", version="1", instructions="Answer.", data={}, answer_tokens=1
    )

    with pytest.raises(ModelFailed) as error:  # one token is no answer
        await model.complete_structured("reader", prompt, schema)

    assert error.value.reason == "malformed_answer"
    assert recorder[0].refusals == []
    assert recorder[0].calls[0].body["response_format"]["type"] == "json_schema"
