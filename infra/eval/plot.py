"""Bars of two rankings beside each other, as SVG."""

from collections.abc import Sequence

from infra.eval.metrics import Row

Panel = tuple[str, Row, Row]
HEIGHT, WIDTH, BAR = 150, 660, 20


def svg(panels: Sequence[Panel]) -> str:
    """Draw one panel each of (title, baseline, ours); the values are percentages."""
    body = "".join(
        f'<g transform="translate(20 {30 + n * (HEIGHT + 60)})">{_panel(*panel)}</g>'
        for n, panel in enumerate(panels)
    )
    height = 30 + len(panels) * (HEIGHT + 60)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="9">{body}</svg>\n'
    )


def _panel(title: str, baseline: Row, ours: Row) -> str:
    bars = "".join(
        _bar(n * 56, baseline[key], "#b0b0b0")
        + _bar(n * 56 + BAR, ours[key], "#2b6cb0")
        + f'<text x="{n * 56}" y="{HEIGHT + 14}">{key}</text>'
        for n, key in enumerate(ours)
    )
    return f'<text y="-12" font-size="12">{title}: baseline grey, ours blue</text>{bars}'


def _bar(x: int, value: float, colour: str) -> str:
    height = value / 100 * HEIGHT
    return (
        f'<rect x="{x}" y="{HEIGHT - height:.1f}" width="{BAR}" height="{height:.1f}" '
        f'fill="{colour}"/><text x="{x}" y="{HEIGHT - height - 2:.1f}">{value:.0f}</text>'
    )
