"""Pushes through the real client of FCM: one notification a tag, and each error by its class."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.cloud.fcm_push import FcmPush
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import PushMessage, PushOutcome
from tests.servers.fcm import FakeFcm, FcmAnswer, build_refusal, fake_fcm, write_certificate

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


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_certificate(tmp_path_factory.mktemp("fcm") / "certificate.pem")


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


async def test_every_device_shows_one_notification_a_tag_t16(fcm: FakeFcm, push: FcmPush) -> None:
    outcome = await push.send(ALICE, ["phone"], MESSAGE)

    assert outcome == PushOutcome(sent_tokens=("phone",))
    assert fcm.messages == [
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


async def test_data_wakes_the_app_and_is_shown_by_no_device(fcm: FakeFcm, push: FcmPush) -> None:
    message = PushMessage(title="", body="", data={"type": "merge_completed"}, tag="t1")

    assert (await push.send(ALICE, ["phone"], message)).sent_tokens == ("phone",)
    assert fcm.messages == [
        {
            "token": "phone",
            "data": {"type": "merge_completed"},
            "android": {"collapse_key": "t1", "priority": "high"},
            "apns": {
                "headers": {
                    "apns-collapse-id": "t1",
                    "apns-priority": "5",
                    "apns-push-type": "background",
                },
                "payload": {"aps": {"content-available": 1}},
            },
            "webpush": {"headers": {"Topic": "t1"}},
        }
    ]


async def test_a_user_without_devices_is_sent_nothing(fcm: FakeFcm, push: FcmPush) -> None:
    assert await push.send(ALICE, [], MESSAGE) == PushOutcome()
    assert fcm.messages == []


INVALID_TOKEN_TEXT = "The registration token is not a valid FCM registration token"


@pytest.mark.parametrize(
    "answer",
    [
        build_refusal(404, "NOT_FOUND", "UNREGISTERED", "Requested entity was not found."),
        build_refusal(404, "NOT_FOUND"),
        build_refusal(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", INVALID_TOKEN_TEXT),
    ],
    ids=["unregistered", "not_found", "no_token"],
)
async def test_an_unregistered_token_is_dead_and_the_other_devices_are_reached_t16(
    fcm: FakeFcm, push: FcmPush, answer: FcmAnswer
) -> None:
    fcm.answers["old"] = [answer]

    outcome = await push.send(ALICE, ["old", "phone"], MESSAGE)

    assert outcome == PushOutcome(sent_tokens=("phone",), dead_tokens=("old",))
    assert {message["token"] for message in fcm.messages} == {"old", "phone"}


@pytest.mark.parametrize(
    "answer",
    [
        build_refusal(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
        build_refusal(504, "DEADLINE_EXCEEDED"),
        build_refusal(503, "UNAVAILABLE"),
        (502, b"<html>Bad gateway</html>"),
    ],
    ids=["quota", "deadline", "unavailable", "gateway"],
)
async def test_a_transient_failure_is_retried_with_the_same_tag_t16(
    fcm: FakeFcm, push: FcmPush, answer: FcmAnswer
) -> None:
    fcm.answers = {"phone": [answer] * 5, "old": [build_refusal(404, "NOT_FOUND", "UNREGISTERED")]}

    first_outcome = await push.send(ALICE, ["phone", "old", "watch"], MESSAGE)
    del fcm.answers["phone"]
    second_outcome = await push.send(ALICE, first_outcome.retryable_tokens, MESSAGE)

    assert first_outcome == PushOutcome(
        sent_tokens=("watch",), dead_tokens=("old",), retryable_tokens=("phone",)
    )
    assert second_outcome == PushOutcome(sent_tokens=("phone",))
    assert {message["android"]["collapse_key"] for message in fcm.messages} == {MESSAGE.tag}


@pytest.mark.parametrize(
    ("status", "failure"), [(500, "INTERNAL"), (503, "UNAVAILABLE")], ids=["internal", "down"]
)
async def test_a_single_server_error_of_fcm_is_retried_t16(
    fcm: FakeFcm, push: FcmPush, status: int, failure: str
) -> None:
    fcm.answers["phone"] = [build_refusal(status, failure)]

    assert await push.send(ALICE, ["phone"], MESSAGE) == PushOutcome(sent_tokens=("phone",))
    assert len(fcm.messages) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            build_refusal(
                400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Android message is too big"
            ),
            "InvalidArgumentError",
        ),
        (
            build_refusal(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", "SenderId mismatch"),
            "SenderIdMismatchError",
        ),
        (build_refusal(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), "ThirdPartyAuthError"),
        (build_refusal(403, "PERMISSION_DENIED"), "PermissionDeniedError"),
        (build_refusal(401, "UNAUTHENTICATED"), "UnauthenticatedError"),
    ],
    ids=["message", "sender", "apple_key", "permission", "credentials"],
)
async def test_a_permanent_error_is_reported_with_its_reason_and_its_token_is_kept_t16(
    fcm: FakeFcm, push: FcmPush, answer: FcmAnswer, reason: str
) -> None:
    fcm.answers["tablet"] = [answer] * 4

    outcome = await push.send(ALICE, ["tablet", "phone"], MESSAGE)

    assert outcome == PushOutcome(sent_tokens=("phone",), refusal_reasons={"tablet": reason})


@pytest.mark.usefixtures("fcm")
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("https_proxy", "http://127.0.0.1:1"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file"),
    ],
    ids=["unreachable", "without credentials"],
)
async def test_fcm_unreachable_or_without_credentials_is_unavailable(
    push: FcmPush, monkeypatch: pytest.MonkeyPatch, name: str, setting: str
) -> None:
    monkeypatch.setenv(name, setting)

    with pytest.raises(Unavailable):
        await push.send(ALICE, ["phone"], MESSAGE)
