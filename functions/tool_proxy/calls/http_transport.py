"""HTTP transport: a tool call as one signed request to the app's endpoint."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from functions.tool_proxy.calls.failures import TIMEOUT_S, translate_egress_errors
from functions.tool_proxy.calls.result_mapping import to_tool_data
from functions.tool_proxy.ports import OutgoingCall
from shared.data.apps.signing_secrets import SigningSecrets
from shared.domain.apps.tool_data import ToolData, to_compact_json
from shared.domain.errors import ToolRefused
from shared.domain.value import value
from shared.outbound.addresses import with_query
from shared.outbound.webhook_signature import build_message_id, sign
from shared.ports import Clock, Egress, EgressRequest
from shared.security.egress_rules import MAX_URL_CHARS


@value
class HttpTransport:
    """Calls the endpoints that an app's manifest declares."""

    egress: Egress
    clock: Clock
    signing_secrets: SigningSecrets

    def prepare(
        self, call: OutgoingCall, arguments: Mapping[str, Any]
    ) -> Callable[[], Awaitable[ToolData]]:
        url, body = _encode(call, arguments)
        return partial(self._send, call, url, body)

    async def _send(self, call: OutgoingCall, url: str, body: bytes) -> ToolData:
        request = await self._build_request(call, url, body)
        with translate_egress_errors(call.tool.name):
            response = await self.egress.send(request)
        return to_tool_data(call, response)

    async def _build_request(self, call: OutgoingCall, url: str, body: bytes) -> EgressRequest:
        """Sign a call. Its id is the same for every call with the same `call_id`, to drop repeats."""
        app, tool, now = call.app, call.tool, self.clock.now()
        secrets = await self.signing_secrets.load(app, now)
        message_id = build_message_id(call.uid, app.id, tool.name, call.call_id)
        signature = sign(secrets, message_id, now, method=tool.method, url=url, body=body)
        return EgressRequest(
            method=tool.method,
            url=url,
            headers={"Content-Type": "application/json", **signature},
            body=body or None,
            timeout_s=TIMEOUT_S,
            accepts=("application/json", "application/xml", "text/*"),
            local_origins=app.local_origins,
        )


def _encode(call: OutgoingCall, arguments: Mapping[str, Any]) -> tuple[str, bytes]:
    """Put the arguments into the body, or into the query of a method without one.

    The user's place goes into bodies alone, because addresses are logged. Raises ToolRefused for a query that is too long.
    """
    tool = call.tool
    fields = {**arguments, "uid": call.app_uid, "app_id": call.app.id, "tool_name": tool.name}
    if tool.method not in ("GET", "DELETE"):
        return tool.endpoint, to_compact_json({**_build_place(call), **fields}).encode()
    params = {name: _to_query_value(field) for name, field in fields.items() if field is not None}
    url = with_query(tool.endpoint, params)
    if len(url) > MAX_URL_CHARS:
        raise ToolRefused(f"The arguments of {tool.name!r} are too long for an address.")
    return url, b""


def _build_place(call: OutgoingCall) -> dict[str, Any]:
    if call.place is None:
        return {}
    names = ("latitude", "longitude", "address", "google_place_id", "location_type")
    return {"geolocation": {name: getattr(call.place, name) for name in names}}


def _to_query_value(field: Any) -> Any:
    """Encode as queries usually do: true, 3, a repeated name for a list, JSON for an object."""
    if isinstance(field, list):
        return [_to_query_value(item) for item in field]
    return field if isinstance(field, str) else to_compact_json(field)
