"""Charts: drawn from a tool's checked figures, streamed, stored, and read by released apps (P8)."""

import json
from typing import Any

import pytest
from pydantic_core import from_json, to_json

from shared.data.chats.runs import _decode_event, _encode_event
from shared.data.store.codec import dump, load
from shared.domain.chats.chart import Chart, DataPoint, Dataset
from shared.domain.chats.chat import Message
from shared.domain.chats.run import ChartShown
from shared.domain.errors import Invalid
from shared.domain.models.model import ToolResult
from shared.domain.store.documents import Document
from tests.contracts.omi_client.objects import CHART
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_ui_messages import MESSAGE, encode_chunks, parse_chunks

WALKS: dict[str, Any] = {
    "chart_type": "line",
    "title": "Steps of the week",
    "labels": ["Mon", "Tue"],
    "datasets": [
        {"label": "Steps", "values": [8200, 6400.5], "color": "#1F6FEB"},
        {"label": "Goal", "values": [7000, 7000]},
    ],
    "y_label": "Steps",
}
DRAWN: dict[str, Any] = {
    "chart_type": "line",
    "title": "Steps of the week",
    "datasets": [
        {
            "label": "Steps",
            "data_points": [{"label": "Mon", "value": 8200.0}, {"label": "Tue", "value": 6400.5}],
            "color": "#1F6FEB",
        },
        {
            "label": "Goal",
            "data_points": [{"label": "Mon", "value": 7000.0}, {"label": "Tue", "value": 7000.0}],
            "color": None,
        },
    ],
    "x_label": None,
    "y_label": "Steps",
}


def build_chart(**changes: Any) -> Chart:
    fields: dict[str, Any] = {
        "chart_type": "bar",
        "title": "Cups",
        "datasets": (build_dataset("Tea", May=2.0),),
    }
    return Chart(**{**fields, **changes})


def build_dataset(label: str, color: str | None = None, **figures: float) -> Dataset:
    points = tuple(DataPoint(label=name, value=figure) for name, figure in figures.items())
    return Dataset(label=label, data_points=points, color=color)


async def read_result(world: ChatFixture, **changes: Any) -> str:
    """Return what the model reads once it called the tool."""
    call = script_calls(("create_chart", {**WALKS, **changes}))
    with ScriptedModel(call, script_answer("Look.")) as model:
        await ask(world.deps(model), {"text": "Draw my steps"})
    return [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)][-1]


async def test_a_chart_ends_the_answer_as_released_apps_draw_it_p8(world: ChatFixture) -> None:
    with ScriptedModel(script_calls(("create_chart", WALKS)), script_answer("Look.")) as model:
        _, screen = await ask(world.deps(model), {"text": "Draw my steps"})
        async with open_chat(world.deps()) as http:
            answer = (await http.get("/v2/messages")).json()[0]

    assert screen.done is not None
    assert screen.done["chart_data"] == DRAWN == answer["chart_data"]
    CHART(screen.done["chart_data"])
    assert "sources" not in answer["metadata"]


async def test_a_chart_is_streamed_when_its_call_ends_and_is_a_part_later_p8(
    world: ChatFixture,
) -> None:
    ui = {"protocol": "ui-message-stream"}
    with ScriptedModel(script_calls(("create_chart", WALKS)), script_answer("Look.")) as model:
        async with open_chat(world.deps(model)) as http:
            stream = await http.post("/v2/messages", json={"text": "Draw it"}, params=ui)
            answer = (await http.get("/v2/messages", params=ui)).json()[0]

    part = {"type": "data-chart", "id": "chart", "data": DRAWN}
    types = [c["type"] for c in parse_chunks(stream.content) if isinstance(c, dict)]
    assert part in parse_chunks(stream.content)
    assert types.index("tool-output-available") < types.index("data-chart")
    assert types.index("data-chart") < types.index("text-start")
    assert part in answer["metadata"]["parts"]


