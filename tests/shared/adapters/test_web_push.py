"""Web Push: a push service gets what its browser alone can decrypt, and its answers become outcomes."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import field

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shared.adapters.embedded.inbox_push import InboxPush
from shared.adapters.guarded_egress import GuardedEgress
from shared.adapters.web_push import WebPush
from shared.adapters.web_push_keys import (
    WebPushKeys,
    derive_private_pem,
    generate_private_pem,
    load_keys,
)
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import PushMessage
from shared.settings import SettingsError
from tests.servers import run_server

pytestmark = pytest.mark.anyio
ALICE = UserId("alice")
MESSAGE = PushMessage(
    title="Dentist says", body="Tomorrow at nine", data={}, tag="0123456789abcdef"
)
AUTH = b"sixteen bytes ok"


@value
class PushService:
    """A push service that answers with the status in the path, and keeps what it got."""

    url: str
    received: list[tuple[dict[str, str], bytes]]
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def subscribe(self, status: int) -> str:
        """Return the token of a browser that subscribed here."""
        keys = {"p256dh": to_base64(to_point(self.key.public_key())), "auth": to_base64(AUTH)}
        return json.dumps({"endpoint": f"{self.url}/{status}", "keys": keys})


@pytest.fixture
def service() -> Iterator[PushService]:
    received: list[tuple[dict[str, str], bytes]] = []

    async def take(request: Request) -> Response:
        received.append((dict(request.headers), await request.body()))
        return Response(status_code=request.path_params["status"])

    with run_server(Starlette(routes=[Route("/{status:int}", take, methods=["POST"])])) as url:
        yield PushService(url=url, received=received)


KEYS = load_keys(generate_private_pem())


def build_push(*origins: str) -> WebPush:
    egress = GuardedEgress(dev_origins=origins)
    return WebPush(
        egress, read_keys=lambda: KEYS, contact="keepsake@example.org", other=InboxPush()
    )


async def test_the_browser_alone_decrypts_what_arrives_u7(service):
    token = service.subscribe(201)

    outcome = await build_push(service.url).send(ALICE, ["fcm", token], MESSAGE)

    assert list(outcome.sent_tokens) == ["fcm", token]
    [(headers, body)] = service.received
    assert json.loads(decrypt(service.key, body)) == {
        "title": "Dentist says",
        "body": "Tomorrow at nine",
        "tag": MESSAGE.tag,
    }
    assert (headers["content-encoding"], headers["topic"]) == ("aes128gcm", MESSAGE.tag)
    assert headers["authorization"].endswith(f"k={KEYS.to_application_server_key()}")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, "dead_tokens"),
        (410, "dead_tokens"),
        (429, "retryable_tokens"),
        (503, "retryable_tokens"),
        (400, "refusal_reasons"),
    ],
)
async def test_an_answer_tells_what_becomes_of_a_subscription_u7(service, status, outcome):
    token = service.subscribe(status)

    sent = await build_push(service.url).send(ALICE, [token], MESSAGE)

    assert list(getattr(sent, outcome)) == [token]
    assert sent.sent_tokens == ()


@pytest.mark.parametrize("token", ["{", "{}", '{"endpoint": "ftp://a.example", "keys": {}}'])
async def test_a_malformed_subscription_is_dead_u7(token):
    assert (await build_push().send(ALICE, [token], MESSAGE)).dead_tokens == (token,)


async def test_a_subscription_with_malformed_keys_is_dead_u7(service):
    keys = {"p256dh": to_base64(b"no point"), "auth": "é"}
    token = json.dumps({"endpoint": f"{service.url}/201", "keys": keys})

    outcome = await build_push(service.url).send(ALICE, [token], MESSAGE)

    assert (outcome.dead_tokens, service.received) == ((token,), [])


async def test_no_subscription_is_dead_where_our_own_key_is_missing_u7(service):
    """Dead ones are removed, and a browser that has subscribed does not do it again."""

    def find_no_key() -> WebPushKeys:
        raise SettingsError("WEB_PUSH_KEY is missing")

    push = WebPush(
        GuardedEgress(dev_origins=[service.url]),
        read_keys=find_no_key,
        contact="keepsake@example.org",
        other=InboxPush(),
    )

    with pytest.raises(SettingsError):
        await push.send(ALICE, [service.subscribe(201)], MESSAGE)


async def test_a_private_address_is_not_asked_u7(service):
    token = service.subscribe(201)

    outcome = await build_push().send(ALICE, [token], MESSAGE)

    assert (outcome.dead_tokens, service.received) == ((token,), [])


@given(secret=st.text(min_size=32, max_size=64))
def test_a_secret_is_the_same_key_in_every_process_u7(secret):
    keys = load_keys(derive_private_pem(secret))

    assert keys == load_keys(derive_private_pem(secret))
    assert keys.public_pem != load_keys(derive_private_pem(f"{secret}.")).public_pem


def decrypt(key: ec.EllipticCurvePrivateKey, body: bytes) -> bytes:
    """Decrypt as RFC 8291 and RFC 8188 say."""
    salt, length = body[:16], body[20]
    sender, ciphertext = body[21 : 21 + length], body[21 + length :]
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
    shared = key.exchange(ec.ECDH(), point)
    info = b"WebPush: info\0" + to_point(key.public_key()) + sender
    secret = derive(shared, AUTH, info, 32)
    content_key = derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    return AESGCM(content_key).decrypt(nonce, ciphertext, None).removesuffix(b"\2")


def derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def to_point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def to_base64(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")
