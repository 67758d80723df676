"""Readiness of a project whose APIs answer: what would refuse a deployment half-way, asked before anything is made.

`python -m infra.deploy.readiness PROJECT --region … --firestore-location … --billing-account … --environment …` says in
a sentence each what to do first. What Google does not tell is no reason to stop: it is named, and the deployment goes on.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx

from infra.deploy.google import URL, Google, open_google, read_token
from infra.deploy.target import ROOT, TERRAFORM, Target
from infra.scale.deployment import Size, load_deployment
from shared.domain.value import value

LOCATED_SERVICES = {
    "Artifact Registry": ("artifactregistry", "v1"),
    "Cloud Build": ("cloudbuild", "v2"),
    "Cloud KMS": ("cloudkms", "v1"),
    "Cloud Run": ("run", "v1"),
    "Cloud Scheduler": ("cloudscheduler", "v1"),
    "Cloud Tasks": ("cloudtasks", "v2"),
    "Eventarc": ("eventarc", "v1"),
}
"""Services that must be in the region, with what lists where they are."""
MULTI_REGIONS = ("nam5", "eur3")
ENFORCED_POLICIES = {
    "run.managed.requireInvokerIam": "to let people call public functions",
    "iam.disableServiceAccountCreation": "to create service accounts",
    "compute.disableGlobalLoadBalancing": "to make a global load balancer",
}
"""Policies that stop a deployment where they are enforced, with what they forbid."""
LISTED_POLICIES = {
    "gcp.resourceLocations": ("global",),
    "run.allowedVPCEgress": ("private-ranges-only",),
    "run.allowedIngress": ("internal", "internal-and-cloud-load-balancing"),
    "compute.restrictLoadBalancerCreationForTypes": ("GLOBAL_EXTERNAL_MANAGED_HTTP_HTTPS",),
}
"""Policies that name what is allowed, with what a deployment needs of it; secrets are `global`."""
UNGROUPED = ("global",)
"""Values that no group of values (`in:…`) has."""
_BUDGET_PERMISSIONS = ("billing.budgets.create",)
_UNLIMITED = -1
_FORBIDDEN, _CONFLICT = 403, 409
_QUOTAS_PAGE = "https://console.cloud.google.com/iam-admin/quotas"


@value
class Needs:
    """What a deployment asks of its project: sizes by function, and how many of each global resource."""

    target: Target
    billing_account: str
    has_budget: bool
    app_check: bool
    sizes: Mapping[str, Size]
    global_quotas: Mapping[str, int]


class Unknown(Exception):
    """What Google did not tell, as a sentence."""


def read_needs(target: Target, billing_account: str) -> Needs:
    """Read from the files of Terraform what an environment needs."""
    functions = json.loads((ROOT / "infra/routes.json").read_text())["functions"]
    deployment = load_deployment(f"{target.environment}.tfvars")
    pages = json.loads((TERRAFORM.parent / "console_headers.json").read_text())
    backends = len(pages) + sum(row["access"] == "public" for row in functions.values())
    return Needs(
        target=target,
        billing_account=billing_account,
        has_budget=target.read_variable("foundation", "monthly_budget") != "0",
        app_check=target.read_variable("foundation", "app_check") != "",
        sizes={name: deployment.get_size(name) for name in functions},
        global_quotas={"BACKEND_SERVICES": backends, "URL_MAPS": 2, "SSL_CERTIFICATES": 1, "SECURITY_POLICIES": 1},
    )  # fmt: skip


def find_problems(google: Google, needs: Needs) -> Iterator[tuple[bool, str]]:
    """Yield sentences, each with whether it stops the deployment. Raises httpx.TransportError."""
    checks: tuple[Callable[[Google, Needs], Iterator[str]], ...] = (
        _check_regions,
        _check_policies,
        _check_cloud_run_quotas,
        _check_global_quotas,
        _check_budget,
        _check_firebase,
        _check_app_check,
    )
    for check in checks:
        try:
            yield from ((True, problem) for problem in check(google, needs))
        except Unknown as unknown:
            yield False, str(unknown)


def _check_regions(google: Google, needs: Needs) -> Iterator[str]:
    target = needs.target
    for name, (service, version) in LOCATED_SERVICES.items():
        if target.region not in _list_locations(google, service, version):
            yield (
                f"{name} is not in {target.region}: choose another REGION; us-central1, europe-west1"
                " and asia-northeast1 have all that Keepsake uses."
            )
    place = target.firestore_location
    if place not in _list_locations(google, "firestore", "v1"):
        yield (
            f"Firestore is not in {place}: set FIRESTORE_LOCATION to one of `gcloud firestore locations list`. It cannot be"
            " changed later."
        )
    elif place not in (*MULTI_REGIONS, *_list_locations(google, "eventarc", "v1")):
        yield (
            f"Eventarc is not in {place}, where its trigger has to be beside the documents: set another FIRESTORE_LOCATION."
        )


def _list_locations(google: Google, service: str, version: str) -> list[str]:
    path, page_token, names = f"{version}/projects/{google.project}/locations", "", []
    while True:
        page = _read(google.get(service, path, pageToken=page_token), f"where {service} is")
        names += [location["locationId"] for location in page.get("locations", [])]
        page_token = page.get("nextPageToken", "")
        if not page_token:
            return names


def _check_policies(google: Google, _: Needs) -> Iterator[str]:
    for name, forbidden in ENFORCED_POLICIES.items():
        if any(rule.get("enforce") for rule in _read_rules(google, name)):
            yield _ask_for_exception(google, name, forbidden)
    for name, wanted in LISTED_POLICIES.items():
        if any(_refuses(rule, wanted) for rule in _read_rules(google, name)):
            yield _ask_for_exception(google, name, f"to use {' and '.join(wanted)}")


def _read_rules(google: Google, constraint: str) -> list[dict[str, Any]]:
    path = f"v2/projects/{google.project}/policies/{constraint}:getEffectivePolicy"
    policy = _read(google.get("orgpolicy", path), f"the policy {constraint}")
    rules: list[dict[str, Any]] = policy.get("spec", {}).get("rules", [])
    return rules


def _refuses(rule: Mapping[str, Any], wanted: tuple[str, ...]) -> bool:
    """Tell whether a rule refuses one of the values; what groups of values (`in:…`) have is not known here."""
    values = rule.get("values", {})
    allowed = {name.removeprefix("is:") for name in values.get("allowedValues", [])}
    denied = {name.removeprefix("is:") for name in values.get("deniedValues", [])}
    has_groups = any(name.startswith("in:") for name in allowed)
    missing = set(wanted) - allowed
    return bool(
        rule.get("denyAll")
        or denied & set(wanted)
        or (allowed and missing & set(UNGROUPED if has_groups else wanted))
    )


def _ask_for_exception(google: Google, constraint: str, forbidden: str) -> str:
    return (
        f"The organisation's policy constraints/{constraint} forbids {forbidden}. Ask whoever administers the organisation to"
        f" except {google.project} from it, or take a project that it does not hold for."
    )


def _check_cloud_run_quotas(google: Google, needs: Needs) -> Iterator[str]:
    asked = {
        "CpuAllocPerProjectRegion": {n: 1_000 * s.max_instances for n, s in needs.sizes.items()},
        "MemAllocPerProjectRegion": {
            n: int(s.max_instances * s.memory_gib * 2**30) for n, s in needs.sizes.items()
        },
    }
    for quota, amounts in asked.items():
        limit = _read_quota(google, quota, needs.target.region)
        above = sorted(name for name, amount in amounts.items() if _UNLIMITED < limit < amount)
        if above:
            yield (
                f"Cloud Run's quota {quota} in {needs.target.region} is {limit:,}, and {', '.join(above)} may use up to"
                f" {max(amounts[name] for name in above):,}: lower max_instances of each in `sizes` of"
                f" infra/terraform/services/{needs.target.environment}.tfvars, or ask for more at {_QUOTAS_PAGE}."
            )


def _read_quota(google: Google, quota: str, region: str) -> int:
    """Return the limit of Cloud Run's quota in a region, where it has one of its own, or everywhere."""
    path = f"v1/projects/{google.project}/locations/global/services/run.googleapis.com/quotaInfos"
    info = _read(google.get("cloudquotas", f"{path}/{quota}"), f"the quota {quota}")
    rows = info.get("dimensionsInfos", [])
    in_region = [row for row in rows if row.get("dimensions", {}).get("region") == region]
    everywhere = [row for row in rows if not row.get("dimensions")]
    for row in in_region or everywhere:
        return int(row["details"]["value"])
    raise Unknown(f"Google does not tell the quota {quota} of {region}.")


