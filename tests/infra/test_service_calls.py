"""The table of calls in infra/routes.json: what code makes, Terraform grants, and no more (S8)."""

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from infra.local.routing import load_service_calls
from shared.domain.service_calls import Via
from shared.ports import ToolBox

ROOT = Path(__file__).parents[2]
TERRAFORM = ROOT / "infra/terraform"
TABLE: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())
FUNCTIONS: dict[str, Any] = TABLE["functions"]
CALLS = load_service_calls().rows
ACCOUNT_ID = re.compile(r"[a-z](?:[-a-z0-9]{4,28})[a-z0-9]")
Uses = set[tuple[str, str]]
SHARED_PACKAGES = {path.name for path in (ROOT / "shared").iterdir() if path.is_dir()}


def get_package(function: str) -> str:
    """Return the folder of a function's code: several functions share one."""
    return str(FUNCTIONS[function]["source"]).split("/")[1]


@cache
def list_attribute_calls() -> list[tuple[Path, ast.Call]]:
    """List all calls of methods in functions/ and shared/, outside of adapters."""
    sources = [*(ROOT / "functions").rglob("*.py"), *(ROOT / "shared").rglob("*.py")]
    return [
        (path.relative_to(ROOT), node)
        for path in sources
        if not path.is_relative_to(ROOT / "shared/adapters")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]


def list_method_calls(port: str, method: str) -> Iterator[tuple[str, ast.Call, str]]:
    """List the calls of a port's method: package, call, and its module."""
    for path, call in list_attribute_calls():
        if is_method_of(port, method, call.func):
            yield path.parts[1], call, ".".join(path.with_suffix("").parts)


def is_method_of(port: str, method: str, node: ast.expr) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != method:
        return False
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name.lstrip("_") == port


