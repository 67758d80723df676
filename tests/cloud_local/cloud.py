"""The whole: stand-ins, functions and load balancer, started in the order in which they need one another."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random

import anyio
import httpx

from infra.emulators.process import find_free_port
from infra.soak.deliveries import Deliveries
from tests.cloud_local.functions import (
    build_environments,
    choose_urls,
    name_trigger_audiences,
    read_timeouts,
)
from tests.cloud_local.instances import Service, run_churn, run_services
from tests.cloud_local.load_balancer import build_load_balancer
from tests.cloud_local.scheduler import run_scheduler
from tests.cloud_local.stand_ins import PROJECT, StandIns, run_stand_ins
from tests.servers import run_server
from tests.servers.collector import Collector, run_collector
from tests.servers.fcm import FakeFcm


@dataclass(frozen=True)
class Cloud:
    """One origin, the Auth emulator beside it, the functions behind it, and their spans."""

    origin: str
    auth: str
    urls: dict[str, str]
    logs: Path
    fcm: FakeFcm
    collector: Collector
    services: Mapping[str, Service]

    def sign_up(self, email: str) -> str:
        """Make an account at the Auth emulator; return its ID token."""
        return sign_in(self.auth, email)[1]


def sign_in(auth: str, email: str) -> tuple[str, str]:
    """Return the id and a new ID token of an account at the Auth emulator, which is made the first time."""
    url = f"http://{auth}/identitytoolkit.googleapis.com/v1/accounts"
    user = {"email": email, "password": "of a test", "returnSecureToken": True}
    answer = httpx.post(f"{url}:signUp?key=any", json=user)
    if answer.status_code == httpx.codes.BAD_REQUEST:
        answer = httpx.post(f"{url}:signInWithPassword?key=any", json=user)
    account = answer.raise_for_status().json()
    return account["localId"], account["idToken"]


@contextmanager
def run_cloud(folder: Path, *, port: int = 0, churn: Random | None = None) -> Iterator[Cloud]:
    """Start it all; its logs are in `folder`. Raises CannotRunError.

    With `churn` instances end and are replaced all the time, and messages come late, out of order and again.
    """
    urls, port = choose_urls(), port or find_free_port()
    origin = f"http://127.0.0.1:{port}"
    with (
        _run_stand_ins(folder, urls, churn) as stand_ins,
        run_collector() as collector,
    ):
        stand_ins.tokens.set_audiences(name_trigger_audiences())
        environments = {
            name: {**environment, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
            for name, environment in build_environments(stand_ins, urls, origin, folder).items()
        }
        config = {"sign_in": "firebase", "apiKey": "any", "authDomain": f"{PROJECT}.firebaseapp.com",
                  "providers": ["password"], "googleClientId": "", "signUp": True}  # fmt: skip
        with (
            run_services(environments, folder) as services,
            run_scheduler(stand_ins.tokens, urls),
            run_server(build_load_balancer(urls, read_timeouts(), config), port=port),
            run_churn(services, churn) if churn else nullcontext(),
        ):
            anyio.run(stand_ins.connect)
            yield Cloud(origin, stand_ins.auth, urls, folder, stand_ins.fcm, collector, services)


def _run_stand_ins(
    folder: Path, urls: Mapping[str, str], churn: Random | None
) -> AbstractContextManager[StandIns]:
    if churn is None:
        return run_stand_ins(folder, urls)
    return run_stand_ins(folder, urls, wrap_relay=Deliveries(churn).wrap, task_faults=churn)
