"""Plot of a few rankings side by side, as SVG bars."""

from collections.abc import Mapping, Sequence

from infra.eval.metrics import Row

Panel = tuple[str, Mapping[str, Row]]
HEIGHT, WIDTH, BAR_WIDTH, GROUP_WIDTH = 150, 760, 18, 66
COLOURS = ("#b0b0b0", "#2b6cb0", "#2f855a")


def render_svg(panels: Sequence[Panel]) -> str:
    """Draw one panel each of (title, rankings by name); the values are percentages."""
    body = "".join(
        f'<g transform="translate(20 {30 + n * (HEIGHT + 60)})">{_render_panel(*panel)}</g>'
        for n, panel in enumerate(panels)
    )
    height = 30 + len(panels) * (HEIGHT + 60)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="9">{body}</svg>\n'
    )


def _render_panel(title: str, rankings: Mapping[str, Row]) -> str:
    keys = list(next(iter(rankings.values())))
    bars = "".join(
        _render_bar(n * GROUP_WIDTH + place * BAR_WIDTH, row[key], COLOURS[place])
        for place, row in enumerate(rankings.values())
        for n, key in enumerate(keys)
    )
    labels = "".join(
        f'<text x="{n * GROUP_WIDTH}" y="{HEIGHT + 14}">{key}</text>' for n, key in enumerate(keys)
    )
    legend = " · ".join(
        f'<tspan fill="{colour}">{name}</tspan>'
        for name, colour in zip(rankings, COLOURS, strict=False)
    )
    return f'<text y="-12" font-size="12">{title}: {legend}</text>{bars}{labels}'


def _render_bar(x: int, value: float, colour: str) -> str:
    height = value / 100 * HEIGHT
    return (
        f'<rect x="{x}" y="{HEIGHT - height:.1f}" width="{BAR_WIDTH}" height="{height:.1f}" '
        f'fill="{colour}"/><text x="{x}" y="{HEIGHT - height - 2:.1f}">{value:.0f}</text>'
    )
