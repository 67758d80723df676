"""Failures of a deployment in one sentence each: what is missing, and what to do.

A failure is told by what stays when its words change: the resource or service that it names, its status, and the ids
of quotas and policies. Words alone tell what has neither.
"""

import re
import shlex
from collections.abc import Iterator

from shared.domain.value import value

END_CHARS = 1_500
_AGAIN = "run the same command again: it goes on where it stopped."
_EXISTS = (
    "Something is there that Terraform does not know: it was made by hand, or its state was lost. docs/operate.md says how"
    " `terraform import` takes it over."
)
_STATUSES = {
    "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
"""Statuses by name, as numbers of HTTP."""
_CODES = {3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 16: 401}
"""Statuses by the number that operations end with."""
_STATUS_NUMBER = re.compile(r'(?:\bError:? |HTTP |"?code"?[:=] ?|\()(\d{3})\b')
_CODE_NUMBER = re.compile(r"\bcode[:=]? ?(\d{1,2})\b")
_PERMISSION = r"(?!gcloud\.|\S*\.(?:com|dev|org)\b)([a-z]+(?:\.[a-zA-Z]+){2})"
"""A permission of IAM: a service, what it has, and what is done with that."""
_TIMEOUT = re.compile(r"timeout while waiting|deadline exceeded", re.IGNORECASE)
_CREATED = re.compile(r"Error (?:creating|updating|deleting|waiting for|waiting to create) (\w+)")
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


class DeployError(RuntimeError):
    """What stops a deployment: one sentence that says what to do."""


@value
class _Kind:
    """A failure that is known: by `sign` alone, or by a status at a place.

    `place` is the type of a resource, a service, or a part of a path; what either catches stands in the sentence.
    """

    sentence: str
    sign: str = r"(?!)"
    place: str = r"(?!)"
    statuses: tuple[int, ...] = ()


_KINDS = (
    _Kind(
        sign=r"state lock[\s\S]*?ID:\s+(\S+)",
        sentence="Another deployment is running, or one was killed half-way. If nobody runs one, release its lock with"
        " `terraform -chdir=DIRECTORY force-unlock {0}`; then " + _AGAIN,
    ),
    _Kind(
        sign=r"Backend initialization required|Backend configuration changed",
        sentence="The folder was used with another project. Delete infra/terraform/*/.terraform; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"terraform_remote_state\.foundation\.outputs",
        sentence="What `make deploy` laid before is older than this source. `make deploy` brings it up to date; a rollback alone runs"
        " from the commit of the release that serves.",
    ),
    _Kind(
        sign=r"billing-enabled|BILLING_(?:DISABLED|NOT_ENABLED|NOT_FOUND)|accountDisabled|absent billing account",
        sentence="The project has no billing account, or a closed one. Link one with `gcloud billing projects link PROJECT"
        " --billing-account=ACCOUNT`; then " + _AGAIN,
    ),
    _Kind(
        sign=r"requires a quota project|set-quota-project",
        sentence="Google asks on whose account your requests are counted. Run `gcloud auth application-default set-quota-project"
        " PROJECT`; then " + _AGAIN,
    ),
    _Kind(
        sign=r"SettingsError|KEEPSAKE_WORLD|No module named '(?:shared|functions)|GOOGLE_FUNCTION_SOURCE",
        sentence="The function lacks settings of the cloud: deploy it by `make deploy`, or give it all that"
        " docs/deploy.md#as-functions names.",
    ),
    _Kind(
        place=r"(?:^|/)secrets/([\w-]+)/versions/",
        statuses=(400, 403, 404),
        sentence="The secret {0} has no value, or the function may not read it yet. `gcloud secrets versions list {0}` tells: add a"
        " value, or wait two minutes; then " + _AGAIN,
    ),
    _Kind(
        sign=r"PORT=?\d* environment variable|health ?check failed|container-failed-to-start|failed to start and listen",
        sentence="A function did not start: its log names the setting or the secret that it lacks. docs/deploy.md#as-functions lists"
        " what a function needs that `make deploy` does not deploy.",
    ),
    _Kind(
        sign=r"(\w+AllocPerProjectRegion|run/quotas|max(?:imum)? ?instances|maxScale may not|total allowable \w+)",
        sentence="The region has less of Cloud Run's quota ({0}) than one function asks for. Lower its max_instances in `sizes` of"
        " infra/terraform/services/*.tfvars, or ask for more at https://console.cloud.google.com/iam-admin/quotas; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"(constraints/[\w.]+)|orgpolicy:|permitted (?:customer|organization)|organi[sz]ation polic",
        sentence="A policy of your organisation ({0}) refuses this. Ask whoever administers the organisation to except the project, or"
        " take another project; then " + _AGAIN,
    ),
    _Kind(
        sign=r"(?:has not been used in project|SERVICE_DISABLED|is disabled)[\s\S]*?\b([a-z]+)\.googleapis\.com|"
        r"\b([a-z]+)\.googleapis\.com[\s\S]*?(?:has not been used|SERVICE_DISABLED|is disabled|not enabled on project)",
        sentence="The API {0} is off, or Google has not finished switching it on. Run `gcloud services enable"
        " {0}.googleapis.com --project=PROJECT`, and wait two minutes; then " + _AGAIN,
    ),
    _Kind(
        sign=r"([A-Z][\w ]+) API has not been used in project|SERVICE_DISABLED|it is disabled",
        sentence="An API ({0}) is off, or Google has not finished switching it on. Look for it at"
        " https://console.cloud.google.com/apis/library. Wait two minutes; then " + _AGAIN,
    ),
    _Kind(
        place=r"billing_?budget|^budget$|billing\.budgets|billingAccounts/",
        statuses=(403,),
        sentence="Your account may not set a budget on the billing account. Ask its administrator for the role Billing Account Costs"
        " Manager, or set monthly_budget = 0 in infra/terraform/foundation/*.tfvars; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"\bt(?:os|erms of service)\b[^.]*(?:not|missing)|not accepted the[^.]*terms",
        place=r"firebase_project|addFirebase|//firebase\.googleapis\.com|^project$",
        statuses=(403,),
        sentence="The account that deploys has not accepted Firebase's terms. Open https://console.firebase.google.com with it, add"
        " Firebase to this project, and accept them; then " + _AGAIN,
    ),
    _Kind(
        sign=r"logging\.googleapis\.com/user/|metric [^.]*is unknown",
        place=r"monitoring_slo|^slo$|alert_policy",
        statuses=(404,),
        sentence="A metric is so new that Google does not know it yet. Wait ten minutes; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"(service-\d+@[\w-]+|(?:Eventarc|Cloud Run) service agent)",
        sentence="Google's own account ({0}) is so new that its rights do not hold everywhere. Wait five minutes; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"\blocation (?:of \w+ )?'?([a-z]+-[a-z]+\d+)'? is not (?!\w+ for database)",
        place=r"(?:^|/)locations/([a-z]+-[a-z]+\d+)$",
        statuses=(400, 403, 404),
        sentence="Google does not offer this service in {0}, or your organisation does not let you use it there. Say another REGION,"
        " https://cloud.google.com/about/locations; then " + _AGAIN,
    ),
    _Kind(
        sign=rf"Permission ['\"]?{_PERMISSION}['\"]? denied|does not have {_PERMISSION} access",
        place=rf"^{_PERMISSION}$",
        statuses=(403,),
        sentence="The account that asks lacks the permission {0}. What is printed below says which one that is: ask whoever owns the"
        " project for it; then " + _AGAIN,
    ),
    _Kind(
        sign=r"(?:region|location)s? '?(?:nam5|eur3)\b|unsupported Cloud Firestore region",
        place=r"eventarc_trigger|^trigger$|eventarc\.googleapis|/triggers/",
        statuses=(400, 404),
        sentence="The trigger is not where the documents are. `gcloud firestore databases list` says where that is: say"
        " FIRESTORE_LOCATION with it; then " + _AGAIN,
    ),
    _Kind(
        sign=r"Invalid value for field '([\w.[\]]+)': '([^']*)'",
        sentence="Google refuses the value {1} of {0}. infra/terraform/*/variables.tf names the variable that holds it: set it in the"
        " .tfvars of the environment; then " + _AGAIN,
    ),
    _Kind(
        sign=r"bucket name is not available",
        sentence="A bucket of this name belongs to somebody else. Names begin with the project's id: take a project with another id;"
        " then " + _AGAIN,
    ),
    _Kind(sign=r"already exists|alreadyExists", sentence=_EXISTS),
    _Kind(
        sign=r"retry in (\d+) seconds",
        sentence="Google asks to wait {0} seconds. Do so; then " + _AGAIN,
    ),
    _Kind(
        place=r"subnetworks/",
        statuses=(429,),
        sentence="The subnet has no address left: Cloud Run holds two for each instance. Set a larger `subnet` in"
        " infra/terraform/foundation/*.tfvars; then " + _AGAIN,
    ),
    _Kind(
        place=r"(\S+docker\.pkg\.dev/\S+)",
        statuses=(404,),
        sentence="The registry has no image {0}: it was deleted, or never built. `make deploy` from this commit builds it.",
    ),
    _Kind(
        sign=r"addresses/serverless-|serverless-ipv[46]|networks/\S+' is already being used by 'projects/\S+/subnetworks/",
        place=r"compute_subnetwork|^subnetwork$|/subnetworks/",
        statuses=(400, 409),
        sentence="Cloud Run holds addresses of the subnet for up to two hours after its functions are gone. Wait so long; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"underlying data changed|contention|already in progress",
        place=r"firestore_(?:index|field)|^(?:index|field)$|collectionGroups",
        statuses=(409, 429, 504),
        sentence="Firestore is still building indexes, which may take an hour. `gcloud firestore operations list` shows how far it"
        " is; then " + _AGAIN,
    ),
    _Kind(
        sign=r"Permission denied to enable service|AUTH_PERMISSION_DENIED",
        sentence="Your account may not switch APIs on. Ask whoever owns the project for the role Service Usage Admin; then "
        + _AGAIN,
    ),
    _Kind(place=r".", statuses=(409,), sentence=_EXISTS),
    _Kind(
        sign=r"limit '([^']+ per minute[^']*)'|rateLimitExceeded",
        sentence="More was asked in a minute than Google answers ({0}). Wait two minutes; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"quota metric '([^']+)'|quota(?: '([\w-]+)')?[ _]?exceeded|quota restrictions",
        place=r".",
        statuses=(429,),
        sentence="A quota of the project ({0}) is used up. Ask for more at https://console.cloud.google.com/iam-admin/quotas, or choose"
        " smaller sizes in infra/terraform/services; then " + _AGAIN,
    ),
    _Kind(
        sign=r"invalid_grant|reauth|credentials were not found|gcloud auth (?:application-default )?login",
        sentence="Your sign-in has ended. Run `gcloud auth login` and `gcloud auth application-default login`; then "
        + _AGAIN,
    ),
    _Kind(
        sign=r"no such host|connection refused|i/o timeout|TLS handshake timeout|resolve host: \S*google|temporary failure in name resolution",
        sentence="This machine lost the network; " + _AGAIN,
    ),
    _Kind(
        sign=r"could not resolve host|name or service not known|nodename nor servname|unrecognized[ _]name|handshake failure",
        sentence="The name of the deployment does not lead to it yet, or its certificate is not made. Set the record that `make deploy`"
        " printed, and wait up to an hour; `make smoke-test` tells when all is well.",
    ),
)
"""In this order: what is special stands before what is general."""


