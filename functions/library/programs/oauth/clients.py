"""Clients: who a client id stands for, a registration of ours or a document at its own address.

Also called: client ID metadata document.
"""

from typing import Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from functions.library.programs.oauth.deps import ProgramDeps
from functions.library.programs.oauth.redirect_uris import is_acceptable, read_host
from functions.library.programs.oauth.registrations import ProgramClient
from functions.library.programs.oauth.schemas import ClientDocumentIn
from shared.domain.errors import CallerError, Invalid, Unavailable
from shared.domain.ids import UserId
from shared.ports import EgressRequest
from shared.resilience.hour_windows import floor_to_hour
from shared.resilience.rate_limit_status import check_limit

DOCUMENT_TIMEOUT_S: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 16_384
MAX_DOCUMENTS_PER_HOUR: Final = 60
"""Of one user: each is fetched from a stranger's server."""
JSON_TYPES: Final = ("application/json", "application/*+json")
_UNKNOWN = (
    "Keepsake does not know this program, or its registration has expired. Remove Keepsake in the "
    "program, and add it again."
)


async def load_client(deps: ProgramDeps, uid: UserId, client_id: str) -> ProgramClient:
    """Return who asks `uid`. Raises Invalid, and TooMany and Unavailable where a document is fetched."""
    if client_id.startswith("https://"):
        return await _fetch_document(deps, uid, client_id)
    client = deps.registrations.read(client_id, deps.clock.now())
    if client is None:
        raise Invalid(_UNKNOWN)
    return client


async def _fetch_document(deps: ProgramDeps, uid: UserId, url: str) -> ProgramClient:
    """Fetch what a program says of itself; the address has to be the one that the document names."""
    if not is_acceptable(url) or not _has_plain_path(url):
        raise Invalid("The program's client id is not an address that a document can stand at.")
    await _consume_fetch(deps, uid)
    request = EgressRequest(
        method="GET",
        url=url,
        headers={"Accept": "application/json"},
        timeout_s=DOCUMENT_TIMEOUT_S,
        max_bytes=MAX_DOCUMENT_BYTES,
        accepts=JSON_TYPES,
    )
    try:
        answer = await deps.egress.send(request)
    except (CallerError, Unavailable) as error:
        raise Invalid(f"The program's document at {read_host(url)} cannot be read.") from error
    if answer.status != 200:
        raise Invalid(f"{read_host(url)} has no document of this program.")
    try:
        document = ClientDocumentIn.model_validate_json(answer.body)
    except ValidationError as error:
        raise Invalid(f"The program's document at {read_host(url)} is not one.") from error
    if document.client_id != url:
        raise Invalid(f"The document at {read_host(url)} is of another program.")
    return ProgramClient(
        id=url,
        name=document.client_name,
        redirect_uris=document.redirect_uris,
        document_host=read_host(url),
    )


def _has_plain_path(url: str) -> bool:
    """Tell whether an address names a file, and not by a detour."""
    segments = urlsplit(url).path.split("/")
    return any(segments) and not {".", ".."} & set(segments)


async def _consume_fetch(deps: ProgramDeps, uid: UserId) -> None:
    """Raises TooMany."""
    now = deps.clock.now()
    remaining = await deps.stores.hourly_limits.consume(
        uid,
        "client-documents",
        hour=floor_to_hour(now),
        limit=MAX_DOCUMENTS_PER_HOUR,
        consumer=deps.new_id(),
    )
    check_limit(remaining, limit=MAX_DOCUMENTS_PER_HOUR, noun="programs' documents", now=now)
