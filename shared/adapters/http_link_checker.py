"""LinkChecker over HTTP: addresses are looked up by the tool proxy, behind its guard."""

from collections.abc import Collection, Sequence

import httpx

from shared import telemetry
from shared.adapters.http_toolbox import AUDIENCE
from shared.adapters.trust_store import load_trust_store
from shared.domain.errors import Unavailable
from shared.ports import ServiceIdentity

_TIMEOUT_S = 15.0
"""Longer than the tool proxy waits for the servers of the addresses."""


class HttpLinkChecker:
    """Calls the tool proxy at `url`, as the function `caller`."""

    def __init__(self, url: str, service_identity: ServiceIdentity, *, caller: str) -> None:
        self._url = f"{url.rstrip('/')}/links"
        self._service_identity = service_identity
        self._caller = caller

    async def find_broken(self, urls: Sequence[str]) -> Collection[str]:
        token = f"Bearer {await self._service_identity.get_token(self._caller, AUDIENCE)}"
        headers = {
            "Authorization": token,
            # Cloud Run checks this one and then leaves the other as it is, with its signature.
            "X-Serverless-Authorization": token,
            **telemetry.get_trace_headers(),
        }
        try:
            async with httpx.AsyncClient(
                verify=load_trust_store(), timeout=_TIMEOUT_S, trust_env=False
            ) as client:
                response = await client.post(self._url, json={"urls": list(urls)}, headers=headers)
        except httpx.HTTPError as error:
            raise Unavailable("The tool proxy does not answer.") from error
        if response.status_code != 200:
            raise Unavailable(f"The tool proxy answered {response.status_code}.")
        return frozenset(response.json()["broken"])
