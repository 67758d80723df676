"""X: the owner's posts, and a search of recent ones (P7)."""

from typing import Annotated
from urllib.parse import quote, urlencode

from pydantic import Field

from shared.arguments import Arguments
from shared.domain.connection import OauthClient, Tokens
from shared.integrations.service import (
    Account,
    Answer,
    Consent,
    Integration,
    Provider,
    Query,
    Request,
    ServiceTool,
    basic,
    line,
    told,
)
from shared.ports import EgressRequest

API = "https://api.x.com/2"
_SHOWN = {"tweet.fields": "created_at,author_id,public_metrics"}
_LEAST_FOUND = 10
"""X searches for no fewer."""
_LEAST_LISTED = 5


class GetXPosts(Arguments):
    """List what the owner posted on X (Twitter), newest first."""

    limit: Annotated[int, Field(ge=1, le=50)] = 10


class SearchXPosts(Arguments):
    """Search what anybody posted on X (Twitter) in the last seven days."""

    query: Annotated[str, Field(min_length=1, max_length=512)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class _User(Answer):
    id: str
    username: str = ""


class _Me(Answer):
    data: _User


class _Metrics(Answer):
    like_count: int = 0
    retweet_count: int = 0
    reply_count: int = 0


class _Post(Answer):
    id: str
    text: str = ""
    created_at: str = ""
    author_id: str = ""
    public_metrics: _Metrics = _Metrics()


class _Users(Answer):
    users: tuple[_User, ...] = ()


class _Posts(Answer):
    data: tuple[_Post, ...] = ()
    includes: _Users = _Users()


async def _own(account: Account, asked: GetXPosts) -> str:
    me = (await account.send(Request(url=f"{API}/users/me"), _Me)).data
    query: Query = {**_SHOWN, "max_results": max(asked.limit, _LEAST_LISTED)}
    url = f"{API}/users/{quote(me.id, safe='')}/tweets"
    found = await account.send(Request(url=url, query=query), _Posts)
    return _listed(found.data[: asked.limit], {me.id: me.username})


async def _search(account: Account, asked: SearchXPosts) -> str:
    query: Query = {
        **_SHOWN,
        "query": asked.query,
        "max_results": max(asked.limit, _LEAST_FOUND),
        "expansions": "author_id",
        "user.fields": "username",
    }
    found = await account.send(Request(url=f"{API}/tweets/search/recent", query=query), _Posts)
    names = {user.id: user.username for user in found.includes.users}
    return _listed(found.data[: asked.limit], names)


def _listed(posts: tuple[_Post, ...], names: dict[str, str]) -> str:
    if not posts:
        return "There are no such posts."
    entries = [_entry(n, post, names.get(post.author_id, "")) for n, post in enumerate(posts, 1)]
    return told(f"{len(posts)} posts:", entries)


def _entry(number: int, post: _Post, name: str) -> str:
    counts = post.public_metrics
    return (
        f"{number}. @{line(name, 50) or 'unknown'} {line(post.created_at, 40)}:"
        f" {line(post.text, 1_000)}\n"
        f"   {counts.like_count} likes, {counts.retweet_count} reposts,"
        f" {counts.reply_count} replies, https://x.com/i/status/{line(post.id, 30)}"
    )


def _revocation(client: OauthClient, tokens: Tokens) -> EgressRequest:
    return EgressRequest(
        method="POST",
        url=f"{API}/oauth2/revoke",
        headers={
            "Authorization": basic(client),
            "Content-Type": "application/x-www-form-urlencoded",
        },
        body=urlencode({"token": tokens.refresh_token or tokens.access_token}).encode(),
    )


INTEGRATION = Integration(
    service="x",
    label="X",
    consent=Consent(
        provider=Provider(
            name="x",
            authorize_url="https://x.com/i/oauth2/authorize",
            token_url=f"{API}/oauth2/token",
            revocation=_revocation,
            client_in="header",
        ),
        scopes=("tweet.read", "users.read"),
        beside=("offline.access",),
        account=f"{API}/users/me",
        account_name="data.username",
    ),
    tools=(
        ServiceTool(name="get_x_posts", status="Checking posts", asked=GetXPosts, run=_own),
        ServiceTool(name="search_x_posts", status="Searching X", asked=SearchXPosts, run=_search),
    ),
)
