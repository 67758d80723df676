"""Firebase users on the Auth emulator: revoked, deleted and anonymous ones (S6)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import jwt
import pytest

from shared.adapters.cloud.firebase_identity import FirebaseIdentity, FirebaseResidualData
from shared.domain.account.account import TokenCheck
from shared.domain.errors import NotAuthenticated, Unavailable
from shared.domain.ids import UserId

pytestmark = pytest.mark.emulators
PROJECT = "demo-keepsake"
SESSION_CHECKS: tuple[TokenCheck, ...] = ("revocation", "erasure_request")
OTHER_CHECKS: tuple[TokenCheck, ...] = ("standard", "erasure_status")


@dataclass
class FirebaseFixture:
    """The emulator, and what verifies its tokens."""

    http: httpx.AsyncClient
    identity: FirebaseIdentity
    residual_data: FirebaseResidualData

    async def sign_up(self, **credentials: str) -> dict[str, Any]:
        """Sign a new user up; without credentials an anonymous one."""
        return await self.post("accounts:signUp", {"returnSecureToken": True, **credentials})

    async def change(self, uid: str, **changes: Any) -> None:
        """Change a user as an administrator does."""
        body, administrator = {"localId": uid, **changes}, {"authorization": "Bearer owner"}
        await self.post(f"projects/{PROJECT}/accounts:update", body, administrator)

    async def post(
        self, method: str, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        url = f"/identitytoolkit.googleapis.com/v1/{method}"
        answer = await self.http.post(url, params={"key": "any"}, json=body, headers=headers)
        assert answer.is_success, answer.text
        content: dict[str, Any] = answer.json()
        return content


@pytest.fixture
async def firebase(
    auth_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FirebaseFixture]:
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", auth_emulator)
    async with httpx.AsyncClient(
        base_url=f"http://{auth_emulator}", trust_env=False, timeout=30
    ) as http:
        identity = FirebaseIdentity(project=PROJECT)
        yield FirebaseFixture(http, identity, FirebaseResidualData(project=PROJECT))


@pytest.fixture
async def user(firebase: FirebaseFixture, request: pytest.FixtureRequest) -> dict[str, Any]:
    name = abs(hash(request.node.nodeid))
    return await firebase.sign_up(email=f"u{name}@example.com", password="a-long-password")


async def test_a_session_that_goes_on_passes_every_check_s6(
    firebase: FirebaseFixture, user: dict[str, Any]
) -> None:
    token, claims = (
        user["idToken"],
        jwt.decode(user["idToken"], options={"verify_signature": False}),
    )

    for check in (*SESSION_CHECKS, *OTHER_CHECKS):
        verified_token = await firebase.identity.verify(token, check=check)
        assert verified_token.uid == user["localId"]
        assert verified_token.issued_at.timestamp() == claims["auth_time"]


async def test_a_revoked_session_is_refused_where_it_is_asked_for_s6(
    firebase: FirebaseFixture, user: dict[str, Any]
) -> None:
    issued_at = jwt.decode(user["idToken"], options={"verify_signature": False})["iat"]
    await firebase.change(user["localId"], validSince=str(issued_at + 1))

    for check in SESSION_CHECKS:
        with pytest.raises(NotAuthenticated):
            await firebase.identity.verify(user["idToken"], check=check)
    for check in OTHER_CHECKS:
        await firebase.identity.verify(user["idToken"], check=check)


async def test_a_disabled_user_is_refused_where_the_session_is_asked_for_s6(
    firebase: FirebaseFixture, user: dict[str, Any]
) -> None:
    await firebase.change(user["localId"], disableUser=True)

    with pytest.raises(NotAuthenticated):
        await firebase.identity.verify(user["idToken"], check="revocation")


async def test_an_anonymous_user_is_refused_s6(firebase: FirebaseFixture) -> None:
    anonymous = await firebase.sign_up()

    for check in (*SESSION_CHECKS, *OTHER_CHECKS):
        with pytest.raises(NotAuthenticated, match="Anonymous sign-in is not accepted"):
            await firebase.identity.verify(anonymous["idToken"], check=check)


async def test_an_erasure_deletes_the_user_and_ends_the_sessions_s6(
    firebase: FirebaseFixture, user: dict[str, Any]
) -> None:
    for _ in range(2):  # every event is delivered twice
        await firebase.residual_data.erase(UserId(user["localId"]))

    with pytest.raises(NotAuthenticated):
        await firebase.identity.verify(user["idToken"], check="revocation")
    refreshed = await firebase.http.post(
        "/securetoken.googleapis.com/v1/token",
        params={"key": "any"},
        data={"grant_type": "refresh_token", "refresh_token": user["refreshToken"]},
    )
    assert refreshed.status_code == 400


async def test_an_unreachable_firebase_is_a_passing_failure_s6(
    user: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", "127.0.0.1:9")

    with pytest.raises(Unavailable):
        await FirebaseIdentity(project=PROJECT).verify(user["idToken"], check="revocation")
    with pytest.raises(Unavailable):
        await FirebaseResidualData(project=PROJECT).erase(UserId(user["localId"]))
