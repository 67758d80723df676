"""Eventarc of the emulators: passes what they post to our functions as the cloud does."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shared.adapters.embedded.sqlite_queue import MAX_ATTEMPTS
from shared.adapters.trust_store import load_trust_store
from shared.domain.apps.service_calls import Via
from shared.edge.declare.cloudevents import PUBLISHED_TYPE, WRITTEN_TYPE

DATABASE = "(default)"
TIMEOUT_S = 600.0


class DeliveryTokens(Protocol):
    """Makes the token of a delivery, as the platform that carries it does."""

    async def get_delivery_token(self, via: Via, function: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Eventarc:
    """Forwards events to the functions at `url(name)` and returns their status."""

    service_identity: DeliveryTokens
    url: Callable[[str], str]

    def build_application(self) -> Starlette:
        """Serve the paths that the emulators are told to post to."""
        return Starlette(
            routes=[
                Route(
                    "/functions/projects/{_}/triggers/{target}",
                    self._forward_write,
                    methods=["POST"],
                ),
                Route("/push/{topic}/{target}", self._forward_push, methods=["POST"]),
            ]
        )

    async def _forward_write(self, request: Request) -> Response:
        """Undo the base64 that only the emulator adds."""
        body = base64.b64decode(await request.body())
        target = request.path_params["target"]
        return await self._forward("trigger", target, dict(request.headers), body)

    async def _forward_push(self, request: Request) -> Response:
        body = await request.body()
        push = json.loads(body)
        project = push["subscription"].split("/")[1]
        headers = {
            "ce-specversion": "1.0",
            "ce-id": push["message"]["messageId"],
            "ce-type": PUBLISHED_TYPE,
            "ce-source": f"//pubsub.googleapis.com/projects/{project}/topics/{request.path_params['topic']}",
            "content-type": "application/json",
        }
        return await self._forward("event", request.path_params["target"], headers, body)

    async def _forward(
        self, via: Via, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        forwarded_headers = {
            k: v for k, v in headers.items() if k.startswith("ce-") or k == "content-type"
        }
        token = await self.service_identity.get_delivery_token(via, target)
        forwarded_headers["authorization"] = f"Bearer {token}"
        try:
            async with _open_http(TIMEOUT_S) as client:
                answer = await client.post(
                    self.url(target), headers=forwarded_headers, content=body
                )
        except httpx.HTTPError:
            return Response(status_code=503)
        return Response(status_code=answer.status_code)


async def add_trigger(emulator: str, *, project: str, pattern: str, target: str) -> None:
    """Make the Firestore emulator call `target` for every write to documents like `pattern`."""
    trigger = {
        "eventType": WRITTEN_TYPE,
        "database": DATABASE,
        "namespace": DATABASE,
        "document": {"value": pattern, "matchType": "PATH_PATTERN"},
    }
    url = f"http://{emulator}/emulator/v1/projects/{project}/eventarcTrigger"
    await _send("POST", f"{url}?eventarcTriggerId={target}", trigger)


async def add_topic(
    emulator: str,
    *,
    project: str,
    topic: str,
    targets: Sequence[str],
    relay: str,
    dead_letters: str | None = None,
) -> None:
    """Create a topic on the Pub/Sub emulator that pushes to each target through this relay.

    A message that fails MAX_ATTEMPTS times goes to the existing topic `dead_letters`.
    """
    root = f"http://{emulator}/v1/projects/{project}"
    await _send("PUT", f"{root}/topics/{topic}", {})
    for target in targets:
        subscription: dict[str, object] = {
            "topic": f"projects/{project}/topics/{topic}",
            "pushConfig": {"pushEndpoint": f"{relay}/push/{topic}/{target}"},
        }
        if dead_letters:
            subscription["deadLetterPolicy"] = {
                "deadLetterTopic": f"projects/{project}/topics/{dead_letters}",
                "maxDeliveryAttempts": MAX_ATTEMPTS,
            }
        await _send("PUT", f"{root}/subscriptions/{topic}.{target}", subscription)


async def _send(method: str, url: str, body: Mapping[str, object]) -> None:
    async with _open_http(10.0) as client:
        (await client.request(method, url, json=body)).raise_for_status()


def _open_http(timeout_s: float) -> httpx.AsyncClient:
    return httpx.AsyncClient(verify=load_trust_store(), trust_env=False, timeout=timeout_s)
