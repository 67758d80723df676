"""Example app itself: a manifest, three tools, and a check of each call's signature.

It imports nothing of Keepsake: copy this file, and you have an app.
"""

import sqlite3

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
        try:
            webhook = Webhook(self.signing_secret)
            webhook.verify(await request.body(), dict(request.headers), json_parse=False)
        except (EmptyWebhookSecretError, WebhookVerificationError):
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


async def _serve_manifest(_: Request) -> JSONResponse:
    return JSONResponse(MANIFEST)
