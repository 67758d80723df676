"""Example app itself: a manifest, three tools, and a check of each call's signatures.

It imports nothing of Keepsake: copy this file, and you have an app.
"""

import base64
import hashlib
import hmac
import sqlite3
from collections.abc import Mapping

from standardwebhooks import Webhook, WebhookVerificationError
from standardwebhooks.webhooks import EmptyWebhookSecretError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

MANIFEST = {
    "tools": [
        {
            "name": "add_to_list",
            "description": "Add an item to the owner's shopping list",
            "endpoint": "/add",
            "method": "POST",
            "parameters": {
                "properties": {
                    "item": {"type": "string", "description": "What to buy, in a few words"}
                },
                "required": ["item"],
            },
            "auth_required": False,
            "status_message": "Writing it on the list",
        },
        {
            "name": "show_list",
            "description": "Show what is on the owner's shopping list",
            "endpoint": "/list",
            "method": "GET",
            "read_only": True,
            "parameters": {"properties": {}, "required": []},
            "auth_required": False,
            "status_message": "Reading the list",
        },
        {
            "name": "tick_off",
            "description": "Tick an item off the owner's shopping list, once it was bought",
            "endpoint": "/tick-off",
            "method": "POST",
            "parameters": {
                "properties": {"item": {"type": "string", "description": "As the list names it"}},
                "required": ["item"],
            },
            "auth_required": False,
            "status_message": "Ticking it off",
        },
    ]
}


class ShoppingLists:
    """One list for each user; a repeated call has the same id and counts once."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS items (call_id TEXT PRIMARY KEY, uid TEXT, item TEXT)"
        )

    def add(self, call_id: str, uid: str, item: str) -> None:
        row = (call_id, uid, item)
        self._database.execute("INSERT OR IGNORE INTO items VALUES (?, ?, ?)", row)

    def all(self, uid: str) -> list[str]:
        rows = self._database.execute("SELECT item FROM items WHERE uid = ? ORDER BY rowid", [uid])
        return [item for (item,) in rows]

    def remove(self, uid: str, item: str) -> bool:
        where = "DELETE FROM items WHERE uid = ? AND item = ? COLLATE NOCASE"
        return self._database.execute(where, [uid, item]).rowcount > 0


class ShoppingServer:
    """The app's server. `signing_secret` (`whsec_…`) comes from the registration."""

    def __init__(self, lists: ShoppingLists, signing_secret: str = "") -> None:
        self.signing_secret = signing_secret
        tools = [
            Route("/list", self._show),
            Route("/add", self._add, methods=["POST"]),
            Route("/tick-off", self._tick_off, methods=["POST"]),
        ]
        signature_check = Middleware(BaseHTTPMiddleware, dispatch=self._verify_signature)
        self.app = Starlette(
            routes=[
                Route("/.well-known/omi-tools.json", _serve_manifest),
                Mount("/", routes=tools, middleware=[signature_check]),
            ]
        )
        self._lists = lists

    async def _verify_signature(
        self, request: Request, call_next: RequestResponseEndpoint
    ) -> Response:
        """Answer only calls that Keepsake signed: a uid alone proves nothing."""
        is_signed = is_signed_request(
            self.signing_secret,
            request.method,
            _read_target(request),
            request.headers,
            await request.body(),
        )
        if not is_signed:
            return JSONResponse({"error": "The signature does not hold."}, status_code=401)
        return await call_next(request)

    async def _show(self, request: Request) -> JSONResponse:
        items = await run_in_threadpool(self._lists.all, request.query_params["uid"])
        return JSONResponse({"result": ", ".join(items) or "The shopping list is empty."})

    async def _add(self, request: Request) -> JSONResponse:
        body, call_id = await request.json(), request.headers["webhook-id"]
        await run_in_threadpool(self._lists.add, call_id, body["uid"], body["item"])
        return JSONResponse({"result": f"{body['item']} is on the shopping list."})

    async def _tick_off(self, request: Request) -> JSONResponse:
        body = await request.json()
        if not await run_in_threadpool(self._lists.remove, body["uid"], body["item"]):
            return JSONResponse({"error": f"There is no {body['item']!r} on the list."})
        return JSONResponse({"result": f"{body['item']} is ticked off."})


def is_signed_request(
    secret: str, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> bool:
    """Tell whether Keepsake sent this request in the last five minutes.

    `webhook-signature` covers id, time and body; `keepsake-signature` covers method and target too.
    The target is path and query as they stand in the request line.
    """
    try:
        Webhook(secret).verify(body, dict(headers), json_parse=False)
    except (EmptyWebhookSecretError, WebhookVerificationError):
        return False
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    digest = hashlib.sha256(body).hexdigest()
    content = f"{message_id}.{timestamp}.{method}.{target}.{digest}".encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
    signatures = headers.get("keepsake-signature", "").split()
    return any(
        hmac.compare_digest(signature.encode(), expected.encode()) for signature in signatures
    )


def _read_target(request: Request) -> str:
    path, query = request.scope["raw_path"].decode(), request.scope["query_string"].decode()
    return f"{path}?{query}" if query else path


async def _serve_manifest(_: Request) -> JSONResponse:
    return JSONResponse(MANIFEST)
