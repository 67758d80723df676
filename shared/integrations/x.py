"""X (Twitter): tools that list the owner's posts and search recent ones."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from shared.arguments import Arguments
from shared.domain.apps.connection import OauthClient, Tokens
from shared.domain.apps.tool_data import ToolData
from shared.integrations.service import (
    Account,
    ConnectionSpec,
    Integration,
    OAuthProvider,
    OwnerTime,
    QueryParams,
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
    build_basic_auth,
    build_form_revocation,
    build_listing,
    format_list,
    to_one_line,
)
from shared.ports import EgressRequest

API = "https://api.x.com/2"
_POST_FIELDS = {"tweet.fields": "created_at,author_id,public_metrics"}
_MIN_SEARCH_RESULTS = 10
"""The least that X accepts as max_results."""
_MIN_LISTED_POSTS = 5


class GetXPosts(Arguments):
    """List what the owner posted on X (Twitter), newest first."""

    limit: Annotated[int, Field(ge=1, le=50)] = 10


class SearchXPosts(Arguments):
    """Search what anybody posted on X (Twitter) in the last seven days."""

    query: Annotated[str, Field(min_length=1, max_length=512)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class _XUser(ServiceResponse):
    id: str
    username: str = ""


class _Me(ServiceResponse):
    data: _XUser


class _Metrics(ServiceResponse):
    like_count: int = 0
    retweet_count: int = 0
    reply_count: int = 0


class _Post(ServiceResponse):
    id: str
    text: str = ""
    created_at: OwnerTime = ""
    author_id: str = ""
    public_metrics: _Metrics = _Metrics()


class _Users(ServiceResponse):
    users: tuple[_XUser, ...] = ()


class _Posts(ServiceResponse):
    data: tuple[_Post, ...] = ()
    includes: _Users = _Users()


async def _list_own_posts(account: Account, arguments: GetXPosts) -> str | ToolData:
    me = (await account.send(ServiceRequest(url=f"{API}/users/me"), _Me)).data
    query: QueryParams = {**_POST_FIELDS, "max_results": max(arguments.limit, _MIN_LISTED_POSTS)}
    url = f"{API}/users/{quote(me.id, safe='')}/tweets"
    page = await account.send(ServiceRequest(url=url, query=query), _Posts)
    return _format_posts(page.data[: arguments.limit], {me.id: me.username})


async def _search(account: Account, arguments: SearchXPosts) -> str | ToolData:
    query: QueryParams = {
        **_POST_FIELDS,
        "query": arguments.query,
        "max_results": max(arguments.limit, _MIN_SEARCH_RESULTS),
        "expansions": "author_id",
        "user.fields": "username",
    }
    page = await account.send(
        ServiceRequest(url=f"{API}/tweets/search/recent", query=query), _Posts
    )
    names = {user.id: user.username for user in page.includes.users}
    return _format_posts(page.data[: arguments.limit], names)


def _format_posts(posts: tuple[_Post, ...], names: dict[str, str]) -> str | ToolData:
    if not posts:
        return "There are no such posts."
    entries = [_to_entry(post, names.get(post.author_id, "")) for post in posts]
    lines = [_format_entry(n, entry) for n, entry in enumerate(entries, 1)]
    text = format_list(f"{len(posts)} posts:", lines)
    return build_listing(text, "posts", entries, entry_type="website")


def _to_entry(post: _Post, name: str) -> dict[str, Any]:
    counts = post.public_metrics
    return {
        "author": f"@{to_one_line(name, 50) or 'unknown'}",
        "created_at": to_one_line(post.created_at, 40),
        "text": to_one_line(post.text, 1_000),
        "likes": counts.like_count,
        "reposts": counts.retweet_count,
        "replies": counts.reply_count,
        "url": f"https://x.com/i/status/{to_one_line(post.id, 30)}",
    }


def _format_entry(number: int, entry: Mapping[str, Any]) -> str:
    return (
        f"{number}. {entry['author']} {entry['created_at']}: {entry['text']}\n"
        f"   {entry['likes']} likes, {entry['reposts']} reposts,"
        f" {entry['replies']} replies, {entry['url']}"
    )


def _build_revocation(client: OauthClient, tokens: Tokens) -> EgressRequest:
    credentials = build_basic_auth(client)
    return build_form_revocation(f"{API}/oauth2/revoke", tokens, Authorization=credentials)


INTEGRATION = Integration(
    service="x",
    label="X",
    connection=ConnectionSpec(
        provider=OAuthProvider(
            name="x",
            authorize_url="https://x.com/i/oauth2/authorize",
            token_url=f"{API}/oauth2/token",
            build_revocation=_build_revocation,
            client_in="header",
        ),
        scopes=("tweet.read", "users.read"),
        extra_scopes=("offline.access",),
        account_url=f"{API}/users/me",
        account_name_path="data.username",
    ),
    tools=(
        ServiceTool("get_x_posts", "Checking posts", GetXPosts, _list_own_posts),
        ServiceTool("search_x_posts", "Searching X", SearchXPosts, _search),
    ),
)
