"""The table of calls in infra/routes.json: what code makes, Terraform grants, and no more (S8)."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from infra.local.routing import load_service_calls
from shared.domain.apps.service_calls import Via
from shared.edge.declare.entry_points import load_routes
from shared.ports import ToolBox
from tests.infra.terraform.stack import evaluate, load_stack

ROOT = Path(__file__).parents[2]
TABLE: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())
FUNCTIONS: dict[str, Any] = TABLE["functions"]
CALLS = load_service_calls().rows
ACCOUNT_ID = re.compile(r"[a-z](?:[-a-z0-9]{4,28})[a-z0-9]")
Uses = set[tuple[str, str]]


@cache
def list_packages(function: str) -> frozenset[str]:
    """Return the folders of a function's code: of the file that serves it, and of its routes."""
    source = Path(FUNCTIONS[function]["source"]).parent
    table = import_module(f"{'.'.join(source.parts)}.entry_points").ENTRY_POINTS
    [row] = [row for row in table if row.name == function]
    routes = [route for place in row.places for route in load_routes(place)]
    modules = [route.handler.__module__ for route in routes]
    return frozenset({str(source), *("/".join(module.split(".")[:2]) for module in modules)})


def is_shared(package: str) -> bool:
    return package.startswith("shared/")


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
            yield "/".join(path.parts[:2]), call, ".".join(path.with_suffix("").parts)


def is_method_of(port: str, method: str, node: ast.expr) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != method:
        return False
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name.lstrip("_") == port


def evaluate_name(node: ast.expr, module: str) -> str:
    """Return a literal, or the constant of this name in the module."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.Name)
    return str(getattr(import_module(module), node.id))


def test_each_task_that_code_creates_has_a_row_and_each_row_its_code_s8() -> None:
    created: Uses = {
        (package, evaluate_name(call.args[0], module))
        for package, call, module in list_method_calls("tasks", "create")
    }
    rows = [row for row in CALLS if row.via == "task"]
    listed: Uses = {
        (package, row.function) for row in rows for package in list_packages(row.caller)
    }
    # What shared code creates, any function may create that has a row.
    targets_of_shared = {target for package, target in created if is_shared(package)}
    unused = [
        (row.caller, row.function)
        for row in rows
        if not created & {(package, row.function) for package in list_packages(row.caller)}
        if row.function not in targets_of_shared
    ]

    assert {use for use in created if not is_shared(use[0])} <= listed
    assert unused == []
    assert targets_of_shared <= {target for _, target in listed}


def test_each_event_that_code_publishes_has_its_publishers_s8() -> None:
    published: Uses = {
        (package, evaluate_name(call.args[0], module))
        for package, call, module in list_method_calls("events", "publish")
    }
    listed: Uses = {
        (package, topic)
        for topic, names in TABLE["publishers"].items()
        for name in names
        for package in list_packages(name)
    }
    unused = [
        (name, topic)
        for topic, names in TABLE["publishers"].items()
        for name in names
        if not published & {(package, topic) for package in list_packages(name)}
    ]

    assert published <= listed
    assert unused == []


def test_each_direct_call_of_the_tool_proxy_has_a_row_s8() -> None:
    methods = {
        (package, method)
        for method in vars(ToolBox)
        for package, *_ in list_method_calls("toolbox", method)
    }
    callers = {row.caller for row in CALLS if row.via == "request"}

    assert methods == {
        ("functions/chat", "call"),
        ("functions/chat", "call_service"),
        ("functions/library", "disconnect_all"),
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
def terraform_values() -> dict[str, Any]:
    """The values of calls.tf, as Terraform itself evaluates them."""
    names = ("calls", "task_accounts", "delivery_accounts", "scheduled_calls", "direct_callers", "task_creators", "queue_names")  # fmt: skip
    return evaluate("services", *names)


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
    assert terraform_values["scheduled_calls"].keys() == {
        row.account for row in CALLS if row.via == "schedule"
    }


def test_the_sweep_may_create_tasks_of_its_own_f2() -> None:
    """It wakes what waited for a model, and goes on with a search behind a page of users."""
    assert "sweep=" in evaluate("services", "settings")["settings"]["sweep"]["TASK_ACCOUNTS"]


def test_deliveries_to_apps_have_a_queue_of_their_own_s8(terraform_values: dict[str, Any]) -> None:
    queues = terraform_values["queue_names"]

    assert set(terraform_values["task_creators"]) == {r.caller for r in CALLS if r.via == "task"}
    assert terraform_values["direct_callers"] == ["after_turn", "chat", "erase_account"]
    assert {name for name, queue in queues.items() if queue == "keepsake-webhooks"} == {
        "on_conversation_processed",
        "deliver_webhook",
    }


def test_an_unknown_host_is_refused_and_an_unknown_path_is_a_file_of_the_console_s8() -> None:
    url_map = load_stack("services").resources["google_compute_url_map.api"]
    [action], [paths] = url_map["default_route_action"], url_map["path_matcher"]
    [refusal] = action["fault_injection_policy"][0]["abort"]

    assert (refusal["http_status"], refusal["percentage"]) == (404, 100)
    assert "default_route_action" not in paths
    assert paths["default_service"] == '${google_compute_backend_service.console["**"].id}'


def test_console_and_api_send_their_policies_as_headers_s8() -> None:
    page = (ROOT / "web/index.html").read_text()
    policy = re.search(r'Content-Security-Policy"\s+content="([^"]+)"', page)
    headers = json.loads((ROOT / "infra/console_headers.json").read_text())
    resources = load_stack("services").resources

    assert policy is not None
    directives = headers["**"]["Content-Security-Policy"].split("; ")
    assert set(policy[1].split("; ")) < set(directives)
    assert {"frame-ancestors 'none'", "form-action 'self'"} <= set(directives)
    assert all("Content-Security-Policy" in row for row in headers.values())
    assert headers["**"]["Cross-Origin-Opener-Policy"] == "same-origin"
    for name in (
        "google_compute_backend_service.console",
        "google_compute_backend_service.function",
    ):
        assert "local.strict_transport" in str(resources[name]["custom_response_headers"])
