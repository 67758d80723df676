"""GitHub: the owner's pull requests and issues."""

from typing import Annotated, Any, Literal
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
    build_json_revocation,
    build_listing,
    format_list,
    to_one_line,
)
from shared.ports import EgressRequest

API = "https://api.github.com"
HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_QUALIFIERS = {"author": "author:@me", "assigned": "assignee:@me", "review": "review-requested:@me",
               "involved": "involves:@me"}  # fmt: skip

Repository = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$", description="owner/name"),
]
State = Annotated[Literal["open", "closed", "all"], Field(description="Which of them.")]


class GetGithubPullRequests(Arguments):
    """List the owner's pull requests on GitHub, last changed first."""

    role: Literal["author", "assigned", "review", "involved"] = "author"
    state: State = "open"
    repository: Repository = None
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class GetGithubIssues(Arguments):
    """List the owner's issues on GitHub, last changed first."""

    role: Literal["author", "assigned", "involved"] = "involved"
    state: State = "open"
    repository: Repository = None
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class _GithubUser(ServiceResponse):
    login: str = ""


class _PullRequest(ServiceResponse):
    merged_at: str | None = None


class _Issue(ServiceResponse):
    number: int
    title: str = ""
    state: str = ""
    draft: bool = False
    html_url: str = ""
    updated_at: OwnerTime = ""
    user: _GithubUser | None = None
    pull_request: _PullRequest | None = None


class _Issues(ServiceResponse):
    total_count: int = 0
    items: tuple[_Issue, ...] = ()


async def _list_pull_requests(account: Account, arguments: GetGithubPullRequests) -> str | ToolData:
    return await _search(account, "is:pr", arguments, "pull requests")


async def _list_issues(account: Account, arguments: GetGithubIssues) -> str | ToolData:
    return await _search(account, "is:issue", arguments, "issues")


async def _search(
    account: Account, kind: str, arguments: GetGithubPullRequests | GetGithubIssues, noun: str
) -> str | ToolData:
    qualifiers = [kind, _QUALIFIERS[arguments.role]]
    if arguments.state != "all":
        qualifiers.append(f"is:{arguments.state}")
    if arguments.repository:
        qualifiers.append(f"repo:{arguments.repository}")
    query: QueryParams = {
        "q": " ".join(qualifiers),
        "sort": "updated",
        "order": "desc",
        "per_page": arguments.limit,
    }
    page = await account.send(ServiceRequest(url=f"{API}/search/issues", query=query), _Issues)
    if not page.items:
        return f"There are no such {noun}."
    entries = [_format_entry(n, issue) for n, issue in enumerate(page.items, 1)]
    text = format_list(f"{len(entries)} of {page.total_count} {noun}:", entries)
    return build_listing(
        text, noun.replace(" ", "_"), list(map(_to_entry, page.items)), entry_type="website"
    )


def _to_entry(issue: _Issue) -> dict[str, Any]:
    return {
        "title": to_one_line(issue.title),
        "number": issue.number,
        "state": _format_state(issue),
        "author": to_one_line(issue.user.login, 50) if issue.user else None,
        "changed": to_one_line(issue.updated_at, 40),
        "url": to_one_line(issue.html_url),
    }


def _format_entry(number: int, issue: _Issue) -> str:
    author = to_one_line(issue.user.login, 50) if issue.user else "nobody"
    return (
        f"{number}. {to_one_line(issue.title)} (#{issue.number}, {_format_state(issue)}, by {author})\n"
        f"   changed {to_one_line(issue.updated_at, 40)}, {to_one_line(issue.html_url)}"
    )


def _format_state(issue: _Issue) -> str:
    if issue.pull_request and issue.pull_request.merged_at:
        return "merged"
    return "draft" if issue.draft else to_one_line(issue.state, 20)


def _build_revocation(client: OauthClient, tokens: Tokens) -> EgressRequest:
    url = f"{API}/applications/{quote(client.id, safe='')}/grant"
    body = {"access_token": tokens.access_token}
    return build_json_revocation("DELETE", url, client, body, HEADERS)


INTEGRATION = Integration(
    service="github",
    label="GitHub",
    headers=HEADERS,
    connection=ConnectionSpec(
        provider=OAuthProvider(
            name="github",
            authorize_url="https://github.com/login/oauth/authorize",
            token_url="https://github.com/login/oauth/access_token",  # noqa: S106 - a URL
            build_revocation=_build_revocation,
        ),
        # No narrower scope includes private repositories.
        scopes=("repo",),
        account_url=f"{API}/user",
        account_name_path="login",
    ),
    tools=(
        ServiceTool(
            "get_github_pull_requests",
            "Checking pull requests",
            GetGithubPullRequests,
            _list_pull_requests,
        ),
        ServiceTool("get_github_issues", "Checking issues", GetGithubIssues, _list_issues),
    ),
)
