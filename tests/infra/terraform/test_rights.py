"""Rights that Terraform grants: what the table of calls needs, who reads which secret, and nothing else (S8)."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from infra.local.routing import ROOT, load_service_calls
from tests.infra.terraform.stack import evaluate, evaluate_expressions, list_entries, load_stack

TABLE: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())
FUNCTIONS: dict[str, Any] = TABLE["functions"]
CALLS = load_service_calls().rows
TARGETS = ("name", "bucket", "topic", "subscription", "secret_id", "crypto_key_id", "service_account_id", "repository", "project")  # fmt: skip
OPEN_PROJECT_ROLES = {
    "roles/datastore.user",
    "roles/firebaseauth.admin",
    "roles/firebaseauth.viewer",
    "roles/firebasecloudmessaging.admin",
    "roles/eventarc.eventReceiver",
}
"""Roles that Google grants for a project alone: documents, users and devices of one project are one thing."""

Grant = tuple[str, str, str]


def replace_references(expression: str) -> str:
    """Replace `google_type.name[KEY].attribute` by a text that names it, so that no resource is needed."""
    while match := re.search(r"google_(\w+)\.(\w+)", expression):
        start, end = match.span()
        key = '""'
        if expression[end : end + 1] == "[":
            close = find_close(expression, end)
            key, end = expression[end + 1 : close], close + 1
        attribute = re.match(r"\.\w+", expression[end:])
        end += attribute.end() if attribute else 0
        text = f'format("{match[2]}:%s", {key})'
        expression = expression[:start] + text + expression[end:]
    return expression


def find_close(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"[": 1, "]": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise ValueError(f"no bracket closes in {text!r}")


def to_expression(value: str) -> str:
    """Return the expression of an attribute, which may be a literal."""
    whole = re.fullmatch(r"\$\{(.*)\}", value, re.DOTALL)
    expression = whole[1] if whole and "${" not in whole[1].replace('"${', "") else f'"{value}"'
    named = replace_references(expression)
    return re.sub(r"\beach\.", "each_", named)


@cache
def list_grants(stack: str) -> dict[str, set[Grant]]:
    """List for each resource that grants something: (member, role, target) of all its instances."""
    rows = {
        name: body for name, body in load_stack(stack).resources.items() if "_iam_member." in name
    }
    expressions = ", ".join(f'"{name}" = {expand(body)}' for name, body in rows.items())
    values = evaluate_expressions(stack, f"{{ {expressions} }}")
    return {
        name: {(row["member"], row["role"], row["target"]) for row in instances}
        for name, instances in values.items()
    }


def expand(body: Mapping[str, Any]) -> str:
    """Write an expression that lists the grants of all instances of a resource."""
    fields = dict(list_entries(body))
    target = next(fields[name] for name in TARGETS if name in fields)
    values = {"member": fields["member"], "role": fields["role"], "target": target}
    row = ", ".join(f"{name} = {to_expression(str(value))}" for name, value in values.items())
    each = fields.get("for_each", "${{ once = true }}")
    if match := re.fullmatch(r"\$\{(google_\w+\.(\w+))\}", each):
        # An instance for each instance of another resource.
        each = load_stack("services").resources[match[1]]["for_each"]
        row = row.replace("each_value.id", f'format("{match[2]}:%s", each_key)')
    instances = f"{{ for key, value in {to_expression(each)} : key => value }}"
    return f"[for each_key, each_value in {instances} : {{ {row} }}]"


def get_grants(name: str) -> set[Grant]:
    [found] = [
        grants for row, grants in list_grants("services").items() if row.endswith(f".{name}")
    ]
    return found


def function(name: str) -> str:
    return f"function:{name}"


def call(account: str) -> str:
    return f"call:{account}"


def test_each_edge_may_call_its_callee_and_nothing_else_s8() -> None:
    callers = {
        (
            function(row.caller) if row.via == "request" else call(row.account),
            "roles/run.invoker",
            function(row.function),
        )
        for row in CALLS
    }

    assert {
        row for rows in list_grants("services").values() for row in rows if "run." in row[1]
    } == callers


def test_a_function_creates_tasks_in_one_queue_as_the_accounts_of_its_own_calls_s8() -> None:
    queues = evaluate("services", "queue_names")["queue_names"]
    task_calls = [row for row in CALLS if row.via == "task"]

    assert get_grants("creates_tasks_as") == {
        (function(row.caller), "roles/iam.serviceAccountUser", call(row.account))
        for row in task_calls
    }
    assert get_grants("creates_tasks") == {
        (function(row.caller), "roles/cloudtasks.enqueuer", f"queue:{queues[row.caller]}")
        for row in task_calls
    }


def test_a_function_publishes_to_its_own_topics_s8() -> None:
    assert get_grants("publishes") == {
        (function(name), "roles/pubsub.publisher", f"event:{topic}")
        for topic, names in TABLE["publishers"].items()
        for name in names
    }


def test_the_trigger_receives_events_as_its_own_account_s8() -> None:
    triggers = [row for row in CALLS if row.via == "trigger"]

    assert get_grants("receives_events") == {
        (call(row.account), "roles/eventarc.eventReceiver", "demo") for row in triggers
    }


def test_a_secret_is_read_by_its_readers_alone_s8() -> None:
    secrets = evaluate("services", "secrets")["secrets"]

    assert get_grants("reader") == {
        (function(name), "roles/secretmanager.secretAccessor", secret)
        for secret, names in secrets.items()
        for name in names
    }
    assert {name for names in secrets.values() for name in names} <= FUNCTIONS.keys()
    assert sorted(secrets["TOOL_CALL_KEYS"]) == ["after_turn", "chat", "tool_proxy"]
    assert sorted(secrets["DISCONNECT_KEYS"]) == ["erase_account", "tool_proxy"]


def test_tokens_of_users_are_unwrapped_by_the_tool_proxy_and_its_management_alone_s8() -> None:
    wraps, unwraps = "roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/cloudkms.cryptoKeyDecrypter"  # fmt: skip
    foundation = "projects/demo/locations/europe-west1/keyRings/keepsake/cryptoKeys"

    assert get_grants("wraps_tokens") == {
        (function(name), wraps, f"{foundation}/tokens") for name in ("apps", "tool_proxy")
    }
    assert get_grants("wraps_signing_secrets") == {
        (function("apps"), wraps, f"{foundation}/signing"),
        (function("tool_proxy"), unwraps, f"{foundation}/signing"),
        (function("deliver_webhook"), unwraps, f"{foundation}/signing"),
        (function("listen"), unwraps, f"{foundation}/signing"),
        (function("library"), "roles/cloudkms.cryptoKeyEncrypter", f"{foundation}/signing"),
        (function("import_files"), unwraps, f"{foundation}/signing"),
    }
    assert get_grants("wraps_data_keys") == {
        (function(name), wraps, f"{foundation}/sealing") for name in ("chat", "close_run")
    }


def test_no_right_holds_for_the_project_that_could_hold_for_less_s8() -> None:
    for stack in ("services", "foundation"):
        for name, grants in list_grants(stack).items():
            if name.startswith("google_project_iam_member."):
                roles = {role for _, role, _ in grants}
                assert roles <= OPEN_PROJECT_ROLES | {"roles/eventarc.serviceAgent", "roles/logging.logWriter"}, name  # fmt: skip


def test_only_who_erases_accounts_deletes_users_and_only_who_delivers_pushes_s8() -> None:
    assert get_grants("deletes_users") == {
        (function("erase_account"), "roles/firebaseauth.admin", "demo")
    }
    assert {member for member, *_ in get_grants("sends_pushes")} == {
        function("deliver_notification"),
        function("deliver_digest"),
    }


@pytest.mark.parametrize("stack", ["foundation", "services"])
def test_no_right_is_given_to_everybody_which_organisations_forbid_f1(stack: str) -> None:
    assert [
        name
        for name, grants in list_grants(stack).items()
        if any(member.startswith("all") for member, *_ in grants)
    ] == []


def test_public_functions_let_everybody_in_and_check_callers_themselves_s8() -> None:
    function, console = (
        load_stack("services").resources[f"google_cloud_run_v2_service.{name}"]
        for name in ("function", "console")
    )

    assert function["invoker_iam_disabled"] == '${each.value.access == "public"}'
    assert console["ingress"] == "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"


@pytest.mark.parametrize("stack", ["foundation", "services"])
def test_rights_are_granted_one_by_one_s8(stack: str) -> None:
    """A binding or a policy would take away what others were granted."""
    assert [name for name in load_stack(stack).resources if re.search("_iam_(binding|policy)", name)] == []  # fmt: skip


def test_only_the_load_balancer_reaches_public_functions_and_only_google_internal_ones_s8() -> None:
    ingress = {"public": "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER", "internal": "INGRESS_TRAFFIC_INTERNAL_ONLY"}  # fmt: skip

    assert evaluate("services", "ingress")["ingress"] == {
        name: ingress[row["access"]] for name, row in FUNCTIONS.items()
    }
