"""Growth: what the model of it claims, and that its page is what it computes (D10, F5)."""

from dataclasses import replace
from itertools import pairwise

import pytest

from infra.bench.processes import ROOT
from infra.scale.deployment import load_deployment
from infra.scale.model import ADDRESSES_AN_INSTANCE, LIVE_MODEL, NOTHING, Scale
from infra.scale.page import SIZES, TARGET_USERS, build_scales, render_page, render_plot
from infra.scale.usage import USAGE
from infra.scale.vendors import LIMITS
from infra.scale.work import load_counters
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.domain.store.documents import Fields
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.fixtures.storage import INDEXES

COUNTERS = load_counters()
TODAY, SCALED = build_scales(COUNTERS)
PAGE = render_page(COUNTERS)


def test_every_break_below_ten_million_users_names_what_moves_it_or_the_page_that_nobody_does_f5() -> (
    None
):
    breaks = [each for each in TODAY.list_breaks() if each.users < TARGET_USERS]
    unmoved = {each.name for each in breaks if each.moved_by == NOTHING}
    told = next(line for line in PAGE.splitlines() if line.startswith("**Left below"))

    assert all(each.moved_by for each in breaks)
    assert unmoved == {LIMITS["search"].name}
    assert all(name in told for name in unmoved)


def test_with_the_settings_and_contracts_of_scale_none_is_left_but_what_nobody_moves_d10() -> None:
    left = [each for each in SCALED.list_breaks() if each.users < TARGET_USERS]

    assert {each.moved_by for each in left} == {NOTHING}


@pytest.mark.parametrize("files", [(), ("scale.tfvars",), ("staging.tfvars",)])
def test_the_subnet_has_addresses_for_the_most_instances_while_a_release_replaces_another_f5(
    files: tuple[str, ...],
) -> None:
    deployment = load_deployment(*files)

    instances = [deployment.get_size(name).max_instances for name in deployment.direct_callers]

    assert deployment.direct_callers == {"chat", "after_turn", "erase_account"}
    assert ADDRESSES_AN_INSTANCE * sum(instances) <= deployment.addresses


def test_sign_in_is_free_for_fifty_thousand_and_then_cheaper_by_tiers_f5() -> None:
    costs = [
        SCALED.compute_cost(users)["Identity Platform"] for users in (50_000, 100_000, 1_000_000)
    ]

    assert costs == pytest.approx([0, 275, 275 + 4_140])


def test_all_parts_that_a_user_costs_are_in_the_model_f5() -> None:
    costs, models = SCALED.compute_cost(1), SCALED.compute_model_cost(1)

    assert {"Identity Platform", "kept sound", "waiting sound", "embeddings"} <= costs.keys()
    assert LIVE_MODEL in models
    for name in ("library_requests_a_day", "live_minutes_a_day"):
        without = replace(SCALED, usage=replace(SCALED.usage, **{name: 0}))
        assert costs["Firestore"] > 1.1 * without.compute_cost(1)["Firestore"]


def test_a_million_users_cost_less_than_half_a_dollar_each_outside_the_model_d10() -> None:
    costs, models = SCALED.compute_cost(1_000_000), SCALED.compute_model_cost(1_000_000)

    print(f"outside ${sum(costs.values()):,.0f}, the model ${sum(models.values()):,.0f}")  # noqa: T201 - shown with -s
    assert sum(costs.values()) < 0.50 * 1_000_000
    assert sum(models.values()) > 0


async def test_a_conversation_changes_three_times_when_it_is_due_f5(
    database: SqliteDatabase,
) -> None:
    """It is announced, taken and done: each touches the index that the sweep reads."""
    dues: list[object] = []

    def record(_: object, path: str, old: Fields | None, new: Fields | None) -> None:
        due = (new or {}).get("due_at")
        if "/processing/" in path and due != (old or {}).get("due_at"):
            dues.append(due)

    documents = SqliteDocuments(database, INDEXES, on_change=record)
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model, external_documents=documents)
        talk = build_test_conversation(listed_at=world.clock.now())
        await world.deps.stores.conversations.add(ALICE, talk)
        await world.deliver({"uid": ALICE, "conversation_id": talk.id})

    assert len(dues) == USAGE.due_writes_a_conversation
    assert dues[-1] is None


@pytest.mark.parametrize("scale", [TODAY, SCALED])
def test_more_users_never_ask_less_of_a_part_nor_cost_less_d10(scale: Scale) -> None:
    for few, many in pairwise(SIZES):
        for compute in (scale.compute_cost, scale.compute_peak_rates, scale.compute_instances):
            assert all(compute(many)[name] >= amount for name, amount in compute(few).items())


def test_the_page_and_its_plot_are_what_the_model_computes_d10() -> None:
    assert (ROOT / "docs/scale.md").read_text() == PAGE
    assert (ROOT / "docs/scale.svg").read_text() == render_plot(COUNTERS)
