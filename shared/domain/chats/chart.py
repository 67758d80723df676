"""Chart: figures that an answer shows as lines or bars, in the form that released apps draw.

Also called: data visualization, plots.
"""

from typing import Literal, Self

from shared.domain.errors import Invalid
from shared.domain.value import value

ChartType = Literal["line", "bar"]
MAX_DATASETS = 5
MAX_POINTS = 100
"""In each dataset; released apps draw all of them on one narrow screen."""
MAX_LABEL_CHARS = 100
MAX_TITLE_CHARS = 200
MAX_VALUE = 1e15
"""Of a figure without its sign: sums of them stay exact enough to scale an axis."""


@value
class DataPoint:
    """One figure, and what stands below it on the axis."""

    label: str
    value: float


@value
class Dataset:
    """One line, or the bars of one colour; `color` is #RRGGBB, None for a colour of the client's."""

    label: str
    data_points: tuple[DataPoint, ...]
    color: str | None = None


@value
class Chart:
    """A chart. The points of all datasets have the same labels, in the same order."""

    chart_type: ChartType
    title: str
    datasets: tuple[Dataset, ...]
    x_label: str | None = None
    y_label: str | None = None

    def check_bounds(self) -> Self:
        """Raises Invalid with what is wrong, for whoever wrote the chart."""
        if not 1 <= len(self.datasets) <= MAX_DATASETS:
            raise Invalid(f"A chart has 1 to {MAX_DATASETS} datasets.")
        for dataset in self.datasets:
            _check_dataset(dataset)
        if len({tuple(point.label for point in d.data_points) for d in self.datasets}) > 1:
            raise Invalid("All datasets of a chart need the same labels.")
        _check_chars("title", self.title, MAX_TITLE_CHARS)
        for name, text in (("x_label", self.x_label), ("y_label", self.y_label)):
            _check_chars(name, text or "", MAX_LABEL_CHARS)
        return self


def _check_dataset(dataset: Dataset) -> None:
    if not 1 <= len(dataset.data_points) <= MAX_POINTS:
        raise Invalid(f"A dataset has 1 to {MAX_POINTS} points.")
    _check_chars("label", dataset.label, MAX_LABEL_CHARS)
    if dataset.color is not None and not _is_color(dataset.color):
        raise Invalid("A color is #RRGGBB, such as #1F6FEB.")
    for point in dataset.data_points:
        _check_chars("label", point.label, MAX_LABEL_CHARS)
        if not abs(point.value) <= MAX_VALUE:
            raise Invalid(f"A value is a number from -{MAX_VALUE:g} to {MAX_VALUE:g}.")


def _check_chars(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Invalid(f"{name}: at most {most} characters are expected.")


def _is_color(text: str) -> bool:
    digits = text.removeprefix("#")
    return (
        len(text) == 7 and len(digits) == 6 and all(d in "0123456789abcdefABCDEF" for d in digits)
    )
