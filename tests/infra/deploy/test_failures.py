"""Failures of commands: each that is known says what to do (D1, F1)."""

import os
import sys

import pytest

from infra.deploy.failures import DeployError, explain_failure
from infra.deploy.shell import Terminal

QUOTA, POLICY, METRIC, BUDGET, TERMS = (
    "quota (",
    "A policy of your organisation (",
    "Wait ten minutes",
    "monthly_budget = 0",
    "accept them",
)
BILLING = "`gcloud billing projects link PROJECT"
PLACE, APP_CHECK, SUBNET, START, SETTINGS, INDEX, NAME = (
    "FIRESTORE_LOCATION", "`gcloud services enable firebaseappcheck", "up to two hours", "A function did not start", "lacks settings", "still building indexes",
    "does not lead to it yet",
)  # fmt: skip
CASES = [
    ("Another deployment", "Error: Error acquiring the state lock\n\nLock Info:\n  ID:        1718-abc\n"),
    ("Wait two minutes", "Error 403: Cloud Run Admin API has not been used in project 12 before"),
    ("`gcloud services enable firebase.googleapis.com", "Error 403: Firebase Management API has not been used in project 12 before. Enable it by visiting https://console.developers.google.com/apis/api/firebase.googleapis.com/overview"),
    ("the permission kms.keys.create.", "Error 403: Permission 'kms.keys.create' denied on resource"),
    ("terraform import", "Error 409: Requested entity already exists"),
    ("terraform import", "Error: Error creating Database: googleapi: Error 409: Database already exists.\n\n  with google_firestore_database.documents,\n"),
    ("terraform import", "Error: Error creating Subnetwork: googleapi: Error 409: The resource 'projects/e/regions/r/subnetworks/keepsake' already exists, alreadyExists"),
    ("terraform import", "Error: googleapi: Error 409: Database taken\n\n  with google_firestore_database.documents,\n"),
    ("gcloud auth login", 'oauth2: "invalid_grant" "reauth related error"'),
    ("lost the network", "dial tcp: lookup storage.googleapis.com: no such host"),
    ("Ask for more", "Error 429: Quota exceeded for quota metric"),
    # Cloud Run's quota of a region: a public text, then the same in other words.
    (QUOTA, "spec.template.metadata.annotations[autoscaling.knative.dev/maxScale]: Max instances must be set to 0 or fewer to set the requested total CPU.\nQuota violated:\nCpuAllocPerProjectRegion requested: 60000 allowed: 20000"),
    (QUOTA, "Error: Error creating Service: googleapi: Error 400: MemAllocPerProjectRegion: 85899345920 was requested where 42949672960 is the most"),
    (QUOTA, "Could not create Cloud Run service. For the specified value, maxScale may not exceed 10. See https://cloud.google.com/run/quotas."),
    (QUOTA, "reason: quotaExceeded, metadata: {quota_limit: CpuAllocPerProjectRegion, service: run.googleapis.com}"),
    # A log metric that is too new for an objective or an alert.
    (METRIC, "Error: Error creating Slo: googleapi: Error 400: Invalid SLO definition: The metric referenced by the provided filter is unknown. Check the metric name and labels."),
    (METRIC, 'Error: Error creating AlertPolicy: googleapi: Error 404: Cannot find metric(s) that match type = "logging.googleapis.com/user/error_total". If a metric was created recently, it could take up to 10 minutes'),
    (METRIC, 'Error: googleapi: Error 404: nothing here yet\n\n  with google_monitoring_slo.objective["turns"],\n'),
    (METRIC, "Unknown time series type logging.googleapis.com/user/keepsake_turns (INVALID_ARGUMENT)"),
    # Sharing that an organisation restricts.
    (POLICY, "Error setting IAM policy for cloudrun service: googleapi: Error 400: One or more users named in the policy do not belong to a permitted customer,  perhaps due to an organization policy."),
    (POLICY, 'failedPrecondition: [{"violations": [{"type": "constraints/iam.allowedPolicyMemberDomains"}]}]'),
    (POLICY, "Error 412: Request violates constraint 'constraints/iam.managed.allowedPolicyMembers'"),
    (POLICY, "FAILED_PRECONDITION: refused. subject: orgpolicy:projects/demo?configvalue=allUsers"),
    # A budget on an account of others.
    (BUDGET, "Error: Error creating Budget: googleapi: Error 403: The caller does not have permission\n"),
    (BUDGET, "Error: googleapi: Error 403: forbidden\n\n  with google_billing_budget.month,\n  on budget.tf line 11"),
    (BUDGET, "PERMISSION_DENIED: missing billing.budgets.create"),
    (BUDGET, "POST https://billingbudgets.googleapis.com/v1/billingAccounts/0A0A/budgets: HTTP 403"),
    # Firebase's terms.
    (TERMS, "Error: Error creating Project: googleapi: Error 403: The caller does not have permission\n\n  with google_firebase_project.this,\n"),
    (TERMS, '{"code": 403, "status": "PERMISSION_DENIED", "details": [{"detail": "[ORIGINAL ERROR] generic::permission_denied: Firebase Tos Not Accepted"}]}'),
    (TERMS, "POST https://firebase.googleapis.com/v1beta1/projects/demo:addFirebase: HTTP 403"),
    (TERMS, "Your account has not accepted the required Terms of Service for this action."),
    # A trigger beside its database.
    (PLACE, "Validation failed for trigger projects/p/locations/us-central1/triggers/t: The request was invalid: generic::invalid_argument: Database '(default)' does not exist in region 'us-central1'. Did you mean region 'nam5'?"),
    (PLACE, "unsupported Cloud Firestore region us-central1"),
    (PLACE, "Error: Error creating Trigger: googleapi: Error 400: this place does not fit the source"),
    (PLACE, 'INVALID_ARGUMENT: no such database here\n\n  with google_eventarc_trigger.document["users/{uid}"],'),
    # An API that no list names.
    (APP_CHECK, "Error 403: Firebase App Check API has not been used in project 12 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/firebaseappcheck.googleapis.com/overview?project=12 then retry."),
    (APP_CHECK, '"reason": "SERVICE_DISABLED", "metadata": {"consumer": "projects/12", "service": "firebaseappcheck.googleapis.com"}'),
    (APP_CHECK, "The service firebaseappcheck.googleapis.com is disabled for this consumer"),
    (APP_CHECK, "SERVICE_DISABLED: enable firebaseappcheck.googleapis.com first"),
    # A subnet whose addresses Cloud Run still holds.
    (SUBNET, "Error when reading or editing Subnetwork: googleapi: Error 400: The subnetwork resource 'projects/e/regions/r/subnetworks/s' is already being used by 'projects/e/regions/r/addresses/serverless-ipv4-1721014303789269923'"),
    (SUBNET, "Error: Error deleting Subnetwork: googleapi: Error 400: in use, resourceInUseByAnotherResource"),
    (SUBNET, "FAILED_PRECONDITION: projects/p/regions/r/subnetworks/keepsake has users"),
    (SUBNET, "Failed to release serverless-ipv4-17, because it is in use by some address reservation"),
    # A function that was deployed without its settings.
    (START, "Could not create or update Cloud Run service api, Container Healthcheck failed. Revision 'api-00001-rom' is not ready and cannot serve traffic."),
    (START, "The user-provided container failed to start and listen on the port defined provided by the PORT=8080 environment variable within the allocated timeout."),
    (START, "Revision not ready. See https://cloud.google.com/run/docs/troubleshooting#container-failed-to-start"),
    (SETTINGS, "shared.environment.SettingsError: KEEPSAKE_WORLD=embedded cannot run on Cloud Run"),
    # Indexes that take their time.
    (INDEX, "HTTP Error: 409, too much contention on these datastore entities. please try again."),
    (INDEX, "Error: Error waiting to create Index: Error waiting for Creating Index: timeout while waiting for state to become 'done: true' (last state: 'done: false', timeout: 20m0s)"),
    (INDEX, "Error: Error creating Field: googleapi: Error 409: Please retry, underlying data changed"),
    # Further texts, as gcloud, Terraform, curl and httpx print them.
    ("Ask for more", "ERROR: (gcloud.run.deploy) RESOURCE_EXHAUSTED: Project failed to initialize in this region due to quota exceeded."),
    (QUOTA, 'Error: Error creating Service: googleapi: Error 429: Quota exceeded for total allowable CPU per project per region.\n\n  with google_cloud_run_v2_service.function["chat"],\n  on functions.tf line 3, in resource "google_cloud_run_v2_service" "function":'),
    (QUOTA, "ERROR: (gcloud.functions.deploy) ResponseError: status=[400], code=[Bad Request], message=[Could not create Cloud Run service chat. You do not have quota for using more than 10 max instances in this region]"),
    (METRIC, "Error: Error creating Slo: googleapi: Error 404: The metric type 'logging.googleapis.com/user/keepsake_first_word' could not be found.\n\n  with google_monitoring_slo.first_word,"),
    (METRIC, 'Error: Error creating AlertPolicy: googleapi: Error 404: Could not find metric descriptor, notFound\n\n  with google_monitoring_alert_policy.burn["turns"],'),
    (METRIC, 'ERROR: (gcloud.alpha.monitoring.policies.create) NOT_FOUND: Cannot find metric that matches type = "logging.googleapis.com/user/dead_letters".'),
    (POLICY, 'Error: Error applying IAM policy for cloudrunv2 service "projects/demo/locations/europe-west1/services/chat": Error setting IAM policy for cloudrunv2 service: googleapi: Error 400: One or more users named in the policy do not belong to a permitted customer.'),
    (POLICY, "Error: googleapi: Error 412: Request violates constraint 'constraints/iam.allowedPolicyMemberDomains', conditionNotMet\n\n  with google_storage_bucket_iam_member.console,"),
    (POLICY, "ERROR: (gcloud.run.services.update) FAILED_PRECONDITION: Constraint constraints/run.managed.requireInvokerIam violated for projects/demo"),
    ("set-quota-project", 'Error: Error creating Budget: googleapi: Error 403: Your application is authenticating by using local Application Default Credentials. The billingbudgets.googleapis.com API requires a quota project, which is not set by default. To learn how to set your quota project, see https://cloud.google.com/docs/authentication/adc-troubleshooting/user-creds .\nDetails:\n  "reason": "SERVICE_DISABLED",\n\n  with google_billing_budget.month[0],'),
    (BUDGET, "ERROR: (gcloud.billing.budgets.create) PERMISSION_DENIED: The caller does not have permission. This command is authenticated as ann@example.com which is the active account specified by the [core/account] property"),
    (BUDGET, 'Error: Error reading Budget "billingAccounts/0A0A-0B0B/budgets/1": googleapi: Error 403: The caller does not have permission, forbidden'),
    (TERMS, "Error: Error waiting to create Project: Error waiting for Creating Project: Error code 7, message: Firebase ToS has not been accepted by the caller\n\n  with google_firebase_project.this,"),
    (TERMS, "Error: Error creating Project: googleapi: Error 403: Caller has not accepted the Firebase Terms of Service., forbidden"),
    (TERMS, "HTTP Error: 403, The caller does not have permission\n[debug] >>> HTTP REQUEST POST https://firebase.googleapis.com/v1beta1/projects/demo:addFirebase"),
    (NAME, "curl: (6) Could not resolve host: keepsake.ann.dev"),
    (NAME, "httpx.ConnectError: [Errno -2] Name or service not known"),
    (NAME, "httpx.ConnectError: [SSL: TLSV1_ALERT_UNRECOGNIZED_NAME] tlsv1 unrecognized name (_ssl.c:1006)"),
    (PLACE, 'Error: Error creating Trigger: googleapi: Error 400: Trigger location "europe-west1" is not supported for database in location "eur3"\n\n  with google_eventarc_trigger.conversation_written,'),
    ("Wait five minutes", 'Error: Error creating Trigger: googleapi: Error 400: Invalid resource state for "": Permission denied while using the Eventarc Service Agent. If you recently started to use Eventarc, it may take a few minutes before all necessary permissions are propagated to the Service Agent. Otherwise, verify that it has Eventarc Service Agent role.\n\n  with google_eventarc_trigger.conversation_written,'),
    (PLACE, "ERROR: (gcloud.eventarc.triggers.create) INVALID_ARGUMENT: The request was invalid: Database '(default)' does not exist in region 'europe-west4'. Did you mean region 'eur3'?"),
    (APP_CHECK, "ERROR: (gcloud.firebase.appcheck) PERMISSION_DENIED: API [firebaseappcheck.googleapis.com] not enabled on project [123456]. Would you like to enable and retry (this will take a few minutes)? (y/N)?"),
    (APP_CHECK, "Error: Error creating ServiceConfig: googleapi: Error 403: Access Not Configured. Firebase App Check API has not been used in project 123456 before or it is disabled. Enable it by visiting https://console.cloud.google.com/apis/api/firebaseappcheck.googleapis.com/overview?project=123456, accessNotConfigured"),
    ("Service Usage Admin", "Error: Error when reading or editing Project Service demo/firebaseappcheck.googleapis.com: Request `Batch Enable Project Services` returned error: googleapi: Error 403: Permission denied to enable service [firebaseappcheck.googleapis.com]\nDetails: AUTH_PERMISSION_DENIED"),
    (SUBNET, "Error: Error waiting for Deleting Subnetwork: The subnetwork resource 'projects/demo/regions/europe-west1/subnetworks/keepsake' is already being used by 'projects/demo/regions/europe-west1/addresses/serverless-ipv4-172'"),
    (SUBNET, "ERROR: (gcloud.compute.networks.subnets.delete) Could not fetch resource:\n - The subnetwork resource 'projects/demo/regions/europe-west1/subnetworks/keepsake' is already being used by 'projects/demo/regions/europe-west1/addresses/serverless-ipv4-1'"),
    (SUBNET, "Error: Error waiting for Deleting Network: The network resource 'projects/demo/global/networks/keepsake' is already being used by 'projects/demo/regions/europe-west1/subnetworks/keepsake'\n\n  code: RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"),
    (START, "ERROR: (gcloud.functions.deploy) OperationError: code=3, message=Could not create or update Cloud Run service chat, Container Healthcheck failed. Revision 'chat-00001-rom' is not ready and cannot serve traffic."),
    (SETTINGS, "Function failed on loading user code. This is likely due to a bug in the user code. Error message: Traceback (most recent call last):\n  File \"/workspace/main.py\", line 3\nModuleNotFoundError: No module named 'shared'"),
    (SETTINGS, "ERROR: (gcloud.functions.deploy) OperationError: code=3, message=Build failed with status: FAILURE and message: missing main.py and GOOGLE_FUNCTION_SOURCE not specified. Either create the function in main.py or specify GOOGLE_FUNCTION_SOURCE to point to the file that contains the function."),
    (INDEX, "ERROR: (gcloud.firestore.indexes.composite.create) ABORTED: Too much contention on these documents. Please try again."),
    (INDEX, 'Error: Error waiting to create Field: Error waiting for Creating Field: context deadline exceeded\n\n  with google_firestore_field.exempt["runs"],'),
    (INDEX, "Error: Error creating Index: googleapi: Error 429: Quota exceeded for quota metric 'Index operations' and limit 'Index operations per minute' of service 'firestore.googleapis.com'\n\n  with google_firestore_index.composite[\"x\"],"),
    ("is older than this source", 'Error: Unsupported attribute\n\n  on main.tf line 12, in locals:\n  12:   network = data.terraform_remote_state.foundation.outputs.network\n    ├────────────────\n    │ data.terraform_remote_state.foundation.outputs is object with 8 attributes\n\nThis object does not have an attribute named "network".'),
    ("lost the network", "curl: (6) Could not resolve host: storage.googleapis.com"),
    (INDEX, 'ABORTED: busy\n\n  with google_firestore_index.composite["{}"],'),
    # Told by what the text carries itself: codes of operations, permissions, regions, accounts, secrets, images and values.
    (BILLING, "ERROR: (gcloud.services.enable) FAILED_PRECONDITION: Billing account for project '522837608576' is not found. Billing must be enabled for activation of service(s) 'run.googleapis.com' to proceed.\n- '@type': type.googleapis.com/google.rpc.ErrorInfo\n  domain: serviceusage.googleapis.com/billing-enabled\n  reason: UREQ_PROJECT_BILLING_NOT_FOUND"),
    (BILLING, "Error: googleapi: Error 403: The billing account for the owning project is disabled in state absent, accountDisabled\n\n  with google_storage_bucket.blobs,"),
    ("(constraints/gcp.resourceLocations)", 'Error: Error creating Secret: googleapi: Error 400: Constraint constraints/gcp.resourceLocations violated for [orgpolicy:projects/1234567890] attempting to create a secret in [global]\n\n  with google_secret_manager_secret.this["openai"],'),
    ("(Cloud Run Service Agent)", 'Error: Error creating Service: googleapi: Error 403: Google Cloud Run Service Agent service-1@serverless-robot-prod.iam.gserviceaccount.com must have permission to read the image, europe-west1-docker.pkg.dev/demo/keepsake/app@sha256:ab. Ensure that the provided container image URL is correct.\n\n  with google_cloud_run_v2_service.function["chat"],'),
    ("(service-1@gcp-sa-eventarc)", 'Error: Error setting IAM policy for project "demo": googleapi: Error 400: Service account service-1@gcp-sa-eventarc.iam.gserviceaccount.com does not exist., badRequest\n\n  with google_project_iam_member.eventarc_agent,'),
    ("(Cloud Run service agent)", "Error: Error waiting to create Service: Error waiting for Creating Service: Error code 7, message: Cloud Run service agent needs permission compute.subnetworks.use: Required 'compute.subnetworks.use' permission for 'projects/demo/regions/europe-west1/subnetworks/keepsake'"),
    ("the permission artifactregistry.repositories.uploadArtifacts.", 'denied: Permission "artifactregistry.repositories.uploadArtifacts" denied on resource "projects/demo/locations/europe-west1/repositories/keepsake" (or it may not exist)\nERROR: push attempt 1 detected failure, retrying'),
    ("the permission eventarc.events.receiveEvent.", 'Error: Error creating Trigger: googleapi: Error 400: Invalid resource state for "": Permission "eventarc.events.receiveEvent" denied on resource (or it may not exist)\n\n  with google_eventarc_trigger.conversation_written,'),
    ("the permission storage.objects.get.", "ERROR: (gcloud.builds.submit) INVALID_ARGUMENT: could not resolve source: googleapi: Error 403: 1-compute@developer.gserviceaccount.com does not have storage.objects.get access to the Google Cloud Storage object., forbidden"),
    ("the permission serviceusage.services.use.", "Error: Error creating Service: googleapi: Error 403: Caller does not have required permission to use project demo. Grant the caller the roles/serviceusage.serviceUsageConsumer role, or a custom role with the serviceusage.services.use permission. reason: USER_PROJECT_DENIED"),
    ("no image europe-west1-docker.pkg.dev/demo/keepsake/app:", "Error: Error waiting to create Service: Error waiting for Creating Service: Error code 5, message: Image 'europe-west1-docker.pkg.dev/demo/keepsake/app@sha256:77' not found.\n\n  with google_cloud_run_v2_service.function[\"library\"],"),
    ("The secret OPENAI_API_KEY has no value", "Error: Error waiting to create Service: Error waiting for Creating Service: Error code 9, message: Revision 'chat-00001-abc' is not ready and cannot serve traffic. spec.template.spec.containers[0].env[7].value_from.secret_key_ref.name: Secret projects/1/secrets/OPENAI_API_KEY/versions/latest was not found"),
    ("The secret PINECONE_API_KEY has no value", "Error: Error waiting to create Service: Error code 7, message: Permission denied on secret: projects/1/secrets/PINECONE_API_KEY/versions/latest for Revision service account chat@demo.iam.gserviceaccount.com."),
    ("does not offer this service in europe-west12", 'Error: Error creating Job: googleapi: Error 403: The principal (user or service account) lacks IAM permission "cloudscheduler.jobs.create" for the resource "projects/demo/locations/europe-west12" (or the resource may not exist).\n\n  with google_cloud_scheduler_job.sweep,'),
    ("does not offer this service in europe-west99", "Error: Error creating Repository: googleapi: Error 404: Location europe-west99 is not found or access is unauthorized.\n\n  with google_artifact_registry_repository.images,"),
    ("does not offer this service in africa-south1", "Error: Error creating Trigger: googleapi: Error 400: The request was invalid: the location of trigger africa-south1 is not supported\n\n  with google_eventarc_trigger.conversation_written,"),
    ("The subnet has no address left", "Error: Error waiting to create Service: Error waiting for Creating Service: Error code 8, message: Failed to allocate IP addresses in projects/demo/regions/europe-west1/subnetworks/keepsake. IP_SPACE_EXHAUSTED"),
    ("the value 10.8.0.0/20 of resource.ipCidrRange", "Error: Error creating Subnetwork: googleapi: Error 400: Invalid value for field 'resource.ipCidrRange': '10.8.0.0/20'. Invalid IPCidrRange: 10.8.0.0/20 conflicts with existing subnetwork 'default' in region 'europe-west1'., invalid"),
    ("(Mutate requests per minute)", "Error: Error when reading or editing Project Service demo/run.googleapis.com: googleapi: Error 429: Quota exceeded for quota metric 'Mutate requests' and limit 'Mutate requests per minute' of service 'serviceusage.googleapis.com' for consumer 'project_number:1'."),
    ("(IN_USE_ADDRESSES)", "Error: Error creating GlobalAddress: googleapi: Error 403: Quota 'IN_USE_ADDRESSES' exceeded.  Limit: 8.0 globally.\n\tmetric name = compute.googleapis.com/global_in_use_addresses\n\n  with google_compute_global_address.front,"),
    ("A quota of the project", "ERROR: (gcloud.builds.submit) FAILED_PRECONDITION: due to quota restrictions, cannot run builds in this region."),
    ("wait 240 seconds", "Error: Error creating Database: googleapi: Error 400: Database ID '(default)' is not available in project 'demo'. Please retry in 240 seconds.\n"),
    ("belongs to somebody else", "Error: googleapi: Error 409: The requested bucket name is not available. The bucket namespace is shared by all users of the system., conflict\n\n  with google_storage_bucket.console,"),
    (INDEX, 'Error: Error creating Field: googleapi: Error 400: Operation on field is already in progress: projects/demo/databases/(default)/collectionGroups/runs/fields/due_at\n\n  with google_firestore_field.exempt["due_at"],'),
    ("(Firebase App Check)", "Error: Error creating ServiceConfig: googleapi: Error 403: Firebase App Check API has not been used in project 123456 before or it is disabled."),
    ("gcloud auth login", "Error: Attempted to load application default credentials since neither `credentials` nor `access_token` was set in the provider block.  No credentials loaded. To use your gcloud credentials, run 'gcloud auth application-default login'"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "output"), CASES)
