"""Charts in the console: drawn when the tool ends, read as a table, and there after a reload (P8)."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.functions.chat.test_chart_tools import DRAWN, WALKS
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console
from tests.web.test_accessibility import list_findings


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def script_chart(**changes: Any) -> Script:
    arguments = json.dumps({**WALKS, **changes})
    return Script(tool_calls=(ScriptedCall(name="create_chart", arguments=arguments),))


def test_a_chart_is_drawn_with_its_figures_as_a_table_p8(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("drawer")
    model.play(script_chart(title="Steps <b>of</b> the week"), Script(text="Look."))

    answer = console.ask("Draw my steps.")
    figure = answer.locator("figure")
    expect(figure.locator("figcaption")).to_contain_text("Steps <b>of</b> the week")
    expect(figure.get_by_role("img")).to_have_count(1)
    expect(figure.locator("polyline")).to_have_count(2)
    expect(figure.locator(".legend li")).to_have_text(["Steps", "Goal"])
    figure.get_by_text("As a table").click()
    expect(figure.locator("tbody tr").first).to_have_text("Mon8,2007,000")
    assert list_findings(console.page) == []

    console.page.reload()
    expect(console.page.locator("figure polyline")).to_have_count(2)
    assert console.page_errors == []


def test_bars_begin_at_zero_and_negative_ones_hang_below_it_p8(
    console: Console, model: ScriptedOpenai
) -> None:
    balance = [{"label": "Balance", "values": [40, -20]}]
    console.sign_in("balancer")
    model.play(script_chart(chart_type="bar", datasets=balance), Script(text="Look."))

    figure = console.ask("Draw my balance.").locator("figure")

    zero = float(figure.locator(".zero line").get_attribute("y1") or 0)
    up, down = (
        {name: float(bar.get_attribute(name) or 0) for name in ("y", "height")}
        for bar in figure.locator("rect").all()
    )
    assert up["y"] + up["height"] == pytest.approx(zero)
    assert down["y"] == pytest.approx(zero)
    assert up["height"] == pytest.approx(2 * down["height"])


AXES: list[tuple[list[float], list[float] | None]] = [
    ([0, 10], [0, 2.5, 5, 7.5, 10]),
    ([5], [4, 6]),
    ([0], None),
    ([-3, 8200], None),
    ([1e15, -1e15], None),
    ([0.1, 0.1000001], None),
]


def test_an_axis_has_a_few_round_steps_around_all_figures_p8(console: Console) -> None:
    console.page.goto(console.origin)
    made: list[list[float]] = console.page.evaluate(
        "async (all) => all.map((await import(moduleAt('/views/chart.js'))).scale)",
        [figures for figures, _ in AXES],
    )

    for (figures, ticks), axis in zip(AXES, made, strict=True):
        assert axis[0] <= min(figures)
        assert max(figures) <= axis[-1]
        assert 2 <= len(axis) <= 7
        assert axis == sorted(set(axis))
        assert ticks is None or axis == ticks


def test_a_chart_arrives_while_the_answer_streams_p8(console: Console) -> None:
    console.sign_in("watcher")
    console.answer_with(
        {"type": "start", "messageId": "r1"},
        {"type": "data-chart", "id": "chart", "data": {**DRAWN, "title": "First"}},
        {"type": "data-chart", "id": "chart", "data": DRAWN},
        {"type": "text-start", "id": "text-1"},
        {"type": "text-delta", "id": "text-1", "delta": "Look."},
    )

    answer = console.start_question("Draw it")

    expect(answer.locator("figcaption")).to_contain_text("Steps of the week")
    expect(answer.locator("figure")).to_have_count(1)
