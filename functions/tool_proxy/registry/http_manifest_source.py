"""HTTP manifest source: an app's manifest, fetched from the address that its developer gave."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urljoin

import anyio.to_thread

from functions.tool_proxy.ports import WELL_KNOWN_PATH, Manifest
from functions.tool_proxy.registry.app_addresses import refuse_endpoints
from functions.tool_proxy.registry.manifest import InvalidManifest, read_manifest
from shared.domain.apps.app import App
from shared.domain.errors import ManifestFailed, NoManifest, NotAllowed, TooLarge, Unavailable
from shared.domain.value import value
from shared.ports import Egress, EgressRequest, EgressResponse

MAX_REDIRECTS = 3
MAX_MANIFEST_BYTES = 262_144
MANIFEST_TIMEOUT_S = 10


@value
class HttpManifestSource:
    """Reads `chat_tools_manifest_url`, or else WELL_KNOWN_PATH at the host of the app's home page."""

    egress: Egress

    async def fetch(self, app: App) -> Manifest:
        """Raises NoManifest too if the home page's host has none."""
        declared_url = app.external_integration.chat_tools_manifest_url
        url = declared_url or _build_well_known_url(app.external_integration.app_home_url)
        if not url:
            raise NoManifest("The app has no address of a manifest.")
        try:
            response = await self._get_with_redirects(url, app.local_origins)
            if response.status in (404, 410) and not declared_url:
                raise NoManifest(f"The app has no address of a manifest, and there is no {url}.")
            if response.status != 200:
                raise ManifestFailed(f"The manifest's address answered HTTP {response.status}.")
            run_in_thread = anyio.to_thread.run_sync  # a large one takes a second of computing
            integration = replace(app.external_integration, chat_tools_manifest_url=url)
            manifest = await run_in_thread(read_manifest, response.body, integration)
            return refuse_endpoints(self.egress, app, manifest)
        except NotAllowed as refusal:
            if not declared_url:
                raise ManifestFailed(f"`app_home_url` is refused: {refusal}") from refusal
            raise NoManifest(f"`chat_tools_manifest_url` is refused: {refusal}") from refusal
        except (Unavailable, TooLarge, InvalidManifest) as failure:
            raise ManifestFailed(f"The manifest could not be read: {failure}") from failure

    async def _get_with_redirects(self, url: str, local_origins: Sequence[str]) -> EgressResponse:
        """Follow a few redirects; Egress checks the address of each as it checked the first."""
        for _ in range(1 + MAX_REDIRECTS):
            response = await self.egress.send(_build_request(url, local_origins))
            location = response.headers.get("location")
            if response.status not in (301, 302, 303, 307, 308) or not location:
                return response
            url = _join_url(url, location)
        raise ManifestFailed(f"The manifest's address redirects more than {MAX_REDIRECTS} times.")


def _build_well_known_url(home_url: str | None) -> str | None:
    try:
        return urljoin(home_url, WELL_KNOWN_PATH) if home_url else None
    except ValueError:
        return None


def _build_request(url: str, local_origins: Sequence[str]) -> EgressRequest:
    return EgressRequest(
        method="GET",
        url=url,
        headers={"Accept": "application/json"},
        timeout_s=MANIFEST_TIMEOUT_S,
        max_bytes=MAX_MANIFEST_BYTES,
        accepts=("application/json", "application/octet-stream", "text/plain"),
        local_origins=local_origins,
    )


def _join_url(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise ManifestFailed("The manifest's address redirects to no address.") from error
