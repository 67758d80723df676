"""Growth: what the model of it claims, and that its page is what it computes (D10)."""

from itertools import pairwise

import pytest

from infra.bench.processes import ROOT
from infra.scale.model import NOTHING, Scale
from infra.scale.page import SIZES, TARGET_USERS, build_scales, render_page, render_plot
from infra.scale.work import load_counters

COUNTERS = load_counters()
TODAY, SCALED = build_scales(COUNTERS)


def test_every_break_below_ten_million_users_names_what_moves_it_d10() -> None:
    unmoved = [
        each.name
        for each in TODAY.list_breaks()
        if each.users < TARGET_USERS and each.moved_by == NOTHING
    ]

    assert unmoved == []


def test_with_the_settings_and_contracts_of_scale_none_is_left_d10() -> None:
    assert [each.name for each in SCALED.list_breaks() if each.users < TARGET_USERS] == []


def test_a_million_users_cost_less_than_half_a_dollar_each_outside_the_model_d10() -> None:
    costs, models = SCALED.compute_cost(1_000_000), SCALED.compute_model_cost(1_000_000)

    print(f"outside ${sum(costs.values()):,.0f}, the model ${sum(models.values()):,.0f}")  # noqa: T201 - shown with -s
    assert sum(costs.values()) < 0.50 * 1_000_000
    assert sum(models.values()) > 0


@pytest.mark.parametrize("scale", [TODAY, SCALED])
def test_more_users_never_ask_less_of_a_part_nor_cost_less_d10(scale: Scale) -> None:
    for few, many in pairwise(SIZES):
        for compute in (scale.compute_cost, scale.compute_peak_rates, scale.compute_instances):
            assert all(compute(many)[name] >= amount for name, amount in compute(few).items())


def test_the_page_and_its_plot_are_what_the_model_computes_d10() -> None:
    assert (ROOT / "docs/scale.md").read_text() == render_page(COUNTERS)
    assert (ROOT / "docs/scale.svg").read_text() == render_plot(COUNTERS)