def test_a_known_failure_says_what_to_do_and_shows_what_was_printed_f1(
    sentence: str, output: str
) -> None:
    text = explain_failure(("terraform", "apply"), output)

    assert sentence in text.partition("\n")[0]
    assert output.strip() in text


def test_a_lock_is_named_and_each_of_several_errors_is_explained_once_f1() -> None:
    lock = "Error: Error acquiring the state lock\n\nLock Info:\n  ID:        1718-abc\n"
    errors = [text for sentence, text in CASES if sentence in (BUDGET, TERMS) and "Error:" in text]

    several = explain_failure(("terraform", "apply"), "╷\n│ ".join(["", *errors])).partition("\n")[0]  # fmt: skip

    assert "force-unlock 1718-abc" in explain_failure(("terraform", "init"), lock)
    assert (several.count(BUDGET), several.count(TERMS)) == (1, 1)


@pytest.mark.parametrize(
    "output",
    [
        "odd",
        'Error: Unsupported argument\n\n  on budget.tf line 11, in resource "google_billing_budget" "month":',
        "Error: googleapi: Error 403: forbidden\n\n  with google_dns_managed_zone.run,",
        "Error: Error creating AlertPolicy: googleapi: Error 400: must specify a restriction on resource.type",
    ],
)  # fmt: skip
def test_an_unknown_failure_names_its_command_d1(output: str) -> None:
    assert explain_failure(("gcloud", "x y"), output) == f"`gcloud 'x y'` failed:\n\n{output}"


def test_a_command_shows_its_output_and_gets_a_secret_by_its_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal = Terminal(os.environ)

    terminal.run(sys.executable, "-c", "print(input().upper())", stdin="secret")

    assert "SECRET\n" in capsys.readouterr().out
    assert terminal.succeeds(sys.executable, "-c", "")
    assert not terminal.succeeds(sys.executable, "-c", "raise SystemExit(1)")


def test_a_command_that_fails_stops_the_deployment() -> None:
    terminal = Terminal(os.environ)

    with pytest.raises(DeployError, match="Wait two minutes"):
        terminal.run(sys.executable, "-c", "raise SystemExit('SERVICE_DISABLED')")
