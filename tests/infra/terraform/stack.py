"""Terraform's files as data: blocks as they are written, and values as Terraform itself evaluates them.

Values that depend on no resource need no provider: `terraform console` evaluates them on the locals and
variables of a stack alone.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hcl2
import pytest

from infra.local.routing import ROOT, load_entry_points

TERRAFORM = ROOT / "infra/terraform"
STACKS = ("foundation", "services")
PLAIN_BLOCK = re.compile(r'^(?:locals|variable "\w+") \{\n.*?^\}\n', re.DOTALL | re.MULTILINE)
RESOURCE_REFERENCE = re.compile(r"\b(google_\w+)\.(\w+)")
REMOTE_STATE = "data.terraform_remote_state.foundation.outputs"
NUMBER = "123456789012"
SECRETS = [
    "DEEPGRAM_API_KEY", "DISCONNECT_KEYS", "FALLBACK_API_KEY", "GOOGLE_CLIENT_SECRET", "OMI_ENCRYPTION_SECRET", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "PERPLEXITY_API_KEY", "PINECONE_API_KEY", "PSEUDONYM_KEY", "TOOL_CALL_KEYS", "TRANSCRIPTION_API_KEY", "WEB_PUSH_KEY",
]  # fmt: skip
FOUNDATION: dict[str, Any] = {
    "project_number": NUMBER,
    "region": "europe-west1",
    "firestore_location": "eur3",
    "subnetwork": "projects/demo/regions/europe-west1/subnetworks/keepsake",
    "domain": "keepsake.example.org",
    "image_repository": "europe-west1-docker.pkg.dev/demo/keepsake",
    "build_account": "projects/demo/serviceAccounts/keepsake-build@demo.iam.gserviceaccount.com",
    "builds_bucket": "demo-keepsake-builds",
    "blobs_bucket": "demo-keepsake-blobs",
    "database": "(default)",
    "tokens_key": "projects/demo/locations/europe-west1/keyRings/keepsake/cryptoKeys/tokens",
    "signing_key": "projects/demo/locations/europe-west1/keyRings/keepsake/cryptoKeys/signing",
    "sealing_key": "projects/demo/locations/europe-west1/keyRings/keepsake/cryptoKeys/sealing",
    "secrets": SECRETS,
    "oauth_clients": {"google": "client-of-google"},
    "web_search": "perplexity",
    "pubsub_agent": f"serviceAccount:service-{NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com",
    "notification_channel": "projects/demo/notificationChannels/1",
    "sign_in": {"apiKey": "k", "providers": ["password"], "googleClientId": "", "signUp": True},
}
"""What the foundation of a project tells the services, with everything optional in use."""
VARIABLES: dict[str, dict[str, Any]] = {
    "foundation": {
        "project": "demo", "project_number": NUMBER, "region": "europe-west1", "firestore_location": "eur3",
        "billing_account": "0A0A0A-0B0B0B-0C0C0C", "oauth_clients": {"google": "client-of-google"},
        "web_search": "perplexity",
        "optional_secrets": [
            "DEEPGRAM_API_KEY", "FALLBACK_API_KEY", "OMI_ENCRYPTION_SECRET", "OPENROUTER_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS", "TRANSCRIPTION_API_KEY",
        ],
    },
    "services": {
        "project": "demo", "state_bucket": "demo-keepsake-state", "release": "r1",
        "image": f"europe-west1-docker.pkg.dev/demo/keepsake/functions@sha256:{'0' * 64}",
        "pinecone_sparse_host": "sparse.example.com", "pinecone_dense_host": "dense.example.com",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Stack:
    """The blocks of one folder by their names; a resource's name is `type.name`."""

    name: str
    text: str
    resources: Mapping[str, Mapping[str, Any]]
    locals: Mapping[str, Any]
    variables: Mapping[str, Any]
    outputs: Mapping[str, Any]


@cache
def load_stack(name: str) -> Stack:
    text = "\n".join(path.read_text() for path in sorted((TERRAFORM / name).glob("*.tf")))
    blocks = strip_quotes(hcl2.loads(text))
    return Stack(
        name=name,
        text=text,
        resources={
            f"{kind}.{label}": body
            for block in blocks["resource"]
            for kind, labelled in list_entries(block)
            for label, body in list_entries(labelled)
        },
        locals=dict(entry for block in blocks["locals"] for entry in list_entries(block)),
        variables=dict(entry for block in blocks["variable"] for entry in list_entries(block)),
        outputs=dict(entry for block in blocks["output"] for entry in list_entries(block)),
    )


