"""Command of the example, `make example`: serves the app, installs it and asks for it."""

import argparse
import base64
import contextlib
import json
import socket
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import uvicorn

from examples.shopping.shop import MANIFEST, ShoppingLists, ShoppingServer
from infra.local.local_key import build_key_header
from shared.settings import Settings, SettingsError

QUESTIONS = ("Please add oat milk to the shopping list.", "What is on the shopping list?")

CONSENT_REQUEST = "Reply yes, always or no."


def main() -> int:
    options = _build_parser().parse_args()
    url = f"http://127.0.0.1:{options.port}"
    shop = ShoppingServer(ShoppingLists(options.database))
    try:
        with _serve(shop, options.port) as server, _sign_in(options.origin, options.uid) as owner:
            print_status(f"a shopping list serves {len(MANIFEST['tools'])} tools on {url}")
            connect(owner, shop, url)
            print_status(f"{options.uid} installed it at {options.origin}")
            for question in QUESTIONS:
                converse(owner, options.uid, question)
            print_status("now ask in the console, or change shop.py; stop with Ctrl-C")
            server.join()
    except httpx.TransportError:
        print_status(
            f"nothing answers at {options.origin}: start it with make run, in another terminal; PORT is its port, "
            "EXAMPLE_PORT that of this app"
        )
        return 1
    except httpx.HTTPStatusError as status_error:
        print_status(f"{options.origin} refused: {status_error.response.json()['detail']}")
        return 1
    except SettingsError as settings_error:
        print_status(str(settings_error))
        return 1
    except OSError as socket_error:
        print_status(
            f"cannot listen on {url} ({socket_error.strerror}): stop what uses it, or EXAMPLE_PORT=9001 "
            "make example"
        )
        return 1
    except KeyboardInterrupt:
        print_status("stopped")
    return 0


def connect(owner: httpx.Client, shop: ShoppingServer, url: str) -> None:
    """Register the app or save it again, install it, and set its signing secret.

    Whoever runs this allows that it is called on their own machine.
    """
    known, body = _find_app(owner, url), _describe_app(url)
    saved = (
        owner.patch(f"/v1/apps/{known}", json=body) if known else owner.post("/v1/apps", json=body)
    )
    app = saved.raise_for_status().json()
    owner.post("/v1/apps/enable", params={"app_id": app["id"]}).raise_for_status()
    shop.signing_secret = app["signing_secret"]


def _find_app(owner: httpx.Client, url: str) -> str | None:
    for app in owner.get("/v1/apps").raise_for_status().json():
        if app["external_integration"]["app_home_url"] == url and "signing_secret" in app:
            return str(app["id"])
    return None


def _describe_app(url: str) -> dict[str, Any]:
    manifest = f"{url}/.well-known/omi-tools.json"
    return {
        "name": "Shopping list",
        "description": "Keeps what to buy",
        "private": True,
        "capabilities": ["external_integration"],
        "external_integration": {"app_home_url": url, "chat_tools_manifest_url": manifest},
        "allow_local": True,
    }


def converse(owner: httpx.Client, uid: str, question: str) -> None:
    """Ask in the chat; where Keepsake wants consent to a call, reply yes as the user would."""
    answer = ask(owner, question)
    print_answer(f"{uid} asks: {question}", answer)
    if answer.endswith(CONSENT_REQUEST):
        print_answer(f"{uid} replies: yes", ask(owner, "yes"))


def ask(owner: httpx.Client, question: str) -> str:
    """Ask in the chat and return the stored message from the last frame, `done`."""
    frames = owner.post("/v2/messages", json={"text": question}).raise_for_status().text
    done = frames.rpartition("done: ")[2]
    return str(json.loads(base64.b64decode(done))["text"])


@contextlib.contextmanager
def _sign_in(origin: str, uid: str) -> Iterator[httpx.Client]:
    """Sign in with the local key of this account."""
    with httpx.Client(base_url=origin, timeout=60, trust_env=False) as client:
        headers = build_key_header(Settings.from_env())
        response = client.post("/local/token", json={"uid": uid}, headers=headers)
        response.raise_for_status()
        client.headers["Authorization"] = f"Bearer {response.json()['token']}"
        yield client


@contextlib.contextmanager
def _serve(shop: ShoppingServer, port: int) -> Iterator[threading.Thread]:
    """Serve in a thread; calls that come before it is up wait at the open port."""
    server = uvicorn.Server(uvicorn.Config(shop.app, log_level="warning"))
    listeners = [socket.create_server(("127.0.0.1", port))]
    thread = threading.Thread(target=server.run, args=[listeners], daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        server.should_exit = True
        thread.join()


def print_status(text: str) -> None:
    print(f"example: {text}", flush=True)


def print_answer(status: str, answer: str) -> None:
    print_status(f"{status}\n{textwrap.indent(answer, ' ' * 9)}")


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make example", description=__doc__)
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", default="alice")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--database", default=":memory:", help="a file that keeps the lists")
    return parser


if __name__ == "__main__":
    sys.exit(main())
