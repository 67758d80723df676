"""Setup check of an app: whether its user finished what the app needs before it is installed."""

import json

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.outbound_quota import count_request
from shared.domain.apps.app import App
from shared.domain.errors import NotAllowed, SetupIncomplete, TooLarge, Unavailable
from shared.domain.ids import UserId
from shared.outbound.addresses import with_query
from shared.outbound.webhook_signature import build_message_id, sign
from shared.ports import EgressRequest, EgressResponse

TIMEOUT_S = 10
MAX_BYTES = 16_384


async def require_setup(deps: ToolProxyDeps, uid: UserId, app: App) -> None:
    """Ask the app's `setup_completed_url`, if it has one, in a signed call.

    Raises QuotaExceeded and SetupIncomplete. Such an app knows its user by the account's id: see
    `App.connects_accounts`.
    """
    url = app.external_integration.setup_completed_url
    if not url:
        return
    await count_request(deps, uid)
    try:
        response = await deps.egress.send(await _build_request(deps, uid, app, url))
    except (NotAllowed, TooLarge, Unavailable) as failure:
        raise SetupIncomplete("App setup is not completed") from failure
    if not _is_completed(response):
        raise SetupIncomplete("App setup is not completed")


async def _build_request(deps: ToolProxyDeps, uid: UserId, app: App, url: str) -> EgressRequest:
    now, full_url = deps.clock.now(), with_query(url, {"uid": uid})
    secrets = await deps.signing_secrets.load(app, now)
    message_id = build_message_id(uid, app.id, "setup", deps.new_id())
    return EgressRequest(
        method="GET",
        url=full_url,
        headers=sign(secrets, message_id, now, method="GET", url=full_url, body=b""),
        timeout_s=TIMEOUT_S,
        max_bytes=MAX_BYTES,
        local_origins=app.local_origins,
    )


def _is_completed(response: EgressResponse) -> bool:
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError):
        return False
    is_object = response.status == 200 and isinstance(answer, dict)
    return is_object and answer.get("is_setup_completed") is True
