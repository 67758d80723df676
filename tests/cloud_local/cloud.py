"""The whole: stand-ins, functions and load balancer, started in the order in which they need one another."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx

from infra.emulators.process import find_free_port
from tests.cloud_local.functions import build_environments, choose_urls, run_functions
from tests.cloud_local.load_balancer import build_load_balancer
from tests.cloud_local.scheduler import run_scheduler
from tests.cloud_local.stand_ins import PROJECT, run_stand_ins
from tests.servers import run_server
from tests.servers.collector import Collector, run_collector
from tests.servers.fcm import FakeFcm


@dataclass(frozen=True)
class Cloud:
    """One origin, the Auth emulator beside it, the addresses of the functions behind it, and their spans."""

    origin: str
    auth: str
    urls: dict[str, str]
    logs: Path
    fcm: FakeFcm
    collector: Collector

    def sign_up(self, email: str) -> str:
        """Make an account at the Auth emulator; return its ID token."""
        return sign_up(self.auth, email)[1]


def sign_up(auth: str, email: str) -> tuple[str, str]:
    """Make an account at the Auth emulator; return its id and its ID token."""
    url = f"http://{auth}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
    user = {"email": email, "password": "of a test", "returnSecureToken": True}
    account = httpx.post(url, json=user).raise_for_status().json()
    return account["localId"], account["idToken"]


@contextmanager
def run_cloud(folder: Path, *, port: int = 0) -> Iterator[Cloud]:
    """Start it all; its logs are in `folder`. Raises CannotRunError."""
    urls, port = choose_urls(), port or find_free_port()
    origin = f"http://127.0.0.1:{port}"
    with run_stand_ins(folder, urls) as stand_ins, run_collector() as collector:
        stand_ins.tokens.set_audiences({"on_conversation_written": urls["on_conversation_written"]})
        environments = {
            name: {**environment, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
            for name, environment in build_environments(stand_ins, urls, origin, folder).items()
        }
        config = {"sign_in": "firebase", "apiKey": "any", "authDomain": f"{PROJECT}.firebaseapp.com",
                  "providers": ["password"], "googleClientId": "", "signUp": True}  # fmt: skip
        with (
            run_functions(environments, folder),
            run_scheduler(stand_ins.tokens, urls),
            run_server(build_load_balancer(urls, config), port=port),
        ):
            anyio.run(stand_ins.connect)
            yield Cloud(origin, stand_ins.auth, urls, folder, stand_ins.fcm, collector)
