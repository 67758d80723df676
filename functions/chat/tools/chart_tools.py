"""Chart tool: figures that the model found become a chart below its answer."""

from typing import Annotated

from pydantic import Field

from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments
from shared.domain.chats.chart import (
    MAX_DATASETS,
    MAX_LABEL_CHARS,
    MAX_POINTS,
    MAX_TITLE_CHARS,
    MAX_VALUE,
    Chart,
    ChartType,
    DataPoint,
    Dataset,
)
from shared.domain.errors import ToolRefused
from shared.security.visible_text import strip_invisible

Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS)]
Figure = Annotated[float, Field(ge=-MAX_VALUE, le=MAX_VALUE, allow_inf_nan=False)]
SHOWN = (
    "The owner sees this chart below your answer, in the place of any chart before it. Say in a sentence "
    "what it shows; do not repeat its figures."
)


class ChartDataset(Arguments):
    """One line, or the bars of one colour."""

    label: Annotated[Label, Field(description="What is counted, for the legend.")]
    values: Annotated[
        list[Figure],
        Field(min_length=1, max_length=MAX_POINTS, description="One for each label, in order."),
    ]
    color: Annotated[
        str | None,
        Field(pattern="^#[0-9A-Fa-f]{6}$", description="A hash sign and six hexadecimal digits."),
    ] = None


class CreateChart(Arguments):
    """Show figures as a chart below your answer; an answer has one chart.

    Use it when the owner asks for one, or where several figures in a row say more as a picture. Give only
    figures that the owner or a tool gave you.
    """

    chart_type: Annotated[
        ChartType, Field(description="line for what changes with time, bar to compare.")
    ]
    title: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)]
    labels: Annotated[
        list[Label],
        Field(min_length=1, max_length=MAX_POINTS, description="Along the axis, such as days."),
    ]
    datasets: Annotated[list[ChartDataset], Field(min_length=1, max_length=MAX_DATASETS)]
    x_label: Label | None = None
    y_label: Annotated[Label | None, Field(description="With the unit.")] = None


def build_chart_tools() -> list[Tool]:
    return [
        build_builtin_tool(
            "create_chart", "Creating a chart", CreateChart, _create_chart, tool_class="read"
        )
    ]


async def _create_chart(arguments: CreateChart) -> ResultRenderer:
    for dataset in arguments.datasets:
        if len(dataset.values) != len(arguments.labels):
            raise ToolRefused(
                f"{dataset.label!r} has {len(dataset.values)} values for {len(arguments.labels)} "
                "labels. Give one value for each label."
            )
    chart = _build_chart(arguments)
    return OwnResult(text=SHOWN, shown_text=f"Chart: {chart.title}", chart=chart)


def _build_chart(arguments: CreateChart) -> Chart:
    labels = [_clean(label) for label in arguments.labels]
    return Chart(
        chart_type=arguments.chart_type,
        title=_clean(arguments.title),
        datasets=tuple(_build_dataset(labels, dataset) for dataset in arguments.datasets),
        x_label=_clean(arguments.x_label or "") or None,
        y_label=_clean(arguments.y_label or "") or None,
    )


def _build_dataset(labels: list[str], dataset: ChartDataset) -> Dataset:
    points = zip(labels, dataset.values, strict=True)
    return Dataset(
        label=_clean(dataset.label),
        data_points=tuple(DataPoint(label=label, value=figure) for label, figure in points),
        color=dataset.color,
    )


def _clean(text: str) -> str:
    return " ".join(strip_invisible(text).split())