def _check_global_quotas(google: Google, needs: Needs) -> Iterator[str]:
    project = _read(google.get("compute", f"compute/v1/projects/{google.project}"), "global quotas")
    limits = {row["metric"]: row["limit"] for row in project.get("quotas", [])}
    for metric, amount in needs.global_quotas.items():
        if limits.get(metric, amount) < amount:
            yield (
                f"The quota {metric} is {limits[metric]:g}, and the load balancer needs {amount}: ask for more at {_QUOTAS_PAGE}."
            )


def _check_budget(google: Google, needs: Needs) -> Iterator[str]:
    account = f"v1/billingAccounts/{needs.billing_account}"
    try:
        is_refused = needs.has_budget and google.find_refused(
            "cloudbilling", account, _BUDGET_PERMISSIONS
        )
    except httpx.HTTPStatusError as error:
        raise Unknown(f"Google does not tell who may set budgets ({error}).") from error
    if is_refused:
        yield (
            f"Your account may not set a budget on the billing account {needs.billing_account}: ask its administrator for the role"
            " Billing Account Costs Manager, or set monthly_budget = 0 in"
            f" infra/terraform/foundation/{needs.target.environment}.tfvars."
        )


def _check_firebase(google: Google, _: Needs) -> Iterator[str]:
    """Add Firebase to the project, as Terraform would: only that tells whether its terms are accepted."""
    project = f"v1beta1/projects/{google.project}"
    if google.get("firebase", project).is_success:
        return
    added = google.post("firebase", f"{project}:addFirebase")
    if added.status_code == _FORBIDDEN and "SERVICE_DISABLED" not in added.text:
        yield (
            "Firebase's terms are not accepted by the account that deploys: open https://console.firebase.google.com with it, add"
            f" Firebase to {google.project}, and accept them."
        )
    elif added.status_code != _CONFLICT:
        _read(added, "whether Firebase's terms are accepted")


