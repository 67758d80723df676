"""GitHub: the owner's pull requests and issues (P7)."""

from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field
from pydantic_core import to_json

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


class _User(Answer):
    login: str = ""


class _PullRequest(Answer):
    merged_at: str | None = None


class _Issue(Answer):
    number: int
    title: str = ""
    state: str = ""
    draft: bool = False
    html_url: str = ""
    updated_at: str = ""
    user: _User | None = None
    pull_request: _PullRequest | None = None


class _Issues(Answer):
    total_count: int = 0
    items: tuple[_Issue, ...] = ()


async def _pull_requests(account: Account, asked: GetGithubPullRequests) -> str:
    return await _searched(account, "is:pr", asked, "pull requests")


async def _issues(account: Account, asked: GetGithubIssues) -> str:
    return await _searched(account, "is:issue", asked, "issues")


async def _searched(
    account: Account, kind: str, asked: GetGithubPullRequests | GetGithubIssues, what: str
) -> str:
    words = [kind, _QUALIFIERS[asked.role]]
    if asked.state != "all":
        words.append(f"is:{asked.state}")
    if asked.repository:
        words.append(f"repo:{asked.repository}")
    query: Query = {
        "q": " ".join(words),
        "sort": "updated",
        "order": "desc",
        "per_page": asked.limit,
    }
    found = await account.send(Request(url=f"{API}/search/issues", query=query), _Issues)
    if not found.items:
        return f"There are no such {what}."
    entries = [_entry(n, each) for n, each in enumerate(found.items, 1)]
    return told(f"{len(entries)} of {found.total_count} {what}:", entries)


def _entry(number: int, issue: _Issue) -> str:
    by = line(issue.user.login, 50) if issue.user else "nobody"
    return (
        f"{number}. {line(issue.title)} (#{issue.number}, {_state(issue)}, by {by})\n"
        f"   changed {line(issue.updated_at, 40)}, {line(issue.html_url)}"
    )


def _state(issue: _Issue) -> str:
    if issue.pull_request and issue.pull_request.merged_at:
        return "merged"
    return "draft" if issue.draft else line(issue.state, 20)


def _revocation(client: OauthClient, tokens: Tokens) -> EgressRequest:
    return EgressRequest(
        method="DELETE",
        url=f"{API}/applications/{quote(client.id, safe='')}/grant",
        headers={**HEADERS, "Authorization": basic(client), "Content-Type": "application/json"},
        body=to_json({"access_token": tokens.access_token}),
    )


INTEGRATION = Integration(
    service="github",
    label="GitHub",
    headers=HEADERS,
    consent=Consent(
        provider=Provider(
            name="github",
            authorize_url="https://github.com/login/oauth/authorize",
            token_url="https://github.com/login/oauth/access_token",  # noqa: S106 - an address
            revocation=_revocation,
        ),
        # No smaller one shows private repositories.
        scopes=("repo",),
        account=f"{API}/user",
        account_name="login",
    ),
    tools=(
        ServiceTool(
            name="get_github_pull_requests",
            status="Checking pull requests",
            asked=GetGithubPullRequests,
            run=_pull_requests,
        ),
        ServiceTool(
            name="get_github_issues", status="Checking issues", asked=GetGithubIssues, run=_issues
        ),
    ),
)
