"""Readiness of a project: each thing that would refuse a deployment half-way is said before anything is made (F1)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from infra.deploy.google import Google, open_google
from infra.deploy.readiness import find_problems, read_needs
from infra.deploy.target import Target, find_value
from tests.servers import run_server

QUOTAS = "/cloudquotas/v1/projects/demo/locations/global/services/run.googleapis.com/quotaInfos"
POLICIES = "/orgpolicy/v2/projects/demo/policies"
CPU = f"{QUOTAS}/CpuAllocPerProjectRegion"
INGRESS = f"{POLICIES}/run.allowedIngress:getEffectivePolicy"
LOCATIONS = f"{POLICIES}/gcp.resourceLocations:getEffectivePolicy"
FIREBASE = "/firebase/v1beta1/projects/demo"
BUDGET = "/cloudbilling/v1/billingAccounts/0A0A:testIamPermissions"
PLACES = ("europe-west1", "eur3")
DISABLED = {"error": {"status": "PERMISSION_DENIED", "details": [{"reason": "SERVICE_DISABLED"}]}}
Answers = Mapping[str, tuple[int, Any]]


def quota(limit: int, **dimensions: str) -> dict[str, Any]:
    row = {"dimensions": dimensions, "details": {"value": str(limit)}}
    return {"dimensionsInfos": [{"details": {"value": "1"}, "dimensions": {"region": "us-east1"}}, row]}  # fmt: skip


def rule(**fields: Any) -> dict[str, Any]:
    return {"spec": {"rules": [fields]}}


def allow(*values: str) -> tuple[int, Any]:
    return 200, rule(values={"allowedValues": values})


NEW_PROJECT: Answers = {
    CPU: (200, quota(20_000)),
    f"{QUOTAS}/MemAllocPerProjectRegion": (200, quota(40 * 2**30, region="europe-west1")),
    BUDGET: (200, {"permissions": ["billing.budgets.create"]}),
    "/compute/compute/v1/projects/demo": (200, {"quotas": [{"metric": "URL_MAPS", "limit": 10.0}]}),
    FIREBASE: (404, {}),
    f"{FIREBASE}:addFirebase": (200, {"name": "operations/1"}),
    "/firebaseappcheck/v1/projects/demo/services": (200, {}),
}
"""A project as Google makes it; what stands not here is a place or no policy."""


@contextmanager
def run_google(answers: Answers) -> Iterator[Google]:
    async def answer(request: Request) -> Response:
        path = request.url.path
        if path in {**NEW_PROJECT, **answers}:
            status, body = {**NEW_PROJECT, **answers}[path]
            return JSONResponse(body, status_code=status)
        if path.endswith("/locations"):
            return JSONResponse({"locations": [{"locationId": name} for name in PLACES]})
        assert path.startswith(POLICIES), path
        return JSONResponse({"name": path})

    route = Route("/{path:path}", answer, methods=["GET", "POST"])
    with (
        run_server(Starlette(routes=[route])) as url,
        open_google("demo", "token", url=f"{url}/{{service}}") as google,
    ):
        yield google


def list_problems(answers: Answers, *, environment: str = "production") -> list[tuple[bool, str]]:
    target = Target(project="demo", region="europe-west1", firestore_location="eur3", environment=environment)  # fmt: skip
    with run_google(answers) as google:
        return list(find_problems(google, read_needs(target, "0A0A")))


@pytest.mark.parametrize("environment", ["staging", "production"])
def test_a_new_project_is_ready_for_each_environment_f1(environment: str) -> None:
    assert list_problems({}, environment=environment) == []


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({CPU: (200, quota(10_000))}, "quota CpuAllocPerProjectRegion in europe-west1 is 10,000, and after_turn, chat, listen, process_conversation"),
        ({f"{POLICIES}/run.managed.requireInvokerIam:getEffectivePolicy": (200, rule(enforce=True))}, "policy constraints/run.managed.requireInvokerIam forbids to let people call"),
        ({INGRESS: allow("internal")}, "policy constraints/run.allowedIngress forbids to use internal and"),
        ({f"{POLICIES}/run.allowedVPCEgress:getEffectivePolicy": allow("all-traffic")}, "policy constraints/run.allowedVPCEgress forbids to use private-ranges-only"),
        ({LOCATIONS: allow("in:eu-locations")}, "policy constraints/gcp.resourceLocations forbids to use global"),
        ({BUDGET: (200, {})}, "set monthly_budget = 0 in infra/terraform/foundation/production.tfvars"),
        ({f"{FIREBASE}:addFirebase": (403, {"error": {"status": "PERMISSION_DENIED"}})}, "Firebase to demo, and accept them."),
        ({"/compute/compute/v1/projects/demo": (200, {"quotas": [{"metric": "BACKEND_SERVICES", "limit": 5.0}]})}, "The quota BACKEND_SERVICES is 5, and the load balancer needs"),
        ({"/cloudscheduler/v1/projects/demo/locations": (200, {"locations": [{"locationId": "us-central1"}]})}, "Cloud Scheduler is not in europe-west1: choose another REGION"),
        ({"/firestore/v1/projects/demo/locations": (200, {})}, "Firestore is not in eur3: set FIRESTORE_LOCATION"),
    ],
)  # fmt: skip
def test_what_would_refuse_a_deployment_is_said_in_a_sentence_f1(
    answers: Answers, sentence: str
) -> None:
    [(stops, problem)] = list_problems(answers)

    assert stops
    assert sentence in problem


@pytest.mark.parametrize(
    "answers",
    [
        {CPU: (200, quota(-1))},
        {INGRESS: (200, rule(allowAll=True))},
        {INGRESS: allow("in:all")},
        {INGRESS: allow("is:internal", "is:internal-and-cloud-load-balancing")},
        {LOCATIONS: allow("in:eu-locations", "global")},
        {FIREBASE: (200, {})},
        {f"{FIREBASE}:addFirebase": (409, {})},
    ],
)
def test_what_refuses_nothing_is_not_named_f1(answers: Answers) -> None:
    assert list_problems(answers) == []


@pytest.mark.parametrize("path", [CPU, INGRESS, BUDGET, f"{FIREBASE}:addFirebase"])
def test_what_google_does_not_tell_is_named_and_stops_nothing_f1(path: str) -> None:
    [(stops, problem)] = list_problems({path: (403, DISABLED)})

    assert not stops
    assert problem.startswith("Google does not tell ")


def test_a_variable_is_read_without_the_comment_behind_it() -> None:
    text = 'monthly_budget = 0 # none\ndomain = "a.example.org" # ours\napp_check = ""\n'

    found = [
        find_value(text, name) for name in ("monthly_budget", "domain", "app_check", "sign_up")
    ]
    assert found == ["0", "a.example.org", "", ""]
