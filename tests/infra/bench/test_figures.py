"""Figures of the benchmark as docs/bench.md shows them."""

from infra.bench.figures import Figure, render_list


def test_figures_of_a_group_are_one_entry_with_what_is_wanted_and_what_misses_it() -> None:
    figures = [
        Figure("search: p50", 5.1134, "ms"),
        Figure("model calls", 0, target=0),
        Figure("search: p95", 12.5, "ms", target=10),
        Figure("lists", None, target=0),
    ]

    assert render_list(figures).splitlines() == [
        "- search: p50 5.113 ms; p95 12.5 ms (at most 10 ms) **NOT OK**",
        "- model calls: 0 (at most 0)",
        "- lists: not measured **NOT OK**",
    ]