def evaluate(node: ast.expr, module: str) -> str:
    """Return a literal, or the constant of this name in the module."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.Name)
    return str(getattr(import_module(module), node.id))


def test_each_task_that_code_creates_has_a_row_and_each_row_its_code_s8() -> None:
    created: Uses = {
        (package, evaluate(call.args[0], module))
        for package, call, module in list_method_calls("tasks", "create")
    }
    listed: Uses = {(get_package(row.caller), row.function) for row in CALLS if row.via == "task"}
    # What shared code creates, any function may create that has a row.
    targets_of_shared = {target for package, target in created if package in SHARED_PACKAGES}

    assert {use for use in created if use[0] not in SHARED_PACKAGES} <= listed
    assert {use for use in listed - created if use[1] not in targets_of_shared} == set()
    assert targets_of_shared <= {target for _, target in listed}


def test_each_event_that_code_publishes_has_its_publishers_s8() -> None:
    published: Uses = {
        (package, evaluate(call.args[0], module))
        for package, call, module in list_method_calls("events", "publish")
    }
    listed: Uses = {
        (get_package(name), topic) for topic, names in TABLE["publishers"].items() for name in names
    }

    assert published == listed


def test_each_direct_call_of_the_tool_proxy_has_a_row_s8() -> None:
    methods = {
        (package, method)
        for method in vars(ToolBox)
        for package, *_ in list_method_calls("toolbox", method)
    }
    callers = {row.caller for row in CALLS if row.via == "request"}

    assert methods == {
        ("chat", "call"),
        ("chat", "call_service"),
        ("process_conversation", "disconnect_all"),
    }
    assert callers == {"chat", "erase_account", "after_turn"}
    assert {row.function for row in CALLS if row.via == "request"} == {"tool_proxy"}


def test_events_and_triggers_are_delivered_as_the_topics_say_s8() -> None:
    deliveries = [(topic, name) for topic, names in TABLE["topics"].items() for name in names]
    deliveries.append(("dead_letters", TABLE["dead_letters"]))

    assert sorted(deliveries) == sorted((r.caller, r.function) for r in CALLS if r.via == "event")
    assert [*TABLE["triggers"].items()] == [
        (row.caller, row.function) for row in CALLS if row.via == "trigger"
    ]
    assert TABLE["publishers"].keys() == TABLE["topics"].keys()


def test_each_internal_function_has_a_caller_and_no_public_one_has_s8() -> None:
    internal = {name for name, row in FUNCTIONS.items() if row["access"] == "internal"}

    assert {row.function for row in CALLS} == internal
    assert {row.via for row in CALLS} == set(get_args(Via))


def test_each_call_has_an_account_of_its_own_that_google_accepts_s8() -> None:
    accounts = [row.account for row in CALLS]

    assert len(set(accounts)) == len(accounts)
    assert [account for account in accounts if not ACCOUNT_ID.fullmatch(account)] == []
    assert all(
        (row.account == f"fn-{row.caller.replace('_', '-')}") == (row.via == "request")
        for row in CALLS
    )


@pytest.fixture(scope="module")
def terraform_values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The values of calls.tf, as Terraform itself evaluates them; they need no provider."""
    terraform = shutil.which("terraform")
    if terraform is None:
        pytest.skip("terraform is not installed")
    folder = tmp_path_factory.mktemp("infra")
    (folder / "terraform").mkdir()
    shutil.copy(TERRAFORM / "calls.tf", folder / "terraform")
    shutil.copy(ROOT / "infra/routes.json", folder)
    names = ("calls", "task_accounts", "delivery_accounts", "direct_callers", "task_creators",
             "publishers", "ingress", "queue_names")  # fmt: skip
    expression = ", ".join(f"{name} = local.{name}" for name in names)
    result = subprocess.run(
        [terraform, "console"],
        cwd=folder / "terraform",
        input=f"jsonencode({{ {expression} }})",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    values: dict[str, Any] = json.loads(json.loads(result.stdout))
    return values


def test_terraform_makes_the_calls_of_the_table_s8(terraform_values: dict[str, Any]) -> None:
    calls = {
        account: (call["caller"], call["function"], call["via"])
        for account, call in terraform_values["calls"].items()
    }
    tasks = {
        (caller, function): account
        for caller, accounts in terraform_values["task_accounts"].items()
        for function, account in accounts.items()
    }

    assert calls == {row.account: (row.caller, row.function, row.via) for row in CALLS}
    assert tasks == {(r.caller, r.function): r.account for r in CALLS if r.via == "task"}
    assert terraform_values["delivery_accounts"] == {
        f"{row.caller}.{row.function}": row.account
        for row in CALLS
        if row.via in ("event", "trigger")
    }


def test_terraform_lets_only_those_create_tasks_and_publish_who_do_s8(
    terraform_values: dict[str, Any],
) -> None:
    creators = {row.caller for row in CALLS if row.via == "task"}
    publishers = {
        (row["topic"], row["function"]) for row in terraform_values["publishers"].values()
    }

    assert set(terraform_values["task_creators"]) == creators
    assert publishers == {(t, name) for t, names in TABLE["publishers"].items() for name in names}
    assert terraform_values["direct_callers"] == ["after_turn", "chat", "erase_account"]
    assert {n for n, queue in terraform_values["queue_names"].items() if queue == "webhooks"} == {
        "on_conversation_processed",
        "deliver_webhook",
    }


def test_nobody_outside_reaches_an_internal_function_s8(terraform_values: dict[str, Any]) -> None:
    def expect(function: dict[str, Any]) -> str:
        if function["access"] == "internal":
            return "ALLOW_INTERNAL_ONLY"
        return "ALLOW_INTERNAL_AND_GCLB" if function.get("streaming") else "ALLOW_ALL"

    assert terraform_values["ingress"] == {name: expect(row) for name, row in FUNCTIONS.items()}


def list_resources() -> Iterator[tuple[str, str]]:
    """List the resources of Terraform: type and name as `type.name`, and the text of the block."""
    for path in TERRAFORM.glob("*.tf"):
        blocks = re.findall(
            r'^resource "(\w+)" "(\w+)" \{\n(.*?)^\}', path.read_text(), re.DOTALL | re.MULTILINE
        )
        yield from ((f"{kind}.{name}", text) for kind, name, text in blocks)


def find_grants(role: str) -> dict[str, str]:
    """Return what each grant of a role is made for: its resource, and its for_each."""
    return {
        name: (re.search(r"for_each\s*= (.*)", text) or ["", "once"])[1]
        for name, text in list_resources()
        if role in text
    }


@pytest.mark.parametrize(
    ("role", "grants"),
    [
        ("roles/run.invoker", {
            "google_cloud_run_service_iam_member.public": "local.public",
            "google_cloud_run_service_iam_member.call": "local.calls",
        }),
        ("roles/iam.serviceAccountUser", {
            "google_service_account_iam_member.creates_tasks_as": "local.task_calls",
        }),
        ("roles/cloudtasks.enqueuer", {
            "google_cloud_tasks_queue_iam_member.creates_tasks": "local.task_creators",
        }),
        ("roles/iam.serviceAccountTokenCreator", {}),
        ("roles/eventarc.eventReceiver", {
            "google_project_iam_member.receives_events": "local.routes.triggers",
        }),
    ],
)  # fmt: skip
def test_terraform_grants_a_right_to_call_nowhere_else_s8(
    role: str, grants: dict[str, str]
) -> None:
    assert find_grants(role) == grants


def test_no_right_to_call_holds_for_the_whole_project_s8() -> None:
    for name, text in list_resources():
        if name.startswith("google_project_iam_member."):
            assert not re.search(r"run\.|cloudtasks\.|pubsub\.|roles/iam\.|/editor|/owner", text), (
                name
            )


def test_the_grants_name_caller_and_callee_of_their_row_s8() -> None:
    resources = dict(list_resources())
    tasks = resources["google_service_account_iam_member.creates_tasks_as"]
    publishes = resources["google_pubsub_topic_iam_member.publishes"]

    assert "google_service_account.call[each.key].name" in tasks
    assert "google_service_account.function[each.value.caller].member" in tasks
    assert "google_service_account.function[each.value.function].member" in publishes
    assert 'member   = "allUsers"' in resources["google_cloud_run_service_iam_member.public"]
    assert (
        "roles/storage.objectViewer" in resources["google_storage_bucket_iam_member.reads_console"]
    )
    assert "".join(resources.values()).count("allUsers") == 2


@pytest.mark.parametrize(
    ("secret", "readers"),
    [
        ("TOOL_CALL_KEYS", ["chat", "tool_proxy"]),
        ("DISCONNECT_KEYS", ["erase_account", "tool_proxy"]),
    ],
)
def test_a_key_that_signs_for_users_is_shared_by_two_functions_s8(
    secret: str, readers: list[str]
) -> None:
    match = re.search(rf"{secret}\s*= (\[.*\])", (TERRAFORM / "secrets.tf").read_text())

    assert match is not None
    assert json.loads(match[1]) == readers


def test_an_unknown_host_is_refused_and_an_unknown_path_is_a_file_of_the_console_s8() -> None:
    url_map = dict(list_resources())["google_compute_url_map.api"]
    refusal = r"default_route_action \{\s+fault_injection_policy \{\s+abort \{\s+http_status = 404\s+percentage  = 100"

    assert len(re.findall(refusal, url_map)) == 1
    assert re.findall(r"default_service = (\S+)", url_map) == [
        'google_compute_backend_service.function["chat"].id',
        'google_compute_backend_bucket.console["**"].id',
    ]


def test_hosting_sends_the_content_policy_of_the_page_s8() -> None:
    page = (ROOT / "web/index.html").read_text()
    policy = re.search(r'Content-Security-Policy"\s+content="([^"]+)"', page)
    hosting = json.loads((ROOT / "firebase.json").read_text())["hosting"]
    [everywhere] = [row["headers"] for row in hosting["headers"] if row["source"] == "**"]
    headers = {header["key"]: header["value"] for header in everywhere}

    assert policy is not None
    directives = headers["Content-Security-Policy"].split("; ")
    assert set(policy[1].split("; ")) < set(directives)
    assert {"frame-ancestors 'none'", "form-action 'self'"} <= set(directives)
