"""Everything that the functions ask: emulators of Google, and local servers that speak the other wire formats."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from starlette.types import ASGIApp

from infra.emulators.auth import run_auth
from infra.emulators.eventarc import Eventarc, add_topic, add_trigger
from infra.emulators.firestore import run_firestore
from infra.emulators.pubsub import run_pubsub
from infra.local.routing import ROOT, load_service_calls
from tests.cloud_local.google_tokens import GoogleTokens
from tests.cloud_local.rule_model import RuleModel
from tests.cloud_local.task_deliveries import run_cloud_tasks
from tests.servers import run_server
from tests.servers.cloud_tasks import QUEUE
from tests.servers.fcm import FakeFcm, fake_fcm, write_certificate
from tests.servers.gcs import BUCKET, FakeGcs
from tests.servers.kms import KEY, fake_kms
from tests.servers.pinecone import API_KEY, FakePinecone

PROJECT = "demo-keepsake"
"""The Auth emulator serves projects named `demo-…`."""
TABLE: Mapping[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())
DEAD_LETTERS = "dead_letters"
NAMES = {
    "PINECONE_API_KEY": API_KEY,
    "BLOBS_BUCKET": BUCKET,
    "TASKS_QUEUE": QUEUE,
    "KMS_KEY": KEY,
    "SIGNING_KMS_KEY": KEY,
    "SEALING_KMS_KEY": KEY,
}
"""Settings that name what every stand-in knows, wherever it runs."""


@dataclass(frozen=True, kw_only=True)
class StandIns:
    """Running servers: the settings that lead to them, their tokens, and where they post to."""

    settings: Mapping[str, str]
    tokens: GoogleTokens
    tokens_url: str
    relay: str
    fcm: FakeFcm
    push_settings: Mapping[str, str]

    @property
    def auth(self) -> str:
        return self.settings["FIREBASE_AUTH_EMULATOR_HOST"]

    @property
    def firestore(self) -> str:
        return self.settings["FIRESTORE_EMULATOR_HOST"]

    @property
    def pubsub(self) -> str:
        return self.settings["PUBSUB_EMULATOR_HOST"]

    async def connect(self) -> None:
        """Make the trigger, the topics and their subscriptions of routes.json."""
        for pattern, target in TABLE["triggers"].items():
            await add_trigger(self.firestore, project=PROJECT, pattern=pattern, target=target)
        await self._add_topic(DEAD_LETTERS, [TABLE["dead_letters"]], dead_letters=None)
        for topic, targets in TABLE["topics"].items():
            await self._add_topic(topic, targets, dead_letters=DEAD_LETTERS)

    async def _add_topic(self, topic: str, targets: list[str], *, dead_letters: str | None) -> None:
        await add_topic(
            self.pubsub, project=PROJECT, topic=topic, targets=targets, relay=self.relay, dead_letters=dead_letters
        )  # fmt: skip


@contextmanager
def run_stand_ins(
    folder: Path,
    urls: Mapping[str, str],
    *,
    wrap_relay: Callable[[ASGIApp], ASGIApp] = lambda relay: relay,
    task_faults: Random | None = None,
) -> Iterator[StandIns]:
    """Start them all; `urls` are the functions that events are delivered to. Raises CannotRunError.

    Events go through `wrap_relay`. With `task_faults` some tasks come late, and some again.
    """
    tokens = GoogleTokens(PROJECT, load_service_calls())
    eventarc = Eventarc(service_identity=tokens, url=lambda name: urls[name])
    certificate = write_certificate(folder / "fcm.pem")
    with (
        run_server(wrap_relay(eventarc.build_application())) as relay,
        run_server(tokens.app) as tokens_url,
        run_emulators(folder, relay) as emulators,
        run_cloud_tasks(tokens, faults=task_faults) as tasks,
        run_vendors({"certificates": f"{tokens_url}/certs", "tasks": tasks}) as vendors,
        fake_fcm(certificate, project=PROJECT) as fcm,
    ):
        yield StandIns(
            settings={**emulators, **vendors, **NAMES},
            tokens=tokens,
            tokens_url=tokens_url,
            relay=relay,
            fcm=fcm,
            # FCM has one address, so its client comes through a proxy that answers in its place.
            push_settings={
                "https_proxy": fcm.proxy,
                "no_proxy": "127.0.0.1",
                "REQUESTS_CA_BUNDLE": str(certificate),
            },
        )


@contextmanager
def run_emulators(folder: Path, relay: str) -> Iterator[dict[str, str]]:
    """Start those of Google; yields the settings that lead to them. Firestore posts events to `relay`."""
    rules, functions = ROOT / "infra/firestore.rules", relay.removeprefix("http://")
    with (
        run_auth(folder / "auth.log", project=PROJECT) as auth,
        run_pubsub(folder / "pubsub.log") as pubsub,
        run_firestore(folder / "firestore.log", rules=rules, functions=functions) as firestore,
    ):
        yield {
            "FIREBASE_AUTH_EMULATOR_HOST": auth,
            "PUBSUB_EMULATOR_HOST": pubsub,
            "FIRESTORE_EMULATOR_HOST": firestore,
        }


@contextmanager
def run_vendors(google_urls: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Start servers for what has no emulator; yields the settings that lead to them and to `google_urls`."""
    with (
        fake_kms() as kms,
        run_server(FakeGcs().app) as storage,
        run_server(RuleModel()) as model,
        run_server(FakePinecone().build_app()) as sparse_index,
        run_server(FakePinecone().build_app()) as dense_index,
    ):
        google = {**google_urls, "kms": kms.address, "storage": storage}
        yield {
            "GOOGLE_STAND_INS": ",".join(f"{name}={url}" for name, url in google.items()),
            "OPENAI_BASE_URL": f"{model}/v1",
            "PINECONE_SPARSE_HOST": sparse_index,
            "PINECONE_DENSE_HOST": dense_index,
        }
