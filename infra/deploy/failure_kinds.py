"""Kinds of failures of a deployment, and the sentence that says what to do about each."""

from collections.abc import Mapping

from shared.domain.value import value

_AGAIN = "run the same command again: it goes on where it stopped."


@value
class Kind:
    """What a sentence says of a kind; `name` finds what stands in it, for which `unnamed` stands in a text that has none."""

    sentence: str
    name: str = r"(?!)"
    unnamed: str = "it is named below"


KINDS: Mapping[str, Kind] = {
    "api_off": Kind(
        name=r"\b([a-z]+\.googleapis\.com)",
        unnamed="NAME.googleapis.com",
        sentence="The API {0} is off, or Google has not finished switching it on. Run `gcloud services enable {0}"
        " --project=PROJECT`, and wait two minutes; then " + _AGAIN,
    ),
    "billing": Kind(
        sentence="The project has no billing account, or one that is closed or unpaid. Link one with `gcloud billing projects link"
        " PROJECT --billing-account=ACCOUNT`; then " + _AGAIN,
    ),
    "billing_projects": Kind(
        sentence="The billing account pays for as many projects as it may. Unlink one with `gcloud billing projects unlink`, or ask for"
        " more at https://support.google.com/code/contact/billing_quota_increase; then " + _AGAIN,
    ),
    "bucket_taken": Kind(
        sentence="A bucket of this name belongs to somebody else. Names begin with the project's id: take a project with another id;"
        " then " + _AGAIN,
    ),
    "budget": Kind(
        sentence="Your account may not set a budget on the billing account. Ask its administrator for the role Billing Account Costs"
        " Manager, or set monthly_budget = 0 in infra/terraform/foundation/*.tfvars; then "
        + _AGAIN,
    ),
    "build": Kind(
        sentence="Cloud Build did not finish the image. The end of its log, below or at"
        " https://console.cloud.google.com/cloud-build/builds, says why. If it merely took too long, "
        + _AGAIN,
    ),
    "database_mode": Kind(
        sentence="The project's database is one of Datastore, which Keepsake cannot use. Take a new project, or delete the database if"
        " nobody needs it (`gcloud firestore databases delete`), and wait five minutes; then "
        + _AGAIN,
    ),
    "database_place": Kind(
        sentence="The documents are somewhere else, and cannot be moved; their trigger must be where they are. `gcloud firestore"
        " databases list` says where that is: say FIRESTORE_LOCATION with it; then " + _AGAIN,
    ),
    "enable_right": Kind(
        sentence="Your account may not switch APIs on. Ask whoever owns the project for the role Service Usage Admin; then "
        + _AGAIN,
    ),
    "exists": Kind(
        sentence="Something is there that Terraform does not know: it was made by hand, or its state was lost. docs/operate.md says how"
        " `terraform import` takes it over.",
    ),
    "folder": Kind(
        sentence="The folder was used with another project or release. Delete infra/terraform/*/.terraform; then "
        + _AGAIN,
    ),
    "image": Kind(
        name=r"([\w-]+docker\.pkg\.dev/[^\s'\"]+)",
        unnamed="that is named below",
        sentence="The registry has no image {0}: it was deleted, or never built. `make deploy` from this commit builds it.",
    ),
    "indexes": Kind(
        sentence="Firestore is still building indexes, which may take an hour. `gcloud firestore operations list` shows how far it"
        " is; then " + _AGAIN,
    ),
    "lock": Kind(
        name=r"\bID:\s+(\S+)",
        unnamed="ID",
        sentence="Another deployment is running, or one was killed half-way. If nobody runs one, release its lock with"
        " `terraform -chdir=DIRECTORY force-unlock {0}`; then " + _AGAIN,
    ),
    "name": Kind(
        sentence="The name of the deployment does not lead to it yet, or its certificate is not made. Set the record that `make deploy`"
        " printed, and wait up to an hour; `make smoke-test` tells when all is well.",
    ),
    "network": Kind(
        sentence="This machine did not reach Google, or where Terraform's providers come from; "
        + _AGAIN,
    ),
    "new_account": Kind(
        name=r"(service-\d+@[\w-]+|[\w-]+@[\w-]+\.iam|(?:Eventarc|Cloud Run) service agent)",
        sentence="An account ({0}) is so new that it or its rights are not known everywhere. Wait five minutes; then "
        + _AGAIN,
    ),
    "new_metric": Kind(
        sentence="A metric is so new that Google does not know it yet. Wait ten minutes; then "
        + _AGAIN,
    ),
    "old_foundation": Kind(
        sentence="What `make deploy` laid before is older than this source. `make deploy` brings it up to date; a rollback alone runs"
        " from the commit of the release that serves.",
    ),
    "permission": Kind(
        name=r"(?!gcloud\.|\S*\.(?:com|dev|org)\b)\b([a-z]+(?:\.[a-zA-Z]+){2})\b",
        unnamed="that is named below",
        sentence="The account that asks lacks the permission {0}. What is printed below says which one that is: ask whoever owns the"
        " project for it; then " + _AGAIN,
    ),
    "policy": Kind(
        name=r"(constraints/[\w.]+)",
        sentence="A policy of your organisation ({0}) refuses this. Ask whoever administers the organisation to except the project, or"
        " take another project; then " + _AGAIN,
    ),
    "quota": Kind(
        name=r"(?:quota metric|[Qq]uota(?: limit)?) '([^']+)'",
        sentence="A quota of the project ({0}) is used up. Ask for more at https://console.cloud.google.com/iam-admin/quotas, or choose"
        " smaller sizes in infra/terraform/services; then " + _AGAIN,
    ),
    "quota_project": Kind(
        sentence="Google asks on whose account your requests are counted. Run `gcloud auth application-default set-quota-project"
        " PROJECT`; then " + _AGAIN,
    ),
    "rate": Kind(
        name=r"limit '([^']+)'",
        sentence="More was asked in a minute than Google answers ({0}). Wait two minutes; then "
        + _AGAIN,
    ),
    "region": Kind(
        name=r"\b([a-z]+-[a-z]+\d+)\b",
        unnamed="this region",
        sentence="Google does not offer this service in {0}, or your organisation does not let you use it there. Say another REGION,"
        " https://cloud.google.com/about/locations; then " + _AGAIN,
    ),
    "run_quota": Kind(
        name=r"(\w+AllocPerProjectRegion|max ?instances|maxScale|total allowable \w+)",
        sentence="The region has less of Cloud Run's quota ({0}) than one function asks for. Lower its max_instances in `sizes` of"
        " infra/terraform/services/*.tfvars, or ask for more at https://console.cloud.google.com/iam-admin/quotas; then "
        + _AGAIN,
    ),
    "secret": Kind(
        name=r"(?:^|/)secrets/([\w-]+)",
        unnamed="NAME",
        sentence="The secret {0} has no value, or the function may not read it yet. `gcloud secrets versions list {0}` tells: add a"
        " value, or wait two minutes; then " + _AGAIN,
    ),
    "sign_in": Kind(
        sentence="Your sign-in has ended. Run `gcloud auth login` and `gcloud auth application-default login`; then "
        + _AGAIN,
    ),
    "start": Kind(
        sentence="A function did not start: its log names the setting or the secret that it lacks. docs/deploy.md#as-functions lists"
        " what a function needs that `make deploy` does not deploy.",
    ),
    "subnet_full": Kind(
        sentence="The subnet has no address left: Cloud Run holds two for each instance. Set a larger `subnet` in"
        " infra/terraform/foundation/*.tfvars; then " + _AGAIN,
    ),
    "subnet_held": Kind(
        sentence="Cloud Run holds addresses of the subnet for up to two hours after its functions are gone. Wait so long; then "
        + _AGAIN,
    ),
    "terms": Kind(
        sentence="The account that deploys has not accepted Firebase's terms. Open https://console.firebase.google.com with it, add"
        " Firebase to this project, and accept them; then " + _AGAIN,
    ),
    "value": Kind(
        name=r"(?:value for field|variable) ['\"]?([\w.[\]]+)",
        unnamed="that is named below",
        sentence="Google or Terraform refuses the value of {0}. infra/terraform/*/variables.tf names the variable that holds it: set it"
        " in the .tfvars of the environment; then " + _AGAIN,
    ),
    "wait": Kind(
        name=r"retry in (\d+ seconds)",
        unnamed="a few minutes, until the name is free again",
        sentence="Google asks to wait {0}. Do so; then " + _AGAIN,
    ),
}
