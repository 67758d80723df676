"""Pushes through the real client of FCM: one notification a tag, and each error by its class."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared.adapters.fcm_push import FcmPush
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import PushMessage, PushOutcome
from tests.servers.fcm import Answer, FakeFcm, fake_fcm, refusal

ALICE = UserId("alice")
MESSAGE = PushMessage(
    title="Weather says",
    body="Rain",
    data={"id": "n1", "text": "Rain"},
    tag="0123456789abcdef",
)
USER_CREDENTIALS = {
    "type": "authorized_user",
    "client_id": "test",
    "client_secret": "test",
    "refresh_token": "test",
}
HOSTS = ("fcm.googleapis.com", "oauth2.googleapis.com")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOSTS[0])])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS])
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now, now + timedelta(1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path_factory.mktemp("fcm") / "certificate.pem"
    path.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + private)
    return path


@pytest.fixture
def fcm(certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeFcm]:
    credentials = tmp_path / "credentials.json"
    credentials.write_text(json.dumps(USER_CREDENTIALS))
    with fake_fcm(certificate) as server:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(credentials))
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        monkeypatch.setenv("https_proxy", server.proxy)
        monkeypatch.setenv("no_proxy", "")
        yield server


@pytest.fixture
def push() -> FcmPush:
    return FcmPush(project="demo")


async def test_t16_every_device_shows_one_notification_a_tag(fcm: FakeFcm, push: FcmPush) -> None:
    outcome = await push.send(ALICE, ["phone"], MESSAGE)

    assert outcome == PushOutcome(sent=("phone",))
    assert fcm.sent == [
        {
            "token": "phone",
            "notification": {"title": "Weather says", "body": "Rain"},
            "data": {"id": "n1", "text": "Rain"},
            "android": {
                "collapse_key": "0123456789abcdef",
                "notification": {"tag": "0123456789abcdef"},
            },
            "apns": {"headers": {"apns-collapse-id": "0123456789abcdef"}},
            "webpush": {"headers": {"Topic": "0123456789abcdef"}},
        }
    ]


async def test_a_user_without_devices_is_sent_nothing(fcm: FakeFcm, push: FcmPush) -> None:
    assert await push.send(ALICE, [], MESSAGE) == PushOutcome()
    assert fcm.sent == []


INVALID_TOKEN = "The registration token is not a valid FCM registration token"


@pytest.mark.parametrize(
    "answer",
    [
        refusal(404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found."),
        refusal(404, "NOT_FOUND"),
        refusal(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", INVALID_TOKEN),
    ],
    ids=["unregistered", "not_found", "no_token"],
)
async def test_t16_the_token_of_a_device_that_is_gone_is_dead_and_the_others_are_reached(
    fcm: FakeFcm, push: FcmPush, answer: Answer
) -> None:
    fcm.answers["old"] = [answer]

    outcome = await push.send(ALICE, ["old", "phone"], MESSAGE)

    assert outcome == PushOutcome(sent=("phone",), dead=("old",))
    assert {message["token"] for message in fcm.sent} == {"old", "phone"}


@pytest.mark.parametrize(
    "answer",
    [
        refusal(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
        refusal(504, "DEADLINE_EXCEEDED"),
        refusal(503, "UNAVAILABLE"),
        (502, b"<html>Bad gateway</html>"),
    ],
    ids=["quota", "deadline", "unavailable", "gateway"],
)
async def test_t16_what_time_can_help_is_sent_again_with_the_same_tag(
    fcm: FakeFcm, push: FcmPush, answer: Answer
) -> None:
    fcm.answers = {"phone": [answer] * 5, "old": [refusal(404, "NOT_FOUND", "UNREGISTERED")]}

    failed = await push.send(ALICE, ["phone", "old", "watch"], MESSAGE)
    del fcm.answers["phone"]
    again = await push.send(ALICE, failed.later, MESSAGE)

    assert failed == PushOutcome(sent=("watch",), dead=("old",), later=("phone",))
    assert again == PushOutcome(sent=("phone",))
    assert {message["android"]["collapse_key"] for message in fcm.sent} == {MESSAGE.tag}


@pytest.mark.parametrize(
    ("status", "failure"), [(500, "INTERNAL"), (503, "UNAVAILABLE")], ids=["internal", "down"]
)
async def test_t16_a_moment_s_failure_of_fcm_is_not_noticed(
    fcm: FakeFcm, push: FcmPush, status: int, failure: str
) -> None:
    fcm.answers["phone"] = [refusal(status, failure)]

    assert await push.send(ALICE, ["phone"], MESSAGE) == PushOutcome(sent=("phone",))
    assert len(fcm.sent) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            refusal(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Android message is too big"),
            "InvalidArgumentError",
        ),
        (
            refusal(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch"),
            "SenderIdMismatchError",
        ),
        (refusal(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), "ThirdPartyAuthError"),
        (refusal(403, "PERMISSION_DENIED"), "PermissionDeniedError"),
        (refusal(401, "UNAUTHENTICATED"), "UnauthenticatedError"),
    ],
    ids=["message", "sender", "apple_key", "permission", "credentials"],
)
async def test_t16_what_no_attempt_can_mend_is_refused_with_its_reason_and_its_device_kept(
    fcm: FakeFcm, push: FcmPush, answer: Answer, reason: str
) -> None:
    fcm.answers["tablet"] = [answer] * 4

    outcome = await push.send(ALICE, ["tablet", "phone"], MESSAGE)

    assert outcome == PushOutcome(sent=("phone",), refused={"tablet": reason})


@pytest.mark.usefixtures("fcm")
async def test_fcm_that_cannot_be_reached_is_unavailable(
    push: FcmPush, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")

    with pytest.raises(Unavailable):
        await push.send(ALICE, ["phone"], MESSAGE)


@pytest.mark.usefixtures("fcm")
async def test_without_credentials_fcm_is_unavailable(
    push: FcmPush, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file")

    with pytest.raises(Unavailable):
        await push.send(ALICE, ["phone"], MESSAGE)
