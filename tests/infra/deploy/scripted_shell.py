"""Shell that runs nothing: it notes every command, and answers as a project would."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.deploy.failures import DeployError

FOUNDATION = {
    "region": "europe-west1",
    "firestore_location": "eur3",
    "secrets": ["OPENAI_API_KEY", "PINECONE_API_KEY", "PSEUDONYM_KEY"],
    "image_repository": "europe-west1-docker.pkg.dev/demo/keepsake",
    "build_account": "projects/demo/serviceAccounts/keepsake-build@demo.iam.gserviceaccount.com",
    "builds_bucket": "demo-keepsake-builds",
}
SERVICES = {
    "origin": "https://keepsake.example.org", "api_address": "192.0.2.1", "release": "r1", "image": "i@sha256:1",
    "functions": ["chat", "library"], "canary": None, "objectives": True,
    "pinecone_sparse_host": "sparse.example.com", "pinecone_dense_host": "dense.example.com",
}  # fmt: skip


def write_outputs(values: Mapping[str, Any]) -> str:
    return json.dumps({name: {"value": value} for name, value in values.items()})


def read_variables(command: str) -> dict[str, str]:
    return dict(re.findall(r"-var=(\w+)=(.*?)(?= -var|$)", command))


ANSWERS = {
    "git -C": "",
    "rev-parse": "0123456789ab",
    "terraform version": '{"terraform_version": "1.11.4"}',
    "gcloud auth list": "ann@example.com",
    "gcloud auth application-default print-access-token": "token",
    "gcloud projects describe": "123456789012",
    "gcloud billing projects describe": "True\tbillingAccounts/0A0A0A-0B0B0B-0C0C0C",
    "foundation output": write_outputs(FOUNDATION),
    "services output": write_outputs(SERVICES),
    "gcloud firestore indexes composite list": "[]",
    "gcloud firestore operations list": "operations/1\tTrue\noperations/2\tTrue",
    "infra.deploy.pinecone_indexes": '{"sparse": "sparse.example.com", "dense": "dense.example.com"}',
    "--format=value(image_summary.digest)": "sha256:" + "0" * 64,
    "gcloud run services list": "chat-r1\nlibrary-r1",
    "gcloud run revisions list": "chat-r0\nlibrary-r0\nchat-r1\nlibrary-r1\nafter-turn-r1",
}
"""What a command that reads prints: the last part that its line contains decides."""


@dataclass
class ScriptedShell:
    """`answers` differ from ANSWERS, None fails; commands that contain a part of `absent` do not succeed.

    The release that is applied last is the one in the state.
    """

    answers: Mapping[str, str | None] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    commands: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)

    def run(self, *command: str, stdin: str | None = None) -> None:
        line = " ".join(command)
        self.commands.append(line)
        if "services apply" in line:
            self.keep_release(read_variables(line)["release"])
        if stdin is not None:
            self.secrets[command[4]] = stdin

    def keep_release(self, release: str) -> None:
        outputs = write_outputs({**SERVICES, "release": release})
        self.answers = {**self.answers, "services output": outputs}

    def read(self, *command: str, rehearsed: str) -> str:
        line = " ".join(command)
        self.questions.append(line)
        parts = [part for part in {**ANSWERS, **self.answers} if part in line]
        answer = {**ANSWERS, **self.answers}[parts[-1]]
        if answer is None:
            raise DeployError(f"{line} failed")
        return answer

    def succeeds(self, *command: str) -> bool:
        line = " ".join(command)
        self.questions.append(line)
        return not any(part in line for part in self.absent)

    def has(self, program: str) -> bool:
        return program not in self.absent

    def wait(self, seconds: float, reason: str) -> bool:
        self.waits.append(reason)
        return True

    def refuse(self, problem: str) -> None:
        raise DeployError(problem)