def strip_quotes(node: Any) -> Any:
    """Take the quotes off names and literals; expressions stay as `${…}`."""
    if isinstance(node, dict):
        return {key.strip('"'): strip_quotes(value) for key, value in node.items()}
    if isinstance(node, list):
        return [strip_quotes(item) for item in node]
    return node.strip('"') if isinstance(node, str) and not node.startswith("${") else node


def list_entries(block: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """List what a block says, without the parser's own notes."""
    return ((key, value) for key, value in block.items() if not key.startswith("__"))


def list_texts(node: Any) -> Iterator[str]:
    """List every text of a block, at any depth."""
    if isinstance(node, dict):
        for key, value in list_entries(node):
            yield from (key, *list_texts(value))
    elif isinstance(node, list):
        for item in node:
            yield from list_texts(item)
    else:
        yield str(node)


@cache
def evaluate_cached(stack: str, expressions: str, variables: str) -> str:
    terraform = shutil.which("terraform")
    if terraform is None:
        pytest.skip("terraform is not installed")
    with TemporaryDirectory() as folder:
        plain = build_plain_stack(Path(folder), load_stack(stack))
        (plain / "terraform.tfvars.json").write_text(variables)
        answer = subprocess.run(
            [terraform, "console"],
            cwd=plain,
            input=f"jsonencode({expressions})",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert "Error" not in answer.stderr, answer.stderr
    return answer.stdout.splitlines()[-1]


def build_plain_stack(folder: Path, stack: Stack) -> Path:
    """Write the stack without its resources, beside the files of the repository that it reads."""
    for source in ("infra/routes.json", "infra/firestore.indexes.json", "infra/firestore.rules",
                   "infra/console_headers.json", "web", "docs"):  # fmt: skip
        target = folder / source
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(ROOT / source)
    plain = folder / "infra/terraform" / stack.name
    plain.mkdir(parents=True)
    text = "\n".join(PLAIN_BLOCK.findall(stack.text))
    (plain / "plain.tf").write_text(text.replace(REMOTE_STATE, json.dumps(FOUNDATION)))
    return plain


def evaluate(stack: str, *names: str, **variables: Any) -> dict[str, Any]:
    """Evaluate locals of a stack, with variables beside those of VARIABLES."""
    fields = ", ".join(f"{name} = local.{name}" for name in names)
    return evaluate_expressions(stack, f"{{ {fields} }}", **variables)


def evaluate_expressions(stack: str, expressions: str, **variables: Any) -> dict[str, Any]:
    values = json.dumps({**VARIABLES[stack], **variables})
    answer: dict[str, Any] = json.loads(json.loads(evaluate_cached(stack, expressions, values)))
    return answer


def find_references(node: Any, stack: Stack) -> set[str]:
    """Find the resources that a block names, itself or by its locals and `depends_on`."""
    texts = " ".join(list_texts(node))
    found = {f"{kind}.{name}" for kind, name in RESOURCE_REFERENCE.findall(texts)}
    return found & stack.resources.keys()


def find_dependencies(resource: str, stack: Stack) -> set[str]:
    """Find all resources that have to be there before this one."""
    found: set[str] = set()
    waiting = [resource]
    while waiting:
        new = find_references(stack.resources[waiting.pop()], stack) - found
        found |= new
        waiting += new
    return found


def load_container() -> Mapping[str, Any]:
    """Return the container that all functions run in."""
    service = load_stack("services").resources["google_cloud_run_v2_service.function"]
    [container] = service["template"][0]["containers"]
    return container  # type: ignore[no-any-return]  # as HCL has it


def build_command(port: int, function: str = "chat") -> list[str]:
    """Build the command of a function's container for a port of this machine; the last of two equal options counts."""
    [program], arguments = load_container()["command"], load_container()["args"]
    path = Path(sys.executable).with_name(program)
    values = name_application(function)
    filled = [
        reduce(lambda text, value: text.replace(*value), values.items(), each) for each in arguments
    ]
    return [str(path), *filled, "--host=127.0.0.1", f"--port={port}"]


def name_application(function: str) -> dict[str, str]:
    """Return what uvicorn loads for a function, and how it carries sockets, by the references to them."""
    [row] = [each for each in load_entry_points() if each.name == function]
    application = row.application if row.carries_sockets else "functions_framework.aio:app"
    protocol = "websockets-sansio" if row.carries_sockets else "none"
    return {
        "${local.applications[each.key]}": application,
        "${local.socket_protocols[each.key]}": protocol,
    }
