"""Token and authorization stores: bindings, versions, and documents of earlier releases."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.embedded.local_keys import LocalKeys
from shared.data.apps.authorization_store import (
    build_account_authorization_store,
    build_mcp_authorization_store,
)
from shared.data.apps.token_store import AccountTokenStore, build_mcp_token_store
from shared.domain.apps.connection import Authorization, Connection, OauthClient, Tokens
from shared.domain.apps.mcp_authorization import McpAccess, McpAuthorization, McpTokens
from shared.domain.errors import CannotUnwrap, PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Set
from shared.ports import Documents

ANN, BOB = UserId("ann"), UserId("bob")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KEYS = LocalKeys(b"k" * 32)
SERVER = "https://notes.example.com/mcp"
TOKENS = Tokens(access_token="access-1", refresh_token="refresh-1", expires_at=NOON)
NEW_TOKENS = Tokens(access_token="access-2")
CONNECTION = Connection(id="gmail", account="ann@example.com", scopes=("read",), connected_at=NOON)
ACCESS = McpAccess(
    issuer="https://auth.example.com",
    token_endpoint="https://auth.example.com/token",
    resource=SERVER,
    client=OauthClient(id="keepsake", secret="s3cret"),
    client_in="header",
)
MCP_TOKENS = McpTokens(access=ACCESS, tokens=TOKENS)


async def test_tokens_are_stored_beside_the_public_fields_of_their_connection(
    any_documents: Documents,
):
    await AccountTokenStore(any_documents, KEYS).connect(ANN, CONNECTION, TOKENS)

    tokens = await any_documents.get("users/ann/integrations/gmail")
    connection = await any_documents.get("users/ann/connections/gmail")
    assert tokens is not None
    assert connection is not None
    wrapped = {"tokens": tokens.fields["tokens"], "expires_at": NOON}
    assert tokens.fields == {**connection.fields, **wrapped}
    secret = json.loads(await KEYS.unwrap(tokens.fields["tokens"], bound_to="ann|gmail"))
    assert (secret["access_token"], secret["refresh_token"]) == ("access-1", "refresh-1")


@pytest.mark.parametrize(
    "change",
    [
        lambda store, old: store.replace(ANN, "gmail", old, TOKENS),
        lambda store, old: store.expire(ANN, "gmail", old),
        lambda store, old: store.remove(ANN, "gmail", old),
    ],
    ids=["replace", "expire", "remove"],
)
async def test_tokens_that_were_replaced_meanwhile_are_not_changed(
    any_documents: Documents, change: Callable[..., Awaitable[None]]
):
    store = AccountTokenStore(any_documents, KEYS)
    await store.connect(ANN, CONNECTION, TOKENS)
    old = await store.get(ANN, "gmail")
    await store.connect(ANN, CONNECTION, NEW_TOKENS)

    with pytest.raises(PreconditionFailed):
        await change(store, old)

    current = await store.get(ANN, "gmail")
    assert current is not None
    assert (current.tokens, current.health) == (NEW_TOKENS, "connected")


async def test_tokens_of_mcp_servers_written_by_earlier_releases_are_read(
    any_documents: Documents,
):
    """They named an empty version inside the wrapped value."""
    secret = {
        "access": {
            "issuer": ACCESS.issuer,
            "token_endpoint": ACCESS.token_endpoint,
            "resource": SERVER,
            "client": {"id": "keepsake", "secret": "s3cret", "base_url": None},
            "client_in": "header",
        },
        "tokens": {
            "access_token": "access-1",
            "refresh_token": "refresh-1",
            "expires_at": NOON.isoformat(),
        },
        "version": "",
    }
    sealed = await KEYS.wrap(json.dumps(secret).encode(), bound_to=f"ann|NOTES|{SERVER}")
    await any_documents.write(Set("users/ann/mcp_grants/NOTES", {"sealed": sealed}))

    stored_tokens = await build_mcp_token_store(any_documents, KEYS).get(
        ANN, "NOTES", audience=SERVER
    )

    assert stored_tokens is not None
    assert stored_tokens.tokens == MCP_TOKENS


async def test_tokens_copied_to_another_user_or_app_cannot_be_unwrapped(any_documents: Documents):
    store = build_mcp_token_store(any_documents, KEYS)
    await store.put(ANN, "NOTES", MCP_TOKENS, audience=SERVER)
    document = await any_documents.get("users/ann/mcp_grants/NOTES")
    assert document is not None
    for path in ("users/bob/mcp_grants/NOTES", "users/ann/mcp_grants/OTHER"):
        await any_documents.write(Set(path, document.fields))

    for uid, app_id, audience in (
        (BOB, "NOTES", SERVER),
        (ANN, "OTHER", SERVER),
        (ANN, "NOTES", f"{SERVER}/elsewhere"),
    ):
        with pytest.raises(CannotUnwrap):
            await store.get(uid, app_id, audience=audience)


@pytest.mark.parametrize(("late_s", "is_returned"), [(-1, True), (0, False)])
async def test_an_authorization_is_consumed_once_and_before_it_expires(
    any_documents: Documents, late_s: int, *, is_returned: bool
):
    expires_at = NOON + timedelta(minutes=10)
    now = expires_at + timedelta(seconds=late_s)
    authorization = Authorization(id="a", service="gmail", verifier="v", expires_at=expires_at)
    store = build_account_authorization_store(any_documents)
    await store.add(ANN, "a", authorization)

    first = await store.consume(ANN, "a", now=now)

    assert first == (authorization if is_returned else None)
    assert await store.consume(ANN, "a", now=now) is None


async def test_an_mcp_authorization_is_wrapped_for_its_document(any_documents: Documents):
    authorization = McpAuthorization(
        app_id=AppId("NOTES"), access=ACCESS, verifier="v", names_issuer=False, expires_at=NOON
    )
    store = build_mcp_authorization_store(any_documents, KEYS)
    await store.add(ANN, "a", authorization)
    document = await any_documents.get("users/ann/mcp_authorizations/a")
    assert document is not None
    await any_documents.write(Set("users/bob/mcp_authorizations/a", document.fields))

    with pytest.raises(CannotUnwrap):
        await store.consume(BOB, "a", now=NOON - timedelta(minutes=1))

    assert set(document.fields) == {"sealed", "expires_at"}
    assert await store.consume(ANN, "a", now=NOON - timedelta(minutes=1)) == authorization