def _check_app_check(google: Google, needs: Needs) -> Iterator[str]:
    path = f"v1/projects/{google.project}/services"
    if needs.app_check and google.get("firebaseappcheck", path).status_code == _FORBIDDEN:
        yield (
            "App Check's API does not answer: run `gcloud services enable firebaseappcheck.googleapis.com"
            f" --project={google.project}`, or leave app_check empty in"
            f" infra/terraform/foundation/{needs.target.environment}.tfvars."
        )


def _read(answer: httpx.Response, subject: str) -> dict[str, Any]:
    """Return what an API tells. Raises Unknown."""
    if not answer.is_success:
        raise Unknown(f"Google does not tell {subject} ({answer.status_code}).")
    body: dict[str, Any] = answer.json()
    return body


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Say what would stop a deployment to this project."
    )
    parser.add_argument("project")
    for name in ("region", "firestore-location", "billing-account", "environment"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--url", default=URL, help=argparse.SUPPRESS)
    options = parser.parse_args()
    target = Target(
        project=options.project,
        region=options.region,
        firestore_location=options.firestore_location,
        environment=options.environment,
    )
    with open_google(options.project, read_token(), url=options.url) as google:
        problems = list(find_problems(google, read_needs(target, options.billing_account)))
    sys.stdout.writelines(f"{sentence}\n" for stops, sentence in problems if not stops)
    if reasons := [sentence for stops, sentence in problems if stops]:
        sys.exit("\n".join(reasons))


if __name__ == "__main__":
    main()
