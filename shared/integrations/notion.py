"""Notion: a search tool over the titles of pages and databases."""

from typing import Annotated, Any

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
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
    build_json_revocation,
    build_listing,
    format_list,
    to_one_line,
)
from shared.ports import EgressRequest

API = "https://api.notion.com/v1"
HEADERS = {"Notion-Version": "2022-06-28"}


class SearchNotion(Arguments):
    """Find pages and databases of the owner's Notion by words of their titles, newest edit first."""

    query: Annotated[str, Field(max_length=300)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class _Text(ServiceResponse):
    plain_text: str = ""


class _Property(ServiceResponse):
    """A property of a page, or its description in a database, where `title` is an object."""

    type: str = ""
    title: tuple[_Text, ...] | dict[str, Any] = ()


class _SearchHit(ServiceResponse):
    object: str
    id: str
    url: str = ""
    last_edited_time: OwnerTime = ""
    title: tuple[_Text, ...] = ()
    properties: dict[str, _Property] = Field(default_factory=dict)


class _Results(ServiceResponse):
    results: tuple[_SearchHit, ...] = ()


async def _search(account: Account, arguments: SearchNotion) -> str | ToolData:
    body = {
        "query": arguments.query,
        "page_size": arguments.limit,
        "sort": {"direction": "descending", "timestamp": "last_edited_time"},
    }
    request = ServiceRequest(method="POST", url=f"{API}/search", body=body)
    hits = (await account.send(request, _Results)).results
    if not hits:
        return "Notion has nothing that matches, or nothing that was shared with Keepsake."
    lines = [_format_entry(n, hit) for n, hit in enumerate(hits, 1)]
    text = format_list(f"{len(lines)} results:", lines)
    return build_listing(text, "results", list(map(_to_entry, hits)), entry_type="website")


def _to_entry(hit: _SearchHit) -> dict[str, Any]:
    return {
        "title": _format_title(hit),
        "kind": to_one_line(hit.object, 20),
        "edited": to_one_line(hit.last_edited_time, 40),
        "url": to_one_line(hit.url),
    }


def _format_entry(number: int, hit: _SearchHit) -> str:
    head = f"{number}. {_format_title(hit)} ({to_one_line(hit.object, 20)})"
    return f"{head}\n   edited {to_one_line(hit.last_edited_time, 40)}\n   {to_one_line(hit.url)}"


def _format_title(hit: _SearchHit) -> str:
    """Return the title; a page has it as the property of type `title`, whatever its name."""
    titles = [prop.title for prop in hit.properties.values() if prop.type == "title"]
    texts = next(
        (title for title in (hit.title, *titles) if isinstance(title, tuple) and title), ()
    )
    return to_one_line("".join(text.plain_text for text in texts)) or "(no title)"


def _build_revocation(client: OauthClient, tokens: Tokens) -> EgressRequest:
    body = {"token": tokens.access_token}
    return build_json_revocation("POST", f"{API}/oauth/revoke", client, body, HEADERS)


INTEGRATION = Integration(
    service="notion",
    label="Notion",
    headers=HEADERS,
    connection=ConnectionSpec(
        provider=OAuthProvider(
            name="notion",
            authorize_url=f"{API}/oauth/authorize",
            token_url=f"{API}/oauth/token",
            build_revocation=_build_revocation,
            client_in="header",
            body_format="json",
            authorize_params={"owner": "user"},
        ),
        scopes=(),
        account_url=f"{API}/users/me",
        account_name_path="bot.workspace_name",
    ),
    tools=(ServiceTool("search_notion", "Searching Notion", SearchNotion, _search),),
)
