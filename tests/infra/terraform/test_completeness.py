"""Completeness of Terraform: it makes what the code names, and nothing else (D1, D2)."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.emulators.process import find_free_port, run_server
from infra.local.routing import ROOT
from infra.scale.deployment import load_deployment
from shared.adapters.embedded.sqlite_queue import MAX_ATTEMPTS
from tests.fixtures.settings import OAUTH_PROVIDERS, list_settings
from tests.infra.terraform.stack import SECRETS, evaluate, load_stack

TABLE: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())
FUNCTIONS: dict[str, Any] = TABLE["functions"]
PROVIDERS = (*OAUTH_PROVIDERS, "PERPLEXITY")
NEVER_IN_THE_CLOUD = {
    "ALLOW_REMOTE", "DATA_DIR", "EGRESS_DEV_ORIGINS", "EMBEDDER", "FIREBASE_AUTH_EMULATOR_HOST", "GOOGLE_STAND_INS", "KEEPSAKE_PASSWORD",
    "HF_ENDPOINT", "HF_TOKEN", "KEEPSAKE_USER", "LLAMA_SERVER", "LOCAL_KEY", "MODEL", "MODELS_DIR", "PASSWORD_FILE", "SPEECH", "SPEECH_MODEL",
    "SPEECH_PACKAGES", "TRUSTED_PROXIES",
    *(f"{provider}_BASE_URL" for provider in PROVIDERS),
}  # fmt: skip
"""Settings of the embedded world, and addresses that only tests change."""
SET_BY_CLOUD_RUN = {"FUNCTION_TARGET", "HOST", "K_SERVICE", "PORT"}


def list_given_settings(**variables: Any) -> set[str]:
    values = evaluate("services", "settings", "secrets", "optional_settings", **variables)
    given = {name for settings in values["settings"].values() for name in settings}
    return {*given, *values["secrets"], *values["optional_settings"]}


def test_each_setting_is_given_can_be_given_or_is_of_another_world_d1() -> None:
    of_clients = {f"{name}_{part}" for name in PROVIDERS for part in ("CLIENT_ID", "CLIENT_SECRET", "API_KEY")}  # fmt: skip
    known = list_settings() - NEVER_IN_THE_CLOUD - SET_BY_CLOUD_RUN

    assert known - list_given_settings() - of_clients == set()
    assert list_given_settings() - known == set()


def test_a_client_of_each_provider_reaches_the_functions_that_connect_accounts_d1() -> None:
    values = evaluate("services", "settings", "secrets")
    with_client = {name for name, row in values["settings"].items() if "GOOGLE_CLIENT_ID" in row}

    assert with_client == {"apps", "tool_proxy"} == set(values["secrets"]["GOOGLE_CLIENT_SECRET"])


def test_each_secret_that_is_made_is_read_and_each_that_is_read_is_made_d1() -> None:
    made = evaluate("foundation", "secrets", domain="d", alert_email="m", monthly_budget=1)["secrets"]  # fmt: skip

    assert sorted(made) == SECRETS == sorted(evaluate("services", "secrets")["secrets"])


def test_each_entry_point_is_a_service_of_the_image_with_a_size_d2() -> None:
    values = evaluate("services", "functions", "sizes", "services", "own_sizes")
    commands = {name: row["source"] for name, row in values["functions"].items()}

    assert commands == {name: row["source"] for name, row in FUNCTIONS.items()}
    assert values["sizes"].keys() == FUNCTIONS.keys() >= values["own_sizes"].keys()
    assert {len(size) for size in values["sizes"].values()} == {5}
    assert all(re.fullmatch(r"[a-z][a-z0-9-]{0,48}", name) for name in values["services"].values())


@pytest.mark.parametrize("environment", ["staging", "production"])
def test_each_service_fits_into_what_cloud_run_gives_a_new_project_f1(environment: str) -> None:
    """20 vCPU and 40 GiB for all instances of a service: github.com/googlecodelabs/feedback/issues/1856."""
    deployment = load_deployment(f"{environment}.tfvars")

    sizes = {name: deployment.get_size(name) for name in FUNCTIONS}
    assert {name for name, size in sizes.items() if size.max_instances > 20} == set()
    assert {n for n, size in sizes.items() if size.max_instances * size.memory_gib > 40} == set()


@pytest.mark.parametrize(
    ("canary", "expected"),
    [
        (None, {"r1": 100}),
        ({"stable": "r0", "functions": ["chat"], "percent": 10}, {"r1": 10, "r0": 90}),
        ({"stable": "r0", "functions": ["chat"], "percent": 0}, {"r0": 100}),
        ({"stable": "r0", "functions": ["library"], "percent": 10}, {"r1": 100}),
    ],
)
def test_a_canary_shares_the_requests_and_a_rollback_gives_them_back_d2(
    canary: dict[str, Any] | None, expected: dict[str, int]
) -> None:
    traffic = evaluate("services", "traffic", canary=canary)["traffic"]

    assert traffic["chat"] == expected
    assert {sum(shares.values()) for shares in traffic.values()} == {100}


def test_streaming_functions_keep_their_processor_and_their_callers_d2() -> None:
    [template] = load_stack("services").resources["google_cloud_run_v2_service.function"][
        "template"
    ]
    [container] = template["containers"]

    assert template["session_affinity"] == "${try(each.value.streaming, false)}"
    assert container["resources"][0]["cpu_idle"] == "${!try(each.value.streaming, false)}"
    assert container["resources"][0]["startup_cpu_boost"] is True


def test_each_topic_queue_and_trigger_of_the_table_is_made_d1() -> None:
    values = evaluate("services", "subscriptions", "queues", "queue_names", "routes", "settings")

    assert {(row["topic"], row["function"]) for row in values["subscriptions"].values()} == {
        (topic, name) for topic, names in TABLE["topics"].items() for name in names
    }
    assert set(values["queue_names"].values()) == values["queues"].keys()
    assert {row["TASKS_QUEUE"] for row in values["settings"].values()} == set(
        values["queues"].values()
    )
    topics = load_stack("services").resources["google_pubsub_topic.event"]
    assert topics["for_each"] == "${local.routes.topics}"
    triggers = load_stack("services").resources["google_eventarc_trigger.document"]
    assert triggers["for_each"] == "${local.routes.triggers}"


def test_work_is_given_up_after_as_many_attempts_in_both_worlds_f2() -> None:
    resources = load_stack("services").resources
    [queue] = resources["google_cloud_tasks_queue.queue"]["retry_config"]
    [event] = resources["google_pubsub_subscription.event"]["dead_letter_policy"]

    assert queue["max_attempts"] == event["max_delivery_attempts"] == MAX_ATTEMPTS


def test_tasks_of_one_kind_are_spread_over_as_many_queues_as_are_set_d10() -> None:
    values = evaluate("services", "queues", "queue_users", "settings", task_queues=3)

    assert len(values["queues"]) == 2 * 3
    names = [
        path.split(",") for path in (row["TASKS_QUEUE"] for row in values["settings"].values())
    ]
    assert all(len(each) == 3 for each in names)
    assert {name for each in names for name in each} == set(values["queues"].values())
    assert {row["queue"] for row in values["queue_users"].values()} == values["queues"].keys()


def test_a_trigger_is_where_the_documents_are_be_it_a_multi_region_f1() -> None:
    """A trigger elsewhere is refused: github.com/hashicorp/terraform-provider-google/issues/17057."""
    trigger = load_stack("services").resources["google_eventarc_trigger.document"]

    assert trigger["location"] == "${local.foundation.firestore_location}"
    assert trigger["destination"][0]["cloud_run_service"][0]["region"] == "${local.region}"


def test_indexes_and_expiry_are_those_of_the_file_that_the_embedded_store_obeys_d1() -> None:
    file = json.loads((ROOT / "infra/firestore.indexes.json").read_text())
    resources = load_stack("foundation").resources
    index_file = evaluate("foundation", "index_file", domain="d", alert_email="m", monthly_budget=1)["index_file"]  # fmt: skip

    assert index_file == file
    assert "local.index_file.indexes" in resources["google_firestore_index.composite"]["for_each"]
    for name in ("override", "wildcard"):
        assert "local.index_file.fieldOverrides" in resources[f"google_firestore_field.{name}"]["for_each"]  # fmt: skip


def test_the_console_is_sent_with_what_tells_it_how_people_sign_in_d3(tmp_path: Path) -> None:
    config = evaluate("services", "console_config")["console_config"]
    service = load_stack("services").resources["google_cloud_run_v2_service.console"]
    [container] = service["template"][0]["containers"]
    port = find_free_port()
    arguments = [f"--config={json.dumps(config)}", f"--port={port}"]

    command = [sys.executable, *container["args"][:2], *arguments]
    with run_server(command, port=port, log=tmp_path / "console.log"):
        answers = {path: httpx.get(f"http://127.0.0.1:{port}{path}") for path in ("/config.json", "/", "/openapi.json", "/docs/", "/no-such-page")}  # fmt: skip

    assert container["command"] == ["python"]
    assert answers["/config.json"].json()["authDomain"] == "demo.firebaseapp.com"
    assert "<title>" in answers["/"].text
    assert [answer.status_code for answer in answers.values()] == [200, 200, 200, 200, 404]