async def test_the_last_chart_of_an_answer_is_shown_p8(world: ChatFixture) -> None:
    calls = script_calls(("create_chart", WALKS), ("create_chart", {**WALKS, "title": "Better"}))
    with ScriptedModel(calls, script_answer("Look.")) as model:
        _, screen = await ask(world.deps(model), {"text": "Draw my steps"})

    assert screen.done is not None
    assert screen.done["chart_data"]["title"] == "Better"
    results = [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)]
    assert all("in the place of any chart before it" in text for text in results)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"labels": ["Mon"]}, "'Steps' has 2 values for 1 labels"),
        ({"chart_type": "pie"}, "chart_type"),
        ({"datasets": []}, "datasets"),
        ({"datasets": [{"label": "x", "values": ["many", 1]}]}, "datasets"),
        ({"datasets": [{"label": "x", "values": [1e300, 1]}]}, "datasets"),
        ({"datasets": [{"label": "x", "values": [1, 2], "color": "url(x)"}]}, "datasets"),
        ({"labels": ["x"] * 101}, "labels"),
        ({"title": "x" * 201}, "title"),
    ],
)
async def test_a_chart_that_cannot_be_drawn_is_refused_with_the_reason_p8(
    world: ChatFixture, changes, problem
):
    assert problem in await read_result(world, **changes)


async def test_what_the_model_wrote_is_shown_without_invisible_signs_p8(world: ChatFixture) -> None:
    await read_result(world, title="Steps\u200b of\n the\u202e week", labels=["M\u200bon", "Tue"])

    async with open_chat(world.deps()) as http:
        chart = (await http.get("/v2/messages")).json()[0]["chart_data"]
    assert chart["title"] == "Steps of the week"
    assert chart["datasets"][0]["data_points"][0]["label"] == "Mon"


def test_a_chart_is_the_same_when_another_process_reads_it_p8() -> None:
    event = ChartShown(build_chart(datasets=(build_dataset("Tea", "#112233", May=2.5, June=-1),)))

    stored = from_json(to_json(_encode_event(event)))

    assert _decode_event(*stored) == event


def test_a_message_keeps_its_chart_and_old_messages_have_none_p8() -> None:
    fields = dump(MESSAGE)
    del fields["chart"]

    assert (
        load(Message, Document(path="users/ada/messages/run1", fields=fields, version=""))
        == MESSAGE
    )


def test_a_chart_is_one_part_whose_last_version_counts_p8() -> None:
    chunks = encode_chunks(ChartShown(build_chart()), ChartShown(build_chart(title="More")))

    parts = [chunk for chunk in chunks if chunk["type"] == "data-chart"]
    assert [(part["id"], part["data"]["title"]) for part in parts] == [
        ("chart", "Cups"),
        ("chart", "More"),
    ]


@pytest.mark.parametrize(
    "chart",
    [
        build_chart(datasets=()),
        build_chart(datasets=(build_dataset("Tea", May=1.0),) * 6),
        build_chart(datasets=(build_dataset("Tea"),)),
        build_chart(datasets=(build_dataset("Tea", May=1.0), build_dataset("Milk", June=1.0))),
        build_chart(datasets=(build_dataset("Tea", "red;", May=1.0),)),
        build_chart(datasets=(build_dataset("Tea", May=float("nan")),)),
        build_chart(datasets=(build_dataset("Tea", May=1e16),)),
        build_chart(datasets=(build_dataset("x" * 101, May=1.0),)),
        build_chart(title="x" * 201),
        build_chart(x_label="x" * 101),
    ],
)
def test_a_chart_beyond_its_bounds_is_refused_p8(chart: Chart) -> None:
    with pytest.raises(Invalid):
        chart.check_bounds()


def test_the_offer_names_the_bounds_p8() -> None:
    from functions.chat.tools.chart_tools import build_chart_tools

    (tool,) = build_chart_tools()

    assert '"maxItems": 100' in json.dumps(tool.spec.parameters)
    assert tool.maker == ""
