"""Evaluation of the crisis gate with a model and a moderation, both on loopback (C44)."""

import json
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

import pytest
from starlette.types import Receive, Scope, Send

from infra.eval.crisis import render_judged
from infra.eval.crisis_gold import load_messages
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.cloud.openai_moderator import OpenaiModerator
from tests.fakes import AutoAdvanceClock, UnmaskedModels
from tests.servers import run_server
from tests.servers.moderations import FakeModerations, build_answer
from tests.servers.openai import Script, ScriptedOpenai

LATE = [message for message in load_messages() if message.half == "late"]


@contextmanager
def run_provider(model: ScriptedOpenai, moderations: FakeModerations) -> Iterator[str]:
    """Run a model and a moderation at one address; yield its base URL."""

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        is_rated = scope["type"] == "http" and scope["path"].endswith("/moderations")
        await (moderations.app if is_rated else model)(scope, receive, send)

    with run_server(dispatch) as url:
        yield f"{url}/v1"


async def measure_late(model: ScriptedOpenai, moderations: FakeModerations) -> list[int]:
    """Return crises, those caught, others, false alarms, and the messages that were read, of the late set."""
    with run_provider(model, moderations) as url:
        openai = OpenaiModel(api_key="key", base_url=url, models={"fast": "small"})
        moderator = OpenaiModerator(api_key="key", base_url=url, clock=AutoAdvanceClock())
        async with aclosing(openai), aclosing(moderator):
            *_, late = await render_judged(UnmaskedModels(model=openai), moderator, LATE)
    return [int(word) for word in late.split()[1:]]


def script(schema: str, **answer: object) -> Script:
    return Script(schema=schema, text=json.dumps(answer), sticky=True)


@pytest.mark.parametrize(
    ("self_harm", "figures"), [(0.4, [24, 24, 8, 8, 31]), (0.01, [24, 1, 8, 0, 0])]
)
async def test_with_a_moderation_the_clear_messages_that_it_doubts_are_judged_c44(
    self_harm: float, figures: list[int]
):
    moderations = FakeModerations(answers=[build_answer(self_harm=self_harm)] * len(LATE))
    model = ScriptedOpenai()
    model.play(script("crisis", level=2, quote="", language="en"))

    assert await measure_late(model, moderations) == figures
    assert len(moderations.requests) == 31


async def test_without_a_moderation_the_model_rates_them_c44():
    model = ScriptedOpenai()
    model.play(script("rating", self_harm=3), script("crisis", level=2))

    assert await measure_late(model, FakeModerations(answers=[404])) == [24, 24, 8, 8, 31]
