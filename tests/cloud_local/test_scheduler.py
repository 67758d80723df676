"""The scheduler of the cloud on this machine: the sweep lets it in, as it lets Cloud Scheduler in (D8, F2)."""

from dataclasses import dataclass, field
from threading import Event

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from infra.local.routing import load_service_calls
from shared.adapters.cloud.oidc_service_identity import OidcServiceIdentity
from shared.adapters.system_clock import SystemClock
from tests.cloud_local.google_tokens import GoogleTokens
from tests.cloud_local.scheduler import run_scheduler
from tests.cloud_local.stand_ins import PROJECT
from tests.servers import run_server


@dataclass
class Sweep:
    """Verifies who calls, and notes that it was called."""

    identity: OidcServiceIdentity | None = None
    called: Event = field(default_factory=Event)

    async def answer(self, request: Request) -> Response:
        assert self.identity is not None
        await self.identity.verify(
            request.headers["authorization"].removeprefix("Bearer "), "sweep"
        )
        self.called.set()
        return Response(status_code=204)


def test_the_sweep_is_called_as_the_scheduler_f2() -> None:
    tokens, sweep = GoogleTokens(PROJECT, load_service_calls()), Sweep()
    routes = [Mount("/google", tokens.app), Route("/", sweep.answer, methods=["POST"])]

    with run_server(Starlette(routes=routes)) as url:
        sweep.identity = OidcServiceIdentity(
            load_service_calls(), SystemClock(), project=PROJECT, certs_url=f"{url}/google/certs"
        )
        with run_scheduler(tokens, {"sweep": url}, period_s=0.01):
            assert sweep.called.wait(30)
