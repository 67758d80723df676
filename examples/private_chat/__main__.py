"""Command of the example: a phone chats privately with a running server, and a tablet reads along.

Start the server with `make run`, then run `python -m examples.private_chat`.
"""

import argparse
import sys

import httpx

from examples.private_chat.device import Device
from infra.local.local_key import build_key_header
from shared.settings import Settings, SettingsError


def main() -> int:
    options = _build_parser().parse_args()
    try:
        with httpx.Client(base_url=options.origin, timeout=60, trust_env=False) as http:
            token = _sign_in(http, options.uid)
            http.headers["Authorization"] = f"Bearer {token}"
            play(http, options.uid)
    except httpx.TransportError:
        print_status(f"nothing answers at {options.origin}: start it with make run")
        return 1
    except httpx.HTTPStatusError as error:
        print_status(f"{options.origin} refused: {error.response.text}")
        return 1
    except SettingsError as error:
        print_status(str(error))
        return 1
    return 0


def play(http: httpx.Client, uid: str) -> tuple[Device, Device]:
    """Chat on a phone, lose the cache, go on, and read all of it on a tablet."""
    phone = Device(http, uid)
    chat = phone.begin("A present for Ann")
    for text in ("When did I last see Ann?", "What does she like?"):
        print_status(f"phone asks: {text}")
        print_status(f"answer: {phone.ask(chat, text).text}")
    phone.forget_at_the_server()
    print_status("the server forgot the chat")
    answer = phone.ask(chat, "And what else?")
    print_status(f"asked again ({answer.reason}: the phone sent the messages): {answer.text}")
    tablet = Device(http, uid, keys=phone.keys)
    tablet.sync()
    read = tablet.chats[chat.id]
    print_status(f"the tablet reads {len(read.messages)} messages of {read.title!r}")
    return phone, tablet


def _sign_in(http: httpx.Client, uid: str) -> str:
    """Sign in with the local key of this account."""
    headers = build_key_header(Settings.from_env())
    response = http.post("/local/token", json={"uid": uid}, headers=headers).raise_for_status()
    return str(response.json()["token"])


def print_status(text: str) -> None:
    print(f"private chat: {text}", flush=True)


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.private_chat", description=__doc__)
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", default="alice")
    return parser


if __name__ == "__main__":
    sys.exit(main())