def explain_failure(command: tuple[str, ...], output: str) -> str:
    """Say why a command failed, as far as it is known, and show the end of what it printed.

    Terraform may report several errors: each kind is explained once.
    """
    end = output.strip()[-END_CHARS:]
    sentences = dict.fromkeys(filter(None, map(_explain, _split_errors(output))))
    if sentences:
        return f"{' '.join(sentences)}\n\n{end}"
    return f"`{shlex.join(command)}` failed:\n\n{end}"


def _split_errors(output: str) -> Iterator[str]:
    """Yield each error of Terraform, which begins its line with `Error:`, or the whole."""
    errors = re.split(r"^(?=[│\s]*Error:)", output, flags=re.MULTILINE)
    yield from errors[1:] or errors


def _explain(error: str) -> str | None:
    places, statuses = list(_find_places(error)), set(_find_statuses(error))
    for kind in _KINDS:
        match = re.search(kind.sign, error, re.IGNORECASE)
        if match is None and not statuses.isdisjoint(kind.statuses):
            match = next(filter(None, (re.search(kind.place, place) for place in places)), None)
        if match:
            names = [name for name in match.groups() if name]
            return kind.sentence.format(*names, "its log names it")
    return None


def _find_places(error: str) -> Iterator[str]:
    """Yield types of resources, services and paths that an error names."""
    yield from re.findall(r"\bgoogle_(\w+)", error)
    yield from (_WORD.sub("_", name).lower() for name in _CREATED.findall(error))
    yield from re.findall(r"[\w./:~-]*(?:googleapis\.com|/)[\w./:~()-]*", error)
    yield from re.findall(r"\b[a-z]+(?:\.[a-zA-Z]+){2}\b", error)


def _find_statuses(error: str) -> Iterator[int]:
    yield from (int(number) for number in _STATUS_NUMBER.findall(error))
    yield from (_CODES.get(int(number), 0) for number in _CODE_NUMBER.findall(error))
    yield from (number for name, number in _STATUSES.items() if name in error)
    if _TIMEOUT.search(error):
        yield _STATUSES["DEADLINE_EXCEEDED"]
