"""Objectives and alerts: they measure lines that the product writes, and each alert has a runbook (D7)."""

import json
import re
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.process_conversation.upkeep.dead_letters import record_dead_letter
from infra.local.routing import ROOT
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from tests.e2e.product import (
    add_conversation,
    ask,
    build_conversation_body,
    run_product,
)
from tests.e2e.test_internal_entry_points import build_internal_functions
from tests.e2e.waiting import wait_until
from tests.fakes import ScriptedModel
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.processing import build_processing_fixture
from tests.functions.process_conversation.upkeep.test_dead_letters import build_deps, build_letter
from tests.infra.terraform.stack import evaluate, evaluate_expressions, load_stack
from tests.log import capture_log

Line = Mapping[str, Any]


def load_metrics() -> dict[str, Any]:
    metrics: dict[str, Any] = evaluate("services", "log_metrics")["log_metrics"]
    return metrics


def read_field(line: Line, path: str) -> Any:
    return reduce(lambda value, name: value[name], path.split("."), line)


def is_counted(line: Line, metric: Mapping[str, Any]) -> bool:
    """Match a line as Cloud Logging does; of a line that counts, the label and the value are there."""
    if any(line.get(field) not in values for field, values in metric["lines"].items()):
        return False
    measured = metric["value"] is None or isinstance(read_field(line, metric["value"]), int | float)
    return measured and isinstance(read_field(line, metric["label"]), str)


def read_log(folder: Path) -> list[Line]:
    """Read the product's log; its last line may not be whole yet."""
    texts = (folder / "product.log").read_text().splitlines()
    return [json.loads(text) for text in texts if text.startswith("{") and text.endswith("}")]


def test_each_metric_counts_lines_that_the_started_product_writes_d7(tmp_path: Path) -> None:
    metrics = {name: row for name, row in load_metrics().items() if name != "dead_letters"}
    with run_product(tmp_path) as product, product.client("alice") as alice:
        add_conversation(alice, build_conversation_body("offsite", "The offsite is on Friday."))
        ask(alice, "When is the offsite?")
        device = {"fcm_token": "phone", "time_zone": "Europe/Berlin"}
        alice.post("/v1/users/fcm-token", json=device).raise_for_status()
        task = {"description": "Book the train", "due_at": "2030-03-02T09:00:00Z"}
        alice.post("/v1/action-items", json=task).raise_for_status()

        def find_counted() -> set[str] | None:
            lines = read_log(tmp_path)
            counted = {
                name
                for name, row in metrics.items()
                if any(is_counted(each, row) for each in lines)
            }
            return counted if counted == metrics.keys() else None

        assert wait_until(find_counted) == metrics.keys()


async def test_a_dead_letter_is_counted_d7(database: SqliteDatabase) -> None:
    with ScriptedModel() as model, capture_log() as log:
        deps = build_deps(build_processing_fixture(database, model))
        await record_dead_letter(deps, build_letter({}))

    assert [is_counted(line, load_metrics()["dead_letters"]) for line in log.lines] == [True]


async def test_a_delivery_that_the_platform_or_a_function_refuses_alerts_f2() -> None:
    """What the platform refuses reaches no function: only its own log of requests tells."""
    values = evaluate("services", "log_alerts", "excluded_requests")
    alert = values["log_alerts"]["refused_delivery"]["filter"]
    exclusion = load_stack("services").resources["google_logging_project_exclusion.addresses"]
    transport = httpx.ASGITransport(build_internal_functions(SERVICE_IDENTITY))
    async with httpx.AsyncClient(transport=transport, base_url="http://function") as http:
        headers = {"Authorization": "Bearer of.nobody.here"}
        refused = await http.post("/process_conversation/", headers=headers, json={})

    requests, _, refusals = alert.partition(" AND ")
    assert (refused.status_code, requests) == (401, 'log_id("run.googleapis.com/requests")')
    assert refusals.startswith("httpRequest.status=(401 OR 403) AND resource.labels.service_name=(")
    assert '"process-conversation"' in refusals
    assert '"library"' not in refusals
    assert exclusion["filter"] == "${local.excluded_requests}"
    assert values["excluded_requests"] == f"{requests} AND NOT ({refusals})"


def test_an_objective_measures_a_metric_and_calls_outcomes_good_that_it_counts_d7() -> None:
    values = evaluate("services", "objectives", "log_metrics")
    for objective in values["objectives"].values():
        metric = values["log_metrics"][objective["metric"]]
        assert (objective["max"] is None) == (metric["value"] is None)
        assert 0.9 <= objective["goal"] < 1
        if objective["good"]:
            assert metric["label"] == "outcome"
            assert set(objective["good"]) <= {*metric["lines"].get("outcome", ["ok"])}
        else:
            assert objective["max"] in metric["buckets"]
            assert metric["buckets"] == sorted(metric["buckets"])

    assert len(values["objectives"]) == 4


@pytest.mark.parametrize("kind", ["slo", "alert_policy"])
def test_objectives_are_made_once_their_metrics_are_known_f1(kind: str) -> None:
    resource = load_stack("services").resources[f"google_monitoring_{kind}.objective"]

    assert "if var.objectives" in resource["for_each"]
    assert evaluate_expressions("services", "{ first = var.objectives }") == {"first": False}


def test_filters_read_as_cloud_logging_and_monitoring_want_them_d7() -> None:
    values = evaluate("services", "log_filters", "metric_types")

    assert values["log_filters"]["processing_age"] == (
        'resource.type="cloud_run_revision" AND jsonPayload.function=("process_conversation")'
        ' AND jsonPayload.message=("request") AND jsonPayload.outcome=("ok")'
    )
    assert values["metric_types"]["turns"] == (
        'metric.type="logging.googleapis.com/user/keepsake_turns"'
        ' AND resource.type="cloud_run_revision"'
    )


def test_each_alert_has_a_section_in_the_runbook_and_each_section_an_alert_d7() -> None:
    alerts = evaluate("services", "runbooks")["runbooks"]
    page = (ROOT / "docs/operate.md").read_text()
    sections = set(re.findall(r"^#### Alert (\w+)$", page, re.MULTILINE))

    assert sections == alerts.keys() | {"budget"}
    assert all(f"docs/operate.md#alert-{name} " in text for name, text in alerts.items())


@pytest.mark.parametrize("name", ["log", "metric", "objective"])
def test_each_alert_tells_its_runbook_to_who_is_woken_d7(name: str) -> None:
    policy = load_stack("services").resources[f"google_monitoring_alert_policy.{name}"]

    assert "${local.runbooks[each.key]}" in policy["documentation"][0]["content"]
    assert policy["notification_channels"] == ["${local.foundation.notification_channel}"]


def test_the_dashboard_has_a_chart_of_each_metric_d7() -> None:
    values = evaluate("services", "charts", "metric_types")
    filters = {chart["filter"] for chart in values["charts"]}

    assert {*values["metric_types"].values()} <= filters
    assert all(chart["group"].split(".")[1] == "label" for chart in values["charts"])
