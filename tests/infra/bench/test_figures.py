"""Figures of the benchmark as docs/bench.md shows them."""

from infra.bench.figures import Figure, render_list


def test_bounds_and_prices_are_listed_by_group_with_what_misses_its_bound() -> None:
    figures = [
        Figure("search: p50", 5.1134, "ms"),
        Figure("models of 1,000 turns", 22.651, "$"),
        Figure("search: first", 8.25, "ms", target=10),
        Figure("streams", 1.5, target=0.6, bound="at least"),
        Figure("model calls", 0, target=0),
        Figure("search: p95", 12.5, "ms", target=10),
        Figure("lists", None, target=0),
    ]

    assert render_list(figures).splitlines() == [
        "- models of 1,000 turns: 22.65 $",
        "- search: first 8.25 ms (≤ 10); p95 12.5 ms (≤ 10) **NOT OK**",
        "- streams: 1.5 (≥ 0.6)",
        "- model calls: 0 (≤ 0)",
        "- lists: not measured **NOT OK**",
    ]
