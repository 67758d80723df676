"""Identity contract: a token identifies its user, embedded and with the Auth emulator."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx
import jwt
import pytest

from shared.adapters.cloud.firebase_identity import FirebaseIdentity
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.domain.errors import Invalid, NotAuthenticated
from shared.domain.ids import UserId
from shared.ports import Identity

PROJECT = "demo-keepsake"
CUSTOM_TOKEN_AUDIENCE = (
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
)
Issue = Callable[[str], Awaitable[str]]


@dataclass
class IdentityFixture:
    """The port, and issuers of tokens for it and for another system."""

    identity: Identity
    issue: Issue
    issue_for_other_system: Issue


@pytest.fixture(params=["local", pytest.param("firebase", marks=pytest.mark.emulators)])
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> IdentityFixture:
    if request.param == "local":
        return IdentityFixture(
            LocalIdentity(b"a" * 32), _build_local_issuer(b"a" * 32), _build_local_issuer(b"b" * 32)
        )
    emulator = request.getfixturevalue("auth_emulator")
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", emulator)
    return IdentityFixture(
        FirebaseIdentity(project=PROJECT),
        _build_firebase_issuer(emulator, PROJECT),
        _build_firebase_issuer(emulator, "demo-other"),
    )


async def test_a_token_identifies_its_user(world: IdentityFixture) -> None:
    token = await world.issue("alice")

    assert (await world.identity.verify(token)).uid == "alice"


async def test_a_token_of_another_system_is_refused(world: IdentityFixture) -> None:
    token = await world.issue_for_other_system("alice")

    with pytest.raises(NotAuthenticated, match=r"^Invalid authorization token$"):
        await world.identity.verify(token)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é", "\x00", "e30.e30.", "x" * 10_000])
async def test_a_malformed_token_is_refused(world: IdentityFixture, token: str) -> None:
    with pytest.raises(NotAuthenticated, match=r"^Invalid authorization token$"):
        await world.identity.verify(token)


async def test_a_changed_local_token_is_refused() -> None:
    token = LocalIdentity(b"a" * 32).issue("alice")

    with pytest.raises(NotAuthenticated):
        await LocalIdentity(b"a" * 32).verify(token.replace(token[3], "x", 1))


@pytest.mark.parametrize("uid", ["", "a/b", "..", "a b", "a" * 65, "é", "a\n"])
def test_no_local_token_is_issued_for_an_id_that_is_unsafe_in_a_path(uid: str) -> None:
    with pytest.raises(Invalid):
        LocalIdentity(b"a" * 32).issue(uid)


@pytest.mark.emulators
async def test_a_firebase_user_whose_id_is_unsafe_in_a_path_is_refused(
    auth_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", auth_emulator)
    token = await _build_firebase_issuer(auth_emulator, PROJECT)("alice/conversations")

    with pytest.raises(NotAuthenticated):
        await FirebaseIdentity(project=PROJECT).verify(token)


def _build_local_issuer(secret: bytes) -> Issue:
    async def issue(uid: str) -> str:
        return LocalIdentity(secret).issue(UserId(uid))

    return issue


def _build_firebase_issuer(emulator: str, project: str) -> Issue:
    """Sign users in by custom tokens, which the emulator accepts unsigned."""

    async def issue(uid: str) -> str:
        custom_token = jwt.encode(
            {"uid": uid, "aud": CUSTOM_TOKEN_AUDIENCE}, key="", algorithm="none"
        )
        url = f"http://{emulator}/identitytoolkit.googleapis.com/v1"
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            answer = await client.post(
                f"{url}/accounts:signInWithCustomToken?key=any",
                headers={"authorization": "Bearer owner"},
                json={"token": custom_token, "returnSecureToken": True, "targetProjectId": project},
            )
        assert answer.is_success, answer.text
        return str(answer.json()["idToken"])

    return issue
