"""Notion: pages and databases of the owner's workspace, to be found (P7)."""

from typing import Annotated, Any

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
    Request,
    ServiceTool,
    basic,
    line,
    told,
)
from shared.ports import EgressRequest

API = "https://api.notion.com/v1"
HEADERS = {"Notion-Version": "2022-06-28"}


class SearchNotion(Arguments):
    """Find pages and databases of the owner's Notion by words of their titles, newest edit first."""

    query: Annotated[str, Field(max_length=300)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class _Text(Answer):
    plain_text: str = ""


class _Property(Answer):
    """A page's value, or how a database describes one: there, `title` is no text."""

    type: str = ""
    title: tuple[_Text, ...] | dict[str, Any] = ()


class _Found(Answer):
    object: str
    id: str
    url: str = ""
    last_edited_time: str = ""
    title: tuple[_Text, ...] = ()
    properties: dict[str, _Property] = Field(default_factory=dict)


class _Results(Answer):
    results: tuple[_Found, ...] = ()


async def _search(account: Account, asked: SearchNotion) -> str:
    body = {
        "query": asked.query,
        "page_size": asked.limit,
        "sort": {"direction": "descending", "timestamp": "last_edited_time"},
    }
    request = Request(method="POST", url=f"{API}/search", body=body)
    found = (await account.send(request, _Results)).results
    if not found:
        return "Notion has nothing that matches, or nothing that was shared with Keepsake."
    entries = [_entry(n, each) for n, each in enumerate(found, 1)]
    return told(f"{len(entries)} results:", entries)


def _entry(number: int, found: _Found) -> str:
    head = f"{number}. {_title(found)} ({line(found.object, 20)})"
    return f"{head}\n   edited {line(found.last_edited_time, 40)}\n   {line(found.url)}"


def _title(found: _Found) -> str:
    """Return the title, which a page keeps among its properties, under any name."""
    titles = [each.title for each in found.properties.values() if each.type == "title"]
    texts = next((each for each in (found.title, *titles) if isinstance(each, tuple) and each), ())
    return line("".join(text.plain_text for text in texts)) or "(no title)"


def _revocation(client: OauthClient, tokens: Tokens) -> EgressRequest:
    return EgressRequest(
        method="POST",
        url=f"{API}/oauth/revoke",
        headers={**HEADERS, "Authorization": basic(client), "Content-Type": "application/json"},
        body=to_json({"token": tokens.access_token}),
    )


INTEGRATION = Integration(
    service="notion",
    label="Notion",
    headers=HEADERS,
    consent=Consent(
        provider=Provider(
            name="notion",
            authorize_url=f"{API}/oauth/authorize",
            token_url=f"{API}/oauth/token",
            revocation=_revocation,
            client_in="header",
            tokens_as="json",
            asks={"owner": "user"},
        ),
        scopes=(),
        account=f"{API}/users/me",
        account_name="bot.workspace_name",
    ),
    tools=(
        ServiceTool(
            name="search_notion", status="Searching Notion", asked=SearchNotion, run=_search
        ),
    ),
)
