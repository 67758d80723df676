"""Order of what Terraform makes: each resource waits for what it needs (D1)."""

import re

import pytest

from tests.infra.terraform.stack import (
    STACKS,
    evaluate,
    find_dependencies,
    find_references,
    load_stack,
)

FOUNDATION_WAITS = {
    "google_firestore_index.composite": {"google_firestore_database.documents"},
    "google_firestore_field.override": {"google_firestore_database.documents"},
    "google_firestore_field.wildcard": {"google_firestore_field.override"},
    "google_firestore_backup_schedule.daily": {"google_firestore_database.documents"},
    "google_firestore_backup_schedule.weekly": {"google_firestore_database.documents"},
    "google_firebaserules_ruleset.documents": {"google_firebase_project.this"},
    "google_firebaserules_release.documents": {
        "google_firebaserules_ruleset.documents",
        "google_firestore_database.documents",
    },
    "google_identity_platform_config.sign_in": {"google_firebase_project.this"},
    "google_identity_platform_default_supported_idp_config.google": {
        "google_identity_platform_config.sign_in"
    },
    "google_project_iam_member.delivers_triggers": {"google_project_service_identity.agent"},
    "google_artifact_registry_repository_iam_member.pushes_images": {
        "google_artifact_registry_repository.images",
        "google_service_account.build",
    },
    "google_dns_record_set.run": {"google_dns_managed_zone.run", "google_compute_network.internal"},
    "google_billing_budget.month": {"google_monitoring_notification_channel.operators"},
}
SERVICES_WAIT = {
    # A revision that may not read its secrets or keys does not start.
    "google_cloud_run_v2_service.function": {
        "google_service_account.function",
        "google_secret_manager_secret_iam_member.reader",
        "google_kms_crypto_key_iam_member.wraps_tokens",
        "google_kms_crypto_key_iam_member.wraps_signing_secrets",
        "google_kms_crypto_key_iam_member.wraps_data_keys",
        "google_project_iam_member.reads_documents",
    },
    # What is delivered before its account may call is refused, and counts as an attempt.
    "google_pubsub_subscription.event": {
        "google_pubsub_topic.event",
        "google_pubsub_topic.dead_letters",
        "google_pubsub_topic_iam_member.buries",
        "google_cloud_run_v2_service_iam_member.call",
        "google_service_account.call",
    },
    "google_pubsub_subscription.dead_letters": {
        "google_pubsub_topic.dead_letters",
        "google_cloud_run_v2_service_iam_member.call",
    },
    "google_eventarc_trigger.document": {
        "google_cloud_run_v2_service.function",
        "google_cloud_run_v2_service_iam_member.call",
        "google_project_iam_member.receives_events",
    },
    "google_cloud_run_v2_service_iam_member.call": {
        "google_cloud_run_v2_service.function",
        "google_service_account.call",
        "google_service_account.function",
    },
    "google_cloud_tasks_queue_iam_member.creates_tasks": {"google_cloud_tasks_queue.queue"},
    "google_service_account_iam_member.creates_tasks_as": {
        "google_service_account.call",
        "google_service_account.function",
    },
    "google_pubsub_topic_iam_member.publishes": {"google_pubsub_topic.event"},
    "google_compute_backend_service.function": {
        "google_compute_region_network_endpoint_group.function",
        "google_compute_security_policy.public",
    },
    "google_compute_region_network_endpoint_group.function": {
        "google_cloud_run_v2_service.function"
    },
    "google_compute_url_map.api": {
        "google_compute_backend_service.function",
        "google_compute_backend_service.console",
    },
    "google_compute_backend_service.console": {
        "google_cloud_run_v2_service.console",
        "google_compute_security_policy.public",
    },
    "google_compute_target_https_proxy.api": {
        "google_compute_url_map.api",
        "google_compute_managed_ssl_certificate.api",
        "google_compute_ssl_policy.api",
    },
    "google_compute_global_forwarding_rule.api": {
        "google_compute_target_https_proxy.api",
        "google_compute_global_address.api",
    },
    "google_compute_global_forwarding_rule.redirect": {"google_compute_global_address.api"},
}


def test_everything_of_the_foundation_waits_for_the_apis_d1() -> None:
    stack = load_stack("foundation")

    early = {
        name
        for name in stack.resources.keys() - {"google_project_service.used"}
        if "google_project_service.used" not in find_dependencies(name, stack)
    }

    assert early == set()


def test_the_services_need_no_api_that_the_foundation_does_not_enable_d1() -> None:
    apis = set(evaluate("foundation", "apis")["apis"])
    kinds = {
        match[1]
        for name in STACKS
        for resource in load_stack(name).resources
        if (match := re.match(r"google_([a-z]+)_", resource))
    }
    api_of_kind = {
        "apikeys": "apikeys", "artifact": "artifactregistry", "billing": "billingbudgets", "cloud": "run",
        "compute": "compute", "dns": "dns", "eventarc": "eventarc", "firebase": "firebase",
        "firebaserules": "firebaserules", "firestore": "firestore", "identity": "identitytoolkit",
        "kms": "cloudkms", "logging": "logging", "monitoring": "monitoring", "project": "cloudresourcemanager",
        "pubsub": "pubsub", "secret": "secretmanager", "service": "iam", "storage": "storage",
    }  # fmt: skip

    assert kinds == api_of_kind.keys()
    assert set(api_of_kind.values()) | {"cloudtasks", "cloudbuild", "fcm", "securetoken"} <= apis


@pytest.mark.parametrize(
    ("stack", "name", "awaited"),
    [("foundation", *row) for row in FOUNDATION_WAITS.items()]
    + [("services", *row) for row in SERVICES_WAIT.items()],
)
def test_a_resource_waits_for_what_it_needs_d1(stack: str, name: str, awaited: set[str]) -> None:
    assert awaited - find_dependencies(name, load_stack(stack)) == set()


@pytest.mark.parametrize("name", STACKS)
def test_no_resource_waits_for_itself_d1(name: str) -> None:
    stack = load_stack(name)

    assert [row for row in stack.resources if row in find_dependencies(row, stack)] == []


def test_what_is_made_for_a_row_of_another_resource_names_it_d1() -> None:
    """An account's e-mail that is written out, not referred to, would let a right race the account."""
    stack = load_stack("services")
    written_out = {
        name
        for name in stack.resources
        if "_iam_member." in name
        and not find_references(stack.resources[name].get("member"), stack)
        and stack.resources[name]["member"] != "${local.foundation.pubsub_agent}"
    }

    assert written_out == set()


def test_no_function_gone_keeps_a_subnet_from_going_f1() -> None:
    """Cloud Run holds its addresses for hours: `make destroy` would fail at each attempt until then."""
    assert "google_compute_subnetwork.internal" in load_stack("foundation").resources
    assert "google_compute" not in "".join(
        name for name in load_stack("services").resources if "network." in name
    )


def test_what_holds_data_is_not_destroyed_with_the_functions_d12() -> None:
    kept = {"google_storage_bucket.blobs", "google_firestore_database.documents", "google_kms_crypto_key.tokens", "google_kms_crypto_key.signing", "google_kms_crypto_key.sealing"}  # fmt: skip
    foundation, services = load_stack("foundation"), load_stack("services")

    assert all(foundation.resources[name]["lifecycle"] == [{"prevent_destroy": True, "__is_block__": True}] for name in kept)  # fmt: skip
    assert foundation.resources["google_firestore_database.documents"]["delete_protection_state"] == "DELETE_PROTECTION_ENABLED"  # fmt: skip
    assert "prevent_destroy" not in services.text
    assert not kept & services.resources.keys()
