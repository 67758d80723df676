"""Failures of a deployment in one sentence each: what is missing, and what to do."""

import re
import shlex

END_CHARS = 1_500
_AGAIN = "run the same command again: it goes on where it stopped."
_EXPLANATIONS = {
    r"Error acquiring the state lock[\s\S]*?ID:\s+(\S+)": "Another deployment is running, or one was killed half-way. If nobody"
    " runs one, release its lock with `terraform -chdir=DIRECTORY force-unlock {0}`; then "
    + _AGAIN,
    r"Backend initialization required|Backend configuration changed": "The folder was used with another project. Delete"
    " infra/terraform/*/.terraform; then " + _AGAIN,
    r"has not been used in project|SERVICE_DISABLED|it is disabled": "Google has not finished switching an API on. Wait two"
    " minutes; then " + _AGAIN,
    r"Permission '?([\w.]+)'? denied": "Your account lacks the permission {0}. Ask whoever owns the project for it; then "
    + _AGAIN,
    r"already exists|alreadyExists|Error 409": "Something is there that Terraform does not know: it was made by hand, or its state"
    " was lost. docs/operate.md says how `terraform import` takes it over.",
    r"[Qq]uota exceeded|RESOURCE_EXHAUSTED|QUOTA_EXCEEDED": "A quota of the project is used up. Ask for more at"
    " https://console.cloud.google.com/iam-admin/quotas, or choose smaller sizes in infra/terraform/services; then "
    + _AGAIN,
    r"invalid_grant|[Rr]eauth|credentials were not found": "Your sign-in has ended. Run `gcloud auth login` and"
    " `gcloud auth application-default login`; then " + _AGAIN,
    r"no such host|connection refused|i/o timeout|TLS handshake timeout": "This machine lost the network; "
    + _AGAIN,
}
"""What a known failure looks like, and what to do about it."""


class DeployError(RuntimeError):
    """What stops a deployment: one sentence that says what to do."""


def explain_failure(command: tuple[str, ...], output: str) -> str:
    """Say why a command failed, as far as it is known, and show the end of what it printed."""
    end = output.strip()[-END_CHARS:]
    for pattern, sentence in _EXPLANATIONS.items():
        if match := re.search(pattern, output):
            return f"{sentence.format(*match.groups())}\n\n{end}"
    return f"`{shlex.join(command)}` failed:\n\n{end}"
